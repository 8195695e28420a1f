"""The lock of a registry: its holder lends it out while a plugin's code runs."""

from __future__ import annotations

import sys
import threading
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING

from hermes_core.plugins.current import plugin_context

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hermes_core.plugins.context import PluginContext

PATIENCE = 30.0
"""Seconds a thread waits for a plugin's code to end, before it goes on with what is loaded so far."""

GRACE = 0.5
"""The same for a thread that was started meanwhile, while that code itself waits for something: maybe for it."""

_POLL = 0.05
_WAITING = frozenset(("threading", "queue", "selectors"))
"""The modules in which Python's code waits for another thread, or for events."""


class Loan:
    """A plugin's code that runs.

    Attributes:
        context: Whose it is.
        thread: Where it runs.
        before: The threads there were when it began; it has started none of them.
        guests: Those that did not wait for its end.
    """

    def __init__(self, context: PluginContext) -> None:
        self.context = context
        self.thread = threading.current_thread()
        self.before = frozenset(threading.enumerate())
        self.guests = {self.thread}

    def is_for(self, thread: threading.Thread) -> bool:
        """Whether ``thread`` need not wait for its end."""
        return thread in self.guests or self.context is plugin_context()

    def may_wait_for(self, thread: threading.Thread) -> bool:
        """Whether the code seems to wait, and ``thread`` may be what for."""
        frame = sys._current_frames().get(self.thread.ident or 0)  # noqa: SLF001 - public, for this very purpose
        return thread not in self.before and frame is not None and frame.f_globals.get("__name__") in _WAITING


class LendingLock:
    """A re-entrant lock that nobody holds while a plugin's code runs.

    Meanwhile a thread that acts for that plugin takes it as the plugin's own thread would, and sees what is
    there so far. Any other waits for the code to end, but not for ever: the code may be waiting for that thread.
    """

    def __init__(self) -> None:
        self._mutex = threading.RLock()
        self._turn = threading.Condition(self._mutex)
        self._depth = 0
        self._loans: list[Loan] = []

    def __enter__(self) -> None:
        self._mutex.acquire()
        if self._loans and not self._depth:
            try:
                self._wait()
            except BaseException:
                self._mutex.release()
                raise
        self._depth += 1

    def __exit__(self, *_exc: object) -> None:
        self._depth -= 1
        self._mutex.release()

    @contextmanager
    def lent(self, context: PluginContext) -> Iterator[None]:
        """Let go of the lock, however often it is held, while the plugin's code inside runs."""
        depth, self._depth = self._depth, 0
        loan = Loan(context)
        self._loans.append(loan)
        for _ in range(depth):
            self._mutex.release()
        try:
            yield
        finally:
            self._mutex.acquire()
            try:  # who came in meanwhile, and has lent it on, ends first
                self._turn.wait_for(lambda: self._loans[-1] is loan, PATIENCE)
            finally:
                self._loans.remove(loan)
                self._turn.notify_all()
                for _ in range(depth - 1):
                    self._mutex.acquire()
                self._depth = depth

    def _wait(self) -> None:
        """Wait until no plugin's code runs, or this thread need not wait any longer."""
        thread = threading.current_thread()
        begun = unneeded = monotonic()
        while self._loans and not any(loan.is_for(thread) for loan in self._loans):
            now, loan = monotonic(), self._loans[-1]
            if not loan.may_wait_for(thread):
                unneeded = now
            if now - begun > PATIENCE or now - unneeded > GRACE:
                loan.guests.add(thread)
            else:
                self._turn.wait(_POLL)
