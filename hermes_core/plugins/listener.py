"""One plugin's implementation of a hook that is told, or asked, something."""

from __future__ import annotations

from collections.abc import Awaitable
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from hermes_core.errors import PluginContractError, describe
from hermes_core.plugins.contract import is_async
from hermes_core.plugins.current import running
from hermes_core.plugins.debug import trace

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hermes_core.plugins.order import Implementation
    from hermes_core.plugins.registry import PluginRegistry

_inside: ContextVar[frozenset[tuple[str, str]]] = ContextVar("hermes_listeners", default=frozenset())
"""Of each listener that the running code was called by, the plugin and the group of the hook."""


class Listener:
    """An implementation, ready to be called.

    Attributes:
        plugin: The plugin's key.
        is_async: Whether calling it gives something to await.
    """

    def __init__(self, registry: PluginRegistry, impl: Implementation, hook: str) -> None:
        self.plugin = impl.plugin.key
        self.is_async = is_async(impl.function)
        self._hook = hook
        self._place = (self.plugin, hook.rpartition("_")[0])
        self._registry = registry
        self._impl = impl
        self._context = registry.context(impl.plugin)

    @property
    def is_running(self) -> bool:
        """Whether the running code was called by the plugin's listener to this hook, or to one of its group."""
        return self._place in _inside.get()

    def call(self, **arguments: Any) -> Any:
        """Call it as its plugin's own code; the outcome may have to be awaited."""
        with self._running():
            value = self._impl.call({**arguments, "ctx": self._context})
        trace.debug("call hook=%s plugin=%s returned=%s", self._hook, self.plugin, type(value).__name__)
        return self._awaited(value) if isinstance(value, Awaitable) else value

    def blame(self, hook: str, error: BaseException) -> None:
        """Record that it failed, and warn of it once."""
        self._registry.blame(self._impl.plugin, hook, error)

    async def _awaited(self, value: Awaitable[Any]) -> Any:
        with self._running():
            try:
                return await value
            except SystemExit as error:  # which would end the event loop, and with it the program
                raise PluginContractError(describe(error), plugin=self.plugin) from error

    @contextmanager
    def _running(self) -> Iterator[None]:
        token = _inside.set(_inside.get() | {self._place})
        try:
            with running(self._context):
                yield
        finally:
            _inside.reset(token)
