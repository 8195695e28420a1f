"""The network, for awaiting calls: each event loop has connections of its own; ``transport`` is its twin."""

from __future__ import annotations

import asyncio
import os
import time
from collections import defaultdict
from typing import TYPE_CHECKING, Any, cast
from weakref import WeakKeyDictionary

from hermes_core.llm.http1 import Answer, check_size, head_of, headers_of
from hermes_core.llm.idle import DroppedError, Idle
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
            ResponseFormatError: The answer is too long.
        """
        if self._pid != os.getpid():  # a forked child: the connections belong to the parent
            self._inherited.append(self._loops)
            self._loops, self._pid = WeakKeyDictionary(), os.getpid()
        loop = asyncio.get_running_loop()
        connections = self._loops.get(loop)
        if connections is None:
            self._let_go_of_closed_loops()
            connections = self._loops[loop] = _LoopConnections()
            await connections.live_until_shutdown(self._loops)
        with mapped_errors(request.url, timeout):
            async with asyncio.timeout(min(timeout, FOREVER)):
                answer = await connections.send(request, place_of(request.url, tls))
            return unpacked(answer)

    def _let_go_of_closed_loops(self) -> None:
        """Drop what belongs to loops that were never shut down: their connections hold on to them."""
        for reference in self._loops.keyrefs():
            loop = reference()
            if loop is not None and loop.is_closed():
                self._loops.pop(loop, None)


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
        try:
            connection, answer = await _answered(self._idle.take(place) or await self._connected(place), request)
        except DroppedError:
            connection, answer = await _answered(await self._connected(place, is_new=True), request)
        self._idle.put(place, connection)
        return answer

    async def _connected(self, place: Place, *, is_new: bool = False) -> _Connection:
        """A connection; one that came back while this call waited for its turn will do, unless it must be new."""
        async with self._connecting[place]:
            kept = None if is_new else self._idle.take(place)
            return kept or await _connected(place)

    async def _by_proxy(self, request: HttpRequest, place: Place) -> HttpResponse:
        pool = self._proxied.get(place)
        if pool is None:
            import httpcore

            from hermes_core.llm.backends import CarefulBackend

            pool = proxied(place, CarefulBackend(), httpcore.AsyncHTTPProxy, httpcore.AsyncSOCKSProxy)
            self._proxied[place] = pool
        body = bytearray()
        async with pool.stream("POST", request.url, headers=headers_of(request), content=request.body) as answer:
            async for piece in answer.aiter_stream():
                body += piece
                check_size(len(body))
        return HttpResponse(answer.status, plain_headers(answer.headers), bytes(body))


async def _answered(connection: _Connection, request: HttpRequest) -> tuple[_Connection, HttpResponse]:
    """The connection with its answer; it is closed when there is none."""
    try:
        return connection, await connection.send(request)
    except BaseException:  # cancelling raises no Exception
        connection.close()
        raise


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
        self._has_heard = False
        self.idle_since = 0.0
        self.keeps = False

    @property
    def is_silent(self) -> bool:
        return self.keeps and self._transport is not None and not self._transport.is_closing()

    async def send(self, request: HttpRequest) -> HttpResponse:
        assert self._transport is not None
        head, body = head_of(request), request.body
        self.keeps, self._has_heard, self._answer = False, False, Answer()
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
        self.keeps, self._has_heard = False, bool(data)  # nobody asked for it, or the answer is not whole
        answer, done = self._answer, self._done
        if answer is None or done is None or done.done():
            return
        try:
            whole = answer.feed(data)
        except Exception as error:  # noqa: BLE001 - raised by the call that waits for the answer
            done.set_exception(error)
            return
        if whole is not None:
            assert self._transport is not None
            is_sent = not self._transport.get_write_buffer_size()
            self._answer, self.keeps, self.idle_since = None, answer.keeps and is_sent, time.monotonic()
            done.set_result(whole)

    def connection_lost(self, error: Exception | None) -> None:
        if self._done is not None and not self._done.done():
            if self.idle_since and not self._has_heard:
                self._done.set_exception(DroppedError())
            elif error is not None:
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
