"""Network backends for httpcore: one deadline for all a blocking call does, public addresses alone, no connection lost.

A timeout for each read would start anew with every byte that trickles in.
"""

from __future__ import annotations

import math
import socket
import time
from typing import TYPE_CHECKING, Any

import httpcore

from hermes_core.types.address import is_public

if TYPE_CHECKING:
    import ssl
    from collections.abc import Iterable


class DeadlineBackend(httpcore.NetworkBackend):
    """httpcore's own backend, but that no operation outlasts ``end``, in seconds of the monotonic clock."""

    def __init__(self) -> None:
        self.end = math.inf
        self._backend = httpcore.SyncBackend()

    def left(self, error: type[httpcore.TimeoutException]) -> float:
        """Seconds left; raises ``error`` when none are."""
        left = self.end - time.monotonic()
        if left <= 0:
            raise error
        return left

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ARG002 - the deadline takes its place, here and below
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        """Connect before the deadline."""
        left = self.left(httpcore.ConnectTimeout)
        return _Stream(self._backend.connect_tcp(host, port, left, local_address, socket_options), self)


class PublicBackend(DeadlineBackend):
    """Connects to public addresses alone, and to the very address that was checked.

    A name that leads to any other address as well is refused: its owner may change what it leads to.
    """

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        """Look the host up once, and connect to the first of its addresses that answers."""
        found = list(dict.fromkeys(self.addresses(host, port)))
        if not found or not all(map(is_public, found)):
            message = f"{host} leads to an address that is not public"
            raise httpcore.ConnectError(message)
        for address in found[:-1]:
            try:
                return self.connect(address, port, timeout, local_address, socket_options)
            except httpcore.ConnectError:
                continue
        return self.connect(found[-1], port, timeout, local_address, socket_options)

    def addresses(self, host: str, port: int) -> Iterable[str]:
        """Every address that a host has."""
        return [str(row[4][0]) for row in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]

    def connect(self, address: str, port: int, *options: Any) -> httpcore.NetworkStream:
        """Connect to an address that was checked."""
        return super().connect_tcp(address, port, *options)


class _Stream(httpcore.NetworkStream):
    """A connection whose operations end with their backend's deadline."""

    def __init__(self, stream: httpcore.NetworkStream, backend: DeadlineBackend) -> None:
        self._stream = stream
        self._backend = backend

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ARG002
        return self._stream.read(max_bytes, self._backend.left(httpcore.ReadTimeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ARG002
        self._stream.write(buffer, self._backend.left(httpcore.WriteTimeout))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ARG002
    ) -> httpcore.NetworkStream:
        left = self._backend.left(httpcore.ConnectTimeout)
        return _Stream(self._stream.start_tls(ssl_context, server_hostname, left), self._backend)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


class CarefulBackend(httpcore.AsyncNetworkBackend):
    """httpcore's own backend, but that a handshake which is cancelled closes its connection."""

    def __init__(self) -> None:
        self._backend = httpcore.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """Connect."""
        return _CarefulStream(await self._backend.connect_tcp(host, port, timeout, local_address, socket_options))


class _CarefulStream(httpcore.AsyncNetworkStream):
    """A connection that is closed when its handshake is cancelled."""

    def __init__(self, stream: httpcore.AsyncNetworkStream) -> None:
        self._stream = stream
        self.read, self.write = stream.read, stream.write  # type: ignore[method-assign]
        self.aclose, self.get_extra_info = stream.aclose, stream.get_extra_info  # type: ignore[method-assign]

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore.AsyncNetworkStream:
        try:
            return _CarefulStream(await self._stream.start_tls(ssl_context, server_hostname, timeout))
        except BaseException:  # cancelling raises no Exception
            await self._stream.aclose()
            raise
