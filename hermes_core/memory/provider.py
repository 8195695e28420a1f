"""The contract of a memory provider plugin."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

INDICATOR_GLYPH = "\N{BRAIN}"
"""Stands before what a person is told about a recall."""

PRE_COMPRESS_CHECKPOINT_API_VERSION = 2
"""The version of a provider whose ``on_pre_compress`` keeps what it is given, or raises."""


@dataclass(frozen=True)
class RecallStatus:
    """What a person is told about the latest prefetch.

    Attributes:
        provider_label: What the provider is called for people.
        count: How many memories came; 0 for text that is not made of single ones.
        glyph: Stands before it.

    Example:
        >>> RecallStatus("Notes", 3).glyph == INDICATOR_GLYPH
        True
    """

    provider_label: str
    count: int = 0
    glyph: str = INDICATOR_GLYPH


class MemoryProvider(ABC):
    """Knowledge that outlives a session; see ``docs/memory-providers.md``.

    Four members are required; every other one has a default that does nothing. Keep files only below the
    ``hermes_home`` that ``initialize`` is given. A method may leave out any keyword that it does not need:
    the host passes only what the signature takes.

    Attributes:
        pre_compress_checkpoint_api_version: ``PRE_COMPRESS_CHECKPOINT_API_VERSION`` promises a durable
            ``on_pre_compress``; 1 promises nothing.

    Example:
        >>> class Notes(MemoryProvider):
        ...     name = "notes"
        ...     def is_available(self): return True
        ...     def initialize(self, session_id, **kwargs): self.seen = []
        ...     def get_tool_schemas(self): return []
        ...     def sync_turn(self, user_content, assistant_content): self.seen.append(user_content)
        >>> Notes().prefetch("anything")
        ''
    """

    pre_compress_checkpoint_api_version: ClassVar[int] = 1

    @property
    @abstractmethod
    def name(self) -> str:
        """The word ``memory.provider`` selects it by, which its folder has too; a class attribute will do."""

    @abstractmethod
    def is_available(self) -> bool:
        """Whether it can run here. Look at settings and installed modules; do not use the network."""

    @abstractmethod
    def initialize(self, session_id: str, **kwargs: Any) -> None:
        """Get ready for a session.

        ``kwargs`` always hold ``hermes_home``, a path as a string: keep files below it. Others, such as
        ``platform``, may be there; a newer host may add more.
        """

    @abstractmethod
    def get_tool_schemas(self) -> list[dict[str, Any]]:
        """Bare function schemas (``name``, ``description``, ``parameters``) of its tools."""

    def unavailable_reason(self) -> str:
        """Why ``is_available`` says no, and what changes that, in one short sentence."""
        return ""

    def initialize_for_inspection(self, session_id: str, **kwargs: Any) -> None:
        """Get ready to be looked at only: start no thread, and use no network."""
        self.initialize(session_id, **kwargs)

    def system_prompt_block(self) -> str:
        """Fixed text for the system prompt; ``""`` for none."""
        return ""

    def prefetch(self, query: str, *, session_id: str = "") -> str:
        """What it recalls about ``query``, as text for the model; ``""`` for nothing.

        Asked once a turn, in a thread of its own, and not waited for longer than ``memory.prefetch_timeout``.
        """
        return ""

    def recall_status(self) -> RecallStatus | None:
        """What to tell a person about the latest ``prefetch``, and no earlier one; None for nothing."""
        return None

    def queue_prefetch(self, query: str, *, session_id: str = "") -> None:
        """Warm up for the next turn; called in the background, after ``sync_turn``."""

    def sync_turn(
        self,
        user_content: str,
        assistant_content: str,
        *,
        session_id: str = "",
        messages: list[dict[str, Any]] | None = None,
        turn_author: Any = None,
    ) -> None:
        """Keep a finished turn; called in the background, one turn after the other.

        Args:
            user_content: What the user wrote.
            assistant_content: The answer.
            session_id: The session it belongs to.
            messages: The whole turn with its tool calls, where the host has it.
            turn_author: Who wrote, where several people share a conversation.
        """

    def handle_tool_call(self, tool_name: str, args: dict[str, Any], **kwargs: Any) -> str:
        """Run one of its tools; the result is a JSON text.

        Raises:
            NotImplementedError: It has tools, but does not say how to run them.
        """
        message = f"memory provider {self.name!r} does not say how to run its tool {tool_name!r}"
        raise NotImplementedError(message)

    def on_turn_start(self, turn_number: int, message: str, **kwargs: Any) -> None:
        """A turn begins, before its prefetch; ``message`` is ``""`` when it holds more than text."""

    def on_session_end(self, messages: list[dict[str, Any]]) -> None:
        """The session is over: extract and flush. Called once, after the session's last ``sync_turn``."""

    def on_session_switch(
        self,
        new_session_id: str,
        *,
        parent_session_id: str = "",
        reset: bool = False,
        rewound: bool = False,
        **kwargs: Any,
    ) -> None:
        """The conversation goes on as another session.

        Args:
            new_session_id: What the next turns belong to.
            parent_session_id: The session it comes from.
            reset: Whether it begins anew, with nothing of what was said before.
            rewound: Whether the last turns were taken back; the id stays the same then.
            kwargs: ``reason``, such as ``new_session``, ``resume``, ``branch`` or ``compression``.
        """

    def on_pre_compress(self, messages: list[dict[str, Any]], *, require_checkpoint: bool = False) -> str:
        """These messages are about to be summarised; returns text worth keeping in the summary.

        Args:
            messages: What will be gone. Writing them twice must do no harm.
            require_checkpoint: Whether to raise rather than go on when they cannot be kept.
        """
        return ""

    def on_memory_write(self, action: str, target: str, content: str, metadata: dict[str, Any] | None = None) -> None:
        """The built-in memory changed.

        Args:
            action: ``add``, ``replace`` or ``remove``.
            target: ``memory`` or ``user``.
            content: The new entry; ``""`` when one was removed.
            metadata: Where the change comes from; ``previous_content`` is the entry that was replaced or removed.
        """

    def on_delegation(self, task: str, result: str, *, child_session_id: str = "", **kwargs: Any) -> None:
        """A subagent, which has no memory of its own, has finished its task."""

    def shutdown(self) -> None:
        """Flush and close; nothing is asked of it any more."""

    def get_config_schema(self) -> list[dict[str, Any]]:
        """What ``hermes memory setup`` asks: ``key``, ``description``, ``secret``, ``env_var``, ``default``, …"""
        return []

    def save_config(self, values: dict[str, Any], hermes_home: str) -> None:
        """Keep the fields that are not secret in the provider's own file below ``hermes_home``."""

    def backup_paths(self) -> list[str]:
        """Absolute paths outside ``hermes_home`` that a backup needs too; may be asked before ``initialize``."""
        return []
