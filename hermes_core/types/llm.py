"""What a plugin hands to ``ctx.llm`` and gets back."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, TypeAlias

if TYPE_CHECKING:
    from typing_extensions import (
        TypeVar,
    )  # which knows defaults on every Python; checkers bring it, nothing installs it

    T = TypeVar("T", default=Any)
else:
    from typing import TypeVar

    T = TypeVar("T")


@dataclass
class PluginLlmTextInput:
    """A piece of text in ``input=``."""

    text: str


@dataclass
class PluginLlmImageInput:
    """An image in ``input=``: raw ``data`` with its ``mime_type``, or a ``url``; the URL wins.

    Example:
        >>> PluginLlmImageInput(data=b"...", mime_type="image/png").url is None
        True
    """

    data: bytes | bytearray | memoryview | None = field(default=None, repr=False)
    url: str | None = None
    mime_type: str = "image/png"
    file_name: str = ""


PluginLlmInput: TypeAlias = PluginLlmTextInput | PluginLlmImageInput | dict[str, Any]
"""One item of ``input=``: a dataclass above, or ``{"type": "text", "text": …}``,
``{"type": "image", "data": …, "mime_type": …}``, ``{"type": "image", "url": …}``."""


@dataclass(kw_only=True)
class PluginLlmUsage:
    """What a call used, as the provider reported it; 0 where it said nothing.

    Attributes:
        input_tokens: The whole prompt, cached parts included.
        output_tokens: The answer, reasoning included.
        total_tokens: As reported, else the sum of the two.
        cache_read_tokens: Prompt tokens read from the provider's cache.
        cache_write_tokens: Prompt tokens written to it.
        cost_usd: US dollars, or None when unknown.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    total_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    cost_usd: float | None = None


@dataclass(kw_only=True)
class PluginLlmCompleteResult:
    """A chat answer.

    Attributes:
        text: The assistant's words.
        provider: Canonical name of the provider that answered.
        model: The model it says answered.
        agent_id: Whose model and credentials were used; ``default`` unless overridden.
        usage: Tokens and cost.
        audit: ``plugin_id``, ``purpose`` and ``profile`` at least.
    """

    text: str
    provider: str
    model: str
    agent_id: str = "default"
    usage: PluginLlmUsage = field(default_factory=PluginLlmUsage)
    audit: dict[str, Any] = field(default_factory=dict)


@dataclass(kw_only=True)
class PluginLlmStructuredResult(PluginLlmCompleteResult, Generic[T]):
    """A typed answer; ``T`` is the class given as ``json_schema=``, or Any.

    Attributes:
        parsed: The value when ``content_type`` is ``json``, else None: an instance of the class that was
            given as ``json_schema=`` (a TypedDict's is a dict), else the JSON value itself.
        content_type: ``json``, or ``text`` when the answer is no JSON.
    """

    parsed: T | None = None
    content_type: str = "text"
