"""From an address to the provider whose it is, and from a word for a local server to its address."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from hermes_core.plugins.plugin import TIERS
from hermes_core.types.address import host_of, is_loopback, is_within

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hermes_core.providers.row import ProviderRow

NO_RANK = 10**6
"""Behind every rank."""


def providers_at(rows: Iterable[ProviderRow], url: str) -> list[str]:
    """The providers whose own host an address is at, or below, best first; nobody owns this machine.

    The longest host beats a shorter one, then the longest beginning of the path counts. Those that are
    equal in both come by their rank.

    Example:
        >>> from hermes_core import Host
        >>> with Host.load("/nonexistent") as host:
        ...     urls = ("https://OpenRouter.ai:443/api/v1", "https://openrouter.ai.evil.test", "http://127.0.0.1:1/v1")
        ...     [providers_at(host.providers, url) for url in urls]
        [['openrouter'], [], []]
    """
    host = host_of(url)
    if not host or is_loopback(host):
        return []
    path = f"{urlsplit(url).path.rstrip('/')}/"
    found: dict[tuple[int, int], list[tuple[int, str]]] = {}
    for row in rows:
        near = max((len(known) for known in row.hosts if is_within(host, known)), default=0)
        if near:
            root = urlsplit(row.base_url).path.rstrip("/")
            deep = len(root) if path.startswith(f"{root}/") else 0
            found.setdefault((near, deep), []).append((NO_RANK if row.auto_rank is None else row.auto_rank, row.name))
    return [name for _, name in sorted(found[max(found)])] if found else []


def preset_for(rows: Iterable[ProviderRow], word: str) -> str:
    """The provider whose address a word such as ``ollama`` means while the operator gives none; else ``""``.

    Of several, the one of the highest tier.
    """
    key = word.strip().lower()
    found = [row for row in rows if key in row.preset_for_word]
    return max(found, key=lambda row: TIERS.index(row.tier)).name if found else ""
