"""Running the tools of memory providers for a model."""

from __future__ import annotations

from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, Any

from hermes_core.config.redact import redact
from hermes_core.errors import describe, near
from hermes_core.memory.lane import LaneStuckError, LaneTimeoutError
from hermes_core.tools.results import error_text, result_text
from hermes_core.types.contributions import Tool

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hermes_core.memory.member import Member
    from hermes_core.memory.tools import ToolIndex

STRIKES, REST_SECONDS = 3, 30.0
"""A provider whose tools failed this often in a row is left in peace for so many seconds."""

TOOLSET = "memory"


class ToolCalls:
    """Finds the provider of a tool, and runs it within ``limits.tool_timeout``."""

    def __init__(self, index: ToolIndex) -> None:
        self._index = index
        self._strikes: dict[Member, int] = {}
        self._rests_until: dict[Member, float] = {}

    def run(self, name: str, args: Mapping[str, Any], options: Mapping[str, Any]) -> str:
        """Run a tool; what goes wrong is JSON with an ``error``, which says when there is no use in trying again."""
        found = self._index.tools.get(name)
        if found is None:
            return error_text(f"unknown memory tool {name!r}{near(name, self._index.tools)}", tool=name)
        member = found.member
        if not member.is_usable:
            return _unavailable(member, name, member.reason or f"it is {member.state}")
        if monotonic() < self._rests_until.get(member, 0.0):
            return _unavailable(member, name, "its last calls failed")
        member.counters["tool_calls"] += 1
        arguments = dict(args) if isinstance(args, dict) else {}
        work = partial(member.perform, "handle_tool_call", name, arguments, **options)
        seconds = member.limits.tool_timeout
        try:
            value = member.lane.call(work, seconds)
        except LaneStuckError:
            return self._failed(member, name, "it has not returned from an earlier call")
        except LaneTimeoutError:
            member.counters["timeouts"] += 1
            return self._failed(member, name, f"it took longer than {seconds:g} s")
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            return self._failed(member, name, redact(describe(error)))
        self._strikes.pop(member, None)
        member.failing.pop("handle_tool_call", None)
        return result_text(value)

    def tools(self) -> list[Tool]:
        """The tools as a host's registry takes them."""
        return [
            Tool(
                name=name,
                schema=found.schema,
                handler=partial(self._handle, name),
                toolset=TOOLSET,
                description=str(found.schema.get("description", "")),
                plugin=found.member.name,
            )
            for name, found in self._index.tools.items()
        ]

    def _handle(self, name: str, args: Mapping[str, Any], **options: Any) -> str:
        return self.run(name, args, options)

    def _failed(self, member: Member, name: str, reason: str) -> str:
        member.counters["tool_failures"] += 1
        member.blame("handle_tool_call", f"{name}: {reason}")
        self._strikes[member] = self._strikes.get(member, 0) + 1
        if self._strikes[member] < STRIKES:
            return error_text(f"memory tool {name!r} failed: {reason}", tool=name, provider=member.name)
        self._rests_until[member] = monotonic() + REST_SECONDS
        return _unavailable(member, name, reason)


def _unavailable(member: Member, name: str, reason: str) -> str:
    message = f"memory provider {member.name!r} is unavailable: {reason}; do not retry its tools in this turn"
    return error_text(message, tool=name, provider=member.name, unavailable=True)
