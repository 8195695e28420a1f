"""What a URL's host tells."""

from __future__ import annotations

import ipaddress
from functools import lru_cache
from urllib.parse import urlsplit


@lru_cache(1024)
def host_of(url: str) -> str:
    """A URL's host in lower case, without port and trailing dot; ``""`` when it has none."""
    try:
        return (urlsplit(url).hostname or "").rstrip(".")
    except ValueError:
        return ""


def is_within(host: str, known: str) -> bool:
    """Whether ``host`` is ``known`` or a sub-domain of it.

    Example:
        >>> is_within("eu.api.acme.test", "api.acme.test"), is_within("api.acme.test.evil", "api.acme.test")
        (True, False)
    """
    return bool(known) and (host == known or host.endswith(f".{known}"))


@lru_cache(256)
def is_loopback(host: str) -> bool:
    """Whether a host is this machine itself."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
_GLOBAL_V6 = ipaddress.IPv6Network("2000::/3")
_OF_CLOUDS = (ipaddress.IPv4Network("168.63.129.16/32"), ipaddress.IPv4Network("192.0.0.0/24"))
"""Addresses of clouds' own services that Python takes for public ones, or did so in some version."""


def is_public(address: str) -> bool:
    """Whether an IP address is one of the public internet, and not of this machine or its network.

    An IPv6 address that stands for an IPv4 one is judged by that.

    Example:
        >>> [is_public(address) for address in ("9.9.9.9", "10.0.0.1", "169.254.169.254", "::ffff:127.0.0.1")]
        [True, False, False, False]
    """
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return False
    if isinstance(found, ipaddress.IPv6Address):
        inner = found.ipv4_mapped or found.sixtofour
        if found in _NAT64:
            inner = ipaddress.IPv4Address(int(found) & 0xFFFFFFFF)
        if inner is not None:
            return is_public(str(inner))
        if found not in _GLOBAL_V6:
            return False
    return found.is_global and not found.is_multicast and not any(found in network for network in _OF_CLOUDS)
