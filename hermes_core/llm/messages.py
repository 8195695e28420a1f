"""Arguments of the four methods, checked and written as messages in OpenAI shape."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from hermes_core.config.truth import is_number
from hermes_core.types.llm import PluginLlmImageInput, PluginLlmTextInput

JSON_ONLY = "Answer with exactly one JSON value of the requested shape: no explanation, no code fence."

_MAGIC = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF87a": "image/gif",
    b"GIF89a": "image/gif",
}
_WIRE_NAME = re.compile(r"[^A-Za-z0-9_-]+")


def check_sampling(method: str, *, temperature: object, max_tokens: object, timeout: object) -> None:
    """Refuse numbers no provider could use, before anything is sent.

    Raises:
        ValueError: Names the method, the argument and what it accepts.
    """
    if temperature is not None and not (is_number(temperature) and 0 <= temperature <= 2):
        raise _refused(method, "temperature", "a number from 0 to 2", temperature)
    if max_tokens is not None and not (isinstance(max_tokens, int) and is_number(max_tokens) and max_tokens >= 1):
        raise _refused(method, "max_tokens", "a whole number of tokens, 1 or more", max_tokens)
    if timeout is not None and not (is_number(timeout) and timeout > 0):
        raise _refused(method, "timeout", "a number of seconds above 0", timeout)


def check_messages(method: str, messages: object) -> tuple[dict[str, Any], ...]:
    """A copy of a conversation; the caller's own list is never changed.

    Raises:
        ValueError: It is no list of messages with a role.
    """
    if isinstance(messages, Sequence) and not isinstance(messages, str | bytes) and messages:
        copied = tuple(dict(message) for message in messages if isinstance(message, Mapping))
        if len(copied) == len(messages) and all(isinstance(message.get("role"), str) for message in copied):
            _check_json(method, "messages", copied)
            return copied
    raise _refused(method, "messages", 'a list like [{"role": "user", "content": "…"}]', messages)


def check_request(method: str, instructions: object, inputs: object, **texts: object) -> None:
    """Refuse a structured call that asks for nothing.

    Raises:
        ValueError: ``instructions`` or ``input`` is missing or empty, or one of ``texts`` is no text.
    """
    if not isinstance(instructions, str) or not instructions.strip():
        raise _refused(method, "instructions", "text", instructions)
    if isinstance(inputs, str | bytes) or not isinstance(inputs, Sequence) or not inputs:
        raise _refused(method, "input", "a list of text and image blocks", inputs)
    for argument, value in texts.items():
        if value is not None and not isinstance(value, str):
            raise _refused(method, argument, "text", value)


def structured_messages(
    method: str, instructions: str, inputs: Sequence[object], system_prompt: str | None, *, wants_json: bool
) -> tuple[dict[str, Any], ...]:
    """The messages of a structured call: an optional system message, and one user message of parts.

    Raises:
        ValueError: A block is malformed.
    """
    system = [part for part in ((system_prompt or "").strip(), JSON_ONLY if wants_json else "") if part]
    content = [_text(instructions.strip()), *(_part(method, block) for block in inputs)]
    user = {"role": "user", "content": content}
    return ({"role": "system", "content": "\n\n".join(system)}, user) if system else (user,)


def schema_prompt(schema: object, schema_name: str | None) -> str:
    """What is added to the instructions about the wanted shape; ``""`` for nothing."""
    parts = [f"Schema name: {schema_name}"] if schema_name else []
    if schema is not None:
        try:
            dump = json.dumps(schema, sort_keys=True, ensure_ascii=False)
        except (TypeError, ValueError):
            dump = str(schema)
        parts.append(f"JSON schema:\n{dump}")
    return "\n\n".join(parts)


def response_format(schema: object, schema_name: str | None, *, json_mode: bool) -> dict[str, Any] | None:
    """OpenAI's field of that name, or None for free text; any schema counts, ``{}`` and False too.

    Example:
        >>> response_format({"type": "object"}, "meeting.tasks", json_mode=False)["json_schema"]["name"]
        'meeting_tasks'
    """
    if schema is not None:
        name = _WIRE_NAME.sub("_", schema_name or "").strip("_")[:64] or "plugin_structured_output"
        return {"type": "json_schema", "json_schema": {"name": name, "schema": schema, "strict": False}}
    return {"type": "json_object"} if json_mode else None


def with_schema_prompt(messages: list[dict[str, Any]], prompt: str) -> list[dict[str, Any]]:
    """The messages with ``prompt`` added to the first text of the last one."""
    if not prompt:
        return messages
    *before, last = messages
    first, *rest = last["content"]
    content = [_text(f"{first['text']}\n\n{prompt}"), *rest]
    return [*before, {**last, "content": content}]


def _part(method: str, block: object) -> dict[str, Any]:
    if isinstance(block, PluginLlmTextInput):
        block = {"type": "text", "text": block.text}
    elif isinstance(block, PluginLlmImageInput):
        block = {"type": "image", "data": block.data, "url": block.url, "mime_type": block.mime_type}
    if not isinstance(block, Mapping):
        raise _refused(method, "input", "text and image blocks", block)
    kind = block.get("type")
    if kind == "text":
        if not isinstance(block.get("text"), str):
            raise _refused(method, "input", "a text block with a string as its text", block.get("text"))
        return _text(block["text"])
    if kind != "image":
        message = f"{method}: an input block has type {kind!r}; it must be 'text' or 'image'"
        raise ValueError(message)
    return {"type": "image_url", "image_url": {"url": _image_url(method, block)}}


def _image_url(method: str, block: Mapping[str, Any]) -> str:
    url, data = block.get("url"), block.get("data")
    if url:
        if not isinstance(url, str) or not url.lower().startswith(("https://", "http://", "data:image/")):
            message = f"{method}: an image url must start with https://, http:// or data:image/"
            raise ValueError(message)
        if url.lower().startswith("data:"):
            _check_data_url(method, url)
        return url
    if not isinstance(data, bytes | bytearray | memoryview) or not len(data):
        raise _refused(method, "input", "an image block with bytes as its data, or a url", data)
    raw = bytes(data)
    mime = next((mime for magic, mime in _MAGIC.items() if raw.startswith(magic)), "")
    if raw[:4] == b"RIFF" and raw[8:12] == b"WEBP":
        mime = "image/webp"
    mime = mime or block.get("mime_type") or "image/png"
    return f"data:{mime};base64,{base64.b64encode(raw).decode('ascii')}"


def _check_data_url(method: str, url: str) -> None:
    _, _, encoded = url.partition(";base64,")
    try:
        data = base64.b64decode(encoded, validate=True)
    except ValueError:
        data = b""
    if not data:
        message = f"{method}: an image url that starts with data: must go on with ;base64, and the picture"
        raise ValueError(message)


def _check_json(method: str, argument: str, value: object) -> None:
    try:
        json.dumps(value)
    except (TypeError, ValueError, RecursionError) as error:
        message = f"{method}: {argument} must hold what JSON can, got {error}"
        raise ValueError(message) from error


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def _refused(method: str, argument: str, wanted: str, got: object) -> ValueError:
    shown = repr(got) if isinstance(got, int | float) else type(got).__name__
    if isinstance(got, str | Sequence) and not got:
        shown = "nothing"
    return ValueError(f"{method}: {argument} must be {wanted}, got {shown}")
