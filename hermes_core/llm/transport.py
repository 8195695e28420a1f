"""The network, for blocking calls: connections shared by all threads; ``async_transport`` is its twin.

These two modules alone touch the network for model calls. Where no proxy is in between they speak HTTP/1.1
themselves, by ``http1``: one deadline then bounds everything a call does, and a call costs a third of what it does
through a pool of httpcore's, the engine inside httpx. That is left to deal with proxies.
"""

from __future__ import annotations

import os
import select
import time
from typing import TYPE_CHECKING

from hermes_core.config.redact import redact
from hermes_core.errors import ProviderError, ProviderTimeoutError, ProviderTransportError
from hermes_core.llm.http1 import Answer, BadHeaderError, check_size, head_of, headers_of
from hermes_core.llm.idle import DroppedError, Idle
from hermes_core.llm.place import Place, place_of, proxied
from hermes_core.llm.reach import reached, time_left
from hermes_core.llm.tls import USUAL, Tls
from hermes_core.types.address import host_of
from hermes_core.types.wire import HttpRequest, HttpResponse

if TYPE_CHECKING:
    from types import TracebackType

FOREVER = 10.0**8
"""Seconds that no clock overflows at; a longer timeout means this."""

SHORT = 64 * 1024
"""A body of no more bytes is sent along with its head, as one packet."""

_HEADER_HINT = "correct the key or the header: it takes printable ASCII alone, on one line"

_PIECE = 4096
"""So many compressed bytes are unpacked at a time, to 4 MiB at most."""


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
            ResponseFormatError: The answer is too long.
        """
        if self._pid != os.getpid():  # a forked child: the connections belong to the parent
            self._inherited.append(self._idle)
            self._idle, self._pid = Idle(), os.getpid()
        with mapped_errors(request.url, timeout):
            end = time.monotonic() + min(timeout, FOREVER)
            place, idle = place_of(request.url, tls), self._idle
            kind = _Connection if place.proxy is None else _Proxied
            try:
                connection, answer = _answered(idle.take(place) or kind(place, end), request, end)
            except DroppedError:
                connection, answer = _answered(kind(place, end), request, end)
            idle.put(place, connection)
            return unpacked(answer)

    def close(self) -> None:
        """Close idle connections."""
        self._idle.close()


def _answered(
    connection: _Connection | _Proxied, request: HttpRequest, end: float
) -> tuple[_Connection | _Proxied, HttpResponse]:
    """The connection with its answer; it is closed when there is none."""
    try:
        return connection, connection.send(request, end)
    except BaseException:
        connection.close()
        raise


class _Connection:
    """A connection that one thread uses at a time."""

    keeps, idle_since = False, 0.0

    def __init__(self, place: Place, end: float) -> None:
        import socket

        context = place.tls_context
        self._socket = reached(place.host, place.port, end)
        try:
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if context is not None:
                self._socket.settimeout(time_left(end))
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
        is_sent, is_silent, answer = True, True, Answer()
        try:
            for part in (head + body,) if len(body) <= SHORT else (head, body):
                self._send_all(part, end)
        except TimeoutError:
            raise
        except OSError:
            is_sent = False  # the server may have answered, and closed, before it had read all
        while True:
            self._socket.settimeout(time_left(end))
            try:
                data = self._socket.recv(SHORT)
            except TimeoutError:
                raise
            except OSError as error:
                if self.idle_since and is_silent:
                    raise DroppedError from error
                raise
            if not data and self.idle_since and is_silent:
                raise DroppedError
            is_silent = False
            whole = answer.feed(data)
            if whole is not None:
                self.keeps, self.idle_since = answer.keeps and is_sent, time.monotonic()
                return whole

    def _send_all(self, data: bytes, end: float) -> None:
        rest = memoryview(data)
        while rest:  # as the sendall of TLS would wait anew for each piece
            self._socket.settimeout(time_left(end))
            rest = rest[self._socket.send(rest) :]

    def close(self) -> None:
        self._socket.close()


class _Proxied:
    """A connection by way of a proxy, which one thread uses at a time too."""

    keeps = is_silent = True
    idle_since = 0.0

    def __init__(self, place: Place, _end: float) -> None:
        import httpcore

        from hermes_core.llm.backends import DeadlineBackend

        self._backend = DeadlineBackend()
        self._pool = proxied(place, self._backend, httpcore.HTTPProxy, httpcore.SOCKSProxy)

    def send(self, request: HttpRequest, end: float) -> HttpResponse:
        self._backend.end = end
        body = bytearray()
        with self._pool.stream("POST", request.url, headers=headers_of(request), content=request.body) as answer:
            for piece in answer.iter_stream():
                body += piece
                check_size(len(body))
        self.idle_since = time.monotonic()
        return HttpResponse(answer.status, plain_headers(answer.headers), bytes(body))

    def close(self) -> None:
        self._pool.close()


def plain_headers(headers: list[tuple[bytes, bytes]]) -> dict[str, str]:
    """Headers of httpcore's as the flow reads them."""
    return {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in headers}


def unpacked(answer: HttpResponse) -> HttpResponse:
    """An answer whose body is not compressed.

    Raises:
        ProviderTransportError: It cannot be unpacked.
        ResponseFormatError: It is too long then.
    """
    packing = answer.headers.get("content-encoding", "identity")
    if packing == "identity":
        return answer
    if "," in packing:
        raise ProviderTransportError("no complete answer: it is compressed more than once, which nobody asked for")
    import httpx

    body = bytearray()
    pieces = (answer.body[at : at + _PIECE] for at in range(0, len(answer.body), _PIECE))
    try:
        for piece in httpx.Response(answer.status, headers=answer.headers, content=pieces).iter_bytes():
            body += piece
            check_size(len(body))
    except httpx.DecodingError as error:
        raise ProviderTransportError(f"no complete answer: {error}") from error
    return answer._replace(body=bytes(body))


class mapped_errors:  # noqa: N801 - it reads as a statement
    """Turns every error of the network, and a passed deadline, into one of ours that names the server.

    Raises:
        ProviderTimeoutError: For a timeout.
        ProviderTransportError: For everything else; ``retryable`` unless the request itself cannot be sent.
    """

    __slots__ = ("_timeout", "_url")

    def __init__(self, url: str, timeout: float) -> None:
        self._url, self._timeout = url, timeout

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, _kind: type[BaseException] | None, error: BaseException | None, _traceback: TracebackType | None
    ) -> None:
        if not isinstance(error, Exception) or isinstance(error, ProviderError):
            return
        import h11
        import httpcore

        host = redact(host_of(self._url))
        if isinstance(error, TimeoutError | httpcore.TimeoutException):
            raise ProviderTimeoutError(f"no answer within {self._timeout:g} s from {host}") from error
        broken = OSError, h11.RemoteProtocolError, httpcore.NetworkError, httpcore.ProtocolError, httpcore.ProxyError
        if isinstance(error, (*broken, httpcore.ConnectionNotAvailable)):
            said = redact(str(error)) or type(error).__name__
            raise ProviderTransportError(f"no complete answer from {host}: {said}") from error
        if isinstance(error, BadHeaderError):
            bad = ProviderTransportError(f"cannot send the request to {host}: {error}", hint=_HEADER_HINT)
        elif isinstance(error, httpcore.UnsupportedProtocol | ImportError | RuntimeError | ValueError):
            hint = "correct base_url, or the proxy variables of the environment"
            bad = ProviderTransportError(f"cannot use the address: {redact(str(error))}", hint=hint)
        else:
            return
        bad.retryable = False
        raise bad from None
