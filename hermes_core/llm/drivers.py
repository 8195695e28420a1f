"""The two loops that do what a flow asks for: one blocks, one awaits."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any, TypeVar

from hermes_core.llm.flow import Block, Send, Sleep

if TYPE_CHECKING:
    from hermes_core.llm.flow import Flow, Step
    from hermes_core.llm.transport import Transport

T = TypeVar("T")


def run(flow: Flow[T], transport: Transport) -> T:
    """Drive a flow to its end in this thread."""
    try:
        step = next(flow)
        while True:
            try:
                outcome = _perform(step, transport)
            except Exception as error:  # noqa: BLE001 - the flow decides what an error means
                step = flow.throw(error)
            else:
                step = flow.send(outcome)
    except StopIteration as stop:
        return stop.value  # type: ignore[no-any-return]
    finally:
        flow.close()


async def arun(flow: Flow[T], transport: Transport) -> T:
    """Drive a flow to its end without blocking the event loop."""
    try:
        step = next(flow)
        while True:
            try:
                outcome = await _aperform(step, transport)
            except Exception as error:  # noqa: BLE001 - the flow decides what an error means
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


async def _aperform(step: Step, transport: Transport) -> Any:
    match step:
        case Send():
            return await transport.asend(step.request, step.timeout)
        case Block():
            return await asyncio.to_thread(step.function)
        case Sleep():
            await asyncio.sleep(step.seconds)
