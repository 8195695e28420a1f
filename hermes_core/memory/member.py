"""One provider in a manager's care: whatever it does, its calls end in time, and it is named."""

from __future__ import annotations

import inspect
import logging
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

from hermes_core.config.paths import reset_hermes_home_override, set_hermes_home_override
from hermes_core.config.redact import redact
from hermes_core.errors import describe
from hermes_core.memory.call_shapes import fitted
from hermes_core.memory.egress import without_secrets
from hermes_core.memory.lane import Lane, LaneStuckError, LaneTimeoutError
from hermes_core.memory.prefetch import Prefetcher
from hermes_core.plugins.current import running

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Mapping

    from hermes_core.memory.lane import Job
    from hermes_core.memory.limits import Limits
    from hermes_core.plugins.context import PluginContext

log = logging.getLogger("hermes_core.memory")

BUILTIN = "builtin"
"""The name that stands for the built-in memory; it does not take the one place of an external provider."""

FIRST_RETRY, LONGEST_RETRY = 5.0, 300.0
"""Seconds until a provider that failed to get ready is tried again, at first and in the end."""

_at_work: WeakValueDictionary[int, Member] = WeakValueDictionary()
"""Provider → who asks it: one that two homes share, since its module made it, would mix them up."""

COUNTERS = (
    "recalls", "recall_timeouts", "recalls_skipped", "late_recalls", "late_recalls_used", "turns_stored",
    "turns_failed", "turns_refused", "tool_calls", "tool_failures", "failures", "timeouts",
)  # fmt: skip


class Member:
    """A provider, what is known of how it does, and the thread that asks it.

    Attributes:
        provider: The provider itself.
        name: What it is called.
        is_read_only: Whether it is only asked to recall.
        state: ``added``, ``ready``, ``degraded`` (it failed to get ready) or ``closed``.
        reason: Why it is degraded.
        failing: Method → why its last call failed.
        counters: How often what happened; the names are ``COUNTERS``.
        lane: The thread of its calls, but for what is stored and recalled.
        prefetcher: Asks it what it recalls.
        home: The home that it keeps its files in, once it is told.
        schemas: Its tools, as it said last.
    """

    def __init__(
        self, provider: Any, limits: Limits, context: PluginContext | None = None, *, is_read_only: bool = False
    ) -> None:
        self.provider = provider
        self.name = str(provider.name)
        self.is_read_only = is_read_only
        self.limits = limits
        self.state = "added"
        self.reason = ""
        self.failing: dict[str, str] = {}
        self.counters = dict.fromkeys(COUNTERS, 0)
        self.lane = Lane(f"memory-{self.name}")
        self.prefetcher = Prefetcher(self)
        self.home: Path | None = None
        self.schemas: list[Any] = []
        self._context = context
        self._warned: set[str] = set()
        self._retries = 0
        self._retry_at = 0.0

    @property
    def is_external(self) -> bool:
        """Whether it takes the one place of an external provider."""
        return self.name != BUILTIN and not self.is_read_only

    @property
    def is_mirror(self) -> bool:
        """Whether it is told of writes to the built-in memory: it is not that memory itself."""
        return self.name != BUILTIN

    @property
    def is_usable(self) -> bool:
        """Whether it is asked anything."""
        return self.state in ("added", "ready")

    def stats(self) -> dict[str, Any]:
        """How it does, for people and programs."""
        state = "failing" if self.is_usable and self.failing else self.state
        reason = self.reason or "; ".join(f"{method} {why}" for method, why in self.failing.items())
        shown = {"name": self.name, "state": state, "reason": reason, "read_only": self.is_read_only}
        return {**shown, **self.counters}

    def perform(self, method: str, *args: Any, by_place: str = "", **options: Any) -> Any:
        """Call a method here; what it raises goes through.

        Args:
            method: Its name; a provider without it gives None.
            args: What it is always given; no text in them holds a secret any more.
            by_place: As for ``fitted``.
            options: What it is given if it takes it.
        """
        function = getattr(self.provider, method, None)
        if function is None:
            return None
        clean_args, clean_options = without_secrets([[*args], options])
        args, options = fitted(function, tuple(clean_args), clean_options, by_place)
        return self._call(function, args, options)

    def ask(self, method: str, *args: Any, seconds: float, expected: Any = None, **options: Any) -> Any:
        """Call a method in the provider's thread, and wait for it no longer than ``seconds``.

        Returns:
            What it returns; None when it fails, takes longer, still is at work on something earlier, or returns
            anything but ``expected``, a type. All that is counted, and warned of once.
        """
        try:
            value = self.lane.call(lambda: self.perform(method, *args, **options), seconds)
        except LaneStuckError:
            return None
        except LaneTimeoutError:
            self.blame(method, f"took longer than {seconds:g} s")
            self.counters["timeouts"] += 1
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            self.blame(method, f"raised {describe(error)}")
        else:
            if expected is None or value is None or isinstance(value, expected):
                self.failing.pop(method, None)
                return value
            self.blame(
                method, f"returned {type(value).__name__} where {getattr(expected, '__name__', expected)} is due"
            )
        return None

    def text(self, method: str, *args: Any, seconds: float, **options: Any) -> str:
        """As ``ask``, for a method that gives text for the model; what is too long is cut off, visibly."""
        return self.cut(self.ask(method, *args, seconds=seconds, expected=str, **options) or "")

    def cut(self, text: str) -> str:
        """``text`` up to the length that one provider may have."""
        longest = self.limits.max_chars
        if len(text) <= longest:
            return text
        return f"{text[:longest].rstrip()}\n[cut off: {self.name} gave {len(text):,} characters, {longest:,} are shown]"

    def blame(self, method: str, reason: str) -> None:
        """Note that a call failed; the first time for this method, warn of it."""
        clean = self.failing[method] = redact(reason)
        self.counters["failures"] += 1
        level = logging.DEBUG if method in self._warned else logging.WARNING
        self._warned.add(method)
        log.log(level, "memory provider failed provider=%s call=%s reason=%s", self.name, method, clean)

    def read_tools(self) -> None:
        """Ask it for its schemas; while it does not say, what it said before holds on."""
        found = self.ask("get_tool_schemas", seconds=self.limits.hook_timeout, expected=list | tuple)
        if found is not None or not (self.lane.is_stuck or "get_tool_schemas" in self.failing):
            self.schemas = [*(found or ())]

    def begin(self, session_id: str, options: Mapping[str, Any]) -> Job | None:
        """Have it get ready, and say its tools, in its own thread; None while that is stuck."""
        self.home = Path(options["hermes_home"])
        other = _at_work.setdefault(id(self.provider), self)
        if other is not self and other.state != "closed" and other.home not in (None, self.home):
            self._failed_to_start(f"was not called: the same object works for {other.home} already")
            return None
        _at_work[id(self.provider)] = self
        self.state, self.reason = "degraded", "it is still getting ready"
        try:
            return self.lane.submit(lambda: self._start(session_id, options))
        except LaneStuckError:
            self._failed_to_start("was not called: an earlier call has not returned")
            return None

    def await_start(self, job: Job | None, until: float) -> None:
        """Wait for what ``begin`` began, up to a reading of the monotonic clock; after that it goes on alone."""
        try:
            if job is not None:
                self.lane.result(job, until)
        except LaneTimeoutError:
            self.blame("initialize", f"took longer than {self.limits.initialize_timeout:g} s; it goes on")

    def _start(self, session_id: str, options: Mapping[str, Any]) -> None:
        try:
            function = getattr(self.provider, "initialize", None)
            if function is not None:
                args, taken = fitted(function, (session_id,), options)
                self._call(function, args, taken)
        except BaseException as error:
            self._failed_to_start(f"raised {describe(error)}")
            if isinstance(error, KeyboardInterrupt):
                raise
            return
        try:
            found = self.perform("get_tool_schemas")
            self.schemas = [*found] if isinstance(found, list | tuple) else []
        except BaseException as error:
            self.schemas = []
            self.blame("get_tool_schemas", f"raised {describe(error)}")
            if isinstance(error, KeyboardInterrupt):
                raise
        else:
            self.failing.pop("get_tool_schemas", None)
        self.failing.pop("initialize", None)
        if self.state != "closed":
            self.state, self.reason, self._retries = "ready", "", 0

    def close(self) -> None:
        """Have it close, and end its thread."""
        seconds = self.limits.shutdown_timeout
        if self.lane.is_stuck:
            self.blame("shutdown", "was not called: an earlier call has not returned")
        else:
            self.ask("shutdown", seconds=seconds)
        self.state, self.reason = "closed", ""
        self.lane.close()
        self.prefetcher.lane.close()

    def may_retry(self) -> bool:
        """Whether it failed to get ready, and it is time to try again."""
        return self.state == "degraded" and self.lane.is_idle and monotonic() >= self._retry_at

    def _call(self, function: Callable[..., Any], args: tuple[Any, ...], options: Mapping[str, Any]) -> Any:
        """Call a method as its plugin's own code, in its own home; what is to be awaited is."""
        with running(self._context) if self._context is not None else at_home(self.home):
            value = function(*args, **options)
            return _plain(_awaited(value) if inspect.isawaitable(value) else value)

    def _failed_to_start(self, reason: str) -> None:
        self.blame("initialize", reason)
        self.state, self.reason = "degraded", f"initialize {redact(reason)}"
        self._retry_at = monotonic() + min(FIRST_RETRY * 2**self._retries, LONGEST_RETRY)
        self._retries += 1


@contextmanager
def at_home(home: Path | None) -> Iterator[None]:
    """Make ``home`` the active one inside; None changes nothing."""
    token = set_hermes_home_override(home) if home is not None else None
    try:
        yield
    finally:
        if token is not None:
            reset_hermes_home_override(token)


def _plain(value: Any) -> Any:
    """Text or a list without methods of its own: what those do belongs into the provider's thread, as its fault."""
    if isinstance(value, str):
        return str.__str__(value)
    return [*value] if isinstance(value, list | tuple) else value


def _awaited(value: Awaitable[Any]) -> Any:
    import asyncio

    async def wait() -> Any:
        return await value

    return asyncio.run(wait())
