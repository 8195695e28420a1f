"""How recalled memories are put together for the model: as many as fit, by session, under one date line each."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from .store import Memory

CHARS_PER_TOKEN = 4
_FACTS = "Facts"
_READ_AT_ONCE = 64
_ASIDE = re.compile(r" \[[^\[\]]{20,}\]$")
"""What a message may end with, such as the caption of a picture; left out when it has no word of the question."""
_ALIKE = 5
"""Words are taken for the same when they begin with so many equal letters."""
_TRIED = 8
"""How many that do not fit any more are passed over for shorter ones."""


def put_together(
    order: Sequence[int], get: Callable[[Sequence[int]], Mapping[int, Memory]], words: Sequence[str], tokens: int
) -> tuple[str, int]:
    """The text for the model, and how many memories it holds.

    Args:
        order: Ids, the best first.
        get: The memories of some ids.
        words: The words of the question.
        tokens: The most the text may take, at four characters each.
    """
    room = tokens * CHARS_PER_TOKEN
    asked = [word[:_ALIKE] for word in words]
    chosen: dict[tuple[int | None, str], list[tuple[int, str]]] = {}
    refused = 0
    for memory in _read(order, get):
        group, line = (memory.session, memory.day or _FACTS), _line(memory, asked)
        cost = len(line) + 1 + (0 if group in chosen else len(_header(group)) + 1)
        if cost <= room:
            room -= cost
            chosen.setdefault(group, []).append((memory.id, line))
            continue
        if not chosen:  # the best one is better than nothing, though it is too long
            line = line[: max(room - len(_header(group)) - 2, 0)]
            chosen[group] = [(memory.id, line)] if line else []
            break
        refused += 1
        if refused > _TRIED:
            break
    lines: list[str] = []
    for group, members in chosen.items():
        lines += (_header(group), *(line for _, line in sorted(members))) if members else ()
    return "\n".join(lines), sum(map(len, chosen.values()))


def _header(group: tuple[int | None, str]) -> str:
    return f"## {group[1]}"


def _read(order: Sequence[int], get: Callable[[Sequence[int]], Mapping[int, Memory]]) -> Iterator[Memory]:
    for start in range(0, len(order), _READ_AT_ONCE):
        ids = order[start : start + _READ_AT_ONCE]
        found = get(ids)
        yield from (found[id_] for id_ in ids if id_ in found)


def _line(memory: Memory, asked: Sequence[str]) -> str:
    """One line: who, and what."""
    text = " ".join(memory.text.split())
    aside = _ASIDE.search(text)
    if aside is not None and aside.start() and not any(word in aside[0].lower() for word in asked):
        text = text[: aside.start()]
    who = "" if memory.session is None else f"{memory.speaker}: "
    return f"- {who}{'… ' if memory.part else ''}{text}"
