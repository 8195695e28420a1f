"""The process environment and the ``.env`` files of a home and of the administrator, read and never mixed."""

from __future__ import annotations

import logging
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hermes_core.config.redact import register_address, register_secrets_in
from hermes_core.config.scope import scoped
from hermes_core.config.truth import is_true

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, MutableMapping

log = logging.getLogger(__name__)

_SCHEMES = ("http", "https", "all")
PROXY_VARIABLES = (*(f"{scheme.upper()}_PROXY" for scheme in _SCHEMES), *(f"{scheme}_proxy" for scheme in _SCHEMES))
"""Variables that name a proxy; elsewhere than here, the system's own settings do so too."""

Stamp = tuple[int, int, int] | None


def stamp(path: str | os.PathLike[str]) -> Stamp:
    """What changes when the file changes: its inode, size and modification time; None without a file."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns


def may_name_proxies() -> bool:
    """Whether this process may have been given a proxy; asked before Python looks through all variables for one."""
    return sys.platform in ("win32", "darwin") or any(name in os.environ for name in PROXY_VARIABLES)


class Environment:
    """Variables as one home sees them.

    What the home's ``.env`` sets stays in the home: ``os.environ`` is not touched, unless
    ``export`` is called. What the administrator's ``.env`` sets beats everything.

    Args:
        home: The home whose ``.env`` counts.
        variables: The process environment; ``os.environ`` unless a test gives its own.

    Attributes:
        managed: The administrator's folder: ``HERMES_MANAGED_DIR`` if there is such a folder, else ``/etc/hermes``.

    Example:
        >>> from pathlib import Path
        >>> Environment(Path("/nonexistent"), {"ACME_API_KEY": "k-1"}).credential("ACME_API_KEY")
        'k-1'
    """

    def __init__(self, home: Path, variables: MutableMapping[str, str] | None = None) -> None:
        self.path = home / ".env"
        self.variables = os.environ if variables is None else variables
        named = self.variables.get("HERMES_MANAGED_DIR", "")  # the administrator's, so not from a home's .env
        self.managed = Path(named if named and os.path.isdir(named) else "/etc/hermes")
        self._own = _EnvFile(self.path)
        self._pinned = _EnvFile(self.managed / ".env")

    def file_values(self) -> Mapping[str, str]:
        """What the home's ``.env`` sets now."""
        return self._own.values()

    @property
    def sets_something(self) -> bool:
        """Whether a ``.env`` sets anything now."""
        return bool(self._own.values() or self._pinned.values())

    def credentials(self) -> Callable[[str], str]:
        """Looks secrets up, as ``own_credential`` does, in the files as they are now."""
        pinned, own, variables = self._pinned.values(), self._own.values(), self.variables

        def look_up(name: str) -> str:
            value = (pinned.get(name) or own.get(name) or variables.get(name, "")).strip()
            if "://" in value:
                register_address(value)
            return value

        return look_up

    def credential(self, name: str) -> str:
        """A secret: of the context's scope, of ``.env``, of the process, or ``""``; the file is read when it changes.

        Raises:
            UnscopedSecretError: The process serves several people, and no scope says whose is meant.
        """
        return scoped(name, self.own_credential)

    def own_credential(self, name: str) -> str:
        """A secret whatever scope there is: ``.env`` first, then the process; else ``""``."""
        return self.credentials()(name)

    def get(self, name: str, default: str = "") -> str:
        """A setting: the process first, then ``.env``."""
        return self.first((name,)) or default

    def first(self, names: Iterable[str]) -> str:
        """The first of some settings that is set to something; ``""`` when none is."""
        pinned, own, variables = self._pinned.values(), self._own.values(), self.variables
        return next(
            (found for name in names if (found := pinned.get(name) or variables.get(name) or own.get(name))), ""
        )

    def flag(self, name: str) -> bool:
        """Whether a switch of the process environment is on; the home's ``.env`` sets none."""
        return is_true(self._pinned.values().get(name) or self.variables.get(name, ""))

    def export(self, hidden: Iterable[str]) -> None:
        """Set the variables of ``.env`` in the process, but for the ``hidden`` ones and those it has.

        The administrator's are set over those it has.
        """
        kept_back = set(hidden)
        for name, value in {**self.file_values(), **self._pinned.values()}.items():
            if name not in kept_back and (name in self._pinned.values() or name not in self.variables):
                try:
                    self.variables[name] = value
                except ValueError:  # a NUL byte, or letters that the locale has not
                    log.warning("cannot set a variable of .env in this process name=%r", name)


class Reads:
    """Looks variables up, and keeps what it found: what came of that holds until a variable changes.

    Example:
        >>> variables = {"ACME_API_KEY": "k-1"}
        >>> reads = Reads(Environment(Path("/nonexistent"), variables))
        >>> reads.credential("ACME_API_KEY"), reads.get("ACME_URL"), reads.hold()
        ('k-1', '', True)
        >>> variables["ACME_URL"] = "https://api.acme.test"
        >>> reads.hold()
        False
    """

    def __init__(self, environment: Environment) -> None:
        self._environment = environment
        self._found: list[tuple[Callable[[Any], str], Any, str]] = []

    def get(self, name: str) -> str:
        """As ``Environment.get``."""
        return self._kept(self._environment.get, name)

    def first(self, names: Iterable[str]) -> str:
        """As ``Environment.first``."""
        return self._kept(self._environment.first, names)

    def credential(self, name: str) -> str:
        """As ``Environment.credential``."""
        return self._kept(self._environment.credential, name)

    def hold(self) -> bool:
        """Whether everything would be found as it was.

        Raises:
            UnscopedSecretError: As ``credential``.
        """
        return all(look_up(asked) == found for look_up, asked, found in self._found)

    def _kept(self, look_up: Callable[[Any], str], asked: Any) -> str:
        found = look_up(asked)
        self._found.append((look_up, asked, found))
        return found


class _EnvFile:
    """One ``.env``, read again when it changes."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._values: dict[str, str] = {}
        self._stamp: Stamp = None

    def values(self) -> Mapping[str, str]:
        """What it sets now."""
        now = stamp(self._path)
        if now != self._stamp:
            self._values, self._stamp = self._read() if now else {}, now
        return self._values

    def _read(self) -> dict[str, str]:
        from hermes_core.config.env_file import parse_env

        try:
            content = self._path.read_bytes()
        except OSError as error:
            log.warning("cannot read .env path=%s error=%s", self._path, error.strerror)
            return {}
        values, odd = parse_env(content)
        for line in odd:
            log.warning("a line of .env makes no sense path=%s line=%d", self._path, line)
        register_secrets_in({name.upper(): value for name, value in values.items()})
        return values
