"""Things made once, under the original's names."""

from __future__ import annotations

import threading
from functools import wraps
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["SingletonSlot", "lazy_singleton"]

T = TypeVar("T")


class SingletonSlot(Generic[T]):
    """A place for one object, made when it is first asked for, by one thread alone."""

    def __init__(self, factory: Callable[[], T] | None = None) -> None:
        self._factory = factory
        self._held: list[T] = []
        self._lock = threading.RLock()

    def get(self, factory: Callable[[], T] | None = None) -> T | None:
        """The object; it is made by ``factory``, or by the slot's own, when there is none. None without either."""
        make = factory or self._factory
        with self._lock:
            if not self._held and make is not None:
                self._held.append(make())
            return self._held[0] if self._held else None

    def set(self, value: T) -> None:
        """Put an object there."""
        with self._lock:
            self._held[:] = [value]

    def reset(self) -> None:
        """Forget the object; the next ``get`` makes another."""
        with self._lock:
            self._held.clear()


def lazy_singleton(factory: Callable[[], T]) -> Callable[[], T]:
    """``factory``, called once; its ``reset()`` has it called again."""
    slot: SingletonSlot[T] = SingletonSlot(factory)

    @wraps(factory)
    def get() -> T:
        return slot.get()  # type: ignore[return-value]

    get.reset = slot.reset  # type: ignore[attr-defined]
    return get
