"""In which order memories answer a question."""

from __future__ import annotations

from collections import defaultdict
from heapq import nlargest
from operator import itemgetter
from typing import TYPE_CHECKING

from .places import NOWHERE

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from .places import Places

SHARPNESS = 1.5
"""The power to which scores are raised: good hits count more than many."""
MEANING = 0.8
"""The weight of the best hit by meaning, against the best by words."""
SPREAD = (0.5, 0.3)
"""What a hit lends to what was said one and two places before and after it."""
_SPREADING = 300
SESSION = 0.15
"""The weight of the session that has the most hits by words."""
SESSION_HITS = 8
SPEAKER = 0.4
"""What being said by somebody whom the question names is worth."""
RECENCY = 0.02
"""What being the latest of all is worth: of two that are alike, the later one goes first."""


def rank(
    by_words: Sequence[tuple[int, float]],
    by_meaning: Sequence[tuple[int, float]],
    places: Places,
    words: Iterable[str],
    limit: int,
) -> list[int]:
    """Ids of memories, the best first.

    Args:
        by_words: Ids and scores of hits by words, the best first.
        by_meaning: The same of hits by meaning.
        places: Where memories stand.
        words: The words of the question.
        limit: How many ids at most.
    """
    base: dict[int, float] = defaultdict(float)
    for hits, weight in ((by_words, 1.0), (by_meaning, MEANING)):
        if hits and hits[0][1] > 0:
            for id_, score in hits:
                if score <= 0:
                    break
                base[id_ - places.first] += weight * (score / hits[0][1]) ** SHARPNESS
    if not base:
        return []
    total = _spread(base, places)
    most = max(total.values()) or 1.0
    shares = _session_shares(by_words, places)
    asked = set(words)
    worth = [0.0 if asked.isdisjoint(name) else SPEAKER for name in places.names]
    session, speaker, later = places.session, places.speaker, RECENCY / len(places)
    final = [
        (score / most + shares.get(session[row], 0.0) + worth[speaker[row]] + later * row, row)
        for row, score in total.items()
    ]
    return [row + places.first for _, row in nlargest(limit, final)]


def _spread(base: Mapping[int, float], places: Places) -> dict[int, float]:
    """The scores, of which what stands near the best has a share."""
    total = defaultdict(float, base)
    best = base.items() if len(base) <= _SPREADING else nlargest(_SPREADING, base.items(), key=itemgetter(1))
    for links in (places.before, places.after):
        for row, score in best:
            near = row
            for share in SPREAD:
                near = links[near]
                if near == NOWHERE:
                    break
                total[near] += share * score
    return total


def _session_shares(by_words: Sequence[tuple[int, float]], places: Places) -> dict[int, float]:
    """What standing in a session with many hits is worth."""
    found: dict[int, list[float]] = defaultdict(list)
    for id_, score in by_words:
        found[places.session[id_ - places.first]].append(score)
    found.pop(NOWHERE, None)
    sums = {session: sum(scores[:SESSION_HITS]) for session, scores in found.items()}
    most = max(sums.values(), default=0.0) or 1.0
    return {session: SESSION * value / most for session, value in sums.items()}
