"""The JSON value in what a model said, whatever it wrapped it in.

The work grows with the length of the text alone, also for a text that was made to be slow.
"""

from __future__ import annotations

import json
import math
import re
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NoReturn

from hermes_core.errors import HermesError
from hermes_core.llm.reasoning import BLANK, CLOSING, OPENING, end_of_reasoning, split_reasoning

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_LENGTH = 10 * 2**20
"""Characters of the longest text that is looked at."""

MAX_MARKS = 100_000
"""How many brackets, fences and tags are looked at, those inside of JSON not counted."""

MAX_DEPTH = 1000
"""Brackets inside of brackets; what is deeper is not looked into."""

MAX_VALUES = 1000
"""How many values are found before one is chosen."""

_RESCANNED = 2**23
"""Characters that may be looked at again because a bracket before them turned out to be none of JSON's."""

_S = r"[ \t\r\n]*+"
_STRING = r'"(?:[^"\\]|\\.)*+'  # up to its end, or to that of the text
_FENCE_LINE = r"^[ \t]*+(?:`{3,}+(?=[^`\n]*+$)|~{3,}+)"
_FLAGS = re.DOTALL | re.MULTILINE | re.IGNORECASE
_MARK = re.compile(
    rf"(?P<opening>{OPENING})|(?P<closing>{CLOSING})"
    rf"|(?P<object>\{{(?={_S}(?:\}}|{_STRING}\"{_S}:)))"
    rf"|(?P<array>\[(?={_S}(?:[\[{{\]\"\d-]|true|false|null)))"
    rf"|(?P<fence>{_FENCE_LINE})",
    _FLAGS,
)
"""Where a block of reasoning, a JSON value or a code fence may begin."""

_FENCE = re.compile(_FENCE_LINE, _FLAGS)
_TOKEN = re.compile(rf'{_STRING}"?+|[\[\](){{}}]|{OPENING}|{CLOSING}|{_FENCE_LINE}', _FLAGS)
_PAIRS = {"[": "]", "{": "}", "(": ")"}
_INNER = re.compile(r'(?:"\s*+:|\[|[}\]]\s*+,?+|["\d]\s*+,)\s*+\Z')
"""What stands before a value that is a part of another: a key, an opening bracket, another part."""

_LOOKED_BACK = 100
"""Characters before a value that may tell that."""

_UNFINISHED = re.compile(rf"{_S}(?:{_STRING}|[\w.+\\-]*+)[{BLANK}]*+\Z", re.DOTALL)


class NotJsonError(HermesError, ValueError):
    """The text holds no JSON value."""


def parse_json(text: str, fits: Callable[[Any], bool] = lambda _value: False) -> Any:
    r"""The JSON value that a text is, or holds.

    A text that is JSON, but for reasoning before it, is that value. Otherwise values are looked for in
    code fences, and then among the words, where only objects and arrays count. What stands inside of
    reasoning is never looked at, and no piece is taken out of JSON that is broken, or breaks off.

    Args:
        text: What a model said.
        fits: Whether a value has the wanted shape.

    Returns:
        The first value that fits; when none does, the first one from a fence, else the first object that
        is not empty, else the first array.

    Raises:
        NotJsonError: There is none. ``NaN`` and ``Infinity`` are not JSON.

    Example:
        >>> parse_json('Here it is:\n```json\n{"a": 1}\n```')
        {'a': 1}
    """
    with suppress(NotJsonError):
        return parse_whole(text)
    answer = split_reasoning(text)[1]
    if answer != text:
        with suppress(NotJsonError):
            return parse_whole(answer)
    fenced, loose = _found(text) if len(text) <= MAX_LENGTH else ([], [])
    found = [*fenced, *loose]
    if not found:
        message = "the answer holds no JSON"
        raise NotJsonError(message)
    if len(found) == 1:
        return found[0]
    objects = [value for value in loose if value and isinstance(value, dict)]
    return next(filter(fits, found), [*fenced, *objects, *loose][0])


def parse_whole(text: str) -> Any:
    """The JSON value that a text is, but for blanks around it.

    Raises:
        NotJsonError: It is none.
    """
    if len(text) <= MAX_LENGTH:
        try:
            return _DECODER.decode(text.strip(BLANK))
        except (ValueError, RecursionError):
            pass  # raised below: the decoder's error holds the whole text
    message = "the answer is not JSON"
    raise NotJsonError(message)


def _found(text: str) -> tuple[list[Any], list[Any]]:
    """The values in code fences, and those among the words."""
    fenced: list[Any] = []
    loose: list[Any] = []
    open_fences: list[str] = []
    at, again, broken = 0, 0, 0
    for _ in range(MAX_MARKS):
        mark = _MARK.search(text, at)
        if mark is None or len(fenced) + len(loose) == MAX_VALUES:
            break
        at = mark.end()
        match mark.lastgroup:
            case "opening":
                at = end_of_reasoning(text, at)
            case "closing":  # of a block whose opening tag is missing: all so far was reasoning
                fenced, loose, open_fences = [], [], []
            case "fence":
                at = _enter_fence(text, mark, open_fences, fenced)
            case _:
                end, is_closed = _end_of_value(text, mark.start())
                value = text[mark.start() : end]
                is_piece = mark.start() < broken and _INNER.search(
                    text[max(mark.start() - _LOOKED_BACK, 0) : mark.start()]
                )
                if not is_closed:
                    broken = max(broken, end)
                elif not is_piece:
                    _add(loose, value)
                if is_closed or _breaks_off(value):
                    at = end
                elif (again := again + end - at) > _RESCANNED:
                    break
    return fenced, loose


def _enter_fence(text: str, mark: re.Match[str], open_fences: list[str], fenced: list[Any]) -> int:
    """Open or close a code fence; returns where to go on, which is behind what it holds if that is JSON."""
    marker, end = mark["fence"].strip(), text.find("\n", mark.end())
    line_end = len(text) if end < 0 else end
    if open_fences and marker.startswith(open_fences[-1]) and not text[mark.end() : line_end].strip():
        open_fences.pop()
        return mark.end()
    open_fences.append(marker)
    following = _FENCE.search(text, line_end)
    body = text[line_end : following.start()] if following else text[line_end:].rstrip(BLANK + "`~")
    return line_end + len(body) if _add(fenced, body) else mark.end()


def _add(values: list[Any], text: str) -> bool:
    try:
        values.append(parse_whole(text))
    except NotJsonError:
        return False
    return True


def _end_of_value(text: str, start: int) -> tuple[int, bool]:
    """Where the bracket at ``start`` is closed, and True; else where it is plain that it is not, and False."""
    closers: list[str] = []
    for token in _TOKEN.finditer(text, start):
        mark = token[0]
        if mark in _PAIRS:
            closers.append(_PAIRS[mark])
            if len(closers) > MAX_DEPTH:
                break
        elif not mark.startswith('"'):
            if closers.pop() != mark:
                return token.start(), False
            if not closers:
                return token.end(), True
    return len(text), False


def _breaks_off(text: str) -> bool:
    """Whether a text is JSON as far as it goes; also if it is too deep to tell."""
    try:
        _DECODER.raw_decode(text)
    except json.JSONDecodeError as error:
        return _UNFINISHED.match(text, error.pos) is not None
    except (ValueError, RecursionError) as error:
        return isinstance(error, RecursionError)
    return True


def _refuse(constant: str) -> NoReturn:
    raise ValueError(constant)


def _finite(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise ValueError(digits)
    return number


_DECODER = json.JSONDecoder(parse_constant=_refuse, parse_float=_finite)
