"""Amazon Bedrock's Converse, one format for the models of many vendors."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from hermes_core.errors import UnsupportedInputError
from hermes_core.llm.wire import claude, sigv4
from hermes_core.llm.wire.json_schema import ANSWER_TOOL, TELLS, closed, is_object, wanted
from hermes_core.llm.wire.reading import check_error, completion, counted, field, joined, refuse, rows
from hermes_core.llm.wire.turns import PLACEHOLDER, Image, Part, Text, ToolCall, ToolResult, alternating, read
from hermes_core.llm.wire.writing import bearer, below, post
from hermes_core.types.wire import ApiMode, HttpRequest, WireRequest

if TYPE_CHECKING:
    from hermes_core.types.call import Completion

MAX_TOKENS = 4096
"""The limit sent when nobody gives one."""

FORCES_TOOLS = ("claude", "nova", "mistral-large")
"""Words in the names of models that can be made to call a tool."""

IMAGE_FORMATS = {"jpg": "jpeg"}
"""MIME subtypes that the API calls otherwise."""

FINISH = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "tool_use": "tool_calls",
    "malformed_tool_use": "tool_calls",
    "guardrail_intervened": "content_filter",
    "content_filtered": "content_filter",
}

USAGE = {
    "input_tokens": ("inputTokens", "cacheReadInputTokens", "cacheWriteInputTokens"),
    "output_tokens": ("outputTokens",),
    "total_tokens": ("totalTokens",),
    "cache_read_tokens": ("cacheReadInputTokens",),
    "cache_write_tokens": ("cacheWriteInputTokens",),
}


def encode(request: WireRequest) -> HttpRequest:
    """Write a request; ``sigv4.sign`` signs it when no key is given.

    Raises:
        UnsupportedInputError: A message holds what the format cannot carry.

    Example:
        >>> base_url = "https://bedrock-runtime.eu-west-1.amazonaws.com"
        >>> encode(WireRequest(base_url=base_url, model="amazon.nova-lite-v1:0", messages=[])).url
        'https://bedrock-runtime.eu-west-1.amazonaws.com/model/amazon.nova-lite-v1%3A0/converse'
    """
    model, said = request.model, read(request.messages)
    config: dict[str, Any] = {"maxTokens": request.max_tokens or MAX_TOKENS}
    body: dict[str, Any] = {
        "messages": [
            {"role": turn.role, "content": [_block(part) for part in turn.parts]}
            for turn in alternating(said.turns, user_ends=True)
        ],
        "inferenceConfig": config,
    }
    if said.system:
        body["system"] = [{"text": text} for text in said.system]
    if request.temperature is not None and claude.is_sampled(model):
        config["temperature"] = min(request.temperature, 1)
    _ask_for_tools(body, request, said.tools)
    body.update(request.extra)
    url = below(request.base_url, f"model/{quote(model, safe='')}/converse")
    return post(url, body, bearer(request.api_key), request.headers)


def decode(body: Any) -> Completion:
    """Read an answer.

    Raises:
        ResponseFormatError: It holds no message, or no text.
    """
    check_error(body)
    content = field(body, "output.message.content")
    if not isinstance(content, list):
        refuse(body)
    blocks, finish = rows(content), FINISH.get(str(body.get("stopReason")), "")
    text = joined(blocks, "text")
    for block in blocks:
        if field(block, "toolUse.name") == ANSWER_TOOL:
            text = json.dumps(field(block, "toolUse.input"), ensure_ascii=False)
            finish = "stop" if finish == "tool_calls" else finish
    return completion(
        text=text,
        finish=finish,
        model=field(body, "trace.promptRouter.invokedModelId"),
        usage=counted(body.get("usage"), USAGE),
        reasoning=joined(blocks, "reasoningContent.reasoningText.text"),
    )


def _ask_for_tools(body: dict[str, Any], request: WireRequest, called: list[str]) -> None:
    """Add the wanted schema, and the tools that the API must know; as ``anthropic_messages`` does it."""
    tools: list[dict[str, Any]] = [{"name": name, "inputSchema": {"json": {"type": "object"}}} for name in called]
    choice: dict[str, Any] = {}
    name, schema = wanted(request.response_format) or ("", None)
    native = closed(schema) if claude.decodes_schemas(request.model) else None
    if native is not None:
        structure = {"jsonSchema": {"name": name, "schema": json.dumps(native)}}
        body["outputConfig"] = {"textFormat": {"type": "json_schema", "structure": structure}}
    elif is_object(schema) and _forces_tools(request.model):
        tools.append({"name": ANSWER_TOOL, "description": TELLS, "inputSchema": {"json": schema}})
        choice = {"toolChoice": {"tool": {"name": ANSWER_TOOL}}}
    if tools:
        body["toolConfig"] = {"tools": [{"toolSpec": tool} for tool in tools], **choice}


def _forces_tools(model: str) -> bool:
    return any(word in model.lower() for word in FORCES_TOOLS) and claude.forces_tools(model)


def _block(part: Part) -> dict[str, Any]:
    match part:
        case Text():
            return {"text": part.text}
        case Image():
            data = part.inline()
            if data is None:
                raise UnsupportedInputError("an image is given by a URL, which this wire format cannot carry")
            kind = data[0].removeprefix("image/")
            return {"image": {"format": IMAGE_FORMATS.get(kind, kind), "source": {"bytes": data[1]}}}
        case ToolCall():
            return {"toolUse": {"toolUseId": part.id, "name": part.name, "input": part.arguments}}
        case ToolResult():
            content = [_block(inner) for inner in part.parts if inner != Text("")]
            return {"toolResult": {"toolUseId": part.id, "content": content or [{"text": PLACEHOLDER}]}}


BEDROCK_CONVERSE = ApiMode(
    name="bedrock_converse",
    encode=encode,
    decode=decode,
    inlines_images=True,
    sign=sigv4.sign,
    sign_variables=sigv4.VARIABLES,
)
