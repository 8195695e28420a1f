"""Taking memories out as JSON lines, and in again; and the entries of a MEMORY.md."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from hermes_core import HermesError, redact

from .facts import ROLE, add_fact
from .store import Turn, add_turns, ids_of, select
from .text import storable

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterable, Iterator

    from .store import Memory, Message, Store

_PAGE = 500
_FORM = "each line is an object with a text, see docs/memory.md; lines that were kept already are not kept twice"
ENTRY_SEPARATOR = "\n§\n"
"""What stands between the entries of a MEMORY.md."""


def export(store: Store, scope: int) -> Iterator[dict[str, Any]]:
    """What a scope holds, one message or fact at a time: ``session`` (None for a fact), role, speaker, time, text."""
    after, last = ids_of(scope)[0] - 1, ids_of(scope)[1]
    kept: dict[str, Any] | None = None
    while True:
        with store.reading() as connection:
            rows = select(connection, "id > ? and id <= ? order by id limit ?", (after, last, _PAGE))
            names = _session_names(connection, rows)
        for row in rows:
            if kept is not None and row.part:
                kept["text"] += row.text
                continue
            if kept is not None:
                yield kept
            kept = as_record(row, names.get(row.session))
        if not rows:
            break
        after = rows[-1].id
    if kept is not None:
        yield kept


def as_record(row: Memory, session: str | None) -> dict[str, Any]:
    """A memory as a program is to see it."""
    text = row.head + row.text
    return {"session": session, "role": row.role, "speaker": row.speaker, "time": row.at, "text": text}


def _session_names(connection: sqlite3.Connection, rows: Iterable[Memory]) -> dict[int | None, str]:
    ids = list({row.session for row in rows if row.session is not None})
    query = f"select id, name from session where id in ({', '.join('?' * len(ids))})"  # noqa: S608 - only marks
    return dict(connection.execute(query, ids))


def read_records(lines: Iterable[str]) -> Iterator[dict[str, Any]]:
    """What ``export`` wrote, line by line.

    Raises:
        HermesError: A line is none of it; names the line.
    """
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise HermesError(f"line {number} is no JSON: {error}", hint=_FORM) from error
        if not isinstance(record, dict) or not isinstance(record.get("text"), str) or not record["text"].strip():
            raise HermesError(f"line {number} has no 'text'", hint=_FORM)
        at = record.get("time")
        if at is not None and (isinstance(at, bool) or not isinstance(at, int | float)):
            raise HermesError(f"line {number}: 'time' must be seconds since 1970, got {at!r}", hint=_FORM)
        yield {
            "session": None if record.get("session") is None else storable(record["session"]),
            "role": storable(record.get("role") or ROLE),
            "speaker": storable(record.get("speaker") or ""),
            "time": None if at is None else float(at),
            "text": record["text"],
        }


class Importer:
    """Writes records that are not kept yet, in the transaction that is open.

    Args:
        message: Makes a message of role, text, speaker and time.
    """

    def __init__(self, connection: sqlite3.Connection, scope: int, message: Callable[..., Message]) -> None:
        self._connection = connection
        self._scope = scope
        self._message = message
        self._held: dict[str, set[tuple[Any, ...]]] = {}

    def add(self, record: dict[str, Any]) -> list[Memory]:
        """Keep one record; returns what was written, nothing when it was kept before."""
        session, at = record["session"], record["time"]
        if session is None:
            row, is_new = add_fact(
                self._connection, self._scope, redact(storable(record["text"])), record["speaker"], at or 0.0
            )
            return [row] if is_new else []
        message = self._message(record["role"], record["text"], record["speaker"], at)
        held = self._held_of(session)
        text = message.head + "".join(message.pieces)
        key = (message.role, text) if at is None else (message.role, text, message.at)
        if key in held:
            return []
        held |= {(message.role, text), (message.role, text, message.at)}
        return add_turns(self._connection, [Turn(self._scope, session, (message,))])

    def _held_of(self, session: str) -> set[tuple[Any, ...]]:
        if session not in self._held:
            where = "session = (select id from session where scope = ? and name = ?) order by position"
            records: list[dict[str, Any]] = []
            for row in select(self._connection, where, (self._scope, session)):
                if row.part:
                    records[-1]["text"] += row.text
                else:
                    records.append(as_record(row, session))
            keys = [(record["role"], record["text"], record["time"]) for record in records]
            self._held[session] = {*keys, *(key[:2] for key in keys)}
        return self._held[session]
