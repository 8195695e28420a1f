"""The form of ``MEMORY.md`` and ``USER.md``: entries with a line of ``§`` between them."""

from __future__ import annotations

import re
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

MARK = "§"
SEPARATOR = f"\n{MARK}\n"
ID_LETTERS = 8
_EDGES = re.compile(r"\A[\s\ufeff]+|[\s\ufeff]+\Z")


class Document(NamedTuple):
    """One reading of a file.

    Attributes:
        text: All of it, with plain line ends and without blanks around it.
        entries: What it holds; blank entries and repetitions are left out.
        newline: How its lines end.
    """

    text: str = ""
    entries: tuple[str, ...] = ()
    newline: str = "\n"

    @property
    def is_free(self) -> bool:
        """Whether it is written otherwise than this program would write it, so that rewriting would lose something."""
        return join(self.entries) != self.text


def parse(content: bytes) -> Document:
    r"""Read a file's bytes.

    Raises:
        UnicodeDecodeError: They are no UTF-8 text.

    Example:
        >>> parse("one\n§\n two\r\n§\none".encode()).entries
        ('one', 'two')
    """
    raw = content.decode("utf-8-sig")
    text = plain(raw)
    return Document(text, split(text), "\r\n" if "\r\n" in raw else "\n")


def plain(text: str) -> str:
    """A text with plain line ends, and without blanks and byte order marks around it."""
    return _EDGES.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))


def split(text: str) -> tuple[str, ...]:
    """The entries of a text: trimmed, none blank, each once."""
    entries = map(_without_marks, text.split(SEPARATOR))
    return tuple(dict.fromkeys(entry for entry in entries if entry))


def _without_marks(entry: str) -> str:
    """An entry without blanks, and without lines of a mark, around it: those would be read as a separator again."""
    lines = entry.split("\n")
    start, end = 0, len(lines)
    while end - start > 1 and plain(lines[start]) in ("", MARK):
        start += 1
    while end - start > 1 and plain(lines[end - 1]) in ("", MARK):
        end -= 1
    return plain("\n".join(lines[start:end]))


def join(entries: Iterable[str]) -> str:
    """The text that holds these entries; its length is what the budget counts."""
    return SEPARATOR.join(entries)


def digest(entry: str) -> str:
    """The entry's fingerprint."""
    return sha256(entry.encode("utf-8", "surrogatepass")).hexdigest()


def entry_id(entry: str) -> str:
    """The entry's short id; it stays the same as long as the entry does.

    Example:
        >>> entry_id("likes tea")
        '50f5f279'
    """
    return digest(entry)[:ID_LETTERS]


def usage(used: int, limit: int) -> str:
    """How full a file is, as the model and people read it.

    Example:
        >>> usage(1100, 2200)
        '50% — 1,100/2,200 chars'
    """
    return f"{min(100, used * 100 // limit)}% — {used:,}/{limit:,} chars"
