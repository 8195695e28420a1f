"""The contract of a memory provider plugin."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from typing import Any


class MemoryProvider(ABC):
    """Knowledge that outlives a session.

    Four members are required; every other method has a default that does nothing. Keep files only
    below the ``hermes_home`` that ``initialize`` is given.

    Example:
        >>> class Notes(MemoryProvider):
        ...     name = "notes"
        ...     def is_available(self): return True
        ...     def initialize(self, session_id, **kwargs): self.seen = []
        ...     def get_tool_schemas(self): return []
        ...     def sync_turn(self, user, assistant, **kwargs): self.seen.append(user)
        >>> Notes().prefetch("anything")
        ''
    """

    @property
    @abstractmethod
    def name(self) -> str:
        """The word ``memory.provider`` selects it by; a class attribute will do."""

    @abstractmethod
    def is_available(self) -> bool:
        """Whether it can run here. Look at settings and files; do not use the network."""

    @abstractmethod
    def initialize(self, session_id: str, **kwargs: Any) -> None:
        """Get ready for a session; ``kwargs`` always hold ``hermes_home``, a path as a string."""

    @abstractmethod
    def get_tool_schemas(self) -> list[dict[str, Any]]:
        """Bare function schemas (``name``, ``description``, ``parameters``) of its tools."""

    def handle_tool_call(self, name: str, args: dict[str, Any], **kwargs: Any) -> str:
        """Run one of its tools; the result is a JSON string."""
        return json.dumps({"error": f"{self.name} has no tool {name!r}"})

    def get_config_schema(self) -> list[dict[str, Any]]:
        """Fields the set-up wizard asks: ``key``, ``description``, ``secret``, ``env_var``, ``default``, …"""
        return []

    def save_config(self, values: dict[str, Any], hermes_home: str) -> None:
        """Keep the fields that are not secret in the provider's own file below ``hermes_home``."""

    def system_prompt_block(self) -> str:
        """Fixed text for the system prompt; ``""`` for none."""
        return ""

    def prefetch(self, query: str, *, session_id: str = "") -> str:
        """What it recalls about ``query``, as text for the model; ``""`` for nothing."""
        return ""

    def queue_prefetch(self, query: str, *, session_id: str = "") -> None:
        """Warm up for the next turn; must not block."""

    def sync_turn(self, user: str, assistant: str, **kwargs: Any) -> None:
        """Store a finished turn; must not block."""

    def on_session_end(self, messages: list[dict[str, Any]]) -> None:
        """The conversation is over: extract and flush."""

    def on_pre_compress(self, messages: list[dict[str, Any]]) -> str:
        """These messages are about to be summarised; returns text worth keeping."""
        return ""

    def on_memory_write(self, action: str, target: str, content: str, **kwargs: Any) -> None:
        """The built-in memory changed: ``action`` is add, replace or remove, ``target`` memory or user."""

    def shutdown(self) -> None:
        """Close connections; the process is about to end."""
