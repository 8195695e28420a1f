"""OpenAI's chat completions, which most providers speak."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from hermes_core.config.redact import redact
from hermes_core.errors import ResponseFormatError
from hermes_core.llm.usage import read_usage
from hermes_core.types.call import Completion
from hermes_core.types.wire import ApiMode, HttpRequest, WireRequest, merged_headers


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
    """Read an answer.

    Raises:
        ResponseFormatError: It is no chat completion, or holds no text.
    """
    if isinstance(body, Mapping) and body.get("error"):
        error = body["error"]
        message = error.get("message") if isinstance(error, Mapping) else error
        raise ResponseFormatError(f"the provider answered 200 with an error: {redact(str(message))[:200]}")
    choices = body.get("choices") if isinstance(body, Mapping) else None
    choice = choices[0] if isinstance(choices, list) and choices else None
    answer = choice.get("message") if isinstance(choice, Mapping) else None
    if not isinstance(choice, Mapping) or not isinstance(answer, Mapping):
        keys = redact(str(sorted(map(str, body))[:8])) if isinstance(body, Mapping) else ""
        shown = f"keys {keys}" if keys else type(body).__name__
        raise ResponseFormatError(f"the provider's answer holds no message ({shown})")
    finish = choice.get("finish_reason")
    content = answer.get("content")
    reasoning = answer.get("reasoning_content") or answer.get("reasoning")
    if isinstance(content, list):
        content = "".join(
            part["text"] for part in content if isinstance(part, Mapping) and isinstance(part.get("text"), str)
        )
    if not content and isinstance(answer.get("refusal"), str) and answer["refusal"]:
        content, finish = answer["refusal"], "content_filter"
    if not isinstance(content, str):
        hint = "raise max_tokens" if finish == "length" else ""
        raise ResponseFormatError(
            f"the provider's answer has no content (finish_reason {redact(repr(finish))})", hint=hint
        )
    model = body.get("model")
    return Completion(
        text=content,
        model=model if isinstance(model, str) else "",
        reasoning=reasoning if isinstance(reasoning, str) else "",
        finish_reason=finish if isinstance(finish, str) else "",
        usage=read_usage(body.get("usage")),
    )


CHAT_COMPLETIONS = ApiMode(name="chat_completions", encode=encode, decode=decode)
