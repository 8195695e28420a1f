"""What a plugin runs in the background of an event loop."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, TypeVar

from hermes_core.config.redact import redact
from hermes_core.errors import describe

if TYPE_CHECKING:
    from asyncio import Task
    from collections.abc import Coroutine

log = logging.getLogger(__name__)

T = TypeVar("T")


class BackgroundTasks:
    """The tasks of one plugin that have not ended; held here, since an event loop itself does not keep them alive.

    Args:
        plugin_id: Whose they are.
    """

    def __init__(self, plugin_id: str) -> None:
        self._plugin_id = plugin_id
        self._running: set[Task[Any]] = set()

    def spawn(self, coroutine: Coroutine[Any, Any, T]) -> Task[T]:
        """Run a coroutine in the running event loop.

        Raises:
            RuntimeError: No event loop is running.
        """
        import asyncio

        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            coroutine.close()
            message = f"plugin {self._plugin_id!r}: spawn_task needs a running event loop"
            raise RuntimeError(message) from None
        task = loop.create_task(coroutine)
        self._running.add(task)
        task.add_done_callback(self._ended)
        return task

    def cancel(self) -> None:
        """Cancel what still runs; it may be called from any thread."""
        for task in tuple(self._running):
            loop = task.get_loop()
            if not loop.is_closed():
                loop.call_soon_threadsafe(task.cancel)

    def _ended(self, task: Task[Any]) -> None:
        self._running.discard(task)
        error = None if task.cancelled() else task.exception()
        if error is not None:
            log.warning("background task failed plugin=%s error=%s", self._plugin_id, redact(describe(error)))
            log.debug("background task failed plugin=%s", self._plugin_id, exc_info=error)
