"""OpenAI's chat completions, which most providers speak."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from hermes_core.config.redact import redact
from hermes_core.errors import ResponseFormatError
from hermes_core.llm.usage import read_usage
from hermes_core.types.call import Completion
from hermes_core.types.wire import ApiMode, HttpRequest, WireRequest, merged_headers

if TYPE_CHECKING:
    from collections.abc import Mapping

_TEXT_PARTS = (None, "text", "output_text")
"""Types of those parts of a message's content that are its text."""


def encode(request: WireRequest) -> HttpRequest:
    """Write a request.

    Example:
        >>> encode(WireRequest(base_url="https://api.acme.test/v1", model="m", messages=[])).url
        'https://api.acme.test/v1/chat/completions'
    """
    body: dict[str, Any] = {"model": request.model, "messages": request.messages}
    if request.temperature is not None:
        body["temperature"] = request.temperature
    if request.max_tokens is not None:
        body[request.max_tokens_field] = request.max_tokens
    if request.response_format is not None:
        body["response_format"] = request.response_format
    body.update(request.extra)
    headers = {"Content-Type": "application/json", "Accept": "application/json"}
    if request.api_key:
        headers["Authorization"] = f"Bearer {request.api_key}"
    base, question, query = request.base_url.partition("?")
    return HttpRequest(
        url=f"{base.rstrip('/')}/chat/completions{question}{query}",
        headers=merged_headers(headers, request.headers),
        body=json.dumps(body, separators=(",", ":")).encode("ascii"),
    )


def decode(body: Any) -> Completion:
    """Read an answer: its body, or the list of its events when it came as a stream.

    Raises:
        ResponseFormatError: It is no chat completion.
    """
    whole = _assembled(body) if isinstance(body, list) else body
    choice = _choice(whole) if isinstance(whole, dict) else None
    if choice is None:
        raise ResponseFormatError(f"the provider's answer holds no message: {_preview(body)}")
    answer, finish = choice["message"], choice.get("finish_reason")
    content = _text(answer.get("content"))
    if not content and (refusal := _refusal(answer)):
        content, finish = refusal, "content_filter"
    model = whole.get("model")
    return Completion(
        text=content or "",
        model=model.strip() if isinstance(model, str) else "",
        reasoning=_reasoning(answer),
        finish_reason=finish if isinstance(finish, str) else "",
        usage=read_usage(whole.get("usage")),
        has_content=content is not None,
    )


def _choice(body: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The first choice; a body of the Responses API, which some servers mix up, is read as one too."""
    choices = body.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    if isinstance(choice, dict) and isinstance(choice.get("message"), dict):
        return choice
    content = body.get("output_text")
    if not content or not isinstance(content, str):
        output = body.get("output")
        items = [item for item in output if isinstance(item, dict)] if isinstance(output, list) else []
        contents = [item.get("content") for item in items if item.get("type") == "message"]
        content = [part for parts in contents if isinstance(parts, list) for part in parts]
    if not content:
        return None
    finish = "length" if body.get("status") == "incomplete" else "stop"
    return {"message": {"content": content}, "finish_reason": finish}


def _text(content: Any) -> str | None:
    """Content as text: a string, or the text among the parts of a list; None if it holds none."""
    if not isinstance(content, list):
        return content if isinstance(content, str) else None
    texts = [_field(part, "text") for part in content if _field(part, "type") in _TEXT_PARTS]
    texts = [text for text in texts if isinstance(text, str)]
    return "".join(texts) if texts or not content else None


def _reasoning(message: Mapping[str, Any]) -> str:
    """What the model thought, from the first of the places where servers put it."""
    for name in ("reasoning_content", "reasoning"):
        if isinstance(message.get(name), str) and message[name]:
            return str(message[name])
    details, content = message.get("reasoning_details"), message.get("content")
    parts = [*details] if isinstance(details, list) else []
    parts += [part for part in content if _field(part, "type") not in _TEXT_PARTS] if isinstance(content, list) else []
    thoughts = [_text(_field(part, name)) for part in parts for name in ("text", "summary", "thinking")]
    return "\n".join(thought for thought in thoughts if thought)


def _refusal(message: Mapping[str, Any]) -> str:
    content = message.get("content")
    parts = [message, *(content if isinstance(content, list) else ())]
    refusals = [_field(part, "refusal") for part in parts]
    return "".join(refusal for refusal in refusals if isinstance(refusal, str))


def _field(part: Any, name: str) -> Any:
    return part.get(name) if isinstance(part, dict) else getattr(part, name, None)


def _assembled(events: list[Any]) -> Any:
    """The body that a stream's chunks make up; what holds no chunks is read as its last event is."""
    whole: dict[str, Any] = {}
    pieces: dict[str, list[str]] = {}
    finish: Any = None
    for event in filter(_is_mapping, events):
        whole |= {name: event[name] for name in ("model", "usage") if event.get(name)}
        choices = event.get("choices")
        for choice in filter(_is_mapping, choices if isinstance(choices, list) else ()):
            part = choice.get("delta") or choice.get("message")
            if choice.get("index") not in (None, 0) or not isinstance(part, dict):
                continue
            finish = choice.get("finish_reason") or finish
            for name in ("content", "reasoning_content", "reasoning", "refusal"):
                pieces.setdefault(name, []).append(_text(part.get(name)) or "")
    if not pieces:
        return events[-1] if events else None
    message = {name: "".join(texts) or None for name, texts in pieces.items()}
    return {**whole, "choices": [{"message": message, "finish_reason": finish}]}


def _is_mapping(value: object) -> bool:
    return isinstance(value, dict)


def _preview(body: Any) -> str:
    """What came instead, in brief."""
    if not isinstance(body, dict):
        return type(body).__name__
    brief = {key: value if isinstance(value, str | int | float) else "…" for key, value in [*body.items()][:8]}
    return redact(str(brief))[:120]


CHAT_COMPLETIONS = ApiMode(name="chat_completions", encode=encode, decode=decode)
