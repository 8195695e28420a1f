"""The memory file: who said what, when; and the words of it."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from .connection import Connection
from .schema import SCOPE_BITS, transaction
from .text import to_index, to_match

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

_SMALL, _LARGE = 200, 100_000
"""Up to so many memories all words are looked up, from there on those in at most half of them, then in a hundredth."""
_ALWAYS = 2
"""So many words are looked up anyway, the rarest ones."""


class Memory(NamedTuple):
    """A message, a piece of a long one, or a fact; the fields are the columns of the table.

    Attributes:
        session: The number of its session; None for a fact.
        position: Its place among the pieces of its session.
        role: ``user``, ``assistant`` or ``fact``.
        speaker: Who said it; of a fact, where it comes from.
        at: When, in seconds since 1970.
        day: The date then, as it is shown; ``""`` for a fact.
        part: The place among the pieces of one message.
        head: What the message began with, and ``text`` leaves out: a time in brackets, the speaker's name.
    """

    id: int
    session: int | None
    position: int | None
    role: str
    speaker: str
    at: float
    day: str
    part: int
    head: str
    text: str


class Message(NamedTuple):
    """What is to be kept of a session; the fields are as those of ``Memory``."""

    role: str
    speaker: str
    at: float
    day: str
    head: str
    pieces: tuple[str, ...]


class Turn(NamedTuple):
    """Messages that are kept together, or not at all."""

    scope: int
    session: str
    messages: tuple[Message, ...]


_COLUMNS = ", ".join(f"memory.{name}" for name in Memory._fields)
_INSERT = f"insert into memory values ({', '.join('?' * len(Memory._fields))})"  # noqa: S608 - our own names


class Store:
    """One memory file. Any thread may use it; every method raises HermesError when the file cannot be used.

    Args:
        path: The file; it is made when missing, for its owner alone.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._reader = Connection(path)
        self._writer = Connection(path)
        self._frequent: set[str] = set()
        self._counted_at = 0

    def open(self) -> None:
        """Make sure that the file can be used, and is up to date."""
        with self.reading():
            pass

    def close(self) -> None:
        """Let the file go; it is opened anew when it is needed."""
        self._reader.close()
        self._writer.close()

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """The connection for queries; other threads wait."""
        with self._reader.held() as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """The connection for changes, in a transaction; other threads and processes wait."""
        with self._writer.held() as connection, transaction(connection):
            yield connection

    def scope(self, user_id: str, agent: str) -> int:
        """The number of what one user of one agent may see."""
        key = (user_id, agent)
        query = "select id from scope where user_id = ? and agent = ?"
        with self.reading() as connection:
            found = connection.execute(query, key).fetchone()
        if found is None:
            with self.writing() as connection:
                connection.execute("insert or ignore into scope (user_id, agent) values (?, ?)", key)
                found = connection.execute(query, key).fetchone()
        return int(found[0])

    def by_words(self, words: Sequence[str], scope: int, size: int, limit: int) -> list[tuple[int, float]]:
        """Ids of what holds some of these words, with their BM25 score, the best first.

        Args:
            words: What ``query_words`` gave.
            scope: Where to look.
            size: About how many memories there are; where they are many, frequent words are left out.
            limit: How many ids at most.
        """
        query = "select rowid, -rank from word where word match ? and rowid between ? and ? order by rank limit ?"
        with self.reading() as connection:
            telling = self._telling(connection, words, size)
            return connection.execute(query, (to_match(telling), *ids_of(scope), limit)).fetchall() if telling else []

    def _telling(self, connection: sqlite3.Connection, words: Sequence[str], size: int) -> Sequence[str]:
        """The words that are worth looking up: for one that stands everywhere the index would read all, for nothing."""
        if size < _SMALL or len(words) <= _ALWAYS:
            return words
        if not self._counted_at / 2 < size < self._counted_at * 2:
            self._frequent, self._counted_at = set(), size
        most = size // (2 if size < _LARGE else 100)
        query = "select count(*) from (select 1 from word where word match ? limit ?)"
        counts = dict.fromkeys(words, most + 1)
        for word in words:
            if word not in self._frequent:
                counts[word] = connection.execute(query, (to_match([word]), most + 1)).fetchone()[0]
                if counts[word] > most:
                    self._frequent.add(word)
        rarest = sorted(words, key=counts.__getitem__)
        return [word for place, word in enumerate(rarest) if place < _ALWAYS or counts[word] <= most]

    def get(self, ids: Sequence[int]) -> dict[int, Memory]:
        """These memories, by id; those that are gone are left out."""
        with self.reading() as connection:
            return {row.id: row for row in select(connection, f"id in ({', '.join('?' * len(ids))})", ids)}


def ids_of(scope: int) -> tuple[int, int]:
    """The first and the last id that belong to a scope."""
    return scope << SCOPE_BITS, ((scope + 1) << SCOPE_BITS) - 1


def add_turns(connection: sqlite3.Connection, turns: Iterable[Turn]) -> list[Memory]:
    """Keep turns in the transaction that is open; returns the pieces as they were kept."""
    added: list[Memory] = []
    for turn in turns:
        session, position = _session(connection, turn)
        pieces = [(message, part, text) for message in turn.messages for part, text in enumerate(message.pieces)]
        first = take_ids(connection, turn.scope, len(pieces))
        rows = [
            Memory(first + place, session, position + place, *message[:4], part, "" if part else message.head, text)
            for place, (message, part, text) in enumerate(pieces)
        ]
        insert(connection, rows)
        added += rows
    return added


def select(connection: sqlite3.Connection, where: str, values: Sequence[object]) -> list[Memory]:
    """The memories of which a condition is true."""
    query = f"select {_COLUMNS} from memory where {where}"  # noqa: S608 - conditions of ours
    return [Memory(*row) for row in connection.execute(query, values)]


def insert(connection: sqlite3.Connection, rows: Sequence[Memory]) -> None:
    """Keep memories, and index them."""
    connection.executemany(_INSERT, rows)
    connection.executemany("insert into word (rowid, text) values (?, ?)", [(row.id, indexed(row)) for row in rows])


def delete(connection: sqlite3.Connection, row: Memory) -> None:
    """Forget a memory, its words and its vector."""
    command = "insert into word (word, rowid, text) values ('delete', ?, ?)"
    connection.execute(command, (row.id, indexed(row)))
    connection.execute("delete from vector where id = ?", (row.id,))
    connection.execute("delete from memory where id = ?", (row.id,))


def indexed(row: Memory) -> str:
    """What can be searched for: the text, who said it and the date."""
    return to_index(f"{row.day} {row.speaker}: {row.text}" if row.session is not None else row.text)


def _session(connection: sqlite3.Connection, turn: Turn) -> tuple[int, int]:
    """The number of a turn's session, and the next free place in it."""
    key = (turn.scope, turn.session)
    connection.execute("insert or ignore into session (scope, name) values (?, ?)", key)
    session = int(connection.execute("select id from session where scope = ? and name = ?", key).fetchone()[0])
    last = connection.execute("select max(position) from memory where session = ?", (session,)).fetchone()[0]
    return session, 0 if last is None else last + 1


def take_ids(connection: sqlite3.Connection, scope: int, count: int) -> int:
    """The first of so many ids that were never used."""
    connection.execute("update scope set next = next + ? where id = ?", (count, scope))
    after = int(connection.execute("select next from scope where id = ?", (scope,)).fetchone()[0])
    return ids_of(scope)[0] + after - count
