"""Network backends: with one deadline for all a blocking call does, and losing nothing of a cancelled one.

A timeout for each read would start anew with every byte that trickles in.
"""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Any

import httpcore

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
    """A connection before its handshake; after it, httpcore's own takes over."""

    def __init__(self, stream: httpcore.AsyncNetworkStream) -> None:
        self._stream = stream
        self.read, self.write, self.aclose = stream.read, stream.write, stream.aclose  # type: ignore[method-assign]
        self.get_extra_info = stream.get_extra_info  # type: ignore[method-assign]

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore.AsyncNetworkStream:
        try:
            return await self._stream.start_tls(ssl_context, server_hostname, timeout)
        except BaseException:  # cancelling raises no Exception
            await self._stream.aclose()
            raise
