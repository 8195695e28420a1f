"""Opening a SQLite file that several threads and processes use at once."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import sqlite3
    from pathlib import Path


def open_database(path: Path, *, seconds: float = 10.0) -> sqlite3.Connection:
    """A connection that any thread may use, one at a time; readers and a writer do not block each other (WAL).

    The file and its folders are made when missing, the file readable by its owner alone.

    Args:
        path: The file.
        seconds: How long to wait for another process that holds it, now and later.

    Raises:
        sqlite3.Error: It is no database, or damaged, or held for longer.
        OSError: It can neither be read nor made.

    Example:
        >>> import tempfile, pathlib
        >>> connection = open_database(pathlib.Path(tempfile.mkdtemp(), "deep", "notes.db"))
        >>> connection.execute("pragma journal_mode").fetchone()
        ('wal',)
        >>> connection.close()
    """
    import sqlite3

    until = time.monotonic() + seconds
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))
    connection = sqlite3.connect(path, timeout=seconds, check_same_thread=False)
    try:
        _share(connection, until)
        connection.execute("pragma synchronous = normal")
    except BaseException:  # an interrupt too leaves no handle open
        connection.close()
        raise
    return connection


def _share(connection: sqlite3.Connection, until: float) -> None:
    """Switch to WAL; SQLite itself waits for nobody who is just doing the same."""
    import sqlite3

    while True:
        try:
            connection.execute("pragma journal_mode = wal")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                raise
        time.sleep(0.01)
