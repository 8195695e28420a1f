"""Anthropic's messages, which several other vendors speak as well."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from hermes_core.llm.wire import claude
from hermes_core.llm.wire.json_schema import ANSWER_TOOL, TELLS, closed, is_object, wanted
from hermes_core.llm.wire.reading import check_error, completion, counted, joined, refuse, rows
from hermes_core.llm.wire.turns import Image, Part, Text, ToolCall, ToolResult, alternating, read, text_of
from hermes_core.llm.wire.writing import bearer, below, post
from hermes_core.types.address import host_of, is_within
from hermes_core.types.wire import ApiMode, HttpRequest, WireRequest

if TYPE_CHECKING:
    from hermes_core.types.call import Completion

VERSION = "2023-06-01"

MAX_TOKENS = {
    "claude-3": 4096,
    "claude-3-5": 8192,
    "claude-3-7": 64_000,
    "claude-opus-4": 32_000,
    "claude-sonnet-4": 64_000,
    "claude-opus-4-5": 64_000,
    "claude-haiku-4-5": 64_000,
    "claude-sonnet-4-5": 64_000,
    "claude-opus-4-6": 128_000,
    "claude-opus-4-7": 128_000,
    "claude-opus-4-8": 128_000,
    "claude-sonnet-4-6": 128_000,
    "minimax": 131_072,
    "qwen3": 65_536,
    "": 128_000,
}
"""The limit that the API demands when nobody gives one: the longest name that the model's contains counts."""

BEARER_HOSTS = ("minimax.io", "minimaxi.com", "azure.com", "palantirfoundry.com")
"""Hosts that want the key as a bearer token, as Anthropic's own does with tokens of a login."""

AZURE, AZURE_VERSION = "azure.com", "api-version=2025-04-15"

FINISH = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "tool_use": "tool_calls",
    "refusal": "content_filter",
}

USAGE = {
    "input_tokens": ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"),
    "output_tokens": ("output_tokens",),
    "cache_read_tokens": ("cache_read_input_tokens",),
    "cache_write_tokens": ("cache_creation_input_tokens",),
}


def encode(request: WireRequest) -> HttpRequest:
    """Write a request.

    Raises:
        UnsupportedInputError: A message holds what the format cannot carry.

    Example:
        >>> encode(WireRequest(base_url="https://api.anthropic.com/v1", model="claude-opus-4-6", messages=[])).url
        'https://api.anthropic.com/v1/messages'
    """
    model, said = request.model, read(request.messages)
    turns = alternating(said.turns, user_ends=not claude.takes_prefill(model))
    body: dict[str, Any] = {
        "model": model,
        "max_tokens": request.max_tokens or default_max_tokens(model),
        "messages": [{"role": turn.role, "content": [_block(part) for part in turn.parts]} for turn in turns],
    }
    if said.system:
        body["system"] = "\n\n".join(said.system)
    if request.temperature is not None:
        body["temperature"] = min(request.temperature, 1)
    thinking = _thinking(request)
    if thinking is not None and thinking.budget:
        body["thinking"] = {"type": "enabled", "budget_tokens": thinking.budget}
        body["max_tokens"] = max(body["max_tokens"], thinking.budget + claude.ANSWER_TOKENS)
        body["temperature"] = 1
    elif thinking is not None:
        body["thinking"] = {"type": "adaptive"}
        body["output_config"] = {"effort": thinking.effort}
    _ask_for_tools(body, request, said.tools, forced=thinking is None and claude.forces_tools(model))
    body.update(request.extra)
    if not claude.is_sampled(model):
        for name in ("temperature", "top_p", "top_k"):
            body.pop(name, None)
    return post(_url(request.base_url), body, {"anthropic-version": VERSION}, _key(request), request.headers)


def decode(body: Any) -> Completion:
    """Read an answer.

    Raises:
        ResponseFormatError: It is no message, or holds no text.
    """
    check_error(body)
    if not isinstance(body, Mapping) or not isinstance(body.get("content"), list):
        refuse(body)
    blocks = rows(body["content"])
    text, finish = joined(blocks, "text"), FINISH.get(str(body.get("stop_reason")), "")
    for block in blocks:
        if (block.get("type"), block.get("name")) == ("tool_use", ANSWER_TOOL):
            text = json.dumps(block.get("input"), ensure_ascii=False)
            finish = "stop" if finish == "tool_calls" else finish
    return completion(
        text=text,
        finish=finish,
        model=body.get("model"),
        usage=counted(body.get("usage"), USAGE),
        reasoning=joined(blocks, "thinking"),
    )


def default_max_tokens(model: str) -> int:
    """The output limit to send when nobody gives one.

    Example:
        >>> default_max_tokens("claude-3-5-haiku-latest"), default_max_tokens("MiniMax-M2")
        (8192, 131072)
    """
    name = model.lower().replace(".", "-")
    return MAX_TOKENS[max((known for known in MAX_TOKENS if known in name), key=len)]


def _url(base_url: str) -> str:
    url = below(base_url, "v1/messages", without=("/v1",))
    if is_within(host_of(url), AZURE) and "/anthropic/" in url and "api-version=" not in url:
        url += f"{'&' if '?' in url else '?'}{AZURE_VERSION}"
    return url


def _key(request: WireRequest) -> dict[str, str]:
    key, host = request.api_key, host_of(request.base_url)
    of_a_login = key.startswith(("sk-ant-", "eyJ", "cc-")) and not key.startswith("sk-ant-api")
    if (of_a_login and is_within(host, "anthropic.com")) or any(is_within(host, known) for known in BEARER_HOSTS):
        return bearer(key)
    return {"x-api-key": key} if key else {}


def _thinking(request: WireRequest) -> claude.Thinking | None:
    asked = request.reasoning
    return claude.thinking(request.model, asked["enabled"], asked["effort"]) if asked else None


def _ask_for_tools(body: dict[str, Any], request: WireRequest, called: list[str], *, forced: bool) -> None:
    """Add the wanted schema, and the tools that the API must know.

    A schema is asked for as the API decodes it, else as the arguments of a tool that the model must call,
    else not at all: the prompt describes it. Tools in the history must be declared, and are not to be used.
    """
    tools: list[dict[str, Any]] = [{"name": name, "input_schema": {"type": "object"}} for name in called]
    choice = {"type": "none"}
    _, schema = wanted(request.response_format) or ("", None)
    native = closed(schema) if claude.decodes_schemas(request.model) else None
    if native is not None:
        body.setdefault("output_config", {})["format"] = {"type": "json_schema", "schema": native}
    elif forced and is_object(schema):
        tools.append({"name": ANSWER_TOOL, "description": TELLS, "input_schema": schema})
        choice = {"type": "tool", "name": ANSWER_TOOL}
    if tools:
        body |= {"tools": tools, "tool_choice": choice}


def _block(part: Part) -> dict[str, Any]:
    match part:
        case Text():
            return {"type": "text", "text": part.text}
        case Image():
            data = part.inline()
            if data is None:
                return {"type": "image", "source": {"type": "url", "url": part.url}}
            return {"type": "image", "source": {"type": "base64", "media_type": data[0], "data": data[1]}}
        case ToolCall():
            return {"type": "tool_use", "id": part.id, "name": part.name, "input": part.arguments}
        case ToolResult():
            text = text_of(part.parts)
            content = text if text is not None else [_block(inner) for inner in part.parts if inner != Text("")]
            return {"type": "tool_result", "tool_use_id": part.id, "content": content}


ANTHROPIC_MESSAGES = ApiMode(name="anthropic_messages", encode=encode, decode=decode)
