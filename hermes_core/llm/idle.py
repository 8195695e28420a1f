"""Connections that wait for their next call."""

from __future__ import annotations

import time
from collections import defaultdict, deque
from contextlib import suppress
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

if TYPE_CHECKING:
    from hermes_core.llm.place import Place

MOST = 100
"""Connections to one place that are kept."""

SECONDS = 20.0
"""How long one is kept."""


class DroppedError(ConnectionError):
    """The server closed a connection that was kept, before a word of the next answer.

    Servers do that to idle connections at any time, and it may cross a request on its way. So such a request is sent
    once more, on a new connection, as browsers do; every other failure is left to the call's own retries.
    """


class Connection(Protocol):
    """What can wait."""

    keeps: bool
    """Whether it can be used again, as far as its last answer tells."""

    idle_since: float
    """When that was whole, by ``time.monotonic``."""

    @property
    def is_silent(self) -> bool:
        """Whether the server has said nothing unasked since, and has not hung up."""

    def close(self) -> None:
        """Hang up."""


T = TypeVar("T", bound=Connection)


class Idle(Generic[T]):
    """Connections by place; safe for threads. The one that was used last is used next."""

    def __init__(self) -> None:
        self._of: defaultdict[Place, deque[T]] = defaultdict(deque)
        self._closed = False
        self._looked_through = 0.0

    def take(self, place: Place) -> T | None:
        """One that can be used; those that are no longer any good are closed."""
        idle = self._of[place]
        while True:
            try:
                connection = idle.pop()
            except IndexError:
                return None
            if connection.idle_since > time.monotonic() - SECONDS and connection.is_silent:
                return connection
            connection.close()

    def put(self, place: Place, connection: T) -> None:
        """Keep one, if it can be used again; those that have waited too long are closed."""
        if not connection.keeps or self._closed:
            connection.close()
            return
        idle = self._of[place]
        idle.append(connection)
        with suppress(IndexError):  # another thread was quicker
            while len(idle) > MOST or idle[0].idle_since < connection.idle_since - SECONDS:
                idle.popleft().close()
        if connection.idle_since > self._looked_through + SECONDS:
            self._looked_through = connection.idle_since
            self._drop_old(connection.idle_since - SECONDS)

    def _drop_old(self, before: float) -> None:
        """Close what has waited at other places, where perhaps nobody calls any more."""
        for idle in [*self._of.values()]:
            with suppress(IndexError):
                while idle[0].idle_since < before:
                    idle.popleft().close()

    def close(self) -> None:
        """Close them all, and from now on each one that is put back."""
        self._closed = True
        for idle in [*self._of.values()]:
            while idle:
                idle.pop().close()
