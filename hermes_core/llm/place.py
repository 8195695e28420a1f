"""Where a request goes, by which proxy, and how that is told what to do."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from hermes_core.config.environment import may_name_proxies
from hermes_core.config.redact import register_address
from hermes_core.llm.http1 import Address, address_of
from hermes_core.llm.idle import MOST, SECONDS
from hermes_core.llm.tls import USUAL, Tls, tls_context
from hermes_core.types.address import is_loopback, is_within

if TYPE_CHECKING:
    import ssl
    from collections.abc import Mapping


class Place(NamedTuple):
    """Whom a connection leads to; two requests with the same one may use the same connection.

    Attributes:
        host: The server's name or address.
        port: Its port.
        tls: Whom TLS trusts; None without TLS.
        proxy: The proxy's address; None without one.
    """

    host: str
    port: int
    tls: Tls | None
    proxy: str | None

    def __repr__(self) -> str:  # a proxy's address may hold a login
        return f"Place(host={self.host!r}, port={self.port})"

    @property
    def tls_context(self) -> ssl.SSLContext | None:
        """Whom TLS trusts, as Python wants it."""
        return None if self.tls is None else tls_context(self.tls)


def place_of(url: str, tls: Tls = USUAL) -> Place:
    """Whom a URL leads to.

    Raises:
        ValueError: No request can go there.
    """
    address = address_of(url)
    return Place(address.host, address.port, tls if address.is_secure else None, _proxy_for(address))


def _proxy_for(address: Address) -> str | None:
    """The proxy the environment names; this machine's own addresses are never proxied."""
    if is_loopback(address.host) or not may_name_proxies():
        return None
    from urllib.request import getproxies, proxy_bypass

    proxies = getproxies()
    proxy = proxies.get("https" if address.is_secure else "http") or proxies.get("all")
    return proxy if proxy and not proxy_bypass(address.host) and not _is_excepted(address, proxies) else None


def _is_excepted(address: Address, proxies: Mapping[str, str]) -> bool:
    """Whether NO_PROXY names the host in a form that Python does not read: with its port, by ``*.``, or by its net."""
    from ipaddress import ip_address, ip_network

    for written in proxies.get("no", "").split(","):
        name = written.strip().lower()
        host, _, port = name.rpartition(":")
        if port == str(address.port) and host.strip("[]"):
            name = host.strip("[]")
        if is_within(address.host, name.removeprefix("*").removeprefix(".")):
            return True
        with suppress(ValueError):
            if "/" in name and ip_address(address.host) in ip_network(name, strict=False):
                return True
    return False


def proxied(place: Place, backend: Any, http_proxy: Any, socks_proxy: Any) -> Any:
    """A pool of one of httpcore's classes, blocking or not, that reaches a place by its proxy.

    Raises:
        ValueError: The proxy cannot be used.
    """
    address, login = _proxy(place.proxy or "")
    kind = socks_proxy if address.startswith("socks5") else http_proxy
    return kind(
        proxy_url=address,
        proxy_auth=login,
        ssl_context=place.tls_context,
        max_connections=None,
        max_keepalive_connections=MOST,
        keepalive_expiry=SECONDS,
        network_backend=backend,
    )


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
    if not parts.port and parts.port is not None:
        message = "nothing is at port 0 of the proxy"
        raise ValueError(message)
    port = f":{parts.port}" if parts.port else ""
    login = (unquote(parts.username or ""), unquote(parts.password or "")) if parts.username else None
    return f"{scheme}://{parts.hostname}{port}", login
