"""The process environment and a home's ``.env``, read and never mixed."""

from __future__ import annotations

import io
import logging
import os
from typing import TYPE_CHECKING

from hermes_core.config.redact import register_secret
from hermes_core.config.scope import scoped
from hermes_core.config.truth import is_true

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, MutableMapping
    from pathlib import Path

log = logging.getLogger(__name__)

SECRET_ENDINGS = ("_KEY", "_TOKEN", "_SECRET", "_PASSWORD")
"""Variables that end so hold secrets."""

Stamp = tuple[int, int, int] | None


def stamp(path: str | os.PathLike[str]) -> Stamp:
    """What changes when the file changes: its inode, size and modification time; None without a file."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns


class Environment:
    """Variables as one home sees them.

    What the home's ``.env`` sets stays in the home: ``os.environ`` is not touched, unless
    ``export`` is called.

    Args:
        home: The home whose ``.env`` counts.
        variables: The process environment; ``os.environ`` unless a test gives its own.

    Example:
        >>> from pathlib import Path
        >>> Environment(Path("/nonexistent"), {"ACME_API_KEY": "k-1"}).credential("ACME_API_KEY")
        'k-1'
    """

    def __init__(self, home: Path, variables: MutableMapping[str, str] | None = None) -> None:
        self.path = home / ".env"
        self.variables = os.environ if variables is None else variables
        self._file: dict[str, str] = {}
        self._stamp: Stamp = None

    def file_values(self) -> Mapping[str, str]:
        """What ``.env`` sets now."""
        now = stamp(self.path)
        if now != self._stamp:
            self._file, self._stamp = self._read() if now else {}, now
        return self._file

    def credential(self, name: str) -> str:
        """A secret: of the context's scope, of ``.env``, of the process, or ``""``; the file is read when it changes.

        Raises:
            UnscopedSecretError: The process serves several people, and no scope says whose is meant.
        """
        return scoped(name, self.own_credential)

    def own_credential(self, name: str) -> str:
        """A secret whatever scope there is: ``.env`` first, then the process; else ``""``."""
        return (self.file_values().get(name) or self.variables.get(name, "")).strip()

    def get(self, name: str, default: str = "") -> str:
        """A setting: the process first, then ``.env``."""
        return self.variables.get(name) or self.file_values().get(name) or default

    def flag(self, name: str) -> bool:
        """Whether a switch of the process environment is on."""
        return is_true(self.variables.get(name, ""))

    def export(self, hidden: Iterable[str]) -> None:
        """Set ``.env``'s variables in the process, but for the ``hidden`` ones and those it has."""
        kept_back = set(hidden)
        for name, value in self.file_values().items():
            if name not in kept_back:
                self.variables.setdefault(name, value)

    def _read(self) -> dict[str, str]:
        from dotenv import dotenv_values

        try:
            text = self.path.read_text(encoding="utf-8-sig", errors="replace")
        except OSError as error:
            log.warning("cannot read .env path=%s error=%s", self.path, error.strerror)
            return {}
        read = dotenv_values(stream=io.StringIO(text), interpolate=False)
        values = {name: value for name, value in read.items() if value is not None}
        for name, value in values.items():
            if name.upper().endswith(SECRET_ENDINGS):
                register_secret(value.strip())
        return values
