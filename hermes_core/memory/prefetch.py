"""Recalling something for a turn, without the turn waiting for longer than it may."""

from __future__ import annotations

import re
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple

from hermes_core.errors import describe
from hermes_core.memory.lane import Lane, LaneStuckError, LaneTimeoutError

if TYPE_CHECKING:
    from hermes_core.memory.lane import Job
    from hermes_core.memory.member import Member
    from hermes_core.memory.provider import RecallStatus

SHARED_WORDS = 0.5
"""What part of all their words two queries have in common that may be answered alike."""

PATIENCE = 0.25
"""The part of its time that a provider is waited for when an earlier answer, come late, would do."""


class Recalled(NamedTuple):
    """What a provider recalled, and for what."""

    query: str
    session_id: str
    text: str
    status: RecallStatus | None = None


class Prefetcher:
    """Asks one provider what it recalls, in a thread of its own.

    A provider that has not answered an earlier query yet is passed over. What it answers too late is kept, and
    used for the next query that is like it, should the provider be late again.
    """

    def __init__(self, member: Member) -> None:
        self.lane = Lane(f"memory-prefetch-{member.name}")
        self._member = member
        self._late: Recalled | None = None

    def start(self, query: str, session_id: str) -> Job | None:
        """Begin to ask; None when the provider is still busy with an earlier query, or hangs in anything else."""
        try:
            if not self._member.lane.is_stuck:
                return self.lane.submit(lambda: self._recall(query, session_id), late=self._keep)
        except LaneStuckError:
            pass
        self._member.counters["recalls_skipped"] += 1
        return None

    def finish(self, job: Job | None, query: str, session_id: str, until: float) -> Recalled | None:
        """What came of it by ``until``, a reading of the monotonic clock; None for nothing."""
        kept, self._late = self._late, None
        if kept is not None and (kept.session_id != session_id or not are_alike(kept.query, query)):
            kept = None
        found = self._result(job, until, kept)
        if found is None and kept is not None:
            self._member.counters["late_recalls_used"] += 1
            found = kept
        self._member.counters["recalls"] += found is not None
        return found

    def _result(self, job: Job | None, until: float, kept: Recalled | None) -> Recalled | None:
        if job is None:
            return None
        member = self._member
        if kept is not None:
            until -= (until - monotonic()) * (1 - PATIENCE)
        try:
            found: Recalled = self.lane.result(job, until)
        except LaneTimeoutError:
            member.counters["recall_timeouts"] += 1
            member.blame(
                "prefetch", f"took longer than {member.limits.prefetch_timeout:g} s; the turn goes on without it"
            )
            return None
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            member.blame("prefetch", f"raised {describe(error)}")
            return None
        return self._checked(found)

    def _checked(self, found: Recalled) -> Recalled | None:
        if not isinstance(found.text, str):
            if found.text is not None:
                self._member.blame("prefetch", f"returned {type(found.text).__name__} where str is due")
            return None
        self._member.failing.pop("prefetch", None)
        return found._replace(text=self._member.cut(found.text)) if found.text.strip() else None

    def _recall(self, query: str, session_id: str) -> Recalled:
        """Ask for text, and at once for its status, which describes the latest query alone."""
        text = self._member.perform("prefetch", query, session_id=session_id)
        status = None
        if text:
            try:
                status = self._member.perform("recall_status")
            except Exception as error:  # noqa: BLE001 - plugin boundary: the text is worth having all the same
                self._member.blame("recall_status", f"raised {describe(error)}")
        return Recalled(query, session_id, text, status)

    def _keep(self, job: Job) -> None:
        if job.error is None and (found := self._checked(job.value)) is not None:
            self._member.counters["late_recalls"] += 1
            self._late = found


def are_alike(one: str, other: str) -> bool:
    """Whether two queries have at least half of their words in common.

    Example:
        >>> are_alike("Which tea does Anna like?", "which tea does anna drink"), are_alike("tea", "coffee")
        (True, False)
    """
    words, others = (set(re.findall(r"\w+", text.casefold())) for text in (one, other))
    return words == others or len(words & others) >= SHARED_WORDS * len(words | others)


def recall_line(recalled: list[Recalled]) -> str:
    """One line for a person: whose memories reached the model in this turn, and how many.

    Example:
        >>> from hermes_core.memory.provider import RecallStatus
        >>> recall_line([Recalled("q", "s", "text", RecallStatus("Notes", 1, "*"))])
        '* Notes — recalled 1 memory'
    """
    segments = []
    for found in recalled:
        label, count = (getattr(found.status, field, None) for field in ("provider_label", "count"))
        if not isinstance(label, str) or not label.strip():
            continue
        is_counted = isinstance(count, int) and count > 0
        what = f"{count} {'memory' if count == 1 else 'memories'}" if is_counted else "memories"
        segments.append(f"{getattr(found.status, 'glyph', '')} {label} — recalled {what}".strip())
    return "  ".join(segments)
