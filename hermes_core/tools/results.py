"""What a tool returns, as the text that a model can be sent."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


def result_text(value: Any) -> str:
    """A tool's result as text: text as it is, all else as JSON; what JSON cannot hold is an error in JSON.

    Example:
        >>> result_text({"found": 2}), result_text(b"tea"), result_text("tea")
        ('{"found": 2}', '{"result": "tea"}', 'tea')
        >>> result_text(object())
        '{"error": "the tool returned an object, which is no JSON"}'
    """
    if isinstance(value, str):
        return value
    if isinstance(value, bytes | bytearray):
        value = bytes(value).decode("utf-8", "replace")
    plain = value if isinstance(value, Mapping | list) else {"result": value}
    try:
        return as_json(plain)
    except (TypeError, ValueError, RecursionError):
        return error_text(f"the tool returned {_a(type(value).__name__)}, which is no JSON")


def error_text(message: str, **more: Any) -> str:
    """JSON that says what went wrong.

    Example:
        >>> error_text("no such note", note=7)
        '{"error": "no such note", "note": 7}'
    """
    return as_json({"error": message, **more})


def as_json(value: Any) -> str:
    """JSON that can be sent: letters as they are, but for half a surrogate.

    Raises:
        TypeError: It holds what JSON cannot.
        ValueError: It holds itself.
    """
    text = json.dumps(value, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(value)
    return text


def _a(noun: str) -> str:
    return f"an {noun}" if noun[:1].lower() in "aeiou" else f"a {noun}"
