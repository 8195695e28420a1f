"""How recalled memories are put together for the model: as many as fit, by session, under one date line each."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from .store import Memory

CHARS_PER_TOKEN = 4
_FACTS = "Facts"
_READ_AT_ONCE = 64


def put_together(
    order: Sequence[int], get: Callable[[Sequence[int]], Mapping[int, Memory]], tokens: int
) -> tuple[str, int]:
    """The text for the model, and how many memories it holds.

    Args:
        order: Ids, the best first.
        get: The memories of some ids.
        tokens: The most the text may take, at four characters each.
    """
    room = tokens * CHARS_PER_TOKEN
    chosen: dict[tuple[int | None, str], list[tuple[int, str]]] = {}
    for memory in _read(order, get):
        group, line = (memory.session, memory.day or _FACTS), _line(memory)
        cost = len(line) + 1 + (0 if group in chosen else len(group[1]) + 4)
        if cost > room:
            if not chosen:
                chosen[group] = [(memory.id, line[: max(room - len(group[1]) - 5, 0)])]
            break
        room -= cost
        chosen.setdefault(group, []).append((memory.id, line))
    lines: list[str] = []
    for (_, day), members in chosen.items():
        lines += (f"## {day}", *(line for _, line in sorted(members)))
    return "\n".join(lines)[: tokens * CHARS_PER_TOKEN], sum(map(len, chosen.values()))


def _read(order: Sequence[int], get: Callable[[Sequence[int]], Mapping[int, Memory]]) -> Iterator[Memory]:
    for start in range(0, len(order), _READ_AT_ONCE):
        ids = order[start : start + _READ_AT_ONCE]
        found = get(ids)
        yield from (found[id_] for id_ in ids if id_ in found)


def _line(memory: Memory) -> str:
    """One line: who, and what."""
    who = "" if memory.session is None else f"{memory.speaker}: "
    return f"- {who}{'… ' if memory.part else ''}{' '.join(memory.text.split())}"
