"""The loop that does what a flow asks for, and awaits meanwhile; ``driver`` is its twin.

A module of its own, because a blocking call need not pay for importing asyncio.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable
from typing import TYPE_CHECKING, Any, TypeVar

from hermes_core.llm.driver import LATE, reraise
from hermes_core.llm.steps import Ask, Block, Send, Sleep

if TYPE_CHECKING:
    from collections.abc import Callable

    from hermes_core.llm.async_transport import AsyncTransport
    from hermes_core.llm.steps import Flow, Step

T = TypeVar("T")


async def arun(flow: Flow[T], transport: AsyncTransport) -> T:
    """Drive a flow to its end without blocking the event loop."""
    try:
        step = next(flow)
        while True:
            try:
                outcome = await _aperform(step, transport)
            except BaseException as error:  # noqa: BLE001 - the flow decides what an error means, and raises it again
                step = flow.throw(error)
            else:
                step = flow.send(outcome)
    except StopIteration as stop:
        return stop.value  # type: ignore[no-any-return]
    finally:
        flow.close()


async def _aperform(step: Step, transport: AsyncTransport) -> Any:
    match step:
        case Send():
            return await transport.send(step.request, step.timeout, step.tls)
        case Block():
            return await _in_thread(step.function, step.timeout)
        case Sleep():
            await asyncio.sleep(step.seconds)
        case Ask():
            end = time.monotonic() + step.timeout
            value = step.function() if step.is_async else await _in_thread(step.function, step.timeout)
            return await _within(value, end - time.monotonic()) if isinstance(value, Awaitable) else value


async def _in_thread(function: Callable[[], T], timeout: float | None) -> T:
    """Call a function in a thread, which runs on when the time is over."""

    def call() -> tuple[Any, BaseException | None]:
        try:
            return function(), None
        except BaseException as error:  # noqa: BLE001 - no future carries every error
            return None, error

    value, error = await _within(asyncio.to_thread(call), timeout)
    if error is not None:
        reraise(error)
    return value  # type: ignore[no-any-return]


async def _within(value: Awaitable[T], timeout: float | None) -> T:
    """Await foreign code in a task of its own; what does not end when it is cancelled is left to itself."""
    task = asyncio.ensure_future(value)
    try:
        await asyncio.wait((task,), timeout=timeout)
    finally:
        if not task.done():
            task.add_done_callback(lambda task: task.cancelled() or task.exception())  # nobody else asks for it
            task.cancel()
    if not task.done():
        raise TimeoutError(LATE)
    if task.cancelled():
        message = "CancelledError, though nobody cancelled the call"
        raise RuntimeError(message)
    error = task.exception()
    if error is not None:
        reraise(error)
    return task.result()
