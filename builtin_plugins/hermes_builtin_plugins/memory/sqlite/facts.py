"""Facts: sentences that stand by themselves, added, changed and taken back."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from .store import Memory, delete, ids_of, insert, select, take_ids

if TYPE_CHECKING:
    import sqlite3

ROLE = "fact"


def add_fact(
    connection: sqlite3.Connection, scope: int, text: str, source: str, at: float = 0.0
) -> tuple[Memory, bool]:
    """Keep a fact; returns it, and whether it is new: one that differs only in blanks or capitals is kept once."""
    text = " ".join(text.split())
    held = find_facts(connection, scope, text)
    if held:
        return held[0], False
    row = Memory(take_ids(connection, scope, 1), None, None, ROLE, source, at or time.time(), "", 0, "", text)
    insert(connection, [row])
    return row, True


def find_facts(connection: sqlite3.Connection, scope: int, text: str) -> list[Memory]:
    """The facts of a scope that say exactly this."""
    where = "session is null and text = ? collate nocase and id between ? and ?"
    return select(connection, where, (" ".join(text.split()), *ids_of(scope)))


def forget(connection: sqlite3.Connection, scope: int, id_: int) -> list[Memory]:
    """Delete a fact, or a message with all its pieces; returns what is gone, nothing when there was no such."""
    first, last = ids_of(scope)
    if not first <= id_ <= last:
        return []
    found = select(connection, "id = ?", (id_,))
    if found and found[0].session is not None:
        row = found[0]
        start = (row.position or 0) - row.part
        found = select(connection, "session = ? and position >= ? order by position", (row.session, start))
        found = found[: next((place for place, piece in enumerate(found) if place and not piece.part), None)]
    for row in found:
        delete(connection, row)
    return found
