"""Closing what is still open when the program ends."""

from __future__ import annotations

import atexit
from typing import TYPE_CHECKING
from weakref import WeakSet

if TYPE_CHECKING:
    from hermes_core.memory.manager import MemoryManager

_open: WeakSet[MemoryManager] = WeakSet()


def close_at_exit(manager: MemoryManager) -> None:
    """Have a manager closed when the program ends, should nobody have done it by then; it may go before."""
    if not _open:
        atexit.register(_close_all)
    _open.add(manager)


def _close_all() -> None:
    for manager in [*_open]:
        manager.shutdown_all()
