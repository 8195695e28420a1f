"""A thread in which a provider's code runs, waited for no longer than a deadline."""

from __future__ import annotations

import threading
import weakref
from contextvars import copy_context
from queue import SimpleQueue
from time import monotonic
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


class LaneStuckError(Exception):
    """An earlier call is past its deadline, and still running: nothing more is asked until it returns."""


class LaneTimeoutError(Exception):
    """The call did not end in time; it goes on in its thread."""


class Job:
    """One call: its outcome, once there is one.

    Args:
        work: What to run, in a copy of the caller's context.
        late: Called with the job when it ends after it was given up.
    """

    def __init__(self, work: Callable[[], Any], late: Callable[[Job], object] | None = None) -> None:
        self.error: BaseException | None = None
        self.value: Any = None
        self._context = copy_context()
        self._work = work
        self._late = late
        self._ended = threading.Event()
        self._lock = threading.Lock()
        self._is_started = self._is_given_up = False

    def run(self) -> None:
        """Run it here, unless it was given up before its turn came."""
        with self._lock:
            if self._is_given_up:
                self._ended.set()
                return
            self._is_started = True
        try:
            self.value = self._context.run(self._work)
        except BaseException as error:  # noqa: BLE001 - the caller judges it
            self.error = error
        with self._lock:
            self._ended.set()
            is_late = self._is_given_up
        if is_late and self._late is not None:
            self._late(self)

    @property
    def is_overdue(self) -> bool:
        """Whether it was given up, and still runs."""
        return self._is_given_up and self._is_started and not self._ended.is_set()

    @property
    def is_ended(self) -> bool:
        """Whether there is an outcome."""
        return self._ended.is_set()

    def wait(self, until: float) -> bool:
        """Wait for its end, up to a reading of the monotonic clock; whether it has come."""
        return self._ended.wait(max(0.0, until - monotonic()))

    def give_up(self) -> None:
        """Wait no longer: unless it has ended by now, its end is a late one."""
        with self._lock:
            self._is_given_up = not self._ended.is_set()

    def result(self) -> Any:
        """What it returned; raises what it raised."""
        if self.error is not None:
            raise self.error
        return self.value


class Lane:
    """One thread, started when it is first needed; calls run in it one after the other.

    Args:
        name: Of the thread.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._lock = threading.Lock()
        self._last: Job | None = None
        self._overdue: Job | None = None
        self._thread: threading.Thread | None = None
        self._inbox: SimpleQueue[Job | None] = SimpleQueue()

    @property
    def is_stuck(self) -> bool:
        """Whether a call that was given up still runs."""
        return self._overdue is not None and self._overdue.is_overdue

    @property
    def is_idle(self) -> bool:
        """Whether nothing runs or waits."""
        return not self.is_stuck and (self._last is None or self._last.is_ended)

    def submit(self, work: Callable[[], Any], late: Callable[[Job], object] | None = None) -> Job:
        """Have a call run as soon as those before it have ended.

        Raises:
            LaneStuckError: One of them is overdue.
            RuntimeError: The system gives no thread.
        """
        job = Job(work, late)
        with self._lock:
            if self.is_stuck:
                raise LaneStuckError
            if self._thread is None or not self._thread.is_alive():  # nor is it in a forked child
                self._inbox = SimpleQueue()
                self._thread = threading.Thread(target=_serve, args=(self._inbox,), name=self.name, daemon=True)
                self._thread.start()
                weakref.finalize(self, self._inbox.put, None).atexit = False
            self._last = job
            self._inbox.put(job)
        return job

    def result(self, job: Job, until: float) -> Any:
        """A call's outcome, waited for up to a reading of the monotonic clock.

        Raises:
            LaneTimeoutError: It has not ended.
        """
        try:
            job.wait(until)
        finally:  # an interrupt gives it up, too
            job.give_up()
            if job.is_overdue:
                self._overdue = job
        if not job.is_ended:
            raise LaneTimeoutError
        return job.result()

    def call(self, work: Callable[[], Any], seconds: float) -> Any:
        """Run a call and return what it returns; raises what it raises. From the lane's own thread, it runs at once.

        Raises:
            LaneStuckError: An earlier one is overdue.
            LaneTimeoutError: It takes longer than ``seconds``.
        """
        if threading.current_thread() is self._thread:
            return work()
        return self.result(self.submit(work), monotonic() + seconds)

    def close(self, seconds: float = 1.0) -> None:
        """End the thread, once what runs in it has ended; wait for that if it is not stuck."""
        with self._lock:
            thread, self._thread = self._thread, None
            self._inbox.put(None)
        if thread is not None and not self.is_stuck and thread is not threading.current_thread():
            thread.join(seconds)


def _serve(inbox: SimpleQueue[Job | None]) -> None:
    while (job := inbox.get()) is not None:
        job.run()
        del job  # what it holds is not to live until the next one comes
