"""Model lists on disk: one small file for each endpoint and credential, so that processes never share one they write.

No secret is written, and nothing that would confirm a guess at one: of a secret, a file's name holds sixteen
bits of a hash, the same for every endpoint. They tell a person's keys apart, and fit one in 65,536 of all keys.
"""

from __future__ import annotations

import json
import logging
import time
from hashlib import blake2b
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit, urlunsplit

from hermes_core.config.files import replace_file
from hermes_core.providers.model_list import usable_ids

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

log = logging.getLogger(__name__)

FRESH_SECONDS = 3600.0
KEPT_SECONDS = 30 * 86400.0
"""How long a list that nobody has renewed is kept."""

MOST_BYTES = 4 * 2**20


class Kept(NamedTuple):
    """A list as it was kept.

    Attributes:
        models: The ids.
        age: Seconds since the provider gave it; below 0 when the clock has been set back since.
    """

    models: tuple[str, ...]
    age: float

    @property
    def is_fresh(self) -> bool:
        """Whether it need not be asked for again."""
        return 0 <= self.age < FRESH_SECONDS


class ModelCache:
    """The model lists that a home keeps below ``cache/models/``.

    Args:
        home: The home.
        clock: Seconds since 1970.

    Example:
        >>> from pathlib import Path
        >>> from tempfile import mkdtemp
        >>> cache = ModelCache(Path(mkdtemp()))
        >>> cache.write("acme", "https://api.acme.test/v1", ["k-123456"], ["m-1"])
        >>> cache.read("acme", "https://api.acme.test/v1", ["k-123456"]).models
        ('m-1',)
        >>> cache.read("acme", "https://api.acme.test/v1", ["k-654321"])
    """

    def __init__(self, home: Path, clock: Callable[[], float] = time.time) -> None:
        self.folder = home / "cache" / "models"
        self._clock = clock

    def read(self, provider: str, address: str, secrets: Sequence[str]) -> Kept | None:
        """The list that was last written for these; None without one that can be read."""
        try:
            with self._path(provider, address, secrets).open("rb") as file:
                tree = json.loads(file.read(MOST_BYTES))
            models, at = usable_ids(tree["models"]), float(tree["at"])
        except (OSError, ValueError, TypeError, KeyError, RecursionError):
            return None
        return Kept(tuple(models), self._clock() - at) if models else None

    def write(self, provider: str, address: str, secrets: Sequence[str], models: Sequence[str]) -> None:
        """Keep a list; one that cannot be written is not kept."""
        path = self._path(provider, address, secrets)
        content = json.dumps({"provider": provider, "at": self._clock(), "models": list(models)}).encode()
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            replace_file(path, content)
            for file in self.folder.iterdir():
                if self._clock() - file.stat().st_mtime > KEPT_SECONDS:
                    file.unlink(missing_ok=True)
        except OSError as error:
            log.debug("a model list is not kept path=%s error=%s", path, error.strerror)

    def _path(self, provider: str, address: str, secrets: Sequence[str]) -> Path:
        parts = urlsplit(address)
        place = urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path.rstrip("/"), "", ""))
        hidden = [parts.netloc.rpartition("@")[0], parts.query, *secrets]
        where = blake2b(json.dumps([provider, place]).encode(), digest_size=12).hexdigest()
        whose = blake2b(json.dumps(hidden).encode(), digest_size=2).hexdigest()
        return self.folder / f"{where}-{whose}.json"
