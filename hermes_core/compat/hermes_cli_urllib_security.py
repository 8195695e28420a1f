"""Requests that carry a key, under the original's name."""

from __future__ import annotations

import urllib.request
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["open_credentialed_url"]

SAFE = frozenset(("accept", "accept-encoding", "accept-language", "user-agent", "content-type", "content-length"))
"""The headers that a redirect may take to another address."""


class _SameOrigin(urllib.request.HTTPRedirectHandler):
    """Follows redirects; whatever may be a key stays behind when one leads elsewhere."""

    def redirect_request(self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> Any:
        new = super().redirect_request(req, fp, code, msg, headers, newurl)
        if new is not None and urlsplit(newurl)[:2] != urlsplit(req.full_url)[:2]:
            new.headers = {name: value for name, value in new.headers.items() if name.lower() in SAFE}
            new.unredirected_hdrs = {}
        return new


def open_credentialed_url(
    request: Any, *, timeout: float | None = None, opener_factory: Callable[..., Any] | None = None
) -> Any:
    """As ``urllib.request.urlopen``, but no key follows a redirect to another address.

    Raises:
        ValueError: The address is neither http nor https.
    """
    url = request if isinstance(request, str) else request.full_url
    if urlsplit(url).scheme not in {"http", "https"}:
        message = f"{urlsplit(url).scheme!r} is no scheme to send a key by"
        raise ValueError(message)
    return (opener_factory or urllib.request.build_opener)(_SameOrigin()).open(request, timeout=timeout)
