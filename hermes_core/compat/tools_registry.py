"""The tool registry, under the original's names; it acts on the current host."""

from __future__ import annotations

import inspect
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hermes_core.compat.hosts import current_host
from hermes_core.plugins.current import plugin_context, running
from hermes_core.tools.registry import ToolRegistry
from hermes_core.tools.results import as_json, error_text
from hermes_core.types.contributions import Tool

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hermes_core.plugins.context import PluginContext
    from hermes_core.plugins.registrations import Registration

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


class CurrentTools(ToolRegistry):
    """The tools that the current host's plugins offer."""

    def __init__(self) -> None:
        super().__init__(_offered)
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
        return self.tools().get(name)

    def get_all_tool_names(self) -> list[str]:
        """The names of all tools, sorted."""
        return sorted(self.tools())


def _offered() -> Iterator[Tool]:
    """Every tool of the current host; each runs as code of its plugin."""
    plugins = current_host()._registry  # noqa: SLF001 - this is the host's other face
    for impl, tool in plugins.items("hermes_tools", lambda item: isinstance(item, Tool)):
        yield replace(tool, plugin=impl.plugin.key, handler=_as(plugins.context(impl.plugin), tool))


def _as(owner: PluginContext, tool: Tool) -> Any:
    def run(args: Mapping[str, Any], **context: Any) -> Any:
        with running(owner):
            answer = tool.handler(args, **context)
        return _resumed(owner, answer) if inspect.isawaitable(answer) else answer

    return run


async def _resumed(owner: PluginContext, awaitable: Any) -> Any:
    with running(owner):
        return await awaitable


def _plain(value: Any) -> Any:
    """``value`` as JSON holds it; what it cannot hold is written as ``str`` writes it."""
    return json.loads(json.dumps(value, default=str))


registry = CurrentTools()
