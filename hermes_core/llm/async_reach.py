"""A connection to one of a server's addresses, for an event loop; ``reach`` is its twin.

An event loop's own way asks the name service in threads that it shares with all else, of which there are few: a
name service that hangs would stop the program's other work, and its end.
"""

from __future__ import annotations

import asyncio
import socket
from typing import TYPE_CHECKING, Any

from hermes_core.llm.reach import looked_up

if TYPE_CHECKING:
    from collections.abc import Callable

NEXT_ADDRESS_SECONDS = 0.25
"""How long one of a server's addresses may be silent before the next is tried too."""


async def areached(host: str, port: int, look_up: Callable[..., Any] = socket.getaddrinfo) -> socket.socket:
    """A socket that is connected to a host, at that of its addresses which answers first.

    Raises:
        OSError: The name leads nowhere, or nobody answers.
    """
    rows = await asyncio.wrap_future(looked_up(host, port, look_up))
    if len(rows) == 1:
        return await _connected(*rows[0])
    waiting: set[asyncio.Task[socket.socket]] = set()
    last: BaseException = OSError(f"{host} has no address")
    try:
        for number, row in enumerate(rows, 1):
            waiting.add(asyncio.create_task(_connected(*row)))
            seconds = NEXT_ADDRESS_SECONDS if number < len(rows) else None
            while waiting:
                done, _ = await asyncio.wait(waiting, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
                for task in done:
                    error = task.exception()
                    if error is None:
                        waiting.remove(task)
                        return task.result()
                    last = error
                waiting -= done
                if seconds is not None:
                    break
        raise last
    finally:
        for task in waiting:
            task.add_done_callback(_close)
            task.cancel()


async def _connected(family: int, kind: int, protocol: int, _: str, address: Any) -> socket.socket:
    found = socket.socket(family, kind, protocol)
    try:
        found.setblocking(False)
        await asyncio.get_running_loop().sock_connect(found, address)
    except BaseException:  # cancelling raises no Exception
        found.close()
        raise
    return found


def _close(task: asyncio.Task[socket.socket]) -> None:
    """Close what came too late."""
    if not task.cancelled() and task.exception() is None:
        task.result().close()
