"""The loop that does what a flow asks for, and awaits meanwhile; ``driver`` is its twin.

A module of its own, because a blocking call need not pay for importing asyncio.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import TYPE_CHECKING, Any, TypeVar

from hermes_core.llm.steps import Ask, Block, Send, Sleep

if TYPE_CHECKING:
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
            return await transport.send(step.request, step.timeout)
        case Block():
            return await asyncio.wait_for(asyncio.to_thread(step.function), step.timeout)
        case Sleep():
            await asyncio.sleep(step.seconds)
        case Ask():
            value = step.function() if step.is_async else await asyncio.to_thread(step.function)
            return await asyncio.wait_for(value, step.timeout) if isinstance(value, Awaitable) else value
