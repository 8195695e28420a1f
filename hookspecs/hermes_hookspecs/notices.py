"""Hooks that tell a plugin what a conversation is doing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hermes_hookspecs.markers import hookspec

if TYPE_CHECKING:
    from collections.abc import Awaitable, Mapping

    from hermes_core import PluginContext
    from hermes_core.types.events import Session, ToolCall, Turn


class NoticeSpecs:
    """Notices go to every plugin; one that raises is reported by name, and the others still hear.

    This version checks and registers implementations of these hooks, and does not call them yet.
    """

    @hookspec
    def hermes_session_start(self, ctx: PluginContext, session: Session) -> None | Awaitable[None]:
        """Hear that a session begins, before its first prompt is built.

        Args:
            ctx: Your plugin's own context.
            session: The new session.

        Example:
            >>> from hermes_core import hookimpl
            >>> @hookimpl
            ... def hermes_session_start(session):
            ...     print("hello", session.id)
        """

    @hookspec
    def hermes_session_switch(self, ctx: PluginContext, session: Session) -> None | Awaitable[None]:
        """Hear that the conversation goes on under another session.

        Args:
            ctx: Your plugin's own context.
            session: The session it goes on in; ``previous_id`` is the one before.

        Example:
            >>> from hermes_core import hookimpl
            >>> @hookimpl
            ... def hermes_session_switch(session):
            ...     print(session.previous_id, "to", session.id)
        """

    @hookspec
    def hermes_session_end(self, ctx: PluginContext, session: Session) -> None | Awaitable[None]:
        """Hear that a session is over, once, after its last turn.

        Args:
            ctx: Your plugin's own context.
            session: The session; ``reason`` says why it ended.

        Example:
            >>> from hermes_core import hookimpl
            >>> @hookimpl
            ... def hermes_session_end(session):
            ...     print("bye", session.id)
        """

    @hookspec
    def hermes_turn_start(self, ctx: PluginContext, turn: Turn) -> None | Awaitable[None]:
        """Hear what the user said, before the model is asked.

        Args:
            ctx: Your plugin's own context.
            turn: The turn; ``answer`` is still empty.

        Example:
            >>> from hermes_core import hookimpl
            >>> @hookimpl
            ... def hermes_turn_start(turn):
            ...     print(turn.number, turn.text)
        """

    @hookspec
    def hermes_turn_end(self, ctx: PluginContext, turn: Turn) -> None | Awaitable[None]:
        """Hear how a turn ended, after the answer was shown.

        Args:
            ctx: Your plugin's own context.
            turn: The turn with its answer.

        Example:
            >>> from hermes_core import hookimpl
            >>> @hookimpl
            ... def hermes_turn_end(turn):
            ...     print(len(turn.answer), "characters")
        """

    @hookspec
    def hermes_tool_call_before(
        self, ctx: PluginContext, call: ToolCall
    ) -> Mapping[str, str] | None | Awaitable[Mapping[str, str] | None]:
        """Veto a tool call, or ask a person about it.

        Called before each tool call. An implementation that raises or times out blocks the call.

        Args:
            ctx: Your plugin's own context.
            call: The tool and its arguments.

        Returns:
            ``{"action": "block", "message": …}``, ``{"action": "approve", …}`` or None. The first
            directive wins.

        Example:
            >>> from hermes_core import hookimpl
            >>> @hookimpl
            ... def hermes_tool_call_before(call):
            ...     if call.name == "terminal" and "rm -rf" in str(call.args):
            ...         return {"action": "block", "message": "not on this machine"}
        """
        return None

    @hookspec
    def hermes_tool_call_after(self, ctx: PluginContext, call: ToolCall, result: str) -> None | Awaitable[None]:
        """Hear what a tool returned, blocked calls included.

        Args:
            ctx: Your plugin's own context.
            call: The tool and its arguments.
            result: What the model will read.

        Example:
            >>> from hermes_core import hookimpl
            >>> @hookimpl
            ... def hermes_tool_call_after(call, result):
            ...     print(call.name, len(result))
        """
