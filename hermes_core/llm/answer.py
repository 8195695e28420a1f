"""From the bytes of a successful answer to what the model said, whatever came in an answer's place."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hermes_core.config.redact import redact, redact_answer
from hermes_core.config.truth import is_number
from hermes_core.errors import ResponseFormatError
from hermes_core.llm.json_text import NotJsonError, parse_whole
from hermes_core.llm.reasoning import split_reasoning
from hermes_core.llm.structured import fits
from hermes_core.types.call import Completion
from hermes_core.types.llm import PluginLlmUsage

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hermes_core.types.call import LlmCall
    from hermes_core.types.wire import HttpResponse

_MOST_DIGITS = 640
"""Python reads numbers of so many, however it is set up."""

_TEXTS = ("text", "model", "reasoning", "finish_reason", "provider")

MAX_ERROR_BYTES = 64 * 1024
"""How much of a body is looked at; what is shown of it is redacted first, and then cut."""


def read_body(response: HttpResponse) -> Any:
    """The JSON value of a body; of an event stream that nobody asked for, the list of its events.

    Raises:
        ResponseFormatError: It is neither.
    """
    body = redact_answer(response.body)
    try:
        return _loads(body)
    except (ValueError, RecursionError):
        pass  # raised below, so that the error does not lead to the decoder's, which holds the body
    kind = response.headers.get("content-type", "no content type")
    if "event-stream" in kind.lower() or body.lstrip().startswith((b"data:", b"event:", b":")):
        try:
            return [*_events(body)]
        except (ValueError, RecursionError):
            pass
    shown = redact(body[:MAX_ERROR_BYTES].decode("utf-8", "replace"))[:120].strip()
    if not shown:
        raise ResponseFormatError(f"the provider's answer is empty ({redact(kind)})")
    hint = "base_url may lead to a web page; many end in /v1" if shown.startswith("<") else ""
    raise ResponseFormatError(f"the provider's answer is not JSON ({redact(kind)}): {shown!r}", hint=hint)


def _loads(text: bytes) -> Any:
    """The JSON value of a text; a number of more digits than Python reads is infinite, and thus no count of anything.

    Raises:
        ValueError: It is none.
        RecursionError: It is too deep.
    """
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        raise
    except ValueError:
        return json.loads(text, parse_int=lambda digits: int(digits) if len(digits) < _MOST_DIGITS else math.inf)


def _events(body: bytes) -> Iterator[Any]:
    """The JSON values of an event stream; what comes as an event ``error`` is one under that key."""
    kind, data = b"", list[bytes]()
    for line in (*body.splitlines(), b""):
        name, _, value = line.partition(b":")
        if name == b"event":
            kind = value.strip()
        elif name == b"data":
            data.append(value)
        elif not line:
            text = b"\n".join(data).strip()
            if text and text != b"[DONE]":
                event = _loads(text)
                is_bare_error = kind == b"error" and not (isinstance(event, dict) and event.get("error"))
                yield {"error": event} if is_bare_error else event
            kind, data = b"", []


def reported_error(body: Any) -> Any:
    """What a body, or one of its events or choices, holds as its error; None if nothing does."""
    for part in body if isinstance(body, list) else [body]:
        if not isinstance(part, dict):
            continue
        if part.get("error"):
            return part["error"]
        if "error" in (part.get("object"), part.get("type")):
            return part
        choices = part.get("choices")
        for choice in choices if isinstance(choices, list) else ():
            if isinstance(choice, dict) and choice.get("error"):
                return choice["error"]
    return None


def status_of(error: Any) -> int | None:
    """The HTTP status that an error in a body stands for, if it names one.

    Example:
        >>> status_of({"message": "overloaded", "code": "503"}), status_of({"code": "quota"})
        (503, None)
    """
    for key in ("code", "status", "status_code"):
        value = error.get(key) if isinstance(error, dict) else None
        if isinstance(value, str) and len(value) == 3 and value.isdecimal():
            value = int(value)
        if isinstance(value, int) and 400 <= value < 600:
            return value
    return None


def settled(answer: Completion, call: LlmCall) -> Completion:
    """An answer without the reasoning that stood in it, or in its place.

    Leading blocks of reasoning go to ``reasoning``; when nothing would be left, they stay. An answer that is
    all reasoning counts for a call that wants JSON if it is, as a whole, the JSON that was wanted.

    Raises:
        ResponseFormatError: There is no content, and the reasoning is none.
    """
    thoughts, rest = split_reasoning(answer.text) if answer.has_content else (answer.reasoning, "")
    if rest.strip():
        return answer if rest == answer.text else replace(answer, text=rest, reasoning=answer.reasoning or thoughts)
    if thoughts and _is_wanted_json(thoughts, call):
        return replace(answer, text=answer.text or thoughts, reasoning=thoughts, has_content=False)
    is_cut = answer.finish_reason == "length"
    if not answer.has_content or (is_cut and not answer.text.strip()):
        finish = redact(repr(answer.finish_reason))
        hint = "raise max_tokens" if is_cut else ""
        raise ResponseFormatError(f"the provider's answer has no content (finish_reason {finish})", hint=hint)
    return answer


def completion_problem(answer: object) -> str:
    """What keeps a value that a plugin gives for an answer from being one; ``""`` when nothing does.

    Example:
        >>> from hermes_core.types.call import Completion
        >>> completion_problem(Completion(text=None)), completion_problem(Completion(text="pong"))
        ('a Completion whose text is NoneType, and must be str', '')
    """
    if not isinstance(answer, Completion):
        return f"{type(answer).__name__}, which is no Completion"
    for name in _TEXTS:
        if not isinstance(getattr(answer, name), str):
            return f"a Completion whose {name} is {type(getattr(answer, name)).__name__}, and must be str"
    if not isinstance(answer.has_content, bool):
        return f"a Completion whose has_content is {type(answer.has_content).__name__}, and must be bool"
    if not isinstance(answer.usage, PluginLlmUsage):
        return f"a Completion whose usage is {type(answer.usage).__name__}, and must be PluginLlmUsage"
    for name, count in vars(answer.usage).items():
        if not (is_number(count) and count >= 0) and (name, count) != ("cost_usd", None):
            return f"a Completion whose usage.{name} is {count!r:.100}, and must be a number, 0 or more"
    return ""


def _is_wanted_json(text: str, call: LlmCall) -> bool:
    wanted = call.response_format
    if wanted is None:
        return False
    try:
        value = parse_whole(text)
    except NotJsonError:
        return False
    schema = wanted.get("json_schema", {}).get("schema")
    return schema is None or fits(value, schema)
