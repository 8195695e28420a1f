"""Telling providers what they are to keep: in the background, in order, and never lost without a word."""

from __future__ import annotations

import logging
from time import monotonic
from typing import TYPE_CHECKING, Any

from hermes_core.errors import describe
from hermes_core.memory.worker import WRITE, Worker

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hermes_core.memory.member import Member
    from hermes_core.memory.worker import Task

log = logging.getLogger("hermes_core.memory")

SLOW_SECONDS = 60.0
"""A provider that takes longer than this for one task is named."""

COUNTED = {"sync_turn": ("turns_stored", "turns_failed", "turns_refused")}
"""Method → the counters of what went well, what did not, and what it was never told."""


class Teller:
    """Queues calls of providers' methods.

    Attributes:
        worker: What runs them.
    """

    def __init__(self, queue_size: int) -> None:
        self.worker = Worker(queue_size)
        self._warned: set[str] = set()

    def tell(self, member: Member, method: str, *args: Any, kind: str = WRITE, **options: Any) -> Task | None:
        """Queue a call, as for ``Member.perform``; None when it is refused, which is warned of once."""
        load = self.worker.load
        if load["running_seconds"] > SLOW_SECONDS:
            self._warn("memory provider slow task=%s, %d more wait", load["running"], load["waiting"])
        task = self.worker.submit(kind, lambda: _perform(member, method, args, options), f"{method} of {member.name}")
        if task is None and kind == WRITE:
            _count(member, method, 2)
            full = f"{load['capacity']} wait already"
            reason = "memory is closed" if self.worker.is_closed else full
            self._warn("memory task refused provider=%s call=%s reason=%s", member.name, method, reason)
        return task

    def tell_now(self, member: Member, method: str, *args: Any, **options: Any) -> None:
        """Queue a call, and wait for it as long as for any other hook, unless something is ahead of it."""
        is_next = self.worker.is_idle
        task = self.tell(member, method, *args, **options)
        if task is not None and is_next and not task.ended.wait(member.limits.hook_timeout):
            member.blame(method, f"took longer than {member.limits.hook_timeout:g} s; it goes on in the background")
            member.counters["timeouts"] += 1

    def flush(self, members: Iterable[Member], seconds: float | None) -> bool:
        """Wait for all that is queued, then for what members keep back themselves; whether it is all stored."""
        until = None if seconds is None else monotonic() + seconds
        if not self.worker.wait(seconds) or self.worker.is_closed:
            return self.worker.is_idle
        for member in members:
            if hasattr(member.provider, "flush"):
                left = None if until is None else max(0.0, until - monotonic())
                task = self.tell(member, "flush", by_place="timeout", timeout=left)
                if task is None or not task.ended.wait(left) or "flush" in member.failing:
                    return False
        return True

    def _warn(self, message: str, *values: object) -> None:
        level = logging.DEBUG if message in self._warned else logging.WARNING
        self._warned.add(message)
        log.log(level, message, *values)


def _perform(member: Member, method: str, args: tuple[Any, ...], options: dict[str, Any]) -> None:
    session = options.get("session_id", "")
    where = f" session={session}" if session else ""
    if not member.is_usable:
        _count(member, method, 2)
        if method in COUNTED:  # of the rest nothing is lost
            member.blame(method, f"was not called: the provider is {member.state}, {member.reason}{where}")
        return
    try:
        member.perform(method, *args, **options)
    except BaseException as error:  # noqa: BLE001 - plugin boundary, in a thread of ours: nobody else would hear of it
        _count(member, method, 1)
        member.blame(method, f"raised {describe(error)}{where}")
    else:
        _count(member, method, 0)
        member.failing.pop(method, None)


def _count(member: Member, method: str, which: int) -> None:
    if method in COUNTED:
        member.counters[COUNTED[method][which]] += 1
