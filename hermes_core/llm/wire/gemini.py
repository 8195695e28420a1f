"""Google's own generateContent, for Gemini models."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from hermes_core.errors import UnsupportedInputError
from hermes_core.llm.wire.json_schema import wanted
from hermes_core.llm.wire.reading import check_error, completion, counted, field, joined, refuse, rows
from hermes_core.llm.wire.turns import Image, Part, Text, ToolCall, ToolResult, alternating, read
from hermes_core.llm.wire.writing import below, post
from hermes_core.providers.gemini import gemini_thinking
from hermes_core.types.wire import ApiMode, HttpRequest, WireRequest
from hermes_core.version import USER_AGENT

if TYPE_CHECKING:
    from hermes_core.types.call import Completion

MAX_TOKENS = 65_535
"""The limit sent when nobody gives one."""

FOREIGN_SIGNATURE = "skip_thought_signature_validator"
"""Goes with a tool call that this model did not make; Gemini 3 refuses one without a signature."""

BODY_FIELDS = frozenset({"safetySettings", "cachedContent", "tools", "toolConfig", "labels", "serviceTier"})
"""What the API knows besides; it refuses every other field."""

FINISH = {
    "STOP": "stop",
    "MAX_TOKENS": "length",
    "SAFETY": "content_filter",
    "RECITATION": "content_filter",
    "BLOCKLIST": "content_filter",
    "PROHIBITED_CONTENT": "content_filter",
    "SPII": "content_filter",
    "MODEL_ARMOR": "content_filter",
    "IMAGE_SAFETY": "content_filter",
    "IMAGE_PROHIBITED_CONTENT": "content_filter",
    "IMAGE_RECITATION": "content_filter",
    "MALFORMED_FUNCTION_CALL": "tool_calls",
    "UNEXPECTED_TOOL_CALL": "tool_calls",
    "TOO_MANY_TOOL_CALLS": "tool_calls",
}

USAGE = {
    "input_tokens": ("promptTokenCount",),
    "output_tokens": ("candidatesTokenCount", "thoughtsTokenCount"),
    "total_tokens": ("totalTokenCount",),
    "cache_read_tokens": ("cachedContentTokenCount",),
}


def encode(request: WireRequest) -> HttpRequest:
    """Write a request.

    Raises:
        UnsupportedInputError: A message holds what the format cannot carry.

    Example:
        >>> base_url = "https://generativelanguage.googleapis.com/v1beta"
        >>> encode(WireRequest(base_url=base_url, model="google/gemini-3-flash", messages=[])).url
        'https://generativelanguage.googleapis.com/v1beta/models/gemini-3-flash:generateContent'
    """
    model = re.sub(r"^(google|gemini|models)/", "", request.model)
    said = read(request.messages)
    config: dict[str, Any] = {"maxOutputTokens": request.max_tokens or MAX_TOKENS}
    body: dict[str, Any] = {
        "contents": [
            {
                "role": "model" if turn.role == "assistant" else "user",
                "parts": [block for part in turn.parts for block in _blocks(part, model)],
            }
            for turn in alternating(said.turns, blank="")
        ],
        "generationConfig": config,
    }
    if said.system:
        body["systemInstruction"] = {"parts": [{"text": "\n".join(said.system)}]}
    if request.temperature is not None:
        config["temperature"] = request.temperature
    if request.response_format is not None:
        config["responseMimeType"] = "application/json"
        _, schema = wanted(request.response_format) or ("", None)
        if isinstance(schema, Mapping) and schema:
            config["responseJsonSchema"] = schema
    thinking = request.extra.get("thinking_config") or gemini_thinking(model, request.reasoning)
    if thinking:
        config["thinkingConfig"] = thinking
    config.update(request.extra.get("generationConfig") or {})
    body.update({name: value for name, value in request.extra.items() if name in BODY_FIELDS})
    path = f"models/{quote(model, safe='')}:generateContent"
    key = {"x-goog-api-key": request.api_key} if request.api_key else {}
    url = below(request.base_url, path, without=("/openai",))
    return post(url, body, {"X-Goog-Api-Client": USER_AGENT}, key, request.headers)


def decode(body: Any) -> Completion:
    """Read an answer.

    Raises:
        ResponseFormatError: It holds no candidate, or no text.
    """
    check_error(body)
    candidate = next(iter(rows(field(body, "candidates"))), None)
    blocked = field(body, "promptFeedback.blockReason")
    if candidate is None and not blocked:
        refuse(body)
    parts = rows(field(candidate, "content.parts"))
    finish = FINISH.get(str(field(candidate, "finishReason")), "") if candidate else "content_filter"
    text = joined([part for part in parts if not part.get("thought")], "text")
    if not text and any("functionCall" in part for part in parts):
        finish = "tool_calls"
    return completion(
        text=text,
        finish=finish,
        model=body.get("modelVersion"),
        usage=counted(body.get("usageMetadata"), USAGE),
        reasoning=joined([part for part in parts if part.get("thought")], "text"),
    )


def _blocks(part: Part, model: str) -> list[dict[str, Any]]:
    match part:
        case Text():
            return [{"text": part.text}]
        case Image():
            data = part.inline()
            if data is None:
                raise UnsupportedInputError("an image is given by a URL, which this wire format cannot carry")
            return [{"inlineData": {"mimeType": data[0], "data": data[1]}}]
        case ToolCall():
            signature = part.signature or (FOREIGN_SIGNATURE if model.startswith("gemini-3") else "")
            call = {"functionCall": {"name": part.name, "args": part.arguments}}
            return [{**call, "thoughtSignature": signature} if signature else call]
        case ToolResult():
            texts = [inner.text for inner in part.parts if isinstance(inner, Text)]
            response = {"name": part.name, "response": {"output": "\n\n".join(texts)}}
            images = [inner for inner in part.parts if isinstance(inner, Image)]
            return [{"functionResponse": response}, *(block for image in images for block in _blocks(image, model))]


GEMINI = ApiMode(name="gemini", encode=encode, decode=decode, inlines_images=True)
