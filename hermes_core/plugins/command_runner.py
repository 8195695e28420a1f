"""The slash commands of one host: found by name, and run from any thread."""

from __future__ import annotations

from contextvars import copy_context
from typing import TYPE_CHECKING

from hermes_core.errors import HermesError, near
from hermes_core.plugins.manifest import COMMANDS

if TYPE_CHECKING:
    from collections.abc import Callable

    from hermes_core.config.settings import Config
    from hermes_core.plugins.context import PluginContext
    from hermes_core.plugins.registry import PluginRegistry
    from hermes_core.types.contributions import Command


class CommandRunner:
    """Looks slash commands up, and runs them.

    Args:
        registry: The plugins that may offer one.
        config: Reads the configuration as it is now.
        context_of: Gives the context of a plugin, by its key.
        explain_absence: Raises an error that names the plugin to which a missing command belongs, if there is one.
    """

    def __init__(
        self,
        registry: PluginRegistry,
        config: Callable[[], Config],
        context_of: Callable[[str], PluginContext],
        explain_absence: Callable[[str], None],
    ) -> None:
        self._registry = registry
        self._config = config
        self._context_of = context_of
        self._explain_absence = explain_absence

    @property
    def commands(self) -> dict[str, Command]:
        """Every command by name; plugins that may offer one are loaded."""
        from hermes_core.plugins.commands import winners
        from hermes_core.types.contributions import Command

        return winners(self._registry.items(COMMANDS, lambda item: isinstance(item, Command)))

    def run(self, name: str, raw_args: str) -> str:
        """Run one to its end, in a thread of its own when an event loop runs here."""
        import asyncio
        from concurrent.futures import ThreadPoolExecutor

        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return self._run(name, raw_args)
        with ThreadPoolExecutor(1, "hermes-command") as thread:
            return thread.submit(copy_context().run, self._run, name, raw_args).result()

    async def arun(self, name: str, raw_args: str) -> str:
        """As ``run``, without blocking the event loop."""
        import asyncio

        return await asyncio.to_thread(self._run, name, raw_args)

    def _run(self, name: str, raw_args: str) -> str:
        from hermes_core.plugins.commands import run, time_limit
        from hermes_core.types.contributions import command_name

        config = self._config()  # also so that no secret in it reaches the screen, whatever a command says
        commands, known_as = self.commands, command_name(name)
        command = commands.get(known_as)
        if command is None:
            self._explain_absence(known_as)
            message = f"no command /{known_as}{near(known_as, commands)}"
            raise HermesError(message, hint="run `hermes run` to list the commands")
        return run(command, raw_args, self._context_of(command.plugin), time_limit(config))
