"""What a provider answers, in the wire format it was asked in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


def completion_body(text: str, *, model: str = "fake-model") -> dict[str, Any]:
    """The body of a chat completion that says ``text``."""
    return {
        "id": "chatcmpl-fake",
        "object": "chat.completion",
        "created": 1,
        "model": model,
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}],
        "usage": {"prompt_tokens": 5, "completion_tokens": 1, "total_tokens": 6},
    }


def answer_body(path: str, text: str, *, model: str = "fake-model") -> dict[str, Any]:
    """The body of an answer that says ``text``, in the wire format that a path belongs to; else a chat completion.

    Example:
        >>> answer_body("/v1/messages", "pong")["content"]
        [{'type': 'text', 'text': 'pong'}]
    """
    end = path.partition("?")[0].replace(":", "/").rpartition("/")[2]
    return _BY_END.get(end, _completion)(text, model)


def _completion(text: str, model: str) -> dict[str, Any]:
    return completion_body(text, model=model)


def _message(text: str, model: str) -> dict[str, Any]:
    content = [{"type": "text", "text": text}]
    usage = {"input_tokens": 5, "output_tokens": 1}
    return {"type": "message", "model": model, "content": content, "stop_reason": "end_turn", "usage": usage}


def _response(text: str, model: str) -> dict[str, Any]:
    item = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}
    usage = {"input_tokens": 5, "output_tokens": 1, "total_tokens": 6}
    return {"object": "response", "status": "completed", "model": model, "output": [item], "usage": usage}


def _converse(text: str, _model: str) -> dict[str, Any]:
    message = {"role": "assistant", "content": [{"text": text}]}
    usage = {"inputTokens": 5, "outputTokens": 1, "totalTokens": 6}
    return {"output": {"message": message}, "stopReason": "end_turn", "usage": usage}


def _generated(text: str, model: str) -> dict[str, Any]:
    candidate = {"content": {"role": "model", "parts": [{"text": text}]}, "finishReason": "STOP"}
    usage = {"promptTokenCount": 5, "candidatesTokenCount": 1, "totalTokenCount": 6}
    return {"candidates": [candidate], "modelVersion": model, "usageMetadata": usage}


_BY_END: dict[str, Callable[[str, str], dict[str, Any]]] = {
    "messages": _message,
    "responses": _response,
    "converse": _converse,
    "generateContent": _generated,
}
