"""The tool registry, under the original's names; it acts on the current host."""

from __future__ import annotations

import asyncio
import inspect
import json
import logging
from collections.abc import Mapping
from contextvars import copy_context
from threading import Thread
from typing import TYPE_CHECKING, Any

from hermes_core.compat import hosts
from hermes_core.config.redact import redact
from hermes_core.errors import describe
from hermes_core.plugins.current import plugin_context, running
from hermes_core.types.contributions import Tool

if TYPE_CHECKING:
    from collections.abc import Callable

    from hermes_core.plugins.context import PluginContext
    from hermes_core.plugins.registrations import Registration

__all__ = ["registry", "tool_error", "tool_result"]

log = logging.getLogger(__name__)


def tool_error(message: object, **extra: Any) -> str:
    """A tool's answer that says what went wrong: JSON with an ``error``, and whatever else is given.

    Example:
        >>> tool_error("no such note", note_id=7)
        '{"error": "no such note", "note_id": 7}'
    """
    return _as_json({"error": str(message), **extra})


def tool_result(data: Any = None, **fields: Any) -> str:
    """A tool's answer as JSON: ``data``, or the fields, or both where ``data`` is a mapping.

    Example:
        >>> tool_result(success=True), tool_result([1, 2])
        ('{"success": true}', '[1, 2]')
    """
    if isinstance(data, Mapping):
        return _as_json({**data, **fields})
    return _as_json(fields if data is None else data)


class ToolRegistry:
    """The tools that loaded plugins offer."""

    def register(self, name: str, toolset: str = "", schema: Any = None, handler: Any = None, **options: Any) -> None:
        """Offer a tool, as the plugin whose code is running, else as the program itself."""
        known = inspect.signature(type(_context()).register_tool).parameters
        options = {key: value for key, value in options.items() if key in known}
        _registered[name] = _context().register_tool(name, toolset, schema, handler, **options)

    def deregister(self, name: str) -> None:
        """Take back a tool that ``register`` has offered."""
        taken = _registered.pop(name, None)
        if taken is not None:
            taken.dispose()

    def get_entry(self, name: str) -> Tool | None:
        """A tool by its name, or None."""
        return _tools().get(name, (None, None))[0]

    def get_all_tool_names(self) -> list[str]:
        """The names of all tools, sorted."""
        return sorted(_tools())

    def dispatch(self, name: str, args: Mapping[str, Any], **context: Any) -> str:
        """Run a tool to its end; its answer as text. What fails is an answer with an ``error``."""
        tool, owner = _tools().get(name, (None, None))
        if tool is None or owner is None:
            return tool_error(f"Unknown tool: {name}")
        try:
            with running(owner):
                answer = tool.handler(args, **context)
                answer = _awaited(answer) if inspect.isawaitable(answer) else answer
        except (Exception, SystemExit) as error:  # noqa: BLE001 - plugin boundary: the model is told instead
            log.warning("tool failed tool=%s plugin=%s error=%s", name, owner.plugin_id, redact(describe(error)))
            return tool_error(f"Tool {name!r} failed: {redact(describe(error))}")
        return answer if isinstance(answer, str) else _as_json(answer)


registry = ToolRegistry()
_registered: dict[str, Registration] = {}


def _context() -> PluginContext:
    return plugin_context() or hosts.current_host().program_context()


def _tools() -> dict[str, tuple[Tool, PluginContext]]:
    """Every tool by its name, and whose it is; the first one asked keeps a name."""
    host = hosts.current_host()
    found: dict[str, tuple[Tool, PluginContext]] = {}
    for impl, tool in host._registry.items("hermes_tools", lambda item: isinstance(item, Tool)):  # noqa: SLF001 - ours
        found.setdefault(tool.name, (tool, host._registry.context(impl.plugin)))  # noqa: SLF001
    return found


def _awaited(awaitable: Any) -> Any:
    """The result of an awaitable, whether or not an event loop is running here."""
    box: list[Callable[[], Any]] = []

    async def wait() -> Any:
        return await awaitable

    def work() -> None:
        try:
            value = asyncio.run(wait())
            box.append(lambda: value)
        except BaseException as error:  # noqa: BLE001 - raised again where the tool was called
            box.append(_raiser(error))

    thread = Thread(target=copy_context().run, args=(work,), name="hermes-tool", daemon=True)
    thread.start()
    thread.join()
    return box[0]()


def _raiser(error: BaseException) -> Callable[[], Any]:
    def again() -> Any:
        raise error

    return again


def _as_json(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    try:
        text.encode()
    except UnicodeEncodeError:  # half a surrogate, which only an escape can carry
        return json.dumps(value, default=str)
    return text
