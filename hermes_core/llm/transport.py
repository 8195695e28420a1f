"""The network, for blocking calls: connections shared by all threads; ``async_transport`` is its twin.

These two modules alone touch the network for model calls. Where no proxy is in between they speak HTTP/1.1
themselves, by ``http1``: one deadline then bounds everything a call does, and a call costs a third of what it does
through a pool of httpcore's, the engine inside httpx. That is left to deal with proxies.
"""

from __future__ import annotations

import math
import os
import select
import time
from typing import TYPE_CHECKING

from hermes_core.config.redact import redact
from hermes_core.errors import ProviderTimeoutError, ProviderTransportError
from hermes_core.llm.http1 import Answer, head_of, headers_of
from hermes_core.llm.idle import Idle
from hermes_core.llm.place import Place, place_of, proxied
from hermes_core.llm.tls import USUAL, Tls
from hermes_core.types.wire import HttpRequest, HttpResponse

if TYPE_CHECKING:
    from types import TracebackType

FOREVER = 10.0**8
"""Seconds that no clock overflows at; a longer timeout means this."""

SHORT = 64 * 1024
"""A body of no more bytes is sent along with its head, as one packet."""


class Transport:
    """Sends requests and waits; safe for threads and forks.

    A call takes an idle connection for itself and puts it back, so threads never wait for each other.
    """

    def __init__(self) -> None:
        self._pid = os.getpid()
        self._idle = Idle[_Connection | _Proxied]()
        self._inherited: list[object] = []

    def send(self, request: HttpRequest, timeout: float, tls: Tls = USUAL) -> HttpResponse:
        """Send and wait for the whole answer, at most ``timeout`` seconds.

        Raises:
            ProviderTimeoutError: The time is over.
            ProviderTransportError: No complete answer came.
        """
        if self._pid != os.getpid():  # a forked child: the connections belong to the parent
            self._inherited.append(self._idle)
            self._pid, self._idle = os.getpid(), Idle()
        with mapped_errors(timeout):
            end = time.monotonic() + min(timeout, FOREVER)
            place, idle = place_of(request.url, tls), self._idle
            connection = idle.take(place) or (_Connection if place.proxy is None else _Proxied)(place, end)
            try:
                answer = connection.send(request, end)
            except BaseException:
                connection.close()
                raise
            idle.put(place, connection)
        return unpacked(answer)

    def close(self) -> None:
        """Close idle connections."""
        self._idle.close()


class _Connection:
    """A connection that one thread uses at a time."""

    keeps, idle_since = False, 0.0

    def __init__(self, place: Place, end: float) -> None:
        import socket

        context = place.tls_context
        self._socket = socket.create_connection((place.host, place.port), _left(end))
        try:
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if context is not None:
                self._socket.settimeout(_left(end))
                self._socket = context.wrap_socket(self._socket, server_hostname=place.host)
        except BaseException:
            self._socket.close()
            raise

    @property
    def is_silent(self) -> bool:
        if not hasattr(select, "poll"):  # Windows
            return not select.select([self._socket], [], [], 0)[0]
        poll = select.poll()
        poll.register(self._socket, select.POLLIN)
        return not poll.poll(0)

    def send(self, request: HttpRequest, end: float) -> HttpResponse:
        head, body = head_of(request), request.body
        try:
            self._socket.settimeout(_left(end))
            if len(body) <= SHORT:
                self._socket.sendall(head + body)
            else:
                self._socket.sendall(head)
                self._socket.settimeout(_left(end))
                self._socket.sendall(body)
        except TimeoutError:
            raise
        except OSError:
            pass  # the server may have answered, and closed, before it had read all
        answer = Answer()
        while True:
            self._socket.settimeout(_left(end))
            whole = answer.feed(self._socket.recv(SHORT))
            if whole is not None:
                self.keeps, self.idle_since = answer.keeps, time.monotonic()
                return whole

    def close(self) -> None:
        self._socket.close()


class _Proxied:
    """A connection by way of a proxy, which one thread uses at a time too."""

    keeps = is_silent = True
    idle_since = math.inf

    def __init__(self, place: Place, _end: float) -> None:
        import httpcore

        from hermes_core.llm.backends import DeadlineBackend

        self._backend = DeadlineBackend()
        self._pool = proxied(place, self._backend, httpcore.HTTPProxy, httpcore.SOCKSProxy)

    def send(self, request: HttpRequest, end: float) -> HttpResponse:
        self._backend.end = end
        answer = self._pool.request("POST", request.url, headers=headers_of(request), content=request.body)
        return HttpResponse(answer.status, plain_headers(answer.headers), answer.content)

    def close(self) -> None:
        self._pool.close()


def _left(end: float) -> float:
    """Seconds left until then, by ``time.monotonic``.

    Raises:
        TimeoutError: None are.
    """
    left = end - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left


def plain_headers(headers: list[tuple[bytes, bytes]]) -> dict[str, str]:
    """Headers of httpcore's as the flow reads them."""
    return {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in headers}


def unpacked(answer: HttpResponse) -> HttpResponse:
    """An answer whose body is not compressed.

    Raises:
        ProviderTransportError: It cannot be unpacked.
    """
    if answer.headers.get("content-encoding", "identity") == "identity":
        return answer
    import httpx

    try:
        body = httpx.Response(answer.status, headers=answer.headers, content=answer.body).content
    except httpx.DecodingError as error:
        raise ProviderTransportError(f"no complete answer: {error}") from error
    return answer._replace(body=body)


class mapped_errors:  # noqa: N801 - it reads as a statement
    """Turns every error of the network, and a passed deadline, into one of ours.

    Raises:
        ProviderTimeoutError: For a timeout.
        ProviderTransportError: For everything else; ``retryable`` unless the address itself is bad.
    """

    __slots__ = ("_timeout",)

    def __init__(self, timeout: float) -> None:
        self._timeout = timeout

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, _kind: type[BaseException] | None, error: BaseException | None, _traceback: TracebackType | None
    ) -> None:
        if not isinstance(error, Exception) or isinstance(error, ProviderTransportError):
            return
        import h11
        import httpcore

        if isinstance(error, TimeoutError | httpcore.TimeoutException):
            raise ProviderTimeoutError(f"no answer within {self._timeout:g} s") from error
        broken = OSError, h11.RemoteProtocolError, httpcore.NetworkError, httpcore.ProtocolError, httpcore.ProxyError
        if isinstance(error, (*broken, httpcore.ConnectionNotAvailable)):
            said = redact(str(error)) or type(error).__name__
            raise ProviderTransportError(f"no complete answer: {said}") from error
        if isinstance(error, httpcore.UnsupportedProtocol | ImportError | RuntimeError | ValueError):
            hint = "correct base_url, or the proxy variables of the environment"
            bad = ProviderTransportError(f"cannot use the address: {redact(str(error))}", hint=hint)
            bad.retryable = False
            raise bad from None
