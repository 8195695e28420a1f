"""Answers in one SQLite file, which several threads and processes use at once."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hermes_core import HermesError, open_database

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

BUSY_SECONDS = 2.0
"""How long a call waits while another process writes."""

SIDE_FILES = ("", "-wal", "-shm")

_SCHEMA = """
create table if not exists answers (key text primary key, at real not null, answer text not null);
create index if not exists by_age on answers (at);
"""
_EVICT = """
delete from answers where key in
    (select key from answers order by at limit (select max(1, count(*) / 10) from answers))
"""


@dataclass
class _Handle:
    """A process's own connection; one that a fork inherited is never touched."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    connection: sqlite3.Connection | None = None


class Store:
    """Texts by key, each with the time it was kept. Every method raises HermesError when the file cannot be used.

    Args:
        path: The file; it is made when it is first needed, for its owner alone.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._handles: dict[int, _Handle] = {}

    def get(self, key: str, ttl: float) -> str | None:
        """The text of a key, unless it was kept more than ``ttl`` seconds ago."""
        with self._connected() as connection:
            query = "select answer from answers where key = ? and at > ?"
            row = connection.execute(query, (key, time.time() - ttl)).fetchone()
        return None if row is None else str(row[0])

    def put(self, key: str, text: str, ttl: float, max_bytes: float) -> None:
        """Keep a text; what is too old goes, and the oldest when all together fill more than ``max_bytes``."""
        now = time.time()
        with self._connected() as connection:
            connection.execute("insert or replace into answers values (?, ?, ?)", (key, now, text))
            connection.execute("delete from answers where at <= ?", (now - ttl,))
            while _used(connection) > max_bytes and connection.execute(_EVICT).rowcount:
                pass

    def forget(self, key: str) -> None:
        """Delete one."""
        with self._connected() as connection:
            connection.execute("delete from answers where key = ?", (key,))

    def count(self) -> tuple[int, int, float | None]:
        """How many texts there are, the bytes they fill, and when the oldest was kept."""
        if not self.path.exists():
            return 0, 0, None
        with self._connected() as connection:
            number, oldest = connection.execute("select count(*), min(at) from answers").fetchone()
            return number, _used(connection) if number else 0, oldest

    def clear(self) -> None:
        """Delete all, from the disk too; a file that is damaged is deleted as a whole."""
        if not self.path.exists():
            return
        try:
            with self._connected() as connection:
                connection.execute("delete from answers")
                connection.commit()
                connection.execute("vacuum")
                connection.execute("pragma wal_checkpoint(truncate)")
        except HermesError as error:
            if not _is_damage(error.__cause__):
                raise
            for end in SIDE_FILES:
                self.path.with_name(self.path.name + end).unlink(missing_ok=True)

    def close(self) -> None:
        """Let the file go; it is opened anew when it is needed."""
        handle = self._handle()
        with handle.lock:
            _close(handle)

    def _handle(self) -> _Handle:
        return self._handles.setdefault(os.getpid(), _Handle())

    @contextmanager
    def _connected(self) -> Iterator[sqlite3.Connection]:
        """The connection, in a transaction; other threads wait."""
        handle = self._handle()
        with handle.lock:
            try:
                if handle.connection is None:
                    handle.connection = self._open()
                with handle.connection:
                    yield handle.connection
            except (sqlite3.Error, OSError) as error:
                _close(handle)
                remedy = "`hermes response-cache clear` begins a new one" if _is_damage(error) else "is it writable?"
                raise HermesError(f"{self.path} cannot be used: {error}; {remedy}") from error

    def _open(self) -> sqlite3.Connection:
        connection = open_database(self.path, seconds=BUSY_SECONDS)
        try:
            connection.executescript(_SCHEMA)
        except BaseException:  # an interrupt too leaves no handle open
            connection.close()
            raise
        return connection


def _used(connection: sqlite3.Connection) -> int:
    """Bytes of the file that hold something."""
    names = ("page_count", "freelist_count", "page_size")
    pages, free, size = (int(connection.execute(f"pragma {name}").fetchone()[0]) for name in names)
    return (pages - free) * size


def _is_damage(error: BaseException | None) -> bool:
    """Whether the file holds something else than it should, so that only a new one helps."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    return code in (sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def _close(handle: _Handle) -> None:
    if handle.connection is not None:
        handle.connection.close()
        handle.connection = None
