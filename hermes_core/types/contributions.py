"""What a plugin offers besides providers: slash commands, command-line trees and tools."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

Handler = Callable[[str], "str | None | Awaitable[str | None]"]

RESERVED_COMMANDS = frozenset(
    "new reset help memory plugins quit exit config model tools skills status profile undo retry resume branch "
    "compress clear history usage".split()
)
"""Slash commands that are the host's own."""


def command_name(raw: str) -> str:
    """The one spelling of a slash command: lower case, no ``/``, dashes for spaces and underscores.

    Example:
        >>> command_name(" /Paste_To Tasks ")
        'paste-to-tasks'
    """
    return "-".join(raw.strip().lower().lstrip("/").replace("_", " ").split())


@dataclass(frozen=True, kw_only=True)
class Command:
    """A slash command.

    Attributes:
        name: Without the slash; spelled by ``command_name``.
        handler: Takes the rest of the line, trimmed; returns text to show, or None. May be async.
        description: One line for people.
        args_hint: Placeholder for its arguments, such as ``<text>``.
        plugin: Id of the plugin that offers it; the host fills it in.
    """

    name: str
    handler: Handler
    description: str = "Plugin command"
    args_hint: str = ""
    plugin: str = ""


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
