"""The tools of one host, by name."""

from __future__ import annotations

import inspect
import logging
from contextvars import copy_context
from typing import TYPE_CHECKING, Any

from hermes_core.config.redact import redact
from hermes_core.errors import describe
from hermes_core.tools.results import error_text, result_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from hermes_core.types.contributions import Tool

log = logging.getLogger(__name__)


class ToolRegistry:
    """What a model may call, put together anew whenever it is asked for.

    Args:
        sources: Each gives its tools as they are now; the first claim on a name wins.

    Example:
        >>> from hermes_core import Tool
        >>> roll = Tool(name="roll", schema={"name": "roll"}, handler=lambda args, **_: {"eyes": 4})
        >>> registry = ToolRegistry(lambda: [roll])
        >>> registry.dispatch("roll", {}), registry.dispatch("rol", {})
        ('{"eyes": 4}', '{"error": "Unknown tool: rol"}')
    """

    def __init__(self, *sources: Callable[[], Iterable[Tool]]) -> None:
        self._sources = sources

    def tools(self) -> dict[str, Tool]:
        """Every tool that is shown now, by name."""
        found: dict[str, Tool] = {}
        for source in self._sources:
            for tool in source():
                if tool.name not in found and _is_shown(tool):
                    found[tool.name] = tool
        return found

    def schemas(self) -> list[dict[str, Any]]:
        """Their schemas as a provider is sent them; names are unique."""
        return [{"type": "function", "function": {**tool.schema, "name": tool.name}} for tool in self.tools().values()]

    def dispatch(self, name: str, args: Mapping[str, Any], **context: Any) -> str:
        """Run a tool to its end. It never raises: what goes wrong is JSON with an ``error``."""
        tool = self.tools().get(name)
        if tool is None:
            return error_text(f"Unknown tool: {name}")
        try:
            value = tool.handler(args, **context)
            return result_text(_awaited(value) if inspect.isawaitable(value) else value)
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            reason = redact(describe(error))
            log.warning("tool failed tool=%s plugin=%s error=%s", name, tool.plugin, reason)
            return error_text(f"Tool execution failed: {reason}")


def _is_shown(tool: Tool) -> bool:
    try:
        return tool.check is None or bool(tool.check())
    except Exception as error:  # noqa: BLE001 - plugin boundary: the other tools are still shown
        log.debug("tool hidden tool=%s plugin=%s error=%s", tool.name, tool.plugin, redact(describe(error)))
        return False


def _awaited(value: Any) -> Any:
    """The outcome of an awaitable, whether or not an event loop runs here."""
    import asyncio
    from concurrent.futures import ThreadPoolExecutor

    async def wait() -> Any:
        return await value

    with ThreadPoolExecutor(1, "hermes-tool") as thread:
        return thread.submit(copy_context().run, asyncio.run, wait()).result()
