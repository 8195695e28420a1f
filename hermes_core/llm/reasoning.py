"""The tags models wrap their reasoning in, when it comes inside the answer."""

from __future__ import annotations

import re

_NAMES = "(?:think|thinking|reasoning|thought|REASONING_SCRATCHPAD)"
OPENING, CLOSING = (rf"<(?<![`\"'].){slash}{_NAMES}[ \t]*>" for slash in ("", "/"))
"""Patterns, to be compiled without regard to case; a tag right behind a quote or back-tick is only spoken of."""

BLANK = "\ufeff\u200b\u00a0 \t\r\n"
"""What may surround an answer, or its JSON, without being a part of it."""

_OPENING = re.compile(OPENING, re.IGNORECASE | re.DOTALL)
_CLOSING = re.compile(rf"{CLOSING}[{BLANK}]*", re.IGNORECASE | re.DOTALL)
_JSON_BEGINS = ("{", "[", '"')


def split_reasoning(text: str) -> tuple[str, str]:
    """What a model thought before it answered, and the answer.

    Reasoning is what stands in closed blocks at the beginning. The first block may lack its opening tag,
    which some servers keep to themselves; what begins like JSON is no such block.

    Example:
        >>> split_reasoning("<think>Let me see.</think> Four.")
        ('Let me see.', 'Four.')
        >>> split_reasoning("Four.")
        ('', 'Four.')
    """
    if "</" not in text:
        return "", text
    thoughts, at = [], len(text) - len(text.lstrip(BLANK))
    opening, closing = _OPENING.search(text, at), _CLOSING.search(text, at)
    is_open = closing is not None and (opening is None or closing.start() < opening.start())
    if closing and is_open and not text.startswith(_JSON_BEGINS, at):
        thoughts.append(text[at : closing.start()])
        at = closing.end()
    while (opening := _OPENING.match(text, at)) and (closing := _CLOSING.search(text, opening.end())):
        thoughts.append(text[opening.end() : closing.start()])
        at = closing.end()
    return ("\n".join(thought.strip() for thought in thoughts), text[at:]) if thoughts else ("", text)


def end_of_reasoning(text: str, start: int) -> int:
    """Where the block that is open at ``start`` is over: behind its closing tag, or at the end."""
    closing = _CLOSING.search(text, start)
    return closing.end() if closing else len(text)
