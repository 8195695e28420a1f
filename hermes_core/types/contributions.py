"""What a plugin offers besides providers: slash commands, command-line trees and tools."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from hermes_core.errors import PluginContractError

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

Handler = Callable[[str], "str | None | Awaitable[str | None]"]

RESERVED_COMMANDS = frozenset(
    "new reset help memory plugins quit exit config model tools skills status profile undo retry resume branch "
    "compress clear history usage".split()
)
"""Slash commands that are the host's own."""


def command_name(raw: str) -> str:
    """The one spelling of a slash command: lower case, no leading ``/``, dashes for spaces and underscores.

    Example:
        >>> command_name(" /Paste_To Tasks ")
        'paste-to-tasks'
    """
    return "-".join(raw.strip().lower().lstrip("/").split()).replace("_", "-")


def command_refusal(name: str) -> str:
    """Why no plugin may offer a slash command of this name; ``""`` when one may."""
    if not name:
        return "it has no name"
    return "the name is the host's own" if name in RESERVED_COMMANDS else ""


@dataclass(frozen=True, kw_only=True)
class Command:
    """A slash command; however its name was written, it is kept as ``command_name`` spells it.

    Attributes:
        name: Without the slash.
        handler: Takes the rest of the line, trimmed; returns text to show, or None. May be async.
        description: One line for people.
        args_hint: Placeholder for its arguments, such as ``<text>``.
        plugin: Id of the plugin that offers it; the host fills it in.

    Raises:
        PluginContractError: The name is no text, or the handler cannot be called.

    Example:
        >>> command = Command(name="/Shout It", handler=str.upper, args_hint=" <text> ")
        >>> command.name, command.description, command.args_hint
        ('shout-it', 'Plugin command', '<text>')
    """

    name: str
    handler: Handler
    description: str = ""
    args_hint: str = ""
    plugin: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            message = f"a command's name must be text, got {type(self.name).__name__}"
            raise PluginContractError(message, plugin=self.plugin)
        if not callable(self.handler):
            message = f"command {self.name!r}: handler must be callable, got {type(self.handler).__name__}"
            raise PluginContractError(message, plugin=self.plugin)
        object.__setattr__(self, "name", command_name(self.name))
        object.__setattr__(self, "description", str(self.description or "").strip() or "Plugin command")
        object.__setattr__(self, "args_hint", str(self.args_hint or "").strip())


@dataclass(frozen=True, kw_only=True)
class CliCommand:
    """A command-line tree, ``hermes <name> …``.

    Attributes:
        name: The first word after ``hermes``.
        help: One line for ``hermes --help``.
        setup_fn: Builds the argparse tree on the parser it is given.
        handler_fn: Called with the parsed arguments; returns an exit code or None. None leaves the
            ``func`` that ``setup_fn`` has set.
        plugin: Id of the plugin that offers it; the host fills it in.
    """

    name: str
    help: str
    setup_fn: Callable[[ArgumentParser], object]
    handler_fn: Callable[[Namespace], int | None] | None = None
    description: str = ""
    plugin: str = ""


@dataclass(frozen=True, kw_only=True)
class Tool:
    """A function the model may call.

    Attributes:
        name: Unique among tools.
        schema: Bare function schema: ``name``, ``description``, ``parameters``.
        handler: Called as ``handler(args, **context)``; returns a string. May be async.
        toolset: The group it is shown in.
        check: Hides the tool while it returns False; None shows it always.
        requires_env: Variables it needs, for information.
        override: Whether it asks to replace a tool of the same name.
        plugin: Id of the plugin that offers it; the host fills it in.
    """

    name: str
    schema: Mapping[str, Any]
    handler: Callable[..., Any]
    toolset: str = ""
    check: Callable[[], bool] | None = None
    requires_env: Sequence[str] = ()
    override: bool = False
    description: str = ""
    emoji: str = ""
    is_async: bool = False
    plugin: str = ""
    extra: Mapping[str, Any] = field(default_factory=dict)
