"""In which order memories answer a question."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

SPREAD = (0.4, 0.2)
"""What a hit lends to what was said one and two places before and after it."""
MEANING = 0.8
"""The weight of the best hit by meaning, against the best by words."""
SESSION = 0.15
"""The weight of the session that has the most hits by words."""
SPEAKER = 0.2
"""What being said by somebody whom the question names is worth."""
_SESSION_HITS = 8


class Place(NamedTuple):
    """Where a memory stands; the fields are as those of ``Memory``."""

    id: int
    session: int | None
    position: int | None
    speaker: str


def rank(
    by_words: Sequence[tuple[int, float]],
    by_meaning: Sequence[tuple[int, float]],
    around: Callable[[Sequence[int], int], Iterable[Place]],
    words: Sequence[str],
) -> list[int]:
    """Ids of memories, the best first.

    Args:
        by_words: Ids and scores of hits by words, the best first.
        by_meaning: The same of hits by meaning.
        around: What stands at most so many places before or after these, they included.
        words: The words of the question.
    """
    base: dict[int, float] = defaultdict(float)
    for hits, weight in ((by_words, 1.0), (by_meaning, MEANING)):
        if hits and hits[0][1] > 0:
            for id_, score in hits:
                base[id_] += weight * score / hits[0][1]
    if not base:
        return []
    places = {place.id: place for place in around(list(base), len(SPREAD))}
    total = _spread({id_: base[id_] for id_ in base if id_ in places}, places)
    most = max(total.values(), default=0.0) or 1.0
    shares = _session_shares(by_words, places)
    named = set(words)
    final = {
        id_: total[id_] / most
        + SESSION * shares.get(place.session, 0.0)
        + SPEAKER * (not named.isdisjoint(place.speaker.lower().split()))
        for id_, place in places.items()
    }
    return sorted(final, key=final.__getitem__, reverse=True)


def _spread(base: Mapping[int, float], places: Mapping[int, Place]) -> dict[int, float]:
    """The scores, of which what stands near has a share."""
    at = {(place.session, place.position): place.id for place in places.values()}
    total = {id_: base.get(id_, 0.0) for id_ in places}
    for id_, score in base.items():
        _, session, position, _ = places[id_]
        if position is None:
            continue
        for distance, share in enumerate(SPREAD, 1):
            for near in (position - distance, position + distance):
                other = at.get((session, near))
                if other is not None:
                    total[other] += share * score
    return total


def _session_shares(by_words: Sequence[tuple[int, float]], places: Mapping[int, Place]) -> dict[int | None, float]:
    """How much of what the words were found in stands in each session, the most of all being 1."""
    found: dict[int | None, list[float]] = defaultdict(list)
    for id_, score in by_words:
        if id_ in places and places[id_].session is not None:
            found[places[id_].session].append(score)
    sums = {session: sum(scores[:_SESSION_HITS]) for session, scores in found.items()}
    most = max(sums.values(), default=0.0) or 1.0
    return {session: value / most for session, value in sums.items()}
