"""Noticing a plugin that takes long to load while it still does, so that one that hangs has a name."""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from hermes_core.plugins.plugin import Plugin


class LoadWatch:
    """Calls ``tell(plugin)`` once for each load that has taken ``seconds`` and is not over.

    One thread watches all loads; it starts with the first and ends when there have been none for a while.
    """

    def __init__(self, seconds: float, tell: Callable[[Plugin], None]) -> None:
        self._seconds = seconds
        self._tell = tell
        self._due: dict[Plugin, float] = {}
        self._thread: threading.Thread | None = None

    @contextmanager
    def over(self, plugin: Plugin) -> Iterator[None]:
        """Watch the load inside."""
        self._due[plugin] = time.monotonic() + self._seconds
        if self._thread is None or not self._thread.is_alive():
            self._thread = threading.Thread(target=self._run, name="hermes-load-watch", daemon=True)
            self._thread.start()
        try:
            yield
        finally:
            self._due.pop(plugin, None)

    def _run(self) -> None:
        idle = 0
        while idle < 3:
            time.sleep(self._seconds / 2)
            now = time.monotonic()
            for plugin, due in self._due.copy().items():
                if due <= now and self._due.pop(plugin, None) is not None:
                    self._tell(plugin)
            idle = 0 if self._due else idle + 1
