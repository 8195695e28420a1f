"""The tables of the memory file, and how an older file becomes a newer one."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from hermes_core import HermesError

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator
    from pathlib import Path

MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        """create table scope (id integer primary key, user_id text not null, agent text not null,
        next integer not null default 0, unique (user_id, agent))""",
        "create table session (id integer primary key, scope integer, name text, unique (scope, name))",
        """create table memory (id integer primary key, session integer, position integer, role text not null,
        speaker text not null, at real not null, day text not null, part integer not null, head text not null,
        text text not null)""",
        "create unique index place on memory (session, position) where session is not null",
        "create index places on memory (id, session, speaker)",
        "create index fact on memory (text collate nocase) where session is null",
        "create virtual table word using fts5 (text, content = '', tokenize = 'porter unicode61 remove_diacritics 2')",
    ),
    (
        "create table vector (id integer primary key, data blob not null)",
        "create table meta (key text primary key, value blob)",
    ),
)
"""What brings a file from each version to the next; the version of a file is how many of these it has had."""

SCOPE_BITS = 40
"""An id is the number of its scope, shifted by this, plus a number in it: what a scope holds is one range of ids."""


def migrate(connection: sqlite3.Connection, path: Path) -> None:
    """Bring a file up to date.

    Raises:
        HermesError: A newer version of this plugin has written it.
    """
    if _version(connection) == len(MIGRATIONS):
        return
    with transaction(connection):
        version = _version(connection)  # another process may have been faster
        if version > len(MIGRATIONS):
            message = f"{path} has version {version}, this one knows {len(MIGRATIONS)} versions"
            raise HermesError(message, hint="update hermes-plugin-host, or move the file away to begin a new one")
        for statements in MIGRATIONS[version:]:
            for statement in statements:
                connection.execute(statement)
        connection.execute(f"pragma user_version = {len(MIGRATIONS)}")


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("pragma user_version").fetchone()[0])


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Everything in it is written, or nothing; no other process writes in between."""
    connection.execute("begin immediate")
    try:
        yield
    except BaseException:  # an interrupt too leaves no transaction open
        connection.execute("rollback")
        raise
    connection.execute("commit")
