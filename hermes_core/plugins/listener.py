"""One plugin's implementation of a hook that is told, or asked, something."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import TYPE_CHECKING, Any

from hermes_core.errors import PluginContractError, describe
from hermes_core.plugins.contract import is_async
from hermes_core.plugins.current import running

if TYPE_CHECKING:
    from hermes_core.plugins.order import Implementation
    from hermes_core.plugins.registry import PluginRegistry


class Listener:
    """An implementation, ready to be called.

    Attributes:
        plugin: The plugin's key.
        is_async: Whether calling it gives something to await.
    """

    def __init__(self, registry: PluginRegistry, impl: Implementation) -> None:
        self.plugin = impl.plugin.key
        self.is_async = is_async(impl.function)
        self._registry = registry
        self._impl = impl
        self._context = registry.context(impl.plugin)

    def call(self, **arguments: Any) -> Any:
        """Call it as its plugin's own code; the outcome may have to be awaited."""
        known = {**arguments, "ctx": self._context}
        with running(self._context):
            value = self._impl.function(*[known[name] for name in self._impl.argnames])
        return self._awaited(value) if isinstance(value, Awaitable) else value

    def blame(self, hook: str, error: BaseException) -> None:
        """Record that it failed, and warn of it once."""
        self._registry.blame(self._impl.plugin, hook, error)

    async def _awaited(self, value: Awaitable[Any]) -> Any:
        with running(self._context):
            try:
                return await value
            except SystemExit as error:  # which would end the event loop, and with it the program
                raise PluginContractError(describe(error), plugin=self.plugin) from error
