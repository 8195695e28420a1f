"""The background of a memory manager: one thread, one bounded queue, strictly in order."""

from __future__ import annotations

import logging
import threading
import weakref
from collections import deque
from contextvars import copy_context
from time import monotonic
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

log = logging.getLogger(__name__)

WRITE, WARM_UP = "write", "prefetch"
"""What a task is for: to keep something, or to be quicker next time, which may be left out."""


class Task:
    """One piece of work that waits for its turn."""

    def __init__(self, kind: str, work: Callable[[], object], label: str) -> None:
        self.kind = kind
        self.label = label
        self.ended = threading.Event()
        self._context = copy_context()
        self._work = work

    def run(self) -> None:
        """Run it here; what it raises is logged."""
        try:
            self._context.run(self._work)
        except BaseException:  # the work isolates providers itself; the thread must go on whatever comes
            log.exception("memory task failed task=%s", self.label)
        finally:
            self.ended.set()


class _Queue:
    """What the thread and the worker share, so that the thread alone keeps no worker alive."""

    def __init__(self) -> None:
        self.changed = threading.Condition()
        self.waiting: deque[Task] = deque()
        self.running: Task | None = None
        self.since = 0.0
        self.is_closed = False

    def serve(self) -> None:
        """Run one task after the other, until the queue is closed and empty."""
        while True:
            with self.changed:
                self.running = None
                self.changed.notify_all()
                self.changed.wait_for(lambda: self.waiting or self.is_closed)
                if not self.waiting:
                    return
                task = self.running = self.waiting.popleft()
                self.since = monotonic()
            task.run()
            del task

    def close(self) -> list[Task]:
        """Have the thread end after what it runs; gives what has not begun."""
        with self.changed:
            self.is_closed = True
            left = [*self.waiting]
            self.waiting.clear()
            self.changed.notify_all()
            return left


class Worker:
    """Runs tasks in the background: first in, first out, never two at a time.

    Nobody ever waits to hand one in. When the queue is full, warm-ups that wait are left out for a task that keeps
    something; when there is none, the task is refused, which the caller has to report.

    Args:
        size: How many tasks may wait.

    Attributes:
        is_closed: Whether nothing more is taken.

    Example:
        >>> worker, seen = Worker(10), []
        >>> worker.submit(WRITE, lambda: seen.append("tea"), "note") is not None, worker.wait(5)
        (True, True)
        >>> worker.close(1)
        >>> seen, worker.drain_state["status"], worker.submit(WRITE, print, "late")
        (['tea'], 'drained', None)
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._queue = _Queue()
        self._thread: threading.Thread | None = None
        self.is_closed = False
        self._drain: dict[str, Any] = {
            "status": "not_started", "abandoned_writes": 0, "abandoned_prefetches": 0, "active_tasks": 0
        }  # fmt: skip

    @property
    def drain_state(self) -> dict[str, Any]:
        """How closing went: ``status``, ``abandoned_writes``, ``abandoned_prefetches``, ``active_tasks``."""
        return dict(self._drain)

    @property
    def load(self) -> dict[str, Any]:
        """What there is to do: ``waiting``, ``capacity``, the label of what runs, and since how many seconds."""
        running, since = self._running, self._queue.since
        return {
            "waiting": len(self._queue.waiting),
            "capacity": self._size,
            "running": running.label if running is not None else "",
            "running_seconds": round(monotonic() - since, 1) if running is not None else 0.0,
        }

    @property
    def is_idle(self) -> bool:
        """Whether nothing runs or waits."""
        with self._queue.changed:
            return self._running is None and not self._queue.waiting

    @property
    def _running(self) -> Task | None:
        """What runs now; the thread itself may not have noticed yet that it has ended."""
        task = self._queue.running
        return None if task is None or task.ended.is_set() else task

    def submit(self, kind: str, work: Callable[[], object], label: str) -> Task | None:
        """Queue a task, in a copy of the caller's context; None when it is refused: closed, or full.

        A warm-up takes the place of one of the same label that still waits.
        """
        task = Task(kind, work, label)
        with self._queue.changed:
            if self.is_closed or not self._make_room(task) or not self._has_thread():
                return None
            self._queue.waiting.append(task)
            self._queue.changed.notify_all()
        return task

    def wait(self, seconds: float | None) -> bool:
        """Wait until all that was submitted before has ended; False when that takes longer."""
        with self._queue.changed:
            pending = [task for task in (self._running, *self._queue.waiting) if task is not None]
        until = None if seconds is None else monotonic() + seconds
        return all(task.ended.wait(None if until is None else max(0.0, until - monotonic())) for task in pending)

    def close(self, seconds: float) -> None:
        """Take nothing more, and wait for what is there; what has not begun by then is abandoned, and counted."""
        if self.is_closed:
            return
        self.is_closed = True
        self._drain["status"] = "draining"
        is_done = self.wait(seconds)
        left = self._queue.close()
        is_running = self._running is not None
        self._drain = {
            "status": "drained" if is_done and not left else "timed_out",
            "abandoned_writes": sum(task.kind == WRITE for task in left),
            "abandoned_prefetches": sum(task.kind == WARM_UP for task in left),
            "active_tasks": int(is_running),
        }
        for task in left:
            task.ended.set()
        if self._thread is not None and not is_running:
            self._thread.join(1.0)

    def _make_room(self, task: Task) -> bool:
        """Leave out warm-ups for it where that helps; whether there is room for it now."""
        waiting = self._queue.waiting
        if task.kind == WARM_UP:
            for other in [other for other in waiting if (other.kind, other.label) == (WARM_UP, task.label)]:
                self._leave_out(other)
        if len(waiting) >= self._size and task.kind == WRITE:
            for other in [other for other in waiting if other.kind == WARM_UP]:
                self._leave_out(other)
        return len(waiting) < self._size

    def _leave_out(self, task: Task) -> None:
        self._queue.waiting.remove(task)
        task.ended.set()

    def _has_thread(self) -> bool:
        if self._thread is None or not self._thread.is_alive():  # nor is it in a forked child
            thread = threading.Thread(target=self._queue.serve, name="mem-sync", daemon=True)
            try:
                thread.start()
            except RuntimeError:  # the system gives none, or the interpreter is about to end
                return False
            self._thread = thread
            weakref.finalize(self, self._queue.close).atexit = False
        return True
