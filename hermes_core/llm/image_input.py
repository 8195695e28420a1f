"""Images as plugins hand them in: how large one may be, of what type, and where its address may lead.

An address may be fetched by the provider, so no name server is asked: a name that leads to a private address
cannot be told from any other here.
"""

from __future__ import annotations

import base64
import re
from ipaddress import ip_address
from urllib.parse import unquote, urlsplit

from hermes_core.types.address import is_public

MAX_IMAGE_BYTES = 20 * 2**20
"""The largest image, in bytes as they are before base64."""

_MAGIC = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF87a": "image/gif",
    b"GIF89a": "image/gif",
}
_MIME = re.compile(r"image/[a-z0-9][a-z0-9.+-]*")
_NEVER_IN_A_URL = re.compile(r"[\x00-\x20\x7f\\]")  # parsers disagree about what is the host around these
_NAME = re.compile(r"[a-z0-9._-]+")
_NUMBER = re.compile(r"\d+$|0x")
_PRIVATE_NAMES = frozenset("localhost localdomain local internal intranet private corp home lan arpa".split())
"""Last parts of names that lead nowhere on the internet: RFC 6761, RFC 6762 appendix G, RFC 8375."""


def data_url(place: str, data: object, mime_type: object) -> str:
    """Raw bytes as a ``data:`` URL, their type corrected where the first bytes say another.

    Args:
        place: What an error begins with.
        data: bytes, bytearray or memoryview.
        mime_type: What the plugin says; None or ``""`` for ``image/png``.

    Raises:
        ValueError: It is no bytes, empty, too large, or said to be something else than an image.
    """
    if not isinstance(data, bytes | bytearray | memoryview):
        raise ValueError(f"{place}: an image needs bytes as its data, or a url, got {type(data).__name__}")  # noqa: TRY004 - the published contract promises ValueError for bad arguments
    _check_size(place, memoryview(data).nbytes)
    raw = bytes(data)
    mime = _sniffed(raw) or mime_type or "image/png"
    if not isinstance(mime, str) or not _MIME.fullmatch(mime.lower()):
        raise ValueError(f"{place}: mime_type must be a type of image like image/png, got {mime!r:.100}")
    return f"data:{mime};base64,{base64.b64encode(raw).decode('ascii')}"


def checked_url(place: str, url: object) -> str:
    """An image's address as it is sent: as it was, but for a ``data:`` URL whose type its bytes contradict.

    Raises:
        ValueError: Its scheme is another, it holds a login, its host is no public one, or it is a ``data:``
            URL without an image, or with too large a one.
    """
    if not isinstance(url, str) or not url[:11].lower().startswith(("https://", "http://", "data:image/")):
        raise ValueError(f"{place}: an image url must start with https://, http:// or data:image/")
    if url[:5].lower() == "data:":
        return _checked_data_url(place, url)
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname or "", parts.port
    except ValueError:
        host = ""
    if not host or _NEVER_IN_A_URL.search(url):
        raise ValueError(f"{place}: an image url must be an address like https://example.com/picture.png")
    if "@" in parts.netloc:
        raise ValueError(f"{place}: an image url may hold no login; give the image's bytes as data instead")
    if not is_public_host(host):
        raise ValueError(
            f"{place}: an image url must lead to a public host, and {host!r:.100} is none; "
            "give the image's bytes as data instead"
        )
    return url


def is_public_host(host: str) -> bool:
    """Whether a URL's host may be one on the internet, told by its spelling alone.

    An address counts in its usual form only: no decimal, octal or hexadecimal number is one.

    Example:
        >>> [is_public_host(host) for host in ("example.com", "9.9.9.9", "10.0.0.1", "2130706433", "localhost")]
        [True, True, False, False, False]
    """
    name = unquote(host)
    if not name.isascii():
        try:
            name = name.encode("idna").decode("ascii")  # as the one who fetches it will, full-width digits included
        except UnicodeError:
            return False
    name = name.lower().rstrip(".")
    try:
        ip_address(name)
    except ValueError:
        *before, last = name.split(".")
        return bool(before and _NAME.fullmatch(name)) and last not in _PRIVATE_NAMES and not _NUMBER.match(last)
    return is_public(name)


def _checked_data_url(place: str, url: str) -> str:
    head, _, encoded = url.partition(",")
    kind, *parameters = head[len("data:") :].lower().split(";")
    try:
        sound = parameters[-1:] == ["base64"] and _MIME.fullmatch(kind)
        size = len(encoded) * 3 // 4 - encoded[-2:].count("=")
        data = base64.b64decode(encoded, validate=True) if sound and size <= MAX_IMAGE_BYTES else b""
    except ValueError:
        sound = None
    if not sound or not encoded:
        raise ValueError(f"{place}: an image url that starts with data: must read data:image/…;base64, and the image")
    _check_size(place, size)
    mime = _sniffed(data)
    return f"data:{mime};base64,{encoded}" if mime and mime != kind else url


def _sniffed(data: bytes) -> str:
    """The type that an image's first bytes say; ``""`` when they say none."""
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return next((mime for magic, mime in _MAGIC.items() if data.startswith(magic)), "")


def _check_size(place: str, size: int) -> None:
    if not 0 < size <= MAX_IMAGE_BYTES:
        limit = f"{MAX_IMAGE_BYTES // 2**20} MiB"
        raise ValueError(f"{place}: an image must have 1 byte to {limit} ({MAX_IMAGE_BYTES} bytes), got {size}")
