"""The loop that does what a flow asks for, and blocks meanwhile; ``async_driver`` is its twin."""

from __future__ import annotations

import time
from collections.abc import Awaitable
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from hermes_core.errors import describe
from hermes_core.llm.steps import Ask, Block, Send, Sleep

if TYPE_CHECKING:
    from hermes_core.llm.steps import Flow, Step
    from hermes_core.llm.transport import Transport

T = TypeVar("T")

LATE = "it had not ended when the time of the call was over"


def run(flow: Flow[T], transport: Transport) -> T:
    """Drive a flow to its end in this thread."""
    try:
        step = next(flow)
        while True:
            try:
                outcome = _perform(step, transport)
            except BaseException as error:  # noqa: BLE001 - the flow decides what an error means, and raises it again
                step = flow.throw(error)
            else:
                step = flow.send(outcome)
    except StopIteration as stop:
        return stop.value  # type: ignore[no-any-return]
    finally:
        flow.close()


def _perform(step: Step, transport: Transport) -> Any:
    match step:
        case Send():
            return transport.send(step.request, step.timeout, step.tls)
        case Block():
            return step.function()
        case Sleep():
            time.sleep(step.seconds)
        case Ask():
            try:
                value = step.function()
                return _awaited(value, step.timeout) if isinstance(value, Awaitable) else value
            except BaseException as error:  # noqa: BLE001 - raised again, as what it is or as another
                reraise(error)


def reraise(error: BaseException) -> NoReturn:
    """Raise what a plugin's code raised; as a RuntimeError what would pass for the end of this call, or the program.

    No future and no generator carries StopIteration; asyncio takes the others for its own.
    """
    if isinstance(error, Exception | KeyboardInterrupt) and not isinstance(error, StopIteration):
        raise error
    raise RuntimeError(describe(error)) from error


def _awaited(value: Awaitable[Any], timeout: float) -> Any:
    """Await a hook's answer in a thread with an event loop of its own, which may outlast the wait for it."""
    import asyncio
    from concurrent.futures import Future
    from contextvars import copy_context
    from threading import Thread

    outcome: Future[Any] = Future()

    async def wait() -> None:
        try:
            outcome.set_result(await asyncio.wait_for(value, timeout))
        except BaseException as error:  # noqa: BLE001 - raised by whoever waits for it
            outcome.set_exception(error)

    Thread(target=copy_context().run, args=(asyncio.run, wait()), name="hermes-hook", daemon=True).start()
    try:
        return outcome.result(timeout)
    except TimeoutError as error:
        raise TimeoutError(str(error) or LATE) from error
