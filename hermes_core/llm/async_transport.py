"""The network, for awaiting calls: each event loop has transports of its own; ``transport`` is its twin."""

from __future__ import annotations

import asyncio
import os
from collections import defaultdict
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from hermes_core.llm.transport import Kind, http_request, kind_of, lower_headers, mapped_errors, options
from hermes_core.types.wire import HttpRequest, HttpResponse

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    import httpx

TRANSPORTS = 32
"""Per event loop and kind: httpcore scans its whole pool on every event, so many small pools beat one
large one."""


class AsyncTransport:
    """Sends requests without blocking the event loop; safe for several loops and for forks."""

    def __init__(self) -> None:
        self._pid = os.getpid()
        self._loops: WeakKeyDictionary[asyncio.AbstractEventLoop, _LoopTransports] = WeakKeyDictionary()

    async def send(self, request: HttpRequest, timeout: float) -> HttpResponse:
        """Send and wait for the whole answer, at most ``timeout`` seconds.

        Raises:
            ProviderTimeoutError: The time is over.
            ProviderTransportError: No complete answer came.
        """
        if self._pid != os.getpid():  # a forked child: the connections belong to the parent
            self._pid, self._loops = os.getpid(), WeakKeyDictionary()
        loop = asyncio.get_running_loop()
        transports = self._loops.get(loop)
        if transports is None:
            transports = self._loops[loop] = _LoopTransports()
            await transports.live_until_shutdown()
        with mapped_errors(timeout):
            async with asyncio.timeout(timeout), transports.take(kind_of(request.url)) as transport:
                response = await transport.handle_async_request(http_request(request, None))
                try:
                    body = await response.aread()
                finally:
                    await response.aclose()
        return HttpResponse(status=response.status_code, headers=lower_headers(response), body=body)


class _LoopTransports:
    """The transports of one event loop."""

    def __init__(self) -> None:
        self._of: defaultdict[Kind, list[httpx.AsyncHTTPTransport]] = defaultdict(list)
        self._in_use: dict[httpx.AsyncHTTPTransport, int] = {}
        self._keeper = self._until_shutdown()

    async def live_until_shutdown(self) -> None:
        """Have the loop close the transports when it shuts its asynchronous generators down."""
        await anext(self._keeper)

    def take(self, kind: Kind) -> _Taken:
        """The least used transport of a kind, a new one while there are few."""
        known = self._of[kind]
        transport = min(known, key=self._in_use.__getitem__, default=None)
        if transport is None or (self._in_use[transport] and len(known) < TRANSPORTS):
            import httpx

            transport = httpx.AsyncHTTPTransport(**options(kind, httpx))
            known.append(transport)
            self._in_use[transport] = 0
        return _Taken(self._in_use, transport)

    async def _until_shutdown(self) -> AsyncIterator[None]:
        try:
            yield
        finally:
            for transport in self._in_use:
                await transport.aclose()


class _Taken:
    """A transport in use; leaving gives it back."""

    def __init__(self, in_use: dict[httpx.AsyncHTTPTransport, int], transport: httpx.AsyncHTTPTransport) -> None:
        self._in_use = in_use
        self._transport = transport

    async def __aenter__(self) -> httpx.AsyncHTTPTransport:
        self._in_use[self._transport] += 1
        return self._transport

    async def __aexit__(self, *_exc: object) -> None:
        self._in_use[self._transport] -= 1
