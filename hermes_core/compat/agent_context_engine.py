"""The contract of context engines, under the original's name; this host keeps one and does not use it."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from typing import Any

__all__ = ["ContextEngine"]


class ContextEngine(ABC):
    """What compresses a conversation that grows too long."""

    last_prompt_tokens = 0
    last_completion_tokens = 0
    last_total_tokens = 0
    threshold_tokens = 0
    context_length = 0
    compression_count = 0
    threshold_percent = 0.75
    protect_first_n = 3
    protect_last_n = 6

    @property
    @abstractmethod
    def name(self) -> str:
        """The word ``context.engine`` selects it by."""

    @abstractmethod
    def update_from_response(self, usage: dict[str, Any]) -> None:
        """Note what a model call used."""

    @abstractmethod
    def should_compress(self, prompt_tokens: int | None = None) -> bool:
        """Whether it is time to compress."""

    @abstractmethod
    def compress(self, messages: list[dict[str, Any]], current_tokens: int | None = None, **kwargs: Any) -> Any:
        """The messages, compressed."""

    def should_compress_preflight(self, messages: list[dict[str, Any]]) -> bool:
        """Whether to compress before a request is sent."""
        return False

    def should_defer_preflight_to_real_usage(self, *_args: Any, **_kwargs: Any) -> bool:
        """Whether the provider's own count decides that."""
        return False

    def has_content_to_compress(self, messages: list[dict[str, Any]]) -> bool:
        """Whether there is anything to compress."""
        return True

    def on_session_start(self, session_id: str, **kwargs: Any) -> None:
        """A session begins."""

    def on_session_end(self, session_id: str, messages: list[dict[str, Any]]) -> None:
        """A session is over."""

    def on_session_reset(self) -> None:
        """A session begins anew: the counters are zero again."""
        self.last_prompt_tokens = self.last_completion_tokens = self.last_total_tokens = self.compression_count = 0

    def get_tool_schemas(self) -> list[dict[str, Any]]:
        """Bare function schemas of its tools."""
        return []

    def handle_tool_call(self, name: str, args: dict[str, Any], **kwargs: Any) -> str:
        """Run one of its tools; the result is a JSON text."""
        return json.dumps({"error": f"Unknown context engine tool: {name}"})

    def get_status(self) -> dict[str, Any]:
        """How full the context is."""
        return {
            "last_prompt_tokens": self.last_prompt_tokens,
            "threshold_tokens": self.threshold_tokens,
            "context_length": self.context_length,
            "compression_count": self.compression_count,
        }

    def update_model(self, model: str, context_length: int, **kwargs: Any) -> None:
        """The model has changed: what fits is another number."""
        self.context_length = context_length
        self.threshold_tokens = int(context_length * self.threshold_percent)

    def select_context(self, *_args: Any, **_kwargs: Any) -> Any:
        """Which part of the context to send; None for all of it."""
        return None

    def on_turn_complete(self, messages: list[dict[str, Any]], usage: dict[str, Any] | None = None, **kw: Any) -> None:
        """A turn is over."""
