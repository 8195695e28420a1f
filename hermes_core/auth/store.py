"""``auth.json``: the keys and logins that a home keeps itself."""

from __future__ import annotations

import json
import logging
import os
import shutil
import threading
import time
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from hermes_core.config.environment import stamp
from hermes_core.config.redact import register_secret
from hermes_core.errors import ConfigError, describe

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from hermes_core.config.environment import Stamp

log = logging.getLogger(__name__)

Tree = dict[str, Any]
VERSION = 1
LOCK_SECONDS = 15.0
"""How long a writer waits for the others."""

POLL_SECONDS = 0.05

SECTIONS = ("providers", "credential_pool", "suppressed_sources")
SECRET_ENDINGS = ("token", "key", "secret", "password")
"""What the name of a field that holds a secret ends in."""


class _Reading(NamedTuple):
    """What was read, as one value: threads that read at once do not mix."""

    stamp: Stamp
    tree: Mapping[str, Any]
    error: ConfigError | None

    def __repr__(self) -> str:
        return f"_Reading(error={self.error!r})"


class AuthStore:
    """One home's ``auth.json``, read again when it changes, and written by one process at a time.

    Keys it does not know stay as they are. A file that cannot be read is never written: it is copied to
    ``auth.json.corrupt``, and what it last held goes on counting.

    Args:
        home: The home; it is made at the first write.

    Example:
        >>> from pathlib import Path
        >>> from tempfile import mkdtemp
        >>> store = AuthStore(Path(mkdtemp()))
        >>> with store.changing() as tree:
        ...     tree["active_provider"] = "acme"
        >>> store.read()["active_provider"]
        'acme'
    """

    def __init__(self, home: Path) -> None:
        self.path = home / "auth.json"
        self._last = _Reading(None, {}, None)
        self._thread = threading.Lock()

    def __repr__(self) -> str:
        return f"AuthStore({str(self.path)!r})"

    @property
    def stamp(self) -> Stamp:
        """What changes when the file that was read last does."""
        return self._last.stamp

    @property
    def error(self) -> ConfigError | None:
        """Why the file cannot be read now, or None."""
        self.read()
        return self._last.error

    def read(self) -> Mapping[str, Any]:
        """What the file holds now; it costs a stat unless the file has changed. Do not change it."""
        last, now = self._last, stamp(self.path)
        if now != last.stamp:
            try:
                last = _Reading(now, self._load(), None)
            except ConfigError as error:
                log.warning("%s; what it held before stays in use, and nothing is written to it", error)
                self._keep_a_copy()
                last = _Reading(now, last.tree, error)
            self._last = last
        return last.tree

    def names(self) -> set[str]:
        """The providers that it says anything of."""
        tree = self.read()
        return {name for section in SECTIONS for name in tree.get(section) or ()}

    @contextmanager
    def changing(self, wait: float = LOCK_SECONDS) -> Iterator[Tree]:
        """Keep other writers out, give what the file holds now, and write what has become of it.

        Nothing is written when nothing was changed, or when the block raises. It cannot be nested.

        Args:
            wait: Seconds to wait for other writers.

        Raises:
            ConfigError: The file cannot be read or written, or somebody else keeps writing.
        """
        with self._alone(wait):
            tree = self._load()
            before = _text(tree)
            yield tree
            if _text(tree) != before:
                self._write(tree)

    @contextmanager
    def _alone(self, wait: float) -> Iterator[None]:
        """Keep other writers out: threads, then other processes and programs, by the lock of the home.

        When a link leads to another home's file, its lock is taken too, after this one's.
        """
        from filelock import FileLock, Timeout

        end = time.monotonic() + wait
        if not self._thread.acquire(timeout=max(wait, 0)):
            raise self._busy(wait)
        try:
            with ExitStack() as locks:
                try:
                    self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                    for path in dict.fromkeys((self.path, self.path.resolve())):
                        lock = FileLock(path.with_suffix(".lock"), mode=0o600)
                        locks.enter_context(lock.acquire(max(end - time.monotonic(), 0), poll_interval=POLL_SECONDS))
                        _give_to_owner_of(path.parent, lock.lock_file)
                except Timeout as error:
                    raise self._busy(wait) from error
                except OSError as error:
                    raise self._unwritable(error) from error
                yield
        finally:
            self._thread.release()

    def _busy(self, wait: float) -> ConfigError:
        message = f"cannot write {self.path}: somebody else has been writing it for {wait:g} s"
        return ConfigError(message, path=self.path, hint="try again; a login that is being refreshed may take 20 s")

    def _unwritable(self, error: OSError) -> ConfigError:
        message = f"cannot write {self.path}: {error.strerror or type(error).__name__}"
        return ConfigError(message, path=self.path, hint="make the file and its folder writable")

    def _load(self) -> Tree:
        """Read the file; its secrets are redacted from then on.

        Raises:
            ConfigError: It cannot be read, or is not what an ``auth.json`` must be.
        """
        try:
            tree = json.loads(self.path.read_text(encoding="utf-8-sig"))
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, RecursionError) as error:
            raise self._unreadable(_reason(error)) from None  # its causes hold the text
        if not isinstance(tree, dict):
            raise self._unreadable(f"it must hold an object, not {type(tree).__name__}")
        _register_secrets(tree)
        for name in SECTIONS:
            if not isinstance(tree.get(name, {}), dict | None):
                raise self._unreadable(f"{name} must be an object, not {type(tree[name]).__name__}")
        return tree

    def _unreadable(self, reason: str) -> ConfigError:
        message = f"cannot read {self.path}: {reason}"
        hint = f"mend the file or move it away, then log in again; a copy is {self.path.name}.corrupt"
        return ConfigError(message, path=self.path, hint=hint)

    def _keep_a_copy(self) -> None:
        copy = self.path.with_name(f"{self.path.name}.corrupt")
        try:
            copy.touch(mode=0o600)
            shutil.copyfile(self.path, copy)
        except OSError:
            log.debug("no copy of the broken store path=%s", copy)

    def _write(self, tree: Tree) -> None:
        """Put the tree in the file's place, so that a reader, or a crash, sees the old one or the new one."""
        from datetime import UTC, datetime

        tree.setdefault("version", VERSION)
        tree["updated_at"] = datetime.now(UTC).isoformat()
        target = self.path.resolve()
        draft = target.with_name(f".{target.name}.draft")
        try:
            draft.unlink(missing_ok=True)  # of a process that was killed: nobody else writes now
            handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(handle, "wb") as file:
                file.write(_text(tree).encode())
                file.flush()
                os.fsync(file.fileno())
            _give_to_owner_of(target if target.exists() else target.parent, draft)
            os.replace(draft, target)
            _sync_folder(target.parent)
        except OSError as error:
            with suppress(OSError):
                draft.unlink(missing_ok=True)
            raise self._unwritable(error) from error


def _register_secrets(node: Any, name: str = "") -> None:
    """Have every secret in a tree redacted from now on."""
    if isinstance(node, dict):
        for key, value in node.items():
            if key != "suppressed_sources":
                _register_secrets(value, str(key))
    elif isinstance(node, list):
        for value in node:
            _register_secrets(value, name)
    elif isinstance(node, str) and is_secret(name):
        register_secret(node)


def is_secret(name: str) -> bool:
    """Whether a field of this name holds a secret.

    Example:
        >>> [is_secret(name) for name in ("access_token", "agent_key", "token_type", "label")]
        [True, True, False, False]
    """
    return name.lower().endswith(SECRET_ENDINGS)


def _text(tree: Tree) -> str:
    return json.dumps(tree, indent=2) + "\n"


def _reason(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"line {error.lineno}: {error.msg}"
    if isinstance(error, OSError):
        return error.strerror or type(error).__name__
    return "it is not UTF-8 text" if isinstance(error, UnicodeError) else describe(error)


def _give_to_owner_of(place: Path, path: str | Path) -> None:
    """Keep root from leaving a file that the home's owner cannot open."""
    if hasattr(os, "chown") and os.geteuid() == 0:
        found = place.stat()
        os.chown(path, found.st_uid, found.st_gid)


def _sync_folder(folder: Path) -> None:
    """Have the file's new name survive a power failure, where folders can be opened."""
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
