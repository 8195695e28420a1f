"""Threads and callbacks that see the caller's context variables: the active home, the secret scope."""

from __future__ import annotations

from contextvars import copy_context
from functools import wraps
from threading import Thread
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    T = TypeVar("T")


def spawn_context_thread(
    target: Callable[..., object],
    *,
    name: str | None = None,
    daemon: bool = True,
    args: Iterable[Any] = (),
    kwargs: Mapping[str, Any] | None = None,
) -> Thread:
    """A thread that will run ``target`` in a copy of the caller's context. It is not started.

    Example:
        >>> found = []
        >>> thread = spawn_context_thread(found.append, name="acme-sync", args=("done",))
        >>> thread.start(); thread.join(); found
        ['done']
    """
    run = copy_context().run
    return Thread(target=run, args=(target, *args), kwargs=dict(kwargs or {}), name=name, daemon=daemon)


def ctx_bound(function: Callable[..., T]) -> Callable[..., T]:
    """``function`` bound to the caller's context, wherever it is called; as often as wanted, at once too.

    Example:
        >>> from concurrent.futures import ThreadPoolExecutor
        >>> with ThreadPoolExecutor() as pool:
        ...     pool.submit(ctx_bound(str.upper), "tea").result()
        'TEA'
    """
    context = copy_context()

    @wraps(function)
    def bound(*args: Any, **keywords: Any) -> T:
        return context.copy().run(function, *args, **keywords)

    return bound
