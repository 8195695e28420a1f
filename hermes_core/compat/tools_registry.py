"""The tool registry, under the original's names; it acts on the current host."""

from __future__ import annotations

import inspect
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from hermes_core.compat.hosts import current_host
from hermes_core.plugins.current import plugin_context
from hermes_core.tools.plugin_tools import plugin_tools
from hermes_core.tools.results import as_json, error_text

if TYPE_CHECKING:
    from hermes_core.plugins.registrations import Registration
    from hermes_core.types.contributions import Tool

__all__ = ["registry", "tool_error", "tool_result"]


def tool_error(message: object, **extra: Any) -> str:
    """A tool's answer that says what went wrong: JSON with an ``error``, and whatever else is given.

    Example:
        >>> tool_error("no such note", note_id=7)
        '{"error": "no such note", "note_id": 7}'
    """
    return error_text(str(message), **_plain(extra))


def tool_result(data: Any = None, **fields: Any) -> str:
    """A tool's answer as JSON: ``data``, or the fields, or both where ``data`` is a mapping.

    Example:
        >>> tool_result(success=True), tool_result([1, 2])
        ('{"success": true}', '[1, 2]')
    """
    if isinstance(data, Mapping):
        return as_json(_plain({**data, **fields}))
    return as_json(_plain(fields if data is None else data))


class CurrentTools:
    """The tools that the current host's plugins offer; those of its memory provider can be called too."""

    def __init__(self) -> None:
        self._registered: dict[str, Registration] = {}

    def register(self, name: str, toolset: str = "", schema: Any = None, handler: Any = None, **options: Any) -> None:
        """Offer a tool, as the plugin whose code is running, else as the program itself."""
        context = plugin_context() or current_host().program_context()
        known = inspect.signature(context.register_tool).parameters
        options = {key: value for key, value in options.items() if key in known}
        self._registered[name] = context.register_tool(name, toolset, schema, handler, **options)

    def deregister(self, name: str) -> None:
        """Take back a tool that ``register`` has offered."""
        taken = self._registered.pop(name, None)
        if taken is not None:
            taken.dispose()

    def get_entry(self, name: str) -> Tool | None:
        """A tool by its name, or None."""
        return next((tool for tool in _offered() if tool.name == name), None)

    def get_all_tool_names(self) -> list[str]:
        """The names of all tools, sorted."""
        return sorted(tool.name for tool in _offered())

    def dispatch(self, name: str, args: Mapping[str, Any], **context: Any) -> str:
        """Run a tool to its end; its answer as text. What fails is an answer with an ``error``."""
        return current_host().tools.dispatch(name, args, **context)


registry = CurrentTools()


def _offered() -> list[Tool]:
    return plugin_tools(current_host()._registry)  # noqa: SLF001 - this is the host's other face


def _plain(value: Any) -> Any:
    """``value`` as JSON holds it; what it cannot hold is written as ``str`` writes it."""
    return json.loads(json.dumps(value, default=str))
