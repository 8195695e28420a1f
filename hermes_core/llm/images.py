"""Images for providers that cannot fetch any: fetched by the host, from the public internet alone.

A plugin chooses the URL, and often took it from a message of somebody's. So nothing on this machine, or in
its network, is ever asked: every address a name leads to is checked, the connection goes to a checked
address and to no other, and every redirect begins anew. A proxy would look the name up by itself; none is used.
"""

from __future__ import annotations

import base64
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from hermes_core.config.redact import redact
from hermes_core.errors import UnsupportedInputError
from hermes_core.llm.image_input import MAX_IMAGE_BYTES
from hermes_core.types.address import host_of
from hermes_core.version import USER_AGENT

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable, Iterator

    from httpcore import Response

    from hermes_core.llm.backends import PublicBackend

MAX_REDIRECTS = 5


def are_remote(messages: Sequence[Mapping[str, Any]]) -> bool:
    """Whether any image must be fetched."""
    return any(True for message in messages for _ in _remote(message))


def inlined(
    messages: Sequence[Mapping[str, Any]], timeout: float, fetch: Callable[[str, float], str] | None = None
) -> list[dict[str, Any]]:
    """The messages with every image in them; the given ones are not changed.

    Args:
        messages: In OpenAI shape.
        timeout: Seconds for all images together.
        fetch: Turns a URL into a ``data:`` URL within some seconds; ``fetch_image`` when None.

    Raises:
        UnsupportedInputError: An image cannot be had.
    """
    end = time.monotonic() + timeout
    urls = dict.fromkeys(url for message in messages for url in _remote(message))
    fetched = {url: (fetch or fetch_image)(url, end - time.monotonic()) for url in urls}

    def replaced(part: Any) -> Any:
        url = _url(part)
        return {"type": "image_url", "image_url": {"url": fetched[url]}} if url in fetched else part

    def whole(message: Mapping[str, Any]) -> dict[str, Any]:
        changes = {"content": [replaced(part) for part in message["content"]]} if any(_remote(message)) else {}
        return {**message, **changes}

    return [whole(message) for message in messages]


def fetch_image(
    url: str, timeout: float, backend: PublicBackend | None = None, tls: ssl.SSLContext | None = None
) -> str:
    """An image as a ``data:`` URL.

    Args:
        url: Starts with ``https://``.
        timeout: Seconds for everything, redirects included.
        backend: Connects; to the public internet when None.
        tls: Decides which certificates count; the usual ones when None.

    Raises:
        UnsupportedInputError: It is no image, is too large, or cannot be fetched from a public address.
    """
    import httpcore
    import httpx

    from hermes_core.llm.backends import PublicBackend
    from hermes_core.llm.tls import tls_context

    failures = httpcore.NetworkError, httpcore.ProtocolError, httpcore.TimeoutException, httpx.InvalidURL, OSError
    backend = backend or PublicBackend()
    backend.end = time.monotonic() + timeout
    try:
        with httpcore.ConnectionPool(tls or tls_context(), network_backend=backend) as pool:
            for _ in range(MAX_REDIRECTS + 1):
                address = httpx.URL(url)
                if address.scheme != "https" or not address.host or address.userinfo:
                    raise _refused(url, "must be at an address that starts with https:// and holds no login")
                headers: list[tuple[bytes | str, bytes | str]]
                headers = [("Host", address.netloc), ("User-Agent", USER_AGENT), ("Accept", "image/*")]
                with pool.stream("GET", str(address), headers=headers) as answer:
                    if answer.status not in (301, 302, 303, 307, 308):
                        return _read(answer, url)
                    url = str(address.join(_header(answer, b"location")))
    except failures as error:
        raise _refused(url, f"could not be fetched: {redact(str(error)) or type(error).__name__}") from None
    raise _refused(url, f"is behind more than {MAX_REDIRECTS} redirects")


def _read(answer: Response, url: str) -> str:
    kind = _header(answer, b"content-type").partition(";")[0].strip().lower()
    if answer.status != 200:
        raise _refused(url, f"could not be fetched: its server answered {answer.status}")
    if not kind.startswith("image/") or _header(answer, b"content-encoding") not in ("", "identity"):
        raise _refused(url, f"is no image: its server called it {redact(kind)[:60]!r}")
    data = bytearray()
    for chunk in answer.iter_stream():
        data += chunk
        if len(data) > MAX_IMAGE_BYTES:
            raise _refused(url, f"is larger than {MAX_IMAGE_BYTES // 2**20} MiB")
    return f"data:{kind};base64,{base64.b64encode(data).decode('ascii')}"


def _header(answer: Response, wanted: bytes) -> str:
    return next((value.decode("latin-1") for name, value in answer.headers if name.lower() == wanted), "")


def _refused(url: str, why: str) -> UnsupportedInputError:
    """The error for an image; of its URL, which may hold a key, only the host is shown."""
    message = f"the provider takes images only inside the request, and the one at {host_of(url)!r} {why}"
    return UnsupportedInputError(message, hint="give the image's bytes as data")


def _remote(message: Mapping[str, Any]) -> Iterator[str]:
    """The URLs of a message's images that are elsewhere."""
    content = message.get("content")
    for part in content if isinstance(content, list | tuple) else ():
        url = _url(part)
        if url and url[:5].lower() != "data:":
            yield url


def _url(part: object) -> str:
    """The URL of an image part; ``""`` for any other part."""
    value = part.get("image_url") if isinstance(part, Mapping) and part.get("type") == "image_url" else None
    value = value.get("url") if isinstance(value, Mapping) else value
    return value if isinstance(value, str) else ""
