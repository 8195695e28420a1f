"""The network, for awaiting calls: each event loop has connections of its own; ``transport`` is its twin."""

from __future__ import annotations

import asyncio
import os
import time
from collections import defaultdict
from typing import TYPE_CHECKING, Any, cast
from weakref import WeakKeyDictionary

from hermes_core.llm.http1 import Answer, head_of, headers_of
from hermes_core.llm.idle import Idle
from hermes_core.llm.place import Place, place_of, proxied
from hermes_core.llm.tls import USUAL, Tls
from hermes_core.llm.transport import FOREVER, SHORT, mapped_errors, plain_headers, unpacked
from hermes_core.types.address import is_loopback
from hermes_core.types.wire import HttpResponse

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from hermes_core.types.wire import HttpRequest

MOST_CONNECTING = 100
"""Connections to one place that are made at a time; of more at once, many servers let some wait for a second."""

NEXT_ADDRESS_SECONDS = 0.25
"""How long one of a server's addresses may be silent before the next is tried too."""


class AsyncTransport:
    """Sends requests without blocking the event loop; safe for several loops and for forks."""

    def __init__(self) -> None:
        self._pid = os.getpid()
        self._loops: WeakKeyDictionary[asyncio.AbstractEventLoop, _LoopConnections] = WeakKeyDictionary()
        self._inherited: list[object] = []

    async def send(self, request: HttpRequest, timeout: float, tls: Tls = USUAL) -> HttpResponse:
        """Send and wait for the whole answer, at most ``timeout`` seconds.

        Raises:
            ProviderTimeoutError: The time is over.
            ProviderTransportError: No complete answer came.
        """
        if self._pid != os.getpid():  # a forked child: the connections belong to the parent
            self._inherited.append(self._loops)
            self._pid, self._loops = os.getpid(), WeakKeyDictionary()
        loop = asyncio.get_running_loop()
        connections = self._loops.get(loop)
        if connections is None:
            connections = self._loops[loop] = _LoopConnections()
            await connections.live_until_shutdown(self._loops)
        with mapped_errors(timeout):
            async with asyncio.timeout(min(timeout, FOREVER)):
                answer = await connections.send(request, place_of(request.url, tls))
        return unpacked(answer)


class _LoopConnections:
    """The connections of one event loop."""

    def __init__(self) -> None:
        self._idle = Idle[_Connection]()
        self._connecting = defaultdict[Place, asyncio.Semaphore](lambda: asyncio.Semaphore(MOST_CONNECTING))
        self._proxied: dict[Place, Any] = {}

    async def live_until_shutdown(self, among: WeakKeyDictionary[asyncio.AbstractEventLoop, _LoopConnections]) -> None:
        """Have the loop close the connections, and let go of them, when it shuts its asynchronous generators down."""
        self._keeper = _until_shutdown(self._idle, self._proxied, among)
        await anext(self._keeper)

    async def send(self, request: HttpRequest, place: Place) -> HttpResponse:
        if place.proxy is not None:
            return await self._by_proxy(request, place)
        connection = self._idle.take(place)
        if connection is None:
            async with self._connecting[place]:
                connection = self._idle.take(place) or await _connected(place)
        try:
            answer = await connection.send(request)
        except BaseException:  # cancelling raises no Exception
            connection.close()
            raise
        self._idle.put(place, connection)
        return answer

    async def _by_proxy(self, request: HttpRequest, place: Place) -> HttpResponse:
        pool = self._proxied.get(place)
        if pool is None:
            import httpcore

            from hermes_core.llm.backends import CarefulBackend

            pool = proxied(place, CarefulBackend(), httpcore.AsyncHTTPProxy, httpcore.AsyncSOCKSProxy)
            self._proxied[place] = pool
        answer = await pool.request("POST", request.url, headers=headers_of(request), content=request.body)
        return HttpResponse(answer.status, plain_headers(answer.headers), answer.content)


async def _connected(place: Place) -> _Connection:
    """A new connection to a place."""
    context = place.tls_context
    _, connection = await asyncio.get_running_loop().create_connection(
        _Connection,
        place.host,
        place.port,
        ssl=context,
        server_hostname=None if context is None else place.host,
        happy_eyeballs_delay=None if is_loopback(place.host) else NEXT_ADDRESS_SECONDS,
    )
    return connection


class _Connection(asyncio.Protocol):
    """A connection that one call uses at a time."""

    def __init__(self) -> None:
        self._transport: asyncio.Transport | None = None
        self._answer: Answer | None = None
        self._done: asyncio.Future[HttpResponse] | None = None
        self.idle_since = 0.0
        self.keeps = False

    @property
    def is_silent(self) -> bool:
        return self.keeps

    async def send(self, request: HttpRequest) -> HttpResponse:
        assert self._transport is not None
        head, body = head_of(request), request.body
        self.keeps, self._answer = False, Answer()
        self._done = asyncio.get_running_loop().create_future()
        if len(body) <= SHORT:
            self._transport.write(head + body)
        else:
            self._transport.write(head)
            self._transport.write(body)
        return await self._done

    def close(self) -> None:
        self.keeps = False
        if self._transport is not None:
            self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)  # of whatever loop

    def data_received(self, data: bytes) -> None:
        self.keeps = False  # nobody asked for it, or the answer is not whole
        answer, done = self._answer, self._done
        if answer is None or done is None or done.done():
            return
        try:
            whole = answer.feed(data)
        except Exception as error:  # noqa: BLE001 - raised by the call that waits for the answer
            done.set_exception(error)
            return
        if whole is not None:
            self._answer, self.keeps, self.idle_since = None, answer.keeps, time.monotonic()
            done.set_result(whole)

    def connection_lost(self, error: Exception | None) -> None:
        if error is not None and self._done is not None and not self._done.done():
            self._done.set_exception(error)
        self.data_received(b"")


async def _until_shutdown(
    idle: Idle[_Connection],
    proxied: dict[Place, Any],
    among: WeakKeyDictionary[Any, _LoopConnections],
) -> AsyncIterator[None]:
    try:
        yield
    finally:
        among.pop(asyncio.get_running_loop(), None)
        idle.close()
        for pool in proxied.values():
            await pool.aclose()
        await asyncio.sleep(0)  # the loop closes what was given up
