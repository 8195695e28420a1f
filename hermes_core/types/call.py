"""One model call as the host sees it: what was asked, and what came back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hermes_core.types.llm import PluginLlmUsage

Message = Mapping[str, Any]
"""A chat message in OpenAI shape: ``{"role": …, "content": …}``."""


@dataclass(frozen=True, kw_only=True)
class LlmCall:
    """A model call on its way to a provider.

    Attributes:
        plugin_id: Who calls.
        method: ``complete``, ``complete_structured`` or one of their ``a…`` twins.
        messages: The conversation, in OpenAI shape.
        schema_prompt: Text that describes the wanted JSON, added to the last message for providers
            that do not read ``response_format`` themselves.
        response_format: As OpenAI's field of that name, or None for free text.
        temperature: The caller's, or None.
        max_tokens: The caller's output limit in tokens, or None.
        timeout: The caller's deadline in seconds over everything the call does, or None.
        purpose: Free text for the audit line.
        session_id: The conversation it belongs to, for providers that route by it, or None.
        provider: The provider that is asked first; for information.
        model: The model that is asked first; for information.
        started: When the call began, in seconds since 1970; for information.

    Example:
        >>> LlmCall(plugin_id="p", messages=({"role": "user", "content": "ping"},)).method
        'complete'
    """

    plugin_id: str
    messages: Sequence[Message]
    method: str = "complete"
    schema_prompt: str = ""
    response_format: Mapping[str, Any] | None = None
    temperature: float | None = None
    max_tokens: int | None = None
    timeout: float | None = None
    purpose: str = ""
    session_id: str | None = None
    provider: str = ""
    model: str = ""
    started: float = 0.0

    @property
    def has_images(self) -> bool:
        """Whether any message holds an image part."""
        return any(
            isinstance(part, Mapping) and part.get("type") == "image_url"
            for message in self.messages
            if isinstance(message.get("content"), (list, tuple))
            for part in message["content"]
        )


@dataclass(frozen=True, kw_only=True)
class Completion:
    """A model's answer, whatever wire it came over.

    Attributes:
        text: The answer; ``""`` when the model said nothing.
        model: The model that answered, as the provider names it; ``""`` when it does not say.
        reasoning: What the model thought before answering, where the provider shows it.
        finish_reason: ``stop``, ``length``, ``content_filter``, ``tool_calls`` or ``""``.
        usage: Tokens and cost.
        provider: Canonical name of the provider that answered.
        has_content: False when all that came is ``reasoning``: no content, not even an empty one.
    """

    text: str
    model: str = ""
    reasoning: str = ""
    finish_reason: str = ""
    usage: PluginLlmUsage = field(default_factory=PluginLlmUsage)
    provider: str = ""
    has_content: bool = True
