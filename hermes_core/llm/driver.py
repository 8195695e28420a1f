"""The loop that does what a flow asks for, and blocks meanwhile; ``async_driver`` is its twin."""

from __future__ import annotations

import time
from collections.abc import Awaitable
from typing import TYPE_CHECKING, Any, TypeVar

from hermes_core.llm.steps import Ask, Block, Send, Sleep

if TYPE_CHECKING:
    from hermes_core.llm.steps import Flow, Step
    from hermes_core.llm.transport import Transport

T = TypeVar("T")


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
            return transport.send(step.request, step.timeout)
        case Block():
            return step.function()
        case Sleep():
            time.sleep(step.seconds)
        case Ask():
            value = step.function()
            return _awaited(value, step.timeout) if isinstance(value, Awaitable) else value


def _awaited(value: Awaitable[Any], timeout: float) -> Any:
    """Await a hook's answer in an event loop of its own, also where another one is running in this thread."""
    import asyncio
    from concurrent.futures import ThreadPoolExecutor
    from contextvars import copy_context

    async def wait() -> Any:
        return await asyncio.wait_for(value, timeout)

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(wait())
    with ThreadPoolExecutor(1, "hermes-hook") as thread:
        return thread.submit(copy_context().run, asyncio.run, wait()).result()
