"""Which host, and which plugin, the running code belongs to."""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from hermes_core.config.paths import reset_hermes_home_override, set_hermes_home_override

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from hermes_core.plugins.context import PluginContext

_context: ContextVar[PluginContext | None] = ContextVar("hermes_plugin", default=None)

default_host: Callable[[], Any] | None = None
"""Makes the host for code that runs outside any plugin; ``compat`` sets it."""


@contextmanager
def running(context: PluginContext) -> Iterator[None]:
    """Mark the code inside as the plugin's own: its import, ``register``, hooks, commands and provider calls.

    The active home is then that of the plugin's host.
    """
    token, home = _context.set(context), set_hermes_home_override(context.home)
    try:
        yield
    finally:
        reset_hermes_home_override(home)
        _context.reset(token)


def plugin_context() -> PluginContext | None:
    """The context of the plugin whose code is running, or None."""
    return _context.get()


def host() -> Any:
    """The host whose plugin code is running, else the default one.

    Raises:
        RuntimeError: Neither is there.
    """
    context = _context.get()
    if context is not None:
        return context._host  # noqa: SLF001 - plugins are not to reach it, the host is
    if default_host is None:
        message = "no host is running"
        raise RuntimeError(message)
    return default_host()
