"""The only place that touches the network: httpx transports, shared by all calls of a host."""

from __future__ import annotations

import asyncio
import ipaddress
import os
import threading
import time
from collections import defaultdict, deque
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from hermes_core.auth.keys import host_of
from hermes_core.config.redact import redact
from hermes_core.errors import ProviderTimeoutError, ProviderTransportError
from hermes_core.types.wire import HttpRequest, HttpResponse

if TYPE_CHECKING:
    import ssl
    from collections.abc import AsyncIterator, Iterator

    import httpx

ASYNC_TRANSPORTS = 32
"""Per event loop and route kind: httpcore scans its whole pool on every event, so many small pools
beat one large one."""

KEEPALIVE = 5
"""Idle connections each transport keeps."""

_tls_lock = threading.Lock()
_tls_context: ssl.SSLContext | None = None


@dataclass(frozen=True)
class _Kind:
    """What a transport is made for: TLS or not, and through which proxy."""

    secure: bool
    proxy: str | None


class Transport:
    """Sends requests, blocking or awaiting; safe for threads, event loops and forks.

    A blocking call takes an idle transport for itself and puts it back, so threads never wait for
    each other. An event loop has its own transports, closed when the loop shuts down.
    """

    def __init__(self) -> None:
        self._pid = os.getpid()
        self._idle: defaultdict[_Kind, deque[httpx.HTTPTransport]] = defaultdict(deque)
        self._loops: WeakKeyDictionary[asyncio.AbstractEventLoop, _LoopTransports] = WeakKeyDictionary()
        self._inherited: list[object] = []
        self._closed = False

    def send(self, request: HttpRequest, timeout: float) -> HttpResponse:
        """Send and wait for the whole answer, at most ``timeout`` seconds.

        Raises:
            ProviderTimeoutError: The time is over.
            ProviderTransportError: No complete answer came.
        """
        self._after_fork()
        end = time.monotonic() + timeout
        with mapped_errors(timeout):
            kind = _kind(request.url)
            idle = self._idle[kind]
            try:
                transport = idle.pop()
            except IndexError:
                transport = _new_transport(kind)
            try:
                response = transport.handle_request(_request(request, timeout))
                try:
                    chunks = []
                    for chunk in response.iter_bytes():
                        chunks.append(chunk)
                        if time.monotonic() > end:  # a trickle of bytes restarts every timer but this one
                            raise ProviderTimeoutError(f"no whole answer within {timeout:g} s")
                finally:
                    response.close()
            finally:
                if self._closed:
                    transport.close()
                else:
                    idle.append(transport)
        return HttpResponse(status=response.status_code, headers=_headers(response), body=b"".join(chunks))

    async def asend(self, request: HttpRequest, timeout: float) -> HttpResponse:
        """As ``send``, without blocking the event loop."""
        self._after_fork()
        loop = asyncio.get_running_loop()
        transports = self._loops.get(loop)
        if transports is None:
            transports = self._loops[loop] = _LoopTransports()
            await transports.live_until_shutdown()
        with mapped_errors(timeout):
            async with asyncio.timeout(timeout), transports.take(_kind(request.url)) as transport:
                response = await transport.handle_async_request(_request(request, None))
                try:
                    body = await response.aread()
                finally:
                    await response.aclose()
        return HttpResponse(status=response.status_code, headers=_headers(response), body=body)

    def close(self) -> None:
        """Close idle connections; those of running event loops close with their loop."""
        self._closed = True
        for idle in self._idle.values():
            while idle:
                idle.pop().close()

    def _after_fork(self) -> None:
        """In a forked child, start afresh: the connections belong to the parent."""
        if self._pid != os.getpid():
            self._inherited.append((self._idle, self._loops))
            self._pid, self._idle, self._loops = os.getpid(), defaultdict(deque), WeakKeyDictionary()


class _LoopTransports:
    """The transports of one event loop."""

    def __init__(self) -> None:
        self._of: defaultdict[_Kind, list[httpx.AsyncHTTPTransport]] = defaultdict(list)
        self._in_use: dict[httpx.AsyncHTTPTransport, int] = {}
        self._keeper = self._until_shutdown()

    async def live_until_shutdown(self) -> None:
        """Have the loop close the transports when it shuts its asynchronous generators down."""
        await anext(self._keeper)

    def take(self, kind: _Kind) -> _Taken:
        """The least used transport of a kind, a new one while there are few."""
        known = self._of[kind]
        transport = min(known, key=self._in_use.__getitem__, default=None)
        if transport is None or (self._in_use[transport] and len(known) < ASYNC_TRANSPORTS):
            transport = _new_async_transport(kind)
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


@contextmanager
def mapped_errors(timeout: float) -> Iterator[None]:
    """Turn every error of httpx, and a passed deadline, into one of ours.

    Raises:
        ProviderTimeoutError: For a timeout.
        ProviderTransportError: For everything else; ``retryable`` unless the address itself is bad.
    """
    import httpx

    try:
        yield
    except (TimeoutError, httpx.TimeoutException) as error:
        if isinstance(error, ProviderTimeoutError):
            raise
        raise ProviderTimeoutError(f"no answer within {timeout:g} s") from error
    except (httpx.InvalidURL, httpx.UnsupportedProtocol, ImportError) as error:
        bad = ProviderTransportError(f"cannot use the address: {redact(str(error))}", hint="check base_url and proxies")
        bad.retryable = False
        raise bad from None
    except (httpx.TransportError, httpx.DecodingError, OSError) as error:
        raise ProviderTransportError(f"no complete answer: {redact(str(error)) or type(error).__name__}") from error


def proxy_for(url: str) -> str | None:
    """The proxy the environment names for a URL; this machine's own addresses are never proxied."""
    from urllib.request import getproxies, proxy_bypass

    host = host_of(url)
    if _is_loopback(host):
        return None
    proxies = getproxies()
    proxy = proxies.get(url.partition(":")[0]) or proxies.get("all")
    return proxy if proxy and not proxy_bypass(host) else None


def _is_loopback(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _kind(url: str) -> _Kind:
    return _Kind(url[:6].lower() == "https:", proxy_for(url))


def _request(request: HttpRequest, timeout: float | None) -> httpx.Request:
    import httpx

    limits = dict.fromkeys(("connect", "read", "write", "pool"), timeout)
    return httpx.Request(
        "POST", request.url, headers=dict(request.headers), content=request.body, extensions={"timeout": limits}
    )


def _headers(response: httpx.Response) -> dict[str, str]:
    return {name.lower(): value for name, value in response.headers.items()}


def _new_transport(kind: _Kind) -> httpx.HTTPTransport:
    import httpx

    return httpx.HTTPTransport(**_options(kind, httpx))


def _new_async_transport(kind: _Kind) -> httpx.AsyncHTTPTransport:
    import httpx

    return httpx.AsyncHTTPTransport(**_options(kind, httpx))


def _options(kind: _Kind, httpx: Any) -> dict[str, Any]:
    import ssl

    limits = httpx.Limits(max_connections=None, max_keepalive_connections=KEEPALIVE, keepalive_expiry=20)
    tls = _tls() if kind.secure else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # the latter trusts nobody, and is quick
    return {"verify": tls, "limits": limits, "proxy": kind.proxy}


def _tls() -> ssl.SSLContext:
    """The one TLS context of the process; reading the certificates takes 20 ms."""
    global _tls_context  # noqa: PLW0603 - one a process, made when it is first needed
    with _tls_lock:
        if _tls_context is None:
            import httpx

            _tls_context = httpx.create_ssl_context()
        return _tls_context
