"""Where the memories of a scope stand, held in memory: which session, who speaks, what comes before and after."""

from __future__ import annotations

import threading
from array import array
from typing import TYPE_CHECKING

from .store import ids_of

if TYPE_CHECKING:
    from .store import Store

_READ_AT_ONCE = 20_000
NOWHERE = -1


class Places:
    """Columns, one row for each id of the scope, in the order of ids; about 16 bytes a memory.

    Attributes:
        first: The id of row 0.
        session: The number of its session; ``NOWHERE`` for a fact, or what is gone.
        speaker: A place in ``names``.
        before: The row that stands before it in its session, or ``NOWHERE``.
        after: The one that stands after it.
        names: Speakers, each as the words of the name in lower case.
    """

    def __init__(self, store: Store, scope: int) -> None:
        self.first, self._most = ids_of(scope)
        self._store = store
        self._lock = threading.Lock()
        self.session = array("q")
        self.speaker = array("i")
        self.before = array("i")
        self.after = array("i")
        self.names: list[frozenset[str]] = []
        self._name_at: dict[str, int] = {}
        self._latest: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self.session)

    def catch_up(self) -> None:
        """Read what this or another process has written since."""
        query = (
            "select id, session, speaker from memory indexed by places where id >= ? and id <= ? order by id limit ?"
        )
        with self._lock:
            while True:
                span = (self.first + len(self.session), self._most, _READ_AT_ONCE)
                with self._store.reading() as connection:
                    rows = connection.execute(query, span).fetchall()
                for id_, session, speaker in rows:
                    self._add(id_ - self.first, session, speaker)
                if len(rows) < _READ_AT_ONCE:
                    return

    def _add(self, row: int, session: int | None, speaker: str) -> None:
        while len(self.session) < row:  # ids that are gone
            self._append(NOWHERE, self._name(""), NOWHERE)
        if session is None:
            self._append(NOWHERE, self._name(speaker), NOWHERE)
            return
        latest = self._latest.get(session, NOWHERE)
        if latest != NOWHERE:
            self.after[latest] = row
        self._latest[session] = row
        self._append(session, self._name(speaker), latest)

    def _append(self, session: int, speaker: int, before: int) -> None:
        self.speaker.append(speaker)
        self.before.append(before)
        self.after.append(NOWHERE)
        self.session.append(session)  # last, as its length says how many rows there are

    def _name(self, speaker: str) -> int:
        place = self._name_at.get(speaker)
        if place is None:
            place = self._name_at[speaker] = len(self.names)
            self.names.append(frozenset(speaker.lower().split()))
        return place
