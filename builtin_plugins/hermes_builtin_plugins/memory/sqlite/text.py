"""What a text is to the index: its words, whatever its script."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

STOP_WORDS = frozenset(
    """a about above after again against all also am an and any are aren't as at be because been before being below
    between both but by can can't could couldn't did didn't do does doesn't doing don't down during each even ever few
    for from further get gets getting got had hadn't has hasn't have haven't having he her here hers herself him
    himself his how i if in into is isn't it its itself just let let's like likely many me might more most much must my
    myself no nor not now of off on once one only or other our ours ourselves out over own please really same shall she
    should shouldn't so some such tell than that the their theirs them themselves then there these they this those
    though through to too under until up upon us very was wasn't we were weren't what when where whether which while
    who whom whose why will with won't would wouldn't yes yet you your yours yourself yourselves
    s t d m re ve ll""".split()
)
"""English words that say nothing of what a text is about."""

MOST_WORDS = 200
"""So many words of a question are looked up: each one costs time."""

_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
"""Thai, Lao, Burmese, Khmer, kana, Han, Hangul: scripts in which words have no blanks around them, or grow endings."""
_UNSPACED_RUN = re.compile(f"[{_UNSPACED}\U00020000-\U0003ffff]+")
_WORD = re.compile(rf"[{_UNSPACED}\U00020000-\U0003ffff]+|[^\W_{_UNSPACED}\U00020000-\U0003ffff]+")
_SYMBOLIC = re.compile(r"(?<![^\W_])([a-z])(\+\+|#)(?![\w+#])", re.IGNORECASE)
_SYMBOLS = {"++": "plusplus", "#": "sharp"}


def storable(value: object) -> str:
    r"""A text as SQLite can hold it: without half surrogates.

    Example:
        >>> storable("a\ud800"), storable(7)
        ('a?', '7')
    """
    return str(value).encode("utf-8", "replace").decode()


def _spelled(text: str) -> str:
    """``c++`` and ``C#`` as words of their own."""
    if "+" not in text and "#" not in text:
        return text
    return _SYMBOLIC.sub(lambda found: found[1] + _SYMBOLS[found[2]], text)


def _pairs(run: str) -> str:
    """Every two characters that stand together, and the last one.

    Example:
        >>> _pairs("東京都")
        ' 東京 京都 都 '
    """
    return f" {' '.join(run[place : place + 2] for place in range(len(run)))} "


def to_index(text: str) -> str:
    """A text as the full-text index is to see it.

    Example:
        >>> to_index("C++ in 東京")
        'Cplusplus in  東京 京 '
    """
    return _UNSPACED_RUN.sub(lambda found: _pairs(found[0]), _spelled(text).replace("\0", " ").replace("\u2019", "'"))


def query_words(query: str) -> list[str]:
    """The words of a question that say what it is about, each once; all of them when there are no such.

    Of very many there are those at the beginning and at the end, where a long paste says what is wanted of it.

    Example:
        >>> query_words("What is Ann's C++ book about?")
        ['ann', 'cplusplus', 'book']
        >>> query_words("who am I")
        ['who', 'am', 'i']
        >>> query_words("東京都")
        ['東京', '京都']
    """
    plain = _spelled(query).lower().replace("\u2019", "'").replace("'s ", " ").replace("'", "")
    found = _WORD.findall(plain)
    words = [word for word in found if word not in STOP_WORDS] or found
    pieces = list(dict.fromkeys(piece for word in words for piece in _pieces(word)))
    return pieces if len(pieces) <= MOST_WORDS else pieces[: MOST_WORDS // 2] + pieces[-MOST_WORDS // 2 :]


def _pieces(word: str) -> list[str]:
    if not _UNSPACED_RUN.match(word):
        return [word]
    return [word[place : place + 2] for place in range(len(word) - 1)] or [word]


def to_match(words: Sequence[str]) -> str:
    """An FTS5 expression for any of them; what a word holds is never read as syntax.

    Example:
        >>> to_match(["cat", "猫"])
        '"cat" OR "猫" *'
    """
    return " OR ".join(f'"{word}"' + (" *" if len(word) == 1 and _UNSPACED_RUN.match(word) else "") for word in words)


_HEAD = re.compile(
    r"\s*(?:\[([^\]\n]{4,40})\]\s*)?(?:([^\W\d_][\w.'\u2019-]{0,20}(?: [^\W\d_a-z][\w.'\u2019-]{0,20}){0,2}):\s+)?"
)


def split_head(text: str) -> tuple[str, str, int]:
    """The words in brackets and the speaker that a message may begin with, and where the rest begins.

    Example:
        >>> split_head("[8 May 2023 13:56] Ann Lee: Hello: you")
        ('8 May 2023 13:56', 'Ann Lee', 28)
        >>> split_head("Hello there")
        ('', '', 0)
    """
    found = _HEAD.match(text)
    if found is None or not (found[1] or found[2]):
        return "", "", 0
    return found[1] or "", found[2] or "", found.end()


PIECE_CHARS = 1200
_BORDERS = ("\n\n", "\n", ". ", "。", "! ", "? ", " ")


def split_pieces(text: str) -> tuple[str, ...]:
    """A long text in pieces that can be recalled by themselves; put together they are the text.

    Example:
        >>> [len(piece) for piece in split_pieces("word " * 500)]
        [1200, 1200, 100]
    """
    pieces = []
    start = 0
    while len(text) - start > PIECE_CHARS:
        end = start + PIECE_CHARS
        for border in _BORDERS:
            place = text.rfind(border, start + PIECE_CHARS // 2, end)
            if place >= 0:
                end = place + len(border)
                break
        pieces.append(text[start:end])
        start = end
    return (*pieces, text[start:])
