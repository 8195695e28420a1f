"""A connection to the memory file: for one thread at a time, opened when it is needed, safe when the process forks."""

from __future__ import annotations

import os
import shutil
import sqlite3
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING
from weakref import WeakSet

from hermes_core import HermesError, open_database

from .schema import migrate

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

BUSY_SECONDS = 10.0
"""How long to wait for another process that writes."""
_FORK_SECONDS = 2.0
"""How long a fork waits for what is being written."""
_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


class Connection:
    """A connection to a memory file; whoever uses it holds it.

    Args:
        path: The file; it is made when missing, and brought up to date.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.RLock()
        self._connection: sqlite3.Connection | None = None
        _connections.add(self)

    @contextmanager
    def held(self) -> Iterator[sqlite3.Connection]:
        """The connection; other threads wait.

        Raises:
            HermesError: The file cannot be used.
        """
        with self._lock:
            try:
                if self._connection is None:
                    self._connection = self._open()
                yield self._connection
            except (sqlite3.Error, OSError) as error:
                self.close()
                raise _unusable(self._path, error) from error

    def close(self) -> None:
        """Let the file go; it is opened anew when it is needed."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def before_fork(self) -> None:
        """Wait until nothing is being written: a child would take a lock that is held then for held for ever."""
        self._is_still = self._lock.acquire(timeout=_FORK_SECONDS)

    def after_fork(self) -> None:
        """Go on, in the process that has forked."""
        if self._is_still:
            self._lock.release()

    def after_fork_in_child(self) -> None:
        """Leave the connection to the parent; not even closing it is safe here."""
        _left_alone.append(self._connection)
        self._lock = threading.RLock()
        self._connection = None

    def _open(self) -> sqlite3.Connection:
        connection = open_database(self._path, seconds=BUSY_SECONDS)
        connection.isolation_level = None
        try:
            migrate(connection, self._path)
        except BaseException:  # an interrupt too leaves no handle open
            connection.close()
            raise
        return connection


def _unusable(path: Path, error: BaseException) -> HermesError:
    """Say why a file cannot be used; a damaged one is copied first, once."""
    if getattr(error, "sqlite_errorcode", 0) & 0xFF not in _DAMAGED:
        return HermesError(f"{path} cannot be used: {error}", hint=f"is {path.parent} writable, and is there room?")
    copy = path.with_name(f"{path.name}.damaged-{int(path.stat().st_mtime)}")
    if not copy.exists():
        try:
            shutil.copy2(path, copy)
        except OSError:
            return HermesError(f"{path} is damaged: {error}", hint="move it away to begin a new one")
    return HermesError(f"{path} is damaged: {error}", hint=f"a copy is {copy}; move the file away to begin a new one")


_connections: WeakSet[Connection] = WeakSet()
_left_alone: list[sqlite3.Connection | None] = []


def _each(method: str) -> None:
    for connection in [*_connections]:
        getattr(connection, method)()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=lambda: _each("before_fork"),
        after_in_parent=lambda: _each("after_fork"),
        after_in_child=lambda: _each("after_fork_in_child"),
    )
