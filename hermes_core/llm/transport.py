"""The network, for blocking calls: httpx transports, shared by all threads; ``async_transport`` is its twin.

These two modules alone touch httpx for model calls.
"""

from __future__ import annotations

import ipaddress
import os
import threading
import time
from collections import defaultdict, deque
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from hermes_core.auth.keys import host_of
from hermes_core.config.redact import redact
from hermes_core.errors import ProviderTimeoutError, ProviderTransportError
from hermes_core.types.wire import HttpRequest, HttpResponse

if TYPE_CHECKING:
    import ssl
    from collections.abc import Iterator

    import httpx

KEEPALIVE = 5
"""Idle connections each transport keeps."""

_tls_lock = threading.Lock()
_tls_context: ssl.SSLContext | None = None


class Kind(NamedTuple):
    """What a transport is made for: TLS or not, and through which proxy."""

    secure: bool
    proxy: str | None


class Transport:
    """Sends requests and waits; safe for threads and forks.

    A call takes an idle transport for itself and puts it back, so threads never wait for each other.
    """

    def __init__(self) -> None:
        self._pid = os.getpid()
        self._idle: defaultdict[Kind, deque[httpx.HTTPTransport]] = defaultdict(deque)
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
            kind = kind_of(request.url)
            idle = self._idle[kind]
            try:
                transport = idle.pop()
            except IndexError:
                transport = _new_transport(kind)
            try:
                response = transport.handle_request(http_request(request, timeout))
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
        return HttpResponse(status=response.status_code, headers=lower_headers(response), body=b"".join(chunks))

    def close(self) -> None:
        """Close idle connections."""
        self._closed = True
        for idle in self._idle.values():
            while idle:
                idle.pop().close()

    def _after_fork(self) -> None:
        """In a forked child, start afresh: the connections belong to the parent."""
        if self._pid != os.getpid():
            self._inherited.append(self._idle)
            self._pid, self._idle = os.getpid(), defaultdict(deque)


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


@lru_cache(256)
def _is_loopback(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def kind_of(url: str) -> Kind:
    """What a URL needs."""
    return Kind(url[:6].lower() == "https:", proxy_for(url))


def http_request(request: HttpRequest, timeout: float | None) -> httpx.Request:
    """A request of ours as httpx's; ``timeout`` bounds each of its phases, in seconds."""
    import httpx

    limits = dict.fromkeys(("connect", "read", "write", "pool"), timeout)
    return httpx.Request(
        "POST", _url(request.url), headers=dict(request.headers), content=request.body, extensions={"timeout": limits}
    )


@lru_cache(256)
def _url(url: str) -> httpx.URL:
    """A URL, parsed once; httpx takes longer to parse it than to do anything else with it."""
    import httpx

    return httpx.URL(url)


def lower_headers(response: httpx.Response) -> dict[str, str]:
    """A response's headers, by lower-case name."""
    return {name.lower(): value for name, value in response.headers.items()}


def _new_transport(kind: Kind) -> httpx.HTTPTransport:
    import httpx

    return httpx.HTTPTransport(**options(kind, httpx))


def options(kind: Kind, httpx: Any) -> dict[str, Any]:
    """Arguments of an httpx transport of a kind."""
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
