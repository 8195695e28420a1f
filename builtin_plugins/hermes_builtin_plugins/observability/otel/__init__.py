"""An OpenTelemetry span for each model call, by the GenAI semantic conventions.

A span is made when its call has ended, and begins when the call began; its parent is the span that was current where
the call was made. It goes to whatever tracer provider the program has set.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from hermes_core import HermesError, __version__, hookimpl, redact

try:
    from opentelemetry import trace
except ImportError:
    command = "pip install 'hermes-plugin-host[otel]'"
    raise HermesError(f"OpenTelemetry is not installed: {command}", hint=command) from None

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hermes_core import Completion, LlmCall, PluginContext

SCHEMA = "https://opentelemetry.io/schemas/1.37.0"
"""The semantic conventions that the attributes follow."""


@hookimpl(tryfirst=True)  # so that a span does not last as long as the other listeners
def hermes_llm_done(
    ctx: PluginContext, call: LlmCall, completion: Completion | None, error: BaseException | None
) -> None:
    """Make the span of a call."""
    attributes = {
        **_asked(call),
        **(_answered(completion) if completion is not None else {}),
        **(_content(call, completion) if ctx.get_config("capture_content") is True else {}),
    }
    if error is not None:
        attributes["error.type"] = str(getattr(error, "status_code", None) or type(error).__qualname__)
    span = trace.get_tracer("hermes_core", __version__, schema_url=SCHEMA).start_span(
        f"chat {call.model}",
        kind=trace.SpanKind.CLIENT,
        attributes={name: value for name, value in attributes.items() if value not in (None, "")},
        start_time=int(call.started * 1e9),
    )
    if error is not None:
        span.set_status(trace.StatusCode.ERROR)  # without its text, which may quote what was said
    span.end()


def _asked(call: LlmCall) -> dict[str, Any]:
    return {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": call.provider,
        "gen_ai.request.model": call.model,
        "gen_ai.request.temperature": call.temperature,
        "gen_ai.request.max_tokens": call.max_tokens,
        "gen_ai.output.type": "text" if call.response_format is None else "json",
        "hermes.plugin.id": call.plugin_id,
        "hermes.purpose": redact(call.purpose),
    }


def _answered(completion: Completion) -> dict[str, Any]:
    usage = completion.usage
    return {
        **({"gen_ai.provider.name": completion.provider} if completion.provider else {}),
        "gen_ai.response.model": completion.model,
        "gen_ai.response.finish_reasons": [completion.finish_reason] if completion.finish_reason else None,
        "gen_ai.usage.input_tokens": usage.input_tokens,
        "gen_ai.usage.output_tokens": usage.output_tokens,
        "hermes.usage.cost_usd": usage.cost_usd,
    }


def _content(call: LlmCall, completion: Completion | None) -> dict[str, str]:
    asked = [{"role": message.get("role", ""), "parts": [*_parts(message)]} for message in call.messages]
    content = {"gen_ai.input.messages": json.dumps(asked)}
    if completion is not None:
        parts = [_text(completion.text)]
        if completion.reasoning:
            parts.insert(0, _text(completion.reasoning, "reasoning"))
        said = [{"role": "assistant", "parts": parts, "finish_reason": completion.finish_reason}]
        content["gen_ai.output.messages"] = json.dumps(said)
    return content


def _text(content: object, kind: str = "text") -> dict[str, str]:
    return {"type": kind, "content": redact(str(content))}


def _parts(message: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    """A message's content as the conventions write it; of an image that is inside the message, only that it is."""
    content = message.get("content") or ()
    for part in [{"type": "text", "text": content}] if isinstance(content, str) else content:
        kind = str(part.get("type", ""))
        if kind == "text":
            yield _text(part.get("text"))
        elif kind == "image_url":
            image = part["image_url"]
            url = str(image["url"] if isinstance(image, Mapping) else image)
            where = {"type": "blob"} if url.startswith("data:") else {"type": "uri", "uri": redact(url)}
            yield {**where, "modality": "image"}
        else:
            yield {"type": kind}
