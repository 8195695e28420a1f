"""Connections that wait for their next call: which one is used, and which are closed."""

from __future__ import annotations

import time

import pytest

from hermes_core.llm.idle import MOST, SECONDS, Idle
from hermes_core.llm.place import place_of

HERE, THERE = place_of("http://127.0.0.1:1"), place_of("http://127.0.0.1:2")


class Waiting:
    """A connection that has waited for some seconds."""

    def __init__(self, waited: float = 0.0, *, keeps: bool = True, is_silent: bool = True) -> None:
        self.idle_since = time.monotonic() - waited
        self.keeps = keeps
        self.is_silent = is_silent
        self.is_open = True

    def close(self) -> None:
        """Note it."""
        self.is_open = False


def test_the_one_that_was_used_last_is_used_next():
    """Connections are used from the warm end, each by one call at a time, and only for its own place."""
    idle, one, two = Idle(), Waiting(), Waiting()
    idle.put(HERE, one)
    idle.put(HERE, two)
    assert [idle.take(THERE), idle.take(HERE), idle.take(HERE), idle.take(HERE)] == [None, two, one, None]


@pytest.mark.parametrize("connection", [Waiting(SECONDS + 1), Waiting(is_silent=False)], ids=["old", "not-silent"])
def test_what_is_no_longer_any_good_is_closed(connection):
    """A connection that waited too long, or on which something came unasked, is not used again."""
    idle = Idle()
    idle.put(HERE, connection)
    assert (idle.take(HERE), connection.is_open) == (None, False)


def test_what_cannot_be_used_again_is_not_kept():
    """A connection whose server said that it closes is closed here too."""
    idle, connection = Idle(), Waiting(keeps=False)
    idle.put(HERE, connection)
    assert (idle.take(HERE), connection.is_open) == (None, False)


def test_what_has_waited_too_long_goes_when_another_comes():
    """After a burst the connections that nobody needs any more do not stay for ever."""
    idle, old, new = Idle(), Waiting(SECONDS + 1), Waiting()
    idle.put(HERE, old)
    idle.put(HERE, new)
    assert (old.is_open, idle.take(HERE)) == (False, new)


def test_what_waits_elsewhere_goes_too():
    """A program that calls many places, each once, keeps no connection to each of them for ever."""
    idle, old, new = Idle(), Waiting(SECONDS + 1), Waiting()
    idle.put(HERE, old)
    idle.put(THERE, new)
    assert (old.is_open, new.is_open) == (False, True)


def test_only_so_many_are_kept():
    """Of more connections to one place than may wait, the ones used longest ago are closed."""
    idle, connections = Idle(), [Waiting() for _ in range(MOST + 2)]
    for connection in connections:
        idle.put(HERE, connection)
    assert [connection.is_open for connection in connections] == [False] * 2 + [True] * MOST


def test_closing_closes_what_comes_back_later_too():
    """A call that is under way while its host is closed leaves no connection open."""
    idle, waiting, late = Idle(), Waiting(), Waiting()
    idle.put(HERE, waiting)
    idle.close()
    idle.put(HERE, late)
    assert (waiting.is_open, late.is_open, idle.take(HERE)) == (False, False, None)
