"""What the formats share when they read an answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn

from hermes_core.config.redact import redact
from hermes_core.config.truth import is_number
from hermes_core.errors import ResponseFormatError
from hermes_core.types.call import Completion
from hermes_core.types.llm import PluginLlmUsage

UsageRows = Mapping[str, tuple[str, ...]]
"""Our field → dotted paths in the provider's usage object; the counts found there are added up."""


def field(value: object, path: str) -> Any:
    """What is at a dotted path; None where there is nothing.

    Example:
        >>> field({"a": {"b": 1}}, "a.b")
        1
    """
    for key in path.split("."):
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


def rows(value: object) -> list[Mapping[str, Any]]:
    """The mappings in a list; none when it is no list."""
    return [row for row in value if isinstance(row, Mapping)] if isinstance(value, list) else []


def joined(blocks: list[Mapping[str, Any]], path: str) -> str:
    """The texts at a path of each block, one behind the other."""
    found = (field(block, path) for block in blocks)
    return "".join(text for text in found if isinstance(text, str))


def completion(*, text: str, finish: str, model: object, usage: PluginLlmUsage, reasoning: str = "") -> Completion:
    """The answer; it has content unless there is no text, and not because the model had nothing to say."""
    return Completion(
        text=text,
        model=model if isinstance(model, str) else "",
        reasoning=reasoning,
        finish_reason=finish,
        usage=usage,
        has_content=bool(text) or finish == "stop",
    )


def check_error(body: object) -> None:
    """Refuse a body that holds an error, whatever its status was.

    Raises:
        ResponseFormatError: With the provider's words.
    """
    error = field(body, "error")
    if error:
        said = field(error, "message") or error
        raise ResponseFormatError(f"the provider answered 200 with an error: {redact(str(said))[:200]}")


def refuse(body: object) -> NoReturn:
    """Refuse a body that is no answer of the format.

    Raises:
        ResponseFormatError: Shows what the body has instead.
    """
    keys = redact(str(sorted(map(str, body))[:8])) if isinstance(body, Mapping) else ""
    shown = f"keys {keys}" if keys else type(body).__name__
    raise ResponseFormatError(f"the provider's answer holds no message ({shown})")


def counted(reported: object, fields: UsageRows) -> PluginLlmUsage:
    """Usage as a provider reports it; what is missing or no count is 0, and the total is never below its parts.

    Example:
        >>> counted({"in": 5, "out": 1}, {"input_tokens": ("in",), "output_tokens": ("out",)}).total_tokens
        6
    """
    usage = PluginLlmUsage(**{ours: sum(_count(reported, path) for path in theirs) for ours, theirs in fields.items()})
    usage.total_tokens = max(usage.total_tokens, usage.input_tokens + usage.output_tokens)
    return usage


def _count(reported: object, path: str) -> int:
    value = field(reported, path)
    return max(int(value), 0) if is_number(value) else 0
