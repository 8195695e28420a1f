"""The tools by which the model itself searches and changes what is kept."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from hermes_core import HermesError

if TYPE_CHECKING:
    from collections.abc import Callable

    from .provider import SqliteMemory

_ID = {"type": "integer", "description": "The id, as memory_search gives it"}
_CONTENT = {"type": "string", "description": "One sentence that can be understood by itself"}
_LIMIT = {"type": "integer", "description": "How many at most", "default": 10, "minimum": 1, "maximum": 50}


def _schema(name: str, description: str, required: tuple[str, ...], **properties: Any) -> dict[str, Any]:
    parameters = {"type": "object", "properties": properties, "required": list(required)}
    return {"name": name, "description": description, "parameters": parameters}


SCHEMAS = (
    _schema(
        "memory_search",
        "Search earlier conversations and kept facts. Use it when what was recalled is not enough.",
        ("query",),
        query={"type": "string", "description": "What to look for, in plain words"},
        limit=_LIMIT,
    ),
    _schema("memory_add", "Keep a fact for later conversations.", ("content",), content=_CONTENT),
    _schema(
        "memory_update",
        "Replace a kept fact that is no longer right.",
        ("id", "content"),
        id=_ID,
        content=_CONTENT,
    ),
    _schema("memory_forget", "Delete a fact or a message for good.", ("id",), id=_ID),
)


def _search(memory: SqliteMemory, args: dict[str, Any]) -> dict[str, Any]:
    found = memory.search(_text(args, "query"), limit=min(_number(args, "limit", 10), 50))
    return {"results": found, "count": len(found)}


def _add(memory: SqliteMemory, args: dict[str, Any]) -> dict[str, Any]:
    id_, is_new = memory.add_fact(_text(args, "content"), "tool")
    return {"id": id_, "status": "added" if is_new else "known already"}


def _update(memory: SqliteMemory, args: dict[str, Any]) -> dict[str, Any]:
    return {"id": memory.update_fact(_number(args, "id"), _text(args, "content")), "status": "updated"}


def _forget(memory: SqliteMemory, args: dict[str, Any]) -> dict[str, Any]:
    return {"forgotten": memory.forget(_number(args, "id"))}


_TOOLS: dict[str, Callable[[SqliteMemory, dict[str, Any]], dict[str, Any]]] = {
    "memory_search": _search,
    "memory_add": _add,
    "memory_update": _update,
    "memory_forget": _forget,
}


def run_tool(memory: SqliteMemory, name: str, args: dict[str, Any]) -> str:
    """Run a tool; what is wrong with a call is told to the model in the result, which is JSON."""
    tool = _TOOLS.get(name)
    if tool is None:
        return json.dumps({"error": f"no tool {name!r}; there are {', '.join(_TOOLS)}"})
    try:
        return json.dumps(tool(memory, args), ensure_ascii=False)
    except HermesError as error:
        return json.dumps({"error": f"{error}; {error.hint}" if error.hint else str(error)}, ensure_ascii=False)


def _text(args: dict[str, Any], key: str) -> str:
    value = args.get(key)
    if isinstance(value, str) and value.strip():
        return value
    raise HermesError(f"{key!r} must be text that is not empty")


def _number(args: dict[str, Any], key: str, default: int | None = None) -> int:
    value = args.get(key, default)
    if isinstance(value, str) and value.strip().isdecimal() and len(value) < 20:
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool) and 0 < value < 2**63:  # what SQLite can hold
        return value
    raise HermesError(f"{key!r} must be a whole number above 0")
