"""A conversation in OpenAI shape, taken apart for the formats that write it in another."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias
from urllib.parse import unquote_to_bytes

from hermes_core.errors import UnsupportedInputError

PLACEHOLDER = "(no text)"
"""Stands where a format demands text and there is none."""

GO_ON = "Go on."
"""The user's last word, where a format demands one and the conversation ends with the assistant's."""

_NO_NAME = re.compile(r"[^A-Za-z0-9_-]")


class Text(NamedTuple):
    """Something said."""

    text: str


class Image(NamedTuple):
    """A picture, by its URL; ``detail`` is OpenAI's field of that name, or ``""``."""

    url: str
    detail: str = ""

    def inline(self) -> tuple[str, str] | None:
        """Its MIME type and base64 data; None when it is elsewhere."""
        scheme, _, rest = self.url.partition(":")
        if scheme.lower() != "data":
            return None
        head, _, data = rest.partition(",")
        mime, *flags = head.split(";")
        if "base64" not in flags:
            data = base64.b64encode(unquote_to_bytes(data)).decode("ascii")
        return mime if mime.startswith("image/") else "image/jpeg", "".join(data.split())


class ToolCall(NamedTuple):
    """The assistant asked for a tool; ``signature`` is what one vendor wants to see again."""

    id: str
    name: str
    arguments: Mapping[str, Any]
    signature: str = ""


class ToolResult(NamedTuple):
    """What the tool said; it answers the call of this id in the turn before."""

    id: str
    name: str
    parts: tuple[Text | Image, ...]


Part: TypeAlias = Text | Image | ToolCall | ToolResult


class Turn(NamedTuple):
    """What one side said; ``role`` is ``user`` or ``assistant``. A tool speaks on the user's side."""

    role: str
    parts: list[Part]


class Conversation(NamedTuple):
    """All system and developer messages, and everybody else's turns, one a message."""

    system: list[str]
    turns: list[Turn]

    @property
    def tools(self) -> list[str]:
        """Names of the tools that were called, each once."""
        calls = (part for turn in self.turns for part in turn.parts if isinstance(part, ToolCall))
        return list(dict.fromkeys(call.name for call in calls))


def read(messages: Sequence[Mapping[str, Any]]) -> Conversation:
    """Take a conversation apart.

    Formats demand that every tool call is answered right below it, and every answer has its call. One
    without the other becomes text, so what it says is kept. Ids and names become what every format takes.

    Raises:
        UnsupportedInputError: A message has a role, or a part, that these formats do not know.

    Example:
        >>> read([{"role": "system", "content": "Be brief."}, {"role": "user", "content": "ping"}])
        Conversation(system=['Be brief.'], turns=[Turn(role='user', parts=[Text(text='ping')])])
    """
    system: list[str] = []
    turns: list[Turn] = []
    waiting: dict[str, str] = {}
    for position, message in enumerate(messages):
        role = message.get("role")
        said = list(_said(message.get("content")))
        if role in ("system", "developer"):
            system += [text for text in map(_only_text, said) if text.strip()]
        elif role == "assistant":
            calls, waiting = _calls(message, messages[position + 1 :])
            turns.append(Turn("assistant", [*said, *calls]))
        elif role == "tool" and (called := _id(message.get("tool_call_id"))) in waiting:
            turns.append(Turn("user", [ToolResult(called, waiting.pop(called), tuple(said))]))
        elif role in ("tool", "function"):
            turns.append(Turn("user", [Text("[a tool answered]"), *said]))
        elif role == "user":
            turns.append(Turn("user", [*said]))
        else:
            raise UnsupportedInputError(f"a message has the role {role!r}, which this wire format does not know")
    return Conversation(system, turns)


def alternating(turns: Sequence[Turn], *, blank: str = PLACEHOLDER, user_ends: bool = False) -> list[Turn]:
    """Turns that begin with the user's and alternate, none of them empty.

    Args:
        turns: As ``read`` gives them.
        blank: Stands for a turn that says nothing; with ``""``, such a turn is left out.
        user_ends: Whether the user must have the last word.
    """
    merged: list[Turn] = []
    for turn in turns:
        parts = [part for part in turn.parts if not (isinstance(part, Text) and not part.text.strip())]
        if merged and merged[-1].role == turn.role:
            merged[-1].parts.extend(parts)
        elif parts or blank:
            merged.append(Turn(turn.role, parts))
    for turn in merged:
        turn.parts.sort(key=lambda part: not isinstance(part, ToolResult))  # they must follow their calls at once
        if not turn.parts:
            turn.parts.append(Text(blank))
    if not merged or merged[0].role == "assistant":
        merged.insert(0, Turn("user", [Text(PLACEHOLDER)]))
    if merged[-1].role == "assistant":
        if user_ends:
            merged.append(Turn("user", [Text(GO_ON)]))
        elif isinstance(last := merged[-1].parts[-1], Text):  # it is gone on with, from its last letter
            merged[-1].parts[-1] = Text(last.text.rstrip())
    return merged


def text_of(parts: Sequence[Part]) -> str | None:
    """The parts as one text; None when they are more than text."""
    texts = [part.text for part in parts if isinstance(part, Text)]
    return "\n\n".join(texts) if len(texts) == len(parts) else None


def _said(content: object) -> Iterator[Text | Image]:
    for part in content if isinstance(content, list | tuple) else [content]:
        if part is None or isinstance(part, str):
            yield Text(part or "")
            continue
        kind = part.get("type") if isinstance(part, Mapping) else type(part).__name__
        value = part.get(kind) if isinstance(part, Mapping) else None
        if kind in ("text", "refusal") and isinstance(value, str):
            yield Text(value)
        elif kind == "image_url" and isinstance(value, Mapping) and isinstance(value.get("url"), str):
            yield Image(value["url"], str(value.get("detail") or ""))
        elif kind == "image_url" and isinstance(value, str):
            yield Image(value)
        else:
            raise UnsupportedInputError(f"a message holds a part of type {kind!r}, which this wire format cannot carry")


def _only_text(part: Text | Image) -> str:
    if isinstance(part, Text):
        return part.text
    raise UnsupportedInputError("a system message holds an image, which this wire format cannot carry")


def _calls(
    message: Mapping[str, Any], below: Sequence[Mapping[str, Any]]
) -> tuple[list[ToolCall | Text], dict[str, str]]:
    """An assistant message's tool calls, and the names of those that are answered right below, by id."""
    answered = set()
    for answer in below:
        if answer.get("role") != "tool":
            break
        answered.add(_id(answer.get("tool_call_id")))
    calls: list[ToolCall | Text] = []
    names: dict[str, str] = {}
    for call in message.get("tool_calls") or ():
        function = call.get("function") or {}
        call_id, name, written = _id(call.get("id")), _id(function.get("name")), function.get("arguments")
        if call_id in answered and call_id not in names:
            names[call_id] = name
            calls.append(ToolCall(call_id, name, _arguments(written), _signature(call)))
        else:
            calls.append(Text(f"[called the tool {name} with {written}]"))
    return calls, names


def _id(written: object) -> str:
    """An id or a name in what every format takes: at most 64 letters, digits, ``_`` and ``-``."""
    return _NO_NAME.sub("_", str(written or ""))[:64] or "_"


def _arguments(written: object) -> Mapping[str, Any]:
    try:
        value = json.loads(written) if isinstance(written, str) else written
    except ValueError:
        value = written
    return value if isinstance(value, Mapping) else {"input": value} if value else {}


def _signature(call: Mapping[str, Any]) -> str:
    extra = call.get("extra_content")
    own = extra.get("google") if isinstance(extra, Mapping) else None
    return str(own.get("thought_signature") or "") if isinstance(own, Mapping) else ""
