"""Who is in a manager's care: taken in, made ready, tried again, closed."""

from __future__ import annotations

import logging
import threading
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

from hermes_core.config.paths import get_hermes_home, get_hermes_root, profile_name
from hermes_core.config.redact import redact
from hermes_core.errors import describe
from hermes_core.memory.member import Member
from hermes_core.memory.tools import ToolIndex

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hermes_core.memory.limits import Limits
    from hermes_core.plugins.context import PluginContext

log = logging.getLogger("hermes_core.memory")


class Roster:
    """The members of one manager, and their tools.

    Attributes:
        members: In the order they came.
        refused: Name → why a provider was refused.
        index: Where each tool is.
        options: What members are told when a session begins; empty before.
    """

    def __init__(self, limits: Limits, home: Path | None = None) -> None:
        self.members: list[Member] = []
        self.refused: dict[str, str] = {}
        self.index = ToolIndex(self.members)
        self.options: dict[str, Any] = {}
        self._limits = limits
        self._home = home
        self._lock = threading.Lock()

    def add(
        self, provider: Any, context: PluginContext | None, *, is_read_only: bool, must_be_available: bool = False
    ) -> bool:
        """Take a provider in; False, with a warning, when it is refused."""
        try:
            if isinstance(provider, type) or not isinstance(getattr(provider, "name", None), str):
                return self.refuse(type(provider).__name__, "it is no memory provider: that is an object with a name")
            member = Member(provider, self._limits, context, is_read_only=is_read_only)
            if not member.name.strip():
                return self.refuse(type(provider).__name__, "it has no name")
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            return self.refuse(type(provider).__name__, f"its name cannot be had: {describe(error)}")
        refusal = _unavailable(member) if must_be_available else ""
        if refusal:
            member.lane.close()
            return self.refuse(member.name, refusal)
        with self._lock:
            refusal = self._refusal(member)
            if refusal:
                return self.refuse(member.name, refusal)
            self.members.append(member)
        member.read_tools()
        return True

    def refuse(self, name: str, reason: str) -> bool:
        """Note, and warn of, a provider that is not used; False."""
        self.refused[name] = redact(reason)
        log.warning("memory provider refused provider=%s reason=%s", name, self.refused[name])
        return False

    def usable(self) -> list[Member]:
        """Those that may be asked to recall."""
        return [member for member in self.members if member.is_usable]

    def writers(self) -> list[Member]:
        """Those of them that are told what happens, too."""
        return [member for member in self.usable() if not member.is_read_only]

    def begin(self, session_id: str, options: Mapping[str, Any]) -> None:
        """Have every member get ready, all at the same time."""
        self.options = session_options(options, self._home)
        jobs = [(member, member.begin(session_id, self.options)) for member in self.members]
        until = monotonic() + self._limits.initialize_timeout
        for member, job in jobs:
            member.await_start(job, until)

    def retry(self, session_id: str) -> None:
        """Have members that failed to get ready try again, in the background, when it is time."""
        for member in self.members:
            if member.may_retry():
                member.begin(session_id, self.options)

    def read_tools(self) -> None:
        """Ask every member for its tools anew."""
        for member in self.writers():
            member.read_tools()

    def end(self, messages: list[dict[str, Any]]) -> None:
        """Tell members that the session is over, when nothing is stored any more."""
        for member in self.writers():
            if member.lane.is_stuck:
                member.blame("on_session_end", "was not called: an earlier call has not returned")
            else:
                member.ask("on_session_end", messages, seconds=self._limits.session_end_timeout)

    def close(self) -> None:
        """Close the members, the last one first."""
        if "shutdown_event" in self.options:
            self.options["shutdown_event"].set()
        for member in reversed(self.members):
            member.close()

    def _refusal(self, new: Member) -> str:
        """Why a member may not come in; one that could not even name its tools makes room for it."""
        if any(member.name == new.name for member in self.members):
            return "it is here already"
        active = next((member for member in self.members if member.is_external), None)
        if not new.is_external or active is None:
            return ""
        if active.state == "added" and "get_tool_schemas" in active.failing:
            self.refuse(active.name, f"get_tool_schemas {active.failing['get_tool_schemas']}")
            self.members.remove(active)
            active.close()
            return ""
        return f"{active.name!r} is active already, and memory.provider in config.yaml chooses one"


def _unavailable(member: Member) -> str:
    """Why a provider cannot be used here, by what it says itself; ``""`` when it can."""
    if member.ask("is_available", seconds=member.limits.initialize_timeout):  # it may import a great deal
        return ""
    said = member.text("unavailable_reason", seconds=member.limits.hook_timeout)
    reason = member.failing.get("is_available") or said
    unknown = f"it does not say why; `hermes memory setup {member.name}` configures it"
    return f"it is not available: {reason or unknown}"


def session_options(options: Mapping[str, Any], home_of_host: Path | None = None) -> dict[str, Any]:
    """What a provider is told when a session begins: ``options``, completed by what the home says."""
    home = Path(str(options.get("hermes_home") or home_of_host or get_hermes_home()))
    told = {"platform": "cli", "agent_context": "primary", "shutdown_event": threading.Event(), **options}
    told["hermes_home"] = str(home)
    if get_hermes_root(home) != home:
        told.setdefault("agent_identity", profile_name(home))
    if told.get("agent_identity"):
        told.setdefault("agent_workspace", "hermes")
    return told
