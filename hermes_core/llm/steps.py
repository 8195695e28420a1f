"""What a call's flow may ask its driver for, and the one clock it goes by."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar

from hermes_core.errors import HermesError, ProviderTimeoutError
from hermes_core.llm.tls import USUAL, Tls

if TYPE_CHECKING:
    from hermes_core.types.wire import HttpRequest

T = TypeVar("T")


class Send(NamedTuple):
    """Step: send a request; the outcome is its ``HttpResponse``. ``timeout`` is in seconds, ``tls`` whom to trust."""

    request: HttpRequest
    timeout: float
    tls: Tls = USUAL


class Block(NamedTuple):
    """Step: call a function that may block; the outcome is what it returns.

    An awaiting driver gives up on it after ``timeout`` seconds, if there is one.
    """

    function: Callable[[], Any]
    timeout: float | None = None


class Sleep(NamedTuple):
    """Step: wait for ``seconds``."""

    seconds: float


class Ask(NamedTuple):
    """Step: call a plugin's hook; the outcome is what it returns, awaited if need be.

    One that is not ``is_async`` may block. What is awaited is given up after ``timeout`` seconds.
    """

    function: Callable[[], Any]
    is_async: bool
    timeout: float


Step: TypeAlias = Send | Block | Sleep | Ask
Flow: TypeAlias = Generator[Step, Any, T]
"""A generator of steps; a driver sends each one's outcome back in, or throws its error."""


class Deadline:
    """The one clock of a call.

    Args:
        seconds: How long everything may take.
        started: When it began, by ``clock``; now when None.
        clock: Tells the time in seconds.
    """

    def __init__(
        self, seconds: float, started: float | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.seconds = seconds
        self._clock = clock
        self._end = (clock() if started is None else started) + seconds

    def left(self) -> float:
        """Seconds left.

        Raises:
            ProviderTimeoutError: None are.
        """
        left = self.remaining()
        if left <= 0:
            raise self.passed()
        return left

    def remaining(self) -> float:
        """Seconds left, fewer than none when it has passed."""
        return self._end - self._clock()

    def forgive(self, seconds: float) -> None:
        """Move it on by time that does not count: the operator watched a download."""
        self._end += seconds

    def passed(self, host: str = "") -> ProviderTimeoutError:
        """The error to raise when it has passed, while ``host`` was asked."""
        return ProviderTimeoutError(f"no answer within {self.seconds:g} s{' from ' if host else ''}{host}")


def blocking(function: Callable[[], T], deadline: Deadline) -> Flow[T]:
    """Call a function that may block; what fails after the deadline failed by it."""
    try:
        done: T = yield Block(function, deadline.left())
    except (TimeoutError, HermesError) as error:
        if isinstance(error, TimeoutError) or deadline.remaining() <= 0:
            raise deadline.passed() from error
        raise
    return done
