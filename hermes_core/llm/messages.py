"""Arguments of the four methods, checked and written as messages in OpenAI shape."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, TypeGuard

from hermes_core.config.truth import is_number
from hermes_core.llm.image_input import checked_url, data_url
from hermes_core.types.llm import PluginLlmImageInput, PluginLlmTextInput

JSON_ONLY = "Answer with exactly one JSON value of the requested shape: no explanation, no code fence."

_IMAGE_SHAPES = '{"type": "image_url", "image_url": {"url": …}}, or as an image block with url or data'

_WIRE_NAME = re.compile(r"[^A-Za-z0-9_-]+")


def check_options(
    method: str, *, temperature: object, max_tokens: object, timeout: object, json_mode: object = None, **texts: object
) -> None:
    """Refuse options that no provider could use, before anything is sent; None stands for each one's default.

    Raises:
        ValueError: Names the method, the argument and what it accepts.
    """
    if temperature is not None and not (is_number(temperature) and 0 <= temperature <= 2):
        raise _refused(f"{method}: temperature", "a number from 0 to 2", temperature)
    if max_tokens is not None and not (isinstance(max_tokens, int) and is_number(max_tokens) and max_tokens >= 1):
        raise _refused(f"{method}: max_tokens", "a whole number of tokens, 1 or more", max_tokens)
    if timeout is not None and not (is_number(timeout) and timeout > 0):
        raise _refused(f"{method}: timeout", "a number of seconds above 0", timeout)
    if json_mode is not None and not isinstance(json_mode, bool):
        raise _refused(f"{method}: json_mode", "True or False", json_mode)
    for argument, value in texts.items():
        if value is not None and not isinstance(value, str):
            raise _refused(f"{method}: {argument}", "text", value)


def check_messages(method: str, messages: object) -> tuple[dict[str, Any], ...]:
    """A copy of a conversation; the caller's own list is never changed.

    Raises:
        ValueError: It is no list of messages with a role, or holds an image that is not sent.
    """
    place = f"{method}: messages"
    if not _is_list(messages) or not messages:
        raise _refused(place, 'a list like [{"role": "user", "content": "…"}]', messages)
    copied = tuple(_message(f"{place}[{number}]", message) for number, message in enumerate(messages))
    _check_json(place, copied)
    return copied


def check_response_format(method: str, wanted: object) -> None:
    """Refuse what is no ``response_format`` of OpenAI's shape.

    Raises:
        ValueError: It is neither None nor a mapping with a type, or holds what JSON cannot.
    """
    place = f"{method}: response_format"
    if wanted is None:
        return
    if not isinstance(wanted, Mapping) or not isinstance(wanted.get("type"), str):
        raise _refused(place, "None or a mapping with a type", wanted)
    if not isinstance(wanted.get("json_schema", {}), Mapping):
        raise _refused(f"{place} json_schema", "a mapping with a schema", wanted["json_schema"])
    _check_json(place, wanted)


def check_request(method: str, instructions: object, inputs: object) -> None:
    """Refuse a structured call that asks for nothing.

    Raises:
        ValueError: ``instructions`` or ``input`` is missing or empty.
    """
    if not isinstance(instructions, str) or not instructions.strip():
        raise _refused(f"{method}: instructions", "text", instructions)
    if not _is_list(inputs) or not inputs:
        raise _refused(f"{method}: input", "a list of text and image blocks", inputs)


def structured_messages(
    method: str, instructions: str, inputs: Sequence[object], system_prompt: str | None, *, wants_json: bool
) -> tuple[dict[str, Any], ...]:
    """The messages of a structured call: an optional system message, and one user message of parts.

    Raises:
        ValueError: A block is malformed.
    """
    system = [part for part in ((system_prompt or "").strip(), JSON_ONLY if wants_json else "") if part]
    parts = [_part(f"{method}: input[{number}]", block) for number, block in enumerate(inputs)]
    user = {"role": "user", "content": [_text(instructions.strip()), *parts]}
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


def response_format(schema: object, schema_name: str | None, *, json_mode: bool | None) -> dict[str, Any] | None:
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
    """The messages with ``prompt`` added to the first text of the last one, or before all else where it has none."""
    if not prompt:
        return messages
    *before, last = messages
    content = last.get("content") or []
    first, *rest = [_text(content)] if isinstance(content, str) else [*content] or [{}]
    if first.get("type") == "text" and isinstance(first.get("text"), str):
        parts = [{**first, "text": f"{first['text']}\n\n{prompt}"}, *rest]
    else:
        parts = [_text(prompt), *content]
    return [*before, {**last, "content": parts}]


def _message(place: str, message: object) -> dict[str, Any]:
    if not isinstance(message, Mapping) or not isinstance(message.get("role"), str):
        raise _refused(place, "a mapping with a role that is text", message)
    content = message.get("content")
    if content is None or isinstance(content, str):
        return dict(message)
    if not _is_list(content):
        raise _refused(f"{place} content", "text or a list of parts", content)
    parts = [_checked_part(f"{place} content[{number}]", part) for number, part in enumerate(content)]
    return {**message, "content": parts}


def _checked_part(place: str, part: object) -> dict[str, Any]:
    """A part of a message's content; an image of whatever shape is one of OpenAI's that meets the rules, or refused."""
    if isinstance(part, PluginLlmTextInput | PluginLlmImageInput):
        return _part(place, part)
    if not isinstance(part, Mapping):
        raise _refused(place, "a mapping with a type", part)
    kind, image = part.get("type"), part.get("image_url")
    if kind == "image_url" or "image_url" in part:
        if isinstance(image, Mapping):
            return {**part, "type": "image_url", "image_url": {**image, "url": checked_url(place, image.get("url"))}}
        return {**part, "type": "image_url", "image_url": checked_url(place, image)}
    if kind == "image" and ("url" in part or "data" in part):
        return _part(place, part)
    if "image" in part or "image" in str(kind).lower():
        raise ValueError(f"{place} holds an image of type {kind!r:.100}; give it as {_IMAGE_SHAPES}")
    inner = part.get("content")
    if _is_list(inner):  # what a tool has found
        return {**part, "content": [_checked_part(f"{place} content[{at}]", one) for at, one in enumerate(inner)]}
    return dict(part)


def _part(place: str, block: object) -> dict[str, Any]:
    if isinstance(block, PluginLlmTextInput):
        block = {"type": "text", "text": block.text}
    elif isinstance(block, PluginLlmImageInput):
        block = {"type": "image", "data": block.data, "url": block.url, "mime_type": block.mime_type}
    if not isinstance(block, Mapping):
        raise _refused(place, "a text or image block", block)
    kind, url = block.get("type"), block.get("url")
    if kind == "text":
        if not isinstance(block.get("text"), str):
            raise _refused(place, "a text block with a string as its text", block.get("text"))
        return _text(block["text"])
    if kind != "image":
        raise ValueError(f"{place} has type {kind!r:.100}; it must be 'text' or 'image'")
    url = checked_url(place, url) if url else data_url(place, block.get("data"), block.get("mime_type"))
    return {"type": "image_url", "image_url": {"url": url}}


def _check_json(place: str, value: object) -> None:
    try:
        json.dumps(value)
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"{place} must hold what JSON can, got {error}") from error


def _is_list(value: object) -> TypeGuard[Sequence[Any]]:
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def _refused(place: str, wanted: str, got: object) -> ValueError:
    shown = repr(got) if is_number(got) or isinstance(got, bool | float) else type(got).__name__
    if isinstance(got, str | Sequence) and not got:
        shown = "nothing"
    elif isinstance(got, str) and not got.strip():
        shown = "only blanks"
    return ValueError(f"{place} must be {wanted}, got {shown}")
