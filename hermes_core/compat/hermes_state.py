"""SQLite settings, under the original's name."""

from __future__ import annotations

import sqlite3
from typing import Any

__all__ = ["apply_wal_with_fallback"]


def apply_wal_with_fallback(connection: sqlite3.Connection, *_args: Any, **_options: Any) -> str:
    """Have writers and readers not wait for each other, where the file's place allows it; the journal mode it has."""
    try:
        return str(connection.execute("PRAGMA journal_mode=WAL").fetchone()[0])
    except sqlite3.OperationalError:  # some network folders know no shared memory
        return str(connection.execute("PRAGMA journal_mode=DELETE").fetchone()[0])
