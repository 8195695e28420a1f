"""The tools of memory providers: brought into one form, and found again by name."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from hermes_core.tools.names import CORE_TOOLS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hermes_core.memory.member import Member

log = logging.getLogger("hermes_core.memory")


def normalize_tool_schema(schema: Any) -> dict[str, Any] | None:
    """A bare function schema; None when it is none, or has no name.

    Example:
        >>> normalize_tool_schema({"type": "function", "function": {"name": "note_add"}})
        {'name': 'note_add'}
        >>> normalize_tool_schema({"description": "nameless"}) is None
        True
    """
    if isinstance(schema, Mapping) and isinstance(schema.get("function"), Mapping):
        schema = schema["function"]
    if not isinstance(schema, Mapping):
        return None
    name = schema.get("name")
    return dict(schema) if isinstance(name, str) and name.strip() else None


class Indexed(NamedTuple):
    """A tool, and whose it is."""

    member: Member
    schema: dict[str, Any]


class ToolIndex:
    """Tool name → provider and schema; each problem with a schema is warned of once."""

    def __init__(self) -> None:
        self.tools: dict[str, Indexed] = {}
        self._schemas: dict[Member, list[Any]] = {}
        self._warned: set[str] = set()

    def read(self, member: Member) -> bool:
        """Ask a provider for its schemas; what it said before holds on when it does not say."""
        found = member.ask("get_tool_schemas", seconds=member.limits.hook_timeout, expected=list)
        if found is not None or member not in self._schemas:
            self._schemas[member] = found or []
        return "get_tool_schemas" not in member.failing

    def build(self, members: Iterable[Member]) -> None:
        """Put together what was read: in this order, the first provider keeps a name."""
        tools: dict[str, Indexed] = {}
        for member in members:
            if not member.is_usable or member.is_read_only:
                continue
            for raw in self._schemas.get(member, ()):
                schema = normalize_tool_schema(raw)
                if schema is None:
                    self._warn(member, f"{type(raw).__name__} without a name", "it is no function schema with a name")
                elif schema["name"] in CORE_TOOLS:
                    self._warn(member, schema["name"], "the name is the host's own")
                elif schema["name"] not in tools:
                    tools[schema["name"]] = Indexed(member, schema)
                elif tools[schema["name"]].schema != schema:
                    owner = tools[schema["name"]].member
                    self._warn(member, schema["name"], f"provider {owner.name!r} has a tool of that name already")
        self.tools = tools

    def _warn(self, member: Member, tool: str, reason: str) -> None:
        text = f"memory tool ignored provider={member.name} tool={tool} reason={reason}"
        if text not in self._warned:
            self._warned.add(text)
            log.warning("%s", text)
