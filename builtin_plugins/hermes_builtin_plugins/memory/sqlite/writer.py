"""Work that a thread of its own does, in order, many pieces at a time."""

from __future__ import annotations

import atexit
import logging
import os
import threading
import time
from collections import deque
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from hermes_core import HermesError

if TYPE_CHECKING:
    from collections.abc import Callable

log = logging.getLogger(__name__)

MOST_AT_ONCE = 500
MOST_WAITING = 20_000
"""More than that, and whoever hands in work waits: memory is not without end."""
RETRY_SECONDS = 0.5
LEAVING_SECONDS = 5.0
"""How long the end of the program waits for what is not written yet."""


class Writer:
    """Hands what it is given to ``write``, in lists and in order; what fails is tried again.

    Args:
        write: Keeps all of a list, or raises and keeps nothing.
    """

    def __init__(self, write: Callable[[list[Any]], None]) -> None:
        self._write = write
        self._fresh()
        _writers.add(self)

    def _fresh(self) -> None:
        """What waited when the process was forked is the parent's to write."""
        self._pid = os.getpid()
        self._changed = threading.Condition()
        self._waiting: deque[Any] = deque()
        self._busy = 0
        self._failure: HermesError | None = None
        self._thread: threading.Thread | None = None

    @property
    def pending(self) -> int:
        """How many pieces of work are not done yet."""
        return len(self._waiting) + self._busy if self._pid == os.getpid() else 0

    def put(self, work: Any) -> None:
        """Hand in a piece of work."""
        if self._pid != os.getpid():
            self._fresh()
        with self._changed:
            while len(self._waiting) >= MOST_WAITING:
                self._changed.wait()
            self._waiting.append(work)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="hermes-memory", daemon=True)
                self._thread.start()
            self._changed.notify_all()

    def flush(self, seconds: float | None = None) -> None:
        """Wait until all that was handed in is done.

        Raises:
            HermesError: It could not be done, or not within ``seconds``; it goes on being tried.
        """
        until = None if seconds is None else time.monotonic() + seconds
        with self._changed:
            self._failure = None
            while self.pending:
                if self._failure is not None:
                    raise self._failure
                left = None if until is None else until - time.monotonic()
                if left is not None and left <= 0:
                    message = f"{self.pending} turns are not written yet"
                    raise HermesError(message, hint="another process may hold the memory file")
                self._changed.wait(left)

    def close(self, seconds: float = LEAVING_SECONDS) -> None:
        """Do what is left, and end the thread."""
        try:
            self.flush(seconds)
        except HermesError as error:
            log.warning("memories are lost count=%d error=%s", self.pending, error)
        with self._changed:
            thread, self._thread = self._thread, None
            self._changed.notify_all()
        if thread is not None and thread is not threading.current_thread():
            thread.join(seconds)

    def _run(self) -> None:
        while True:
            with self._changed:
                while not self._waiting and self._thread is threading.current_thread():
                    self._changed.wait()
                if self._thread is not threading.current_thread():
                    return
                work = [self._waiting.popleft() for _ in range(min(len(self._waiting), MOST_AT_ONCE))]
                self._busy = len(work)
                self._changed.notify_all()
            failure = self._try(work)
            with self._changed:
                self._busy = 0
                if failure is not None:
                    self._waiting.extendleft(reversed(work))
                    if self._failure is None:
                        log.warning("memories cannot be written, trying again error=%s", failure)
                    self._failure = failure
                self._changed.notify_all()
                if failure is not None:
                    self._changed.wait(RETRY_SECONDS)

    def _try(self, work: list[Any]) -> HermesError | None:
        try:
            self._write(work)
        except HermesError as error:
            return error
        except Exception as error:  # noqa: BLE001 - the thread lives on, whatever it was
            return HermesError(f"memories cannot be written: {error!r}")
        return None


_writers: WeakSet[Writer] = WeakSet()


@atexit.register
def _finish() -> None:
    for writer in list(_writers):
        if writer.pending:
            writer.close()
