"""What one plugin offered by calling its context; also the pluggy plugin that offers it on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hermes_hookspecs.markers import hookimpl

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from hermes_core.types.contributions import CliCommand, Command, Tool


_HELD = {
    "hermes_provider_profiles": "profiles",
    "hermes_memory_providers": "memory",
    "hermes_commands": "commands",
    "hermes_tools": "tools",
}
"""Hook → the attribute that holds what the plugin offers by it."""


class Registrations:
    """A plugin's ledger: filled while it loads, visible once loading has succeeded.

    The old ways to contribute (``register(ctx)``, ``register_provider``) end here, and come out as
    ordinary hook implementations, so the host knows one shape.
    """

    def __init__(self) -> None:
        self.profiles: list[Any] = []
        self.memory: dict[str, Callable[[], Any]] = {}
        self.commands: list[Command] = []
        self.cli_commands: list[CliCommand] = []
        self.tools: list[Tool] = []
        self.hooks: list[tuple[str, Callable[..., Any]]] = []
        self.natives: list[object] = []
        self.unused: dict[str, list[tuple[tuple[Any, ...], dict[str, Any]]]] = {}
        self.on_unload: list[Callable[[], object]] = []

    def __bool__(self) -> bool:
        return any(vars(self).values())

    def __dir__(self) -> list[str]:
        """The hooks it has something for: pluggy looks at no others, which takes a tenth of the time."""
        return [hook for hook, held in _HELD.items() if getattr(self, held)]

    @hookimpl
    def hermes_provider_profiles(self) -> list[Any]:
        return self.profiles

    @hookimpl
    def hermes_memory_providers(self) -> Mapping[str, Callable[[], Any]]:
        return self.memory

    @hookimpl
    def hermes_commands(self) -> list[Command]:
        return self.commands

    @hookimpl
    def hermes_tools(self) -> list[Tool]:
        return self.tools
