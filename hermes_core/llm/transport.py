"""The network, for blocking calls: connection pools shared by all threads; ``async_transport`` is its twin.

These two modules alone touch the network for model calls. They use httpcore, the engine inside httpx: it
takes a network backend of our own, which httpx does not, and so one deadline can bound everything a call
does; and importing it takes a fifth of the time.
"""

from __future__ import annotations

import os
import time
from collections import defaultdict, deque
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from hermes_core.config.redact import redact, register_address
from hermes_core.errors import ProviderTimeoutError, ProviderTransportError
from hermes_core.llm.tls import USUAL, Tls, tls_context
from hermes_core.types.address import host_of, is_loopback
from hermes_core.types.wire import HttpRequest, HttpResponse

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


KEEPALIVE = 5
"""Idle connections each pool keeps."""

KEEPALIVE_SECONDS = 20.0
FOREVER = 10.0**8
"""Seconds that no clock overflows at; a longer timeout means this."""


class Kind(NamedTuple):
    """What a pool is made for: whom TLS trusts, None without TLS, and through which proxy."""

    tls: Tls | None
    proxy: str | None


class Transport:
    """Sends requests and waits; safe for threads and forks.

    A call takes an idle pool for itself and puts it back, so threads never wait for each other.
    """

    def __init__(self) -> None:
        self._pid = os.getpid()
        self._idle: defaultdict[Kind, deque[_Pool]] = defaultdict(deque)
        self._inherited: list[object] = []
        self._closed = False

    def send(self, request: HttpRequest, timeout: float, tls: Tls = USUAL) -> HttpResponse:
        """Send and wait for the whole answer, at most ``timeout`` seconds.

        Raises:
            ProviderTimeoutError: The time is over.
            ProviderTransportError: No complete answer came.
        """
        if self._pid != os.getpid():  # a forked child: the connections belong to the parent
            self._inherited.append(self._idle)
            self._pid, self._idle = os.getpid(), defaultdict(deque)
        with mapped_errors(timeout):
            kind = kind_of(request.url, tls)
            idle = self._idle[kind]
            try:
                pool = idle.pop()
            except IndexError:
                pool = _Pool(kind)
            try:
                return pool.send(request, min(timeout, FOREVER))
            finally:
                if self._closed:
                    pool.close()
                else:
                    idle.append(pool)

    def close(self) -> None:
        """Close idle connections."""
        self._closed = True
        for idle in self._idle.values():
            while idle:
                idle.pop().close()


class _Pool:
    """A connection pool that one thread uses at a time, and the deadline of what it is doing."""

    def __init__(self, kind: Kind) -> None:
        import httpcore

        from hermes_core.llm.backends import DeadlineBackend

        self._backend = DeadlineBackend()
        self._pool: Any = new_pool(
            kind, self._backend, httpcore.ConnectionPool, httpcore.HTTPProxy, httpcore.SOCKSProxy
        )

    def send(self, request: HttpRequest, timeout: float) -> HttpResponse:
        self._backend.end = time.monotonic() + timeout
        answer = self._pool.request("POST", request.url, headers=raw_headers(request), content=request.body)
        return http_response(answer.status, answer.headers, answer.content)

    def close(self) -> None:
        self._pool.close()


def new_pool(kind: Kind, backend: Any, direct: Any, http_proxy: Any, socks_proxy: Any) -> Any:
    """A pool of one of httpcore's classes, blocking or not, for what ``kind`` says."""
    options = {
        "ssl_context": tls_context(kind.tls) if kind.tls is not None else None,
        "max_connections": None,
        "max_keepalive_connections": KEEPALIVE,
        "keepalive_expiry": KEEPALIVE_SECONDS,
        "network_backend": backend,
    }
    if kind.proxy is None:
        return direct(**options)
    address, login = _proxy(kind.proxy)
    proxy = socks_proxy if address.startswith("socks5") else http_proxy
    return proxy(proxy_url=address, proxy_auth=login, **options)


def raw_headers(request: HttpRequest) -> list[tuple[str, str]]:
    """A request's headers as httpcore wants them."""
    for name, value in request.headers.items():
        if not f"{name}{value}".isprintable() or not f"{name}{value}".isascii():
            message = f"the header {name.encode('ascii', 'backslashreplace').decode()} holds what no header can"
            raise ValueError(message)
    length = ("Content-Length", str(len(request.body)))
    return [("Host", _host_header(request.url)), *request.headers.items(), length]


def http_response(status: int, headers: Iterable[tuple[bytes, bytes]], body: bytes) -> HttpResponse:
    """An answer as the flow reads it, its body unpacked."""
    plain = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in headers}
    if plain.get("content-encoding", "identity") != "identity":
        import httpx

        try:
            body = httpx.Response(status, headers=plain, content=body).content
        except httpx.DecodingError as error:
            raise ProviderTransportError(f"no complete answer: {error}") from error
    return HttpResponse(status=status, headers=plain, body=body)


@contextmanager
def mapped_errors(timeout: float) -> Iterator[None]:
    """Turn every error of the network, and a passed deadline, into one of ours.

    Raises:
        ProviderTimeoutError: For a timeout.
        ProviderTransportError: For everything else; ``retryable`` unless the address itself is bad.
    """
    import httpcore

    try:
        yield
    except ProviderTransportError:
        raise
    except (TimeoutError, httpcore.TimeoutException) as error:
        raise ProviderTimeoutError(f"no answer within {timeout:g} s") from error
    except (httpcore.UnsupportedProtocol, ImportError, RuntimeError, ValueError) as error:
        hint = "correct base_url, or the proxy variables of the environment"
        bad = ProviderTransportError(f"cannot use the address: {redact(str(error))}", hint=hint)
        bad.retryable = False
        raise bad from None
    except Exception as error:
        if not isinstance(error, (*_broken_connections(), OSError)):
            raise
        raise ProviderTransportError(f"no complete answer: {redact(str(error)) or type(error).__name__}") from error


def _broken_connections() -> tuple[type[Exception], ...]:
    import httpcore

    return httpcore.NetworkError, httpcore.ProtocolError, httpcore.ProxyError, httpcore.ConnectionNotAvailable


def kind_of(url: str, tls: Tls = USUAL) -> Kind:
    """What a URL needs."""
    return Kind(tls if url[:6].lower() == "https:" else None, proxy_for(url))


def proxy_for(url: str) -> str | None:
    """The proxy the environment names for a URL; this machine's own addresses are never proxied."""
    host = host_of(url)
    if is_loopback(host):
        return None
    from urllib.request import getproxies, proxy_bypass

    proxies = getproxies()
    proxy = proxies.get(url.partition(":")[0]) or proxies.get("all")
    return proxy if proxy and not proxy_bypass(host) else None


def _proxy(written: str) -> tuple[str, tuple[str, str] | None]:
    """A proxy's address and login.

    Raises:
        ValueError: It is none that can be used.
    """
    from urllib.parse import unquote, urlsplit

    address = written if "://" in written else f"http://{written}"
    register_address(address)
    parts = urlsplit(address)
    scheme = {"socks": "socks5", "socks5h": "socks5"}.get(parts.scheme, parts.scheme)
    if scheme not in ("http", "https", "socks5") or not parts.hostname:
        message = f"the proxy's address must start with http://, https:// or socks5://, not {parts.scheme}://"
        raise ValueError(message)
    port = f":{parts.port}" if parts.port else ""
    login = (unquote(parts.username or ""), unquote(parts.password or "")) if parts.username else None
    return f"{scheme}://{parts.hostname}{port}", login


@lru_cache(256)
def _host_header(url: str) -> str:
    """What follows the scheme and login, up to the path."""
    from urllib.parse import urlsplit

    return urlsplit(url).netloc.rpartition("@")[2]
