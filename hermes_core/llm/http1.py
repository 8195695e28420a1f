"""HTTP/1.1 without input and output: a request as bytes, and an answer out of the bytes that arrive.

An answer that is as plain as most are is read here, in a tenth of the time; whatever else HTTP allows, and whatever it
does not, is left to h11.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from hermes_core.errors import ResponseFormatError
from hermes_core.types.wire import HttpResponse

if TYPE_CHECKING:
    import h11

    from hermes_core.types.wire import HttpRequest

MAX_HEAD = 100 * 1024
"""Bytes before an answer's body, at most."""

MAX_BODY = 64 * 2**20
"""Bytes of an answer's body, at most; as many once it is unpacked."""

_NAME, _VALUE = rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+", rb"[\t\x20-\x7e\x80-\xff]*"
_PLAIN = re.compile(rb"HTTP/1\.1 ([2-5]\d\d)(?: %b)?\r\n((?:%b:%b\r\n)*)\r\n" % (_VALUE, _NAME, _VALUE))
_HEAD_END = re.compile(rb"\n\r?\n")
_TOKEN = re.compile(_NAME.decode())
_ODD_TARGET = re.compile(r"[^\x21-\x7e]")
_LENGTH = re.compile(r"[0-9]{1,15}")
_NO_BODY = (b"204", b"304")
_OF_THE_BODY = ("content-length", "transfer-encoding")
"""Headers that only the connection can give; whoever else does is not heeded."""


class BadHeaderError(ValueError):
    """A header, such as a key's, holds what none can."""


class Address(NamedTuple):
    """A URL in parts: where to connect, and what the server is told of it."""

    is_secure: bool
    host: str
    port: int
    host_header: str
    target: str


@lru_cache(256)
def address_of(url: str) -> Address:
    """The parts of a URL.

    Raises:
        ValueError: No request can go there.

    Example:
        >>> address_of("https://api.acme.test/v1/chat?a=1")
        Address(is_secure=True, host='api.acme.test', port=443, host_header='api.acme.test', target='/v1/chat?a=1')
    """
    parts = urlsplit(url)
    target = f"{parts.path or '/'}{'?' if parts.query else ''}{parts.query}"
    if parts.scheme not in ("http", "https") or not parts.hostname or _ODD_TARGET.search(parts.netloc + target):
        message = "it has no host, does not begin with http, or holds a character that must be escaped"
        raise ValueError(message)
    if parts.port == 0:
        message = "nothing is at port 0"
        raise ValueError(message)
    is_secure = parts.scheme == "https"
    return Address(
        is_secure, parts.hostname, parts.port or (443 if is_secure else 80), parts.netloc.rpartition("@")[2], target
    )


def headers_of(request: HttpRequest) -> list[tuple[str, str]]:
    """A request's headers, those of the connection included; the host is told the name that the request has for it.

    Raises:
        BadHeaderError: One holds what no header can.
    """
    host = ("Host", address_of(request.url).host_header)
    headers = []
    for name, value in request.headers.items():
        if not _TOKEN.fullmatch(name) or not value.isprintable() or not value.isascii():
            message = f"the header {name!a} holds what no header can"
            raise BadHeaderError(message)
        if (lower := name.lower()) == "host":
            host = (name, value)
        elif lower not in _OF_THE_BODY:
            headers.append((name, value))
    return [host, *headers, ("Content-Length", str(len(request.body)))]


def head_of(request: HttpRequest) -> bytes:
    r"""What is sent before a request's body.

    Raises:
        ValueError: A header, or the address, holds what none can.

    Example:
        >>> from hermes_core.types.wire import HttpRequest
        >>> head_of(HttpRequest("http://api.acme.test/v1", {"Accept": "a/b"}, b"{}")).split(b"\r\n")[:3]
        [b'POST /v1 HTTP/1.1', b'Host: api.acme.test', b'Accept: a/b']
    """
    lines = "".join([f"{name}: {value}\r\n" for name, value in headers_of(request)])
    return f"POST {address_of(request.url).target} HTTP/1.1\r\n{lines}\r\n".encode("ascii")


def check_size(size: int) -> None:
    """Refuse a body that is too long to be the answer of a model.

    Raises:
        ResponseFormatError: It has more than ``MAX_BODY`` bytes.
    """
    if size > MAX_BODY:
        raise ResponseFormatError(f"the provider's answer is longer than {MAX_BODY // 2**20} MiB")


class Answer:
    r"""An answer as it arrives.

    Attributes:
        keeps: Once it is whole: whether the connection can be used again.

    Example:
        >>> answer = Answer()
        >>> answer.feed(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\npo") is None
        True
        >>> answer.feed(b"ng").body, answer.keeps
        (b'pong', True)
    """

    __slots__ = ("_body", "_got", "_other", "_plain", "keeps")

    def __init__(self) -> None:
        self.keeps = False
        self._got = bytearray()
        self._plain: _Head | None = None
        self._other: h11.Connection | None = None
        self._body = bytearray()

    def feed(self, data: bytes) -> HttpResponse | None:
        """Take in what has arrived, ``b""`` when the server has hung up; the answer, once it is whole.

        Raises:
            h11.RemoteProtocolError: It is no answer, or can never be whole.
            ResponseFormatError: It is too long.
        """
        if self._other is not None:
            return self._by_h11(data)
        self._got += data
        if self._plain is None:
            blank = _HEAD_END.search(self._got, max(0, len(self._got) - len(data) - 2))
            if blank is not None:
                self._plain = _plain_head(bytes(self._got[: blank.end()]))
            elif data and len(self._got) < MAX_HEAD:
                return None
        if self._plain is None or not data:
            got, self._got = bytes(self._got), bytearray()
            return (self._by_h11(got) if got else None) or (None if data else self._by_h11(b""))
        status, headers, start, end = self._plain
        if len(self._got) < end:
            return None
        self.keeps = len(self._got) == end and headers.get("connection", "keep-alive").lower() == "keep-alive"
        return HttpResponse(status, headers, bytes(self._got[start:end]))

    def _by_h11(self, data: bytes) -> HttpResponse | None:
        import h11

        if self._other is None:
            self._other = h11.Connection(h11.CLIENT, max_incomplete_event_size=MAX_HEAD)
            for sent in (h11.Request(method="POST", target="/", headers=[("Host", "")]), h11.EndOfMessage()):
                self._other.send(sent)  # so that it knows what is being answered
        self._other.receive_data(data)
        while (event := self._other.next_event()) is not h11.NEED_DATA:
            if isinstance(event, h11.Response):
                headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in event.headers}
                self._plain = _Head(event.status_code, headers)
            elif isinstance(event, h11.Data):
                self._body += event.data
                check_size(len(self._body))
            elif isinstance(event, h11.EndOfMessage):
                assert self._plain is not None
                is_over = data and self._other.their_state is h11.DONE and not self._other.trailing_data[0]
                self.keeps = bool(is_over) and self._other.our_state is h11.DONE
                return HttpResponse(self._plain.status, self._plain.headers, bytes(self._body))
        return None


class _Head(NamedTuple):
    """What comes before an answer's body, and where that begins and ends."""

    status: int
    headers: dict[str, str]
    start: int = 0
    end: int = 0


def _plain_head(head: bytes) -> _Head | None:
    """The head of an answer whose body is as long as it says; None for every other head, and for what is none."""
    found = _PLAIN.fullmatch(head)
    if found is None or found[1] in _NO_BODY:
        return None
    lines = found[2].decode("latin-1").split("\r\n")[:-1]
    headers = {name.lower(): value.strip(" \t") for name, _, value in (line.partition(":") for line in lines)}
    length = headers.get("content-length", "")
    if "transfer-encoding" in headers or not _LENGTH.fullmatch(length) or len(headers) < len(lines):
        return None
    check_size(int(length))
    return _Head(int(found[1]), headers, len(head), len(head) + int(length))
