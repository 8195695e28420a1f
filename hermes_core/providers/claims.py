"""Claims on provider names: by plugins, and by what the operator wrote into the configuration."""

from __future__ import annotations

from operator import attrgetter
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from hermes_core.plugins.debug import warn_once
from hermes_core.plugins.manifest import Manifest
from hermes_core.plugins.plugin import Plugin

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from hermes_core.config.providers import ProviderEntry
    from hermes_core.providers.profile import ProviderProfile

FIRST = -1
"""Before every band of call order."""


class Claim(NamedTuple):
    """One plugin's claim on a provider name: a declaration, an offered profile, or both in turn.

    Attributes:
        name: The name claimed, in lower case.
        position: Its place in call order.
        data: What the manifest declares, or an earlier process learned; empty once the code has offered it.
        profile: What the plugin's code offers, once it is loaded.
    """

    name: str
    plugin: Plugin
    position: tuple[int, int, int]
    data: Mapping[str, Any] = MappingProxyType({})
    profile: ProviderProfile | None = None


class Verdict(NamedTuple):
    """How one claim on a name fared, for ``explain``.

    ``status`` is ``wins``, ``shadowed``, ``off`` or ``failed``; ``reason`` and ``remedy`` say more.
    """

    name: str
    status: str
    plugin: str
    tier: str
    source: str
    reason: str = ""
    remedy: str = ""


def as_word(name: object) -> str:
    """A provider's name or alias as names are compared: case and outer blanks do not count."""
    return str(name).strip().lower()


def verdict_on(claim: Claim, status: str, reason: str = "", remedy: str = "") -> Verdict:
    """How a claim fared."""
    plugin = claim.plugin
    return Verdict(
        name=claim.name, status=status, plugin=plugin.key, tier=plugin.tier,
        source=plugin.source, reason=reason, remedy=remedy,
    )  # fmt: skip


class Claimed(dict[str, list[Claim]]):
    """Word → the claims on it, in call order."""

    def __init__(self) -> None:
        super().__init__()
        self._words: dict[Plugin, list[str]] = {}

    def put(self, plugin: Plugin, pairs: list[tuple[str, Claim]]) -> None:
        """Let ``plugin`` claim these words, and no others any more."""
        for word in self._words.pop(plugin, ()):
            rest = [claim for claim in self.get(word, ()) if claim.plugin is not plugin]
            if rest:
                self[word] = rest
            else:
                self.pop(word, None)
        for word, claim in pairs:
            others = self.get(word)
            self[word] = sorted([*others, claim], key=attrgetter("position")) if others else [claim]
        if pairs:
            self._words[plugin] = [word for word, _ in pairs]


def configured_claims(
    entries: Sequence[ProviderEntry], offered: Collection[str], source_of: Callable[[str], str]
) -> list[tuple[Claim, ProviderEntry]]:
    """What the configuration says of providers, each entry as if it were a plugin of its own, above all others.

    Args:
        entries: What it says.
        offered: Names that plugins claim; an entry of such a name changes what it mentions.
        source_of: Gives the file that says it, for an entry's place.
    """
    found = []
    for number, entry in enumerate(entries):
        data = entry.profile(offered)
        if data is None:
            warn_once("config.yaml: %s has no base_url, and no provider is called so; it is not used", entry.place)
            continue
        manifest = Manifest(name=entry.place, kind="model-provider", profiles=(data,))
        source = source_of(entry.place)
        row = Plugin(key=entry.place, tier="config", location=source, manifest=manifest, order=number)
        found.append((Claim(data["name"], row, (FIRST, 0, number), data), entry))
    return found
