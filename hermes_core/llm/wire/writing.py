"""What the formats share when they write a request."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from hermes_core.types.wire import HttpRequest, merged_headers

if TYPE_CHECKING:
    from collections.abc import Mapping

_JSON = {"Content-Type": "application/json", "Accept": "application/json"}


def post(url: str, body: Mapping[str, Any], *headers: Mapping[str, str]) -> HttpRequest:
    r"""A request with a JSON body in ASCII; of a header given twice, the later one counts.

    Example:
        >>> post("https://api.acme.test/v1", {"n": "é"}).body
        b'{"n":"\\u00e9"}'
    """
    written = json.dumps(body, separators=(",", ":")).encode("ascii")
    return HttpRequest(url=url, headers=merged_headers(_JSON, *headers), body=written)


def below(base_url: str, path: str, *, without: tuple[str, ...] = ()) -> str:
    """The address of ``path`` below a base URL, whose query stays at the end.

    Args:
        base_url: May end in slashes and a query.
        path: Without a leading slash.
        without: Endings that the base URL may have and the API has not.

    Example:
        >>> below("https://api.acme.test/v1/?a=1", "v1/messages", without=("/v1",))
        'https://api.acme.test/v1/messages?a=1'
    """
    root, question, query = base_url.partition("?")
    root = root.rstrip("/")
    for ending in without:
        root = root.removesuffix(ending).rstrip("/")
    return f"{root}/{path}{question}{query}"


def bearer(key: str) -> dict[str, str]:
    """The usual header for a key; none without one."""
    return {"Authorization": f"Bearer {key}"} if key else {}
