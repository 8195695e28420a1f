"""The tools that plugins offer: who keeps a name, and whose code runs."""

from __future__ import annotations

from collections.abc import Awaitable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from hermes_core.plugins.current import running
from hermes_core.plugins.debug import warn_once
from hermes_core.plugins.manifest import TOOLS
from hermes_core.types.contributions import Tool

if TYPE_CHECKING:
    from collections.abc import Callable

    from hermes_core.plugins.context import PluginContext
    from hermes_core.plugins.registry import PluginRegistry


def plugin_tools(registry: PluginRegistry) -> list[Tool]:
    """The tools of all plugins that may offer one; they are loaded.

    The plugin found first keeps a name. One that asks to replace it does so only with the operator's leave, and
    then wherever it stands in that order; what is refused is warned of once.
    """
    found: dict[str, Tool] = {}
    for impl, tool in reversed([*registry.items(TOOLS, lambda item: isinstance(item, Tool))]):
        context = registry.context(impl.plugin)
        holder = found.get(tool.name)
        if tool.override and not context.has_capability("tools.override"):
            reason = f"it asks to replace one; plugins.entries.{context.plugin_id}.allow_tool_override would let it"
        elif holder is not None and not tool.override:
            reason = "" if holder.override else f"plugin {holder.plugin!r} has one of that name"
        else:
            handler = partial(_run, context, tool.handler)
            found[tool.name] = replace(tool, handler=handler, plugin=context.plugin_id)
            continue
        if reason:
            warn_once("tool ignored tool=%s plugin=%s reason=%s", tool.name, context.plugin_id, reason)
    return [*found.values()]


def _run(context: PluginContext, handler: Callable[..., Any], args: Any, **options: Any) -> Any:
    """Run a handler as its plugin's own code."""
    with running(context):
        answer = handler(args, **options)
    return _resumed(context, answer) if isinstance(answer, Awaitable) else answer


async def _resumed(context: PluginContext, awaitable: Awaitable[Any]) -> Any:
    with running(context):
        return await awaitable
