"""The tools of memory providers: brought into one form, and found again by name."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from hermes_core.tools.names import CORE_TOOLS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hermes_core.memory.member import Member

log = logging.getLogger("hermes_core.memory")

_NAME = r"[A-Za-z0-9_-]{1,64}"


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


def _problem(schema: Mapping[str, Any]) -> str:
    """Why a schema cannot be shown to a model; one that its API refuses would spoil every request."""
    if schema["name"] in CORE_TOOLS:
        return "the name is the host's own"
    if not re.fullmatch(_NAME, schema["name"]):
        return "a name has up to 64 letters, digits, '_' and '-'"
    try:
        json.dumps(schema)
    except (TypeError, ValueError, RecursionError):
        return "its schema holds what JSON cannot"
    return ""


class Indexed(NamedTuple):
    """A tool, and whose it is."""

    member: Member
    schema: dict[str, Any]


class ToolIndex:
    """Tool name → provider and schema, as the members stand; each problem with a schema is warned of once.

    Args:
        members: Of whom the first keeps a name. One that is not usable, or only recalls, has no tools.
    """

    def __init__(self, members: Sequence[Member]) -> None:
        self._members = members
        self._warned: set[str] = set()

    @property
    def tools(self) -> dict[str, Indexed]:
        """Every tool there is now."""
        tools: dict[str, Indexed] = {}
        for member in self._members:
            if not member.is_usable or member.is_read_only:
                continue
            for raw in member.schemas:
                schema = normalize_tool_schema(raw)
                if schema is None:
                    self._warn(member, f"{type(raw).__name__} without a name", "it is no function schema with a name")
                elif schema["name"] in tools:
                    owner = tools[schema["name"]].member
                    self._warn(member, schema["name"], f"provider {owner.name!r} has a tool of that name already")
                elif problem := _problem(schema):
                    self._warn(member, schema["name"], problem)
                else:
                    tools[schema["name"]] = Indexed(member, schema)
        return tools

    def _warn(self, member: Member, tool: str, reason: str) -> None:
        text = f"memory tool ignored provider={member.name} tool={tool} reason={reason}"
        if text not in self._warned:
            self._warned.add(text)
            log.warning("%s", text)
