"""OpenAI's Responses API, which xAI and others speak as well."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from hermes_core.llm.wire.json_schema import wanted
from hermes_core.llm.wire.reading import check_error, completion, counted, field, joined, refuse, rows
from hermes_core.llm.wire.turns import PLACEHOLDER, Image, Text, ToolCall, ToolResult, Turn, read, text_of
from hermes_core.llm.wire.writing import bearer, below, post
from hermes_core.types.address import host_of, is_within
from hermes_core.types.wire import ApiMode, HttpRequest, WireRequest

if TYPE_CHECKING:
    from hermes_core.types.call import Completion

STREAMING_HOST = "chatgpt.com"
"""It answers with events alone, takes no temperature and no limit, and wants instructions."""

DEFAULT_INSTRUCTIONS = "You are a helpful assistant."

LEAST_TOKENS = 16
"""The API refuses a lower limit."""

UNSAMPLED = ("gpt-5", "o1", "o3", "o4", "codex")
"""Beginnings of the names of models that reason, and refuse a temperature."""

EFFORTS = {"minimal": "low", "ultra": "max"}
"""Efforts that the API calls otherwise."""

FINISH = {"completed": "stop", "max_output_tokens": "length", "content_filter": "content_filter"}
"""By the reason why an answer is incomplete, else by its status."""

USAGE = {
    "input_tokens": ("input_tokens",),
    "output_tokens": ("output_tokens",),
    "total_tokens": ("total_tokens",),
    "cache_read_tokens": ("input_tokens_details.cached_tokens",),
    "cache_write_tokens": ("input_tokens_details.cache_write_tokens", "input_tokens_details.cache_creation_tokens"),
}


def encode(request: WireRequest) -> HttpRequest:
    """Write a request.

    Raises:
        UnsupportedInputError: A message holds what the format cannot carry.

    Example:
        >>> encode(WireRequest(base_url="https://api.openai.com/v1", model="gpt-5-codex", messages=[])).url
        'https://api.openai.com/v1/responses'
    """
    said = read(request.messages)
    items = [item for turn in said.turns for item in _items(turn)]
    instructions = "\n\n".join(said.system)
    body: dict[str, Any] = {
        "model": request.model,
        "input": items or [*_items(Turn("user", [Text(PLACEHOLDER)]))],
        "store": False,
    }
    streams = is_within(host_of(request.base_url), STREAMING_HOST)
    if streams:
        body["stream"] = True
        instructions = instructions or DEFAULT_INSTRUCTIONS
    if instructions:
        body["instructions"] = instructions
    is_sampled = not request.model.rpartition("/")[2].lower().startswith(UNSAMPLED)
    if request.temperature is not None and is_sampled and not streams:
        body["temperature"] = request.temperature
    if request.max_tokens is not None and not streams:
        body["max_output_tokens"] = max(request.max_tokens, LEAST_TOKENS)
    if request.reasoning is not None and request.reasoning["enabled"]:
        effort = request.reasoning["effort"]
        body["reasoning"] = {"effort": EFFORTS.get(effort, effort) or "medium", "summary": "auto"}
    if (wanted_format := _format(request.response_format)) is not None:
        body["text"] = {"format": wanted_format}
    body.update(request.extra)
    accepts = {"Accept": "text/event-stream"} if streams else {}
    return post(below(request.base_url, "responses"), body, accepts, bearer(request.api_key), request.headers)


def decode(body: Any) -> Completion:
    """Read an answer, or the events it came in.

    Raises:
        ResponseFormatError: It is no response, failed, or holds no text.
    """
    if isinstance(body, list):
        body = _assembled(body)
    check_error(body)
    if not isinstance(body, Mapping) or not isinstance(body.get("output"), list):
        refuse(body)
    output = rows(body["output"])
    parts = [part for item in output if item.get("type") == "message" for part in rows(item.get("content"))]
    reason = field(body, "incomplete_details.reason") or body.get("status") or "completed"
    finish = FINISH.get(str(reason), "")
    text = joined(parts, "text")
    if not text and (refusal := joined(parts, "refusal")):
        text, finish = refusal, "content_filter"
    if not text and any(item.get("type") == "function_call" for item in output):
        finish = "tool_calls"
    thoughts = [item for item in output if item.get("type") == "reasoning"]
    summary = [part for item in thoughts for part in rows(item.get("summary")) or rows(item.get("content"))]
    return completion(
        text=text,
        finish=finish,
        model=body.get("model"),
        usage=counted(body.get("usage"), USAGE),
        reasoning=joined(summary, "text"),
    )


def _assembled(events: list[Any]) -> Any:
    """The response that events tell of; its last one may leave the output out."""
    known = rows(events)
    for event in known:
        if event.get("type") == "error":
            return {"error": event.get("error") or event}
    told = [event["response"] for event in known if isinstance(event.get("response"), Mapping)]
    response = told[-1] if told else {"status": "in_progress"}
    done = [event["item"] for event in known if event.get("type") == "response.output_item.done" and "item" in event]
    return response if response.get("output") else {**response, "output": done}


def _format(response_format: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """The format to ask for; None for free text, and for a schema that is no object and so says nothing here."""
    found = wanted(response_format)
    if found is None:
        return {"type": response_format["type"]} if response_format else None
    name, schema = found
    if not isinstance(schema, Mapping):
        return None
    return {"type": "json_schema", "name": name, "schema": schema, "strict": False}


def _items(turn: Turn) -> Iterator[dict[str, Any]]:
    """A turn's message, and an item for each call and result."""
    spoken = [part for part in turn.parts if isinstance(part, Text | Image)]
    if spoken and (spoken != [Text("")] or len(turn.parts) == 1):
        kind = "input_text" if turn.role == "user" else "output_text"
        yield {"type": "message", "role": turn.role, "content": [_content(part, kind) for part in spoken]}
    for part in turn.parts:
        if isinstance(part, ToolCall):
            arguments = json.dumps(part.arguments)
            yield {"type": "function_call", "call_id": part.id, "name": part.name, "arguments": arguments}
        elif isinstance(part, ToolResult):
            text = text_of(part.parts)
            output = text if text is not None else [_content(inner, "input_text") for inner in part.parts]
            yield {"type": "function_call_output", "call_id": part.id, "output": output}


def _content(part: Text | Image, kind: str) -> dict[str, Any]:
    if isinstance(part, Text):
        return {"type": kind, "text": part.text}
    image = {"type": "input_image", "image_url": part.url}
    return {**image, "detail": part.detail} if part.detail else image


CODEX_RESPONSES = ApiMode(name="codex_responses", encode=encode, decode=decode)
