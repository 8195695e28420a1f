"""Keeps memory blocks that a model repeats out of a streamed answer."""

from __future__ import annotations

import re

from hermes_core.memory.block import TAG

_OPEN = re.compile(rf"<[ \t]{{0,4}}{TAG}[ \t]{{0,4}}>[ \t]{{0,4}}(?=[\r\n])", re.IGNORECASE)
_CLOSE = re.compile(rf"<[ \t]{{0,4}}/[ \t]{{0,4}}{TAG}[ \t]{{0,4}}>", re.IGNORECASE)
_LONGEST = len(TAG) + 15  # a closing tag with all its blanks


def _beginning_of(*parts: str) -> re.Pattern[str]:
    """Matches whatever the parts, one after another, may begin with."""
    pattern = ""
    for part in reversed(parts):
        pattern = f"(?:{part}{pattern})?"
    return re.compile(pattern, re.IGNORECASE)


_BLANKS = r"[ \t]{0,4}"
_OPENING = _beginning_of("<", _BLANKS, *TAG, _BLANKS, ">", _BLANKS)
_CLOSING = _beginning_of("<", _BLANKS, "/", _BLANKS, *TAG, _BLANKS, ">")


class StreamingContextScrubber:
    r"""Passes a streamed answer on without the memory blocks in it, wherever its pieces are cut.

    A block begins with its tag alone on a line: a tag within prose stays. It ends with the closing tag, and
    blocks may be nested. What may be the beginning of a tag is held back until it is known. A block that is
    never closed is dropped.

    Example:
        >>> scrubber = StreamingContextScrubber()
        >>> pieces = "Hello\n<memory-", "context>\nold notes</memory-context>", "\nWorld <memory-context>"
        >>> "".join(map(scrubber.feed, pieces)) + scrubber.flush()
        'Hello\n\nWorld <memory-context>'
    """

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Forget everything; a new answer begins."""
        self._held = ""
        self._depth = 0
        self._at_line_start = True

    def feed(self, delta: str) -> str:
        """The next piece of the answer; returns what of it, and of what was held back, is visible."""
        text, self._held = self._held + delta, ""
        seen: list[str] = []
        at = 0
        while at < len(text):
            start = text.find("<", at)
            start = len(text) if start < 0 else start
            self._pass(text[at:start], seen)
            at = self._tag(text, start, seen)
        return "".join(seen)

    def flush(self) -> str:
        """The answer is over; returns what was held back and is no part of a block. Then a new one may begin."""
        tail = "" if self._depth else self._held
        self.reset()
        return tail

    def _tag(self, text: str, start: int, seen: list[str]) -> int:
        """Take in what may be a tag at ``start``; where to go on."""
        closing = _CLOSE.match(text, start) if self._depth else None
        if closing:
            self._depth -= 1
            self._at_line_start = True
            return closing.end()
        opening = _OPEN.match(text, start) if self._at_line_start else None
        if opening:
            self._depth += 1
            return opening.end()
        if len(text) - start <= _LONGEST and self._may_become_tag(text[start:]):
            self._held = text[start:]
            return len(text)
        self._pass(text[start : start + 1], seen)
        return start + 1

    def _may_become_tag(self, text: str) -> bool:
        opens = self._at_line_start and _OPENING.fullmatch(text)
        return bool(opens or (self._depth and _CLOSING.fullmatch(text)))

    def _pass(self, piece: str, seen: list[str]) -> None:
        """Let ``piece`` be seen, unless it is inside a block."""
        if not self._depth:
            seen.append(piece)
        last = max(piece.rfind("\n"), piece.rfind("\r")) + 1
        if last:
            self._at_line_start = True
        if piece[last:].strip(" \t"):
            self._at_line_start = False
