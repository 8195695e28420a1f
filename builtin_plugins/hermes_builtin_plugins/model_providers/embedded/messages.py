"""A request rewritten for a model of 135 million parameters; pure functions."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from .schema import bounded, free_values

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Message = dict[str, Any]

DEFAULT_MAX_TOKENS = 512

_FREE_JSON = """\
root ::= "{{" ws pair ("," ws pair){{0,{more}}} "}}"
pair ::= name ":" " "? {values}
any ::= scalar | list
list ::= "[" (scalar ("," " "? scalar){{0,{more}}})? "]"
scalar ::= string | number | boolean | "null"
name ::= "\\"" [a-zA-Z_] [a-zA-Z0-9_ ]{{0,24}} "\\""
string ::= "\\"" ([^"\\\\\\x00-\\x1F] | "\\\\" ["\\\\nt]){{0,{length}}} "\\""
number ::= integer ("." [0-9]{{1,4}})?
integer ::= "-"? ("0" | [1-9] [0-9]{{0,8}})
boolean ::= "true" | "false"
ws ::= ("\\n" " "{{0,4}} | " ")?
"""
"""An object with any fields, written so that it ends; the server's own form of "any JSON" does not."""

_FREE_STEPS = ((5, 120), (5, 80), (3, 80), (3, 40), (2, 30), (1, 24), (0, 16))


def adapt(
    messages: Sequence[Message], response_format: Mapping[str, Any] | None, max_tokens: int | None
) -> dict[str, Any]:
    """Fields of the request body that replace the caller's.

    Args:
        messages: The conversation in OpenAI shape; neither it nor the schema is changed.
        response_format: None, ``{"type": "json_object"}`` or ``{"type": "json_schema", …}``.
        max_tokens: The caller's limit, if any.
    """
    limit = max_tokens or DEFAULT_MAX_TOKENS
    fields: dict[str, Any] = {"max_tokens": limit}
    wanted = response_format or {}
    schema = wanted["json_schema"]["schema"] if wanted.get("type") == "json_schema" else None
    room = limit * _characters_per_token(messages)
    values = "any" if wanted.get("type") == "json_object" else free_values(schema)
    if values:
        fields["response_format"] = {"type": "text"}
        fields["grammar"] = _free_json(values, room)
    elif schema is not None:
        small = {**wanted["json_schema"], "schema": bounded(schema, room)}
        fields["response_format"] = {"type": "json_schema", "json_schema": small}
    fields["messages"] = _turns(messages, schema if isinstance(schema, dict) else {})
    return fields


def _free_json(values: str, room: float) -> str:
    """The largest form that fits when every field is a list of the longest strings."""
    for more, length in _FREE_STEPS:
        if (more + 1) * (26 + (more + 1) * (length + 4)) <= room:
            break
    return _FREE_JSON.format(values=values, more=more, length=length)


def _characters_per_token(messages: Sequence[Message]) -> float:
    """A cautious guess from the conversation: the vocabulary is English, and a digit is a token."""
    text = "".join(map(_text, messages)) or " "
    digits = sum(map(str.isdigit, text))
    foreign = len(text) - sum(map(str.isascii, text))
    return len(text) / (0.3 * (len(text) - digits - foreign) + digits + 1.4 * foreign)


def _turns(messages: Sequence[Message], schema: Mapping[str, Any]) -> list[Message]:
    """The conversation without system messages, which go before the first words of the user."""
    system = "\n\n".join(_text(message) for message in messages if message["role"] == "system")
    turns = [dict(message) for message in messages if message["role"] != "system"]
    first = next((turn for turn in turns if turn["role"] == "user"), None)
    if first is None:
        return [{"role": "user", "content": system}, *turns] if system else turns
    head, text = _head_and_text(first)
    head = "\n\n".join(filter(None, (system, head)))
    example = _worked_example(head, schema) if len(turns) == 1 else []
    for turn in turns:
        turn["content"] = _text(turn)
    first["content"] = "\n\n".join(filter(None, (head, text)))
    return [*example, *turns]


def _head_and_text(turn: Message) -> tuple[str, str]:
    """The instruction and what it is about; a structured call sends them as separate parts."""
    parts = [part.get("text", "") for part in turn["content"]] if isinstance(turn["content"], list) else []
    return (parts[0], "\n\n".join(parts[1:])) if len(parts) > 1 else ("", _text(turn))


def _worked_example(head: str, schema: Mapping[str, Any]) -> list[Message]:
    """The schema's first example as a finished exchange."""
    if not schema.get("examples"):
        return []
    answer = schema["examples"][0]
    text = schema.get("x-example-input") or _words(answer)
    return [
        {"role": "user", "content": "\n\n".join(filter(None, (head, text)))},
        # without spaces: the model copies the form, and an answer takes a quarter fewer tokens
        {"role": "assistant", "content": json.dumps(answer, ensure_ascii=False, separators=(",", ":"))},
    ]


def _words(answer: object) -> str:
    """A text that such an answer might come from: its values, an item of a list on each line."""
    if isinstance(answer, dict):
        return ", ".join(filter(None, map(_words, answer.values())))
    if isinstance(answer, list):
        return "\n".join(map(_words, answer))
    return answer if isinstance(answer, str) else json.dumps(answer)


def _text(message: Message) -> str:
    content = message.get("content") or ""
    if isinstance(content, str):
        return content
    return "\n\n".join(part.get("text", "") for part in content)
