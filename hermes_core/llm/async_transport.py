"""The network, for awaiting calls: each event loop has pools of its own; ``transport`` is its twin."""

from __future__ import annotations

import asyncio
import os
from collections import defaultdict
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from hermes_core.llm.tls import USUAL, Tls
from hermes_core.llm.transport import FOREVER, Kind, http_response, kind_of, mapped_errors, new_pool, raw_headers

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from hermes_core.types.wire import HttpRequest, HttpResponse

POOLS = 32
"""Per event loop and kind: httpcore scans its whole pool on every event, so many small pools beat one
large one."""


class AsyncTransport:
    """Sends requests without blocking the event loop; safe for several loops and for forks."""

    def __init__(self) -> None:
        self._pid = os.getpid()
        self._loops: WeakKeyDictionary[asyncio.AbstractEventLoop, _LoopPools] = WeakKeyDictionary()

    async def send(self, request: HttpRequest, timeout: float, tls: Tls = USUAL) -> HttpResponse:
        """Send and wait for the whole answer, at most ``timeout`` seconds.

        Raises:
            ProviderTimeoutError: The time is over.
            ProviderTransportError: No complete answer came.
        """
        if self._pid != os.getpid():  # a forked child: the connections belong to the parent
            self._pid, self._loops = os.getpid(), WeakKeyDictionary()
        loop = asyncio.get_running_loop()
        pools = self._loops.get(loop)
        if pools is None:
            pools = self._loops[loop] = _LoopPools()
            await pools.live_until_shutdown(self._loops)
        with mapped_errors(timeout), pools.take(kind_of(request.url, tls)) as pool:
            async with asyncio.timeout(min(timeout, FOREVER)):
                answer = await pool.request("POST", request.url, headers=raw_headers(request), content=request.body)
        return http_response(answer.status, answer.headers, answer.content)


class _LoopPools:
    """The pools of one event loop."""

    def __init__(self) -> None:
        self._of: defaultdict[Kind, list[Any]] = defaultdict(list)
        self._in_use: dict[Any, int] = {}

    async def live_until_shutdown(self, among: WeakKeyDictionary[asyncio.AbstractEventLoop, _LoopPools]) -> None:
        """Have the loop close the pools, and let go of them, when it shuts its asynchronous generators down."""
        self._keeper = _until_shutdown(self._in_use, among)
        await anext(self._keeper)

    @contextmanager
    def take(self, kind: Kind) -> Iterator[Any]:
        """The least used pool of a kind, a new one while there are few."""
        known = self._of[kind]
        pool = min(known, key=self._in_use.__getitem__, default=None)
        if pool is None or (self._in_use[pool] and len(known) < POOLS):
            import httpcore

            from hermes_core.llm.backends import CarefulBackend

            pool = new_pool(
                kind, CarefulBackend(), httpcore.AsyncConnectionPool, httpcore.AsyncHTTPProxy, httpcore.AsyncSOCKSProxy
            )
            known.append(pool)
            self._in_use[pool] = 0
        self._in_use[pool] += 1
        try:
            yield pool
        finally:
            self._in_use[pool] -= 1


async def _until_shutdown(pools: dict[Any, int], among: WeakKeyDictionary[Any, _LoopPools]) -> AsyncIterator[None]:
    try:
        yield
    finally:
        among.pop(asyncio.get_running_loop(), None)
        for pool in pools:
            await pool.aclose()
