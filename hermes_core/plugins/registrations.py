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


class Registration:
    """What a ``ctx.register_*`` call returns; it may be ignored.

    Args:
        undo: Takes back what the call registered.
    """

    def __init__(self, undo: Callable[[], object]) -> None:
        self._undo: Callable[[], object] | None = undo

    def dispose(self) -> None:
        """Take this one registration back, which counts at once; doing so twice does nothing.

        Example:
            >>> def register(ctx):
            ...     trial = ctx.register_command("trial", handler=str.upper)
            ...     ctx.register_command("end-trial", handler=lambda raw: trial.dispose())
        """
        undo, self._undo = self._undo, None
        if undo is not None:
            undo()


class Registrations:
    """A plugin's ledger: filled while it loads, visible once loading has succeeded.

    The old ways to contribute (``register(ctx)``, ``register_provider``) end here, and come out as
    ordinary hook implementations, so the host knows one shape.

    Attributes:
        unused: What this host keeps and does not use: kind → each call's arguments.
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

    def keep_memory_alone(self) -> None:
        """Let go of all but memory providers, for a plugin that is to give no more than those.

        Objects with hooks stay where they alone may offer one. What was to run at its end still does.
        """
        for held in (self.profiles, self.commands, self.cli_commands, self.tools, self.hooks, self.unused):
            held.clear()
        if self.memory:
            self.natives.clear()

    def names(self) -> dict[str, list[str]]:
        """What there is of each kind, by name."""
        held = {
            "providers": [str(profile.name) for profile in self.profiles],
            "memory": [*self.memory],
            "commands": [command.name for command in self.commands],
            "cli_commands": [command.name for command in self.cli_commands],
            "tools": [tool.name for tool in self.tools],
            "hooks": [name for name, _ in self.hooks],
            **{kind: [_shown(*call) for call in calls] for kind, calls in self.unused.items()},
        }
        return {kind: names for kind, names in held.items() if names}

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


def _shown(args: tuple[Any, ...], keywords: Mapping[str, Any]) -> str:
    """What to call a registration that this host does not understand: its name, else its type; never another text."""
    names = [keywords[key] for key in ("name", "key", "id", "action_id") if key in keywords]
    name = next(iter([*names, *args]), None)
    return name if isinstance(name, str) else type(next(iter([*args, *keywords.values()]), None)).__name__
