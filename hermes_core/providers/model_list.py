"""Asking a provider which models it serves."""

from __future__ import annotations

import json
import logging
import time
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin, urlsplit

from hermes_core.types.address import host_of, is_loopback
from hermes_core.types.wire import merged_headers
from hermes_core.version import USER_AGENT

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

log = logging.getLogger(__name__)

MOST_BYTES = 16 * 2**20
MOST_PAGES = 50
MOST_REDIRECTS = 5
LONGEST_ID = 256

BEARER = ("Authorization", "Bearer ")
KEY_HEADERS = {
    "anthropic_messages": (("x-api-key", ""), BEARER),
    "gemini": (("x-goog-api-key", ""), BEARER),
}
"""Wire format → the headers that may hold the key, each tried when the one before was refused; else a bearer token."""

OF_A_WIRE = {"anthropic_messages": {"anthropic-version": "2023-06-01"}}
"""Wire format → what its model list demands beside the key."""

PAGES = (("nextPageToken", "pageToken"), ("next_page_token", "page_token"))
"""A field that names the next page → the parameter that asks for it."""


@dataclass
class Inquiry:
    """What the host knows of a question that ``fetch_models`` is not told, and what becomes of it.

    Attributes:
        tls: Whose certificates are trusted; None for the usual ones.
        problem: Why there is no list.
    """

    tls: ssl.SSLContext | None = None
    problem: str = ""


inquiry: ContextVar[Inquiry | None] = ContextVar("hermes_model_list", default=None)
"""The question that is being asked in this context."""


class _NoListError(Exception):
    """There is no list; ``status`` is that of the answer, 0 where that does not matter."""

    def __init__(self, problem: str, status: int = 0) -> None:
        super().__init__(problem)
        self.status = status


def list_addresses(base_url: str, api_mode: str = "chat_completions") -> list[str]:
    """Where a server's model list may be, the likeliest first: below its address, or with ``/v1`` added or taken off.

    Example:
        >>> list_addresses("http://127.0.0.1:8080/?a=1")
        ['http://127.0.0.1:8080/models?a=1', 'http://127.0.0.1:8080/v1/models?a=1']
    """
    root, question, query = base_url.partition("?")
    root = root.rstrip("/")
    if not root:
        return []
    bare = root.removesuffix("/v1").rstrip("/")
    roots = [root, bare if bare != root else f"{root}/v1"]
    if api_mode == "anthropic_messages":
        roots = [f"{bare}/v1", bare]
    return [f"{found}/models{question}{query}" for found in roots]


def fetch_model_ids(
    addresses: Sequence[str],
    *,
    api_key: str | None,
    headers: Mapping[str, str],
    timeout: float,
    api_mode: str = "chat_completions",
    pick: Callable[[list[Any]], Iterable[str]] | None = None,
) -> list[str] | None:
    """The ids in the first of several places that holds a list; None when none does.

    The key is sent in a header alone, in that of the wire format first, and to the address's own origin.

    Args:
        addresses: Where to ask.
        api_key: The key, if there is one.
        headers: Sent along; they beat the host's own.
        timeout: Seconds over everything.
        api_mode: The wire format, which says how the key is sent.
        pick: Gives the ids among the items of a page; ``usable_ids`` when it is None.
    """
    import httpx

    asked = inquiry.get() or Inquiry()
    if api_key and any("@" in address.partition("://")[2].partition("/")[0] for address in addresses):
        asked.problem = "the address holds a login, so no key is sent to it"
        return None
    end, asked.problem = time.monotonic() + timeout, ""
    keys = [{name: f"{start}{api_key}"} for name, start in KEY_HEADERS.get(api_mode, (BEARER,))] if api_key else [{}]
    plain = {"User-Agent": USER_AGENT, "Accept": "application/json"}
    for address in addresses:
        for key in keys:
            sent = merged_headers(plain, OF_A_WIRE.get(api_mode, {}), key, headers)
            try:
                return list(dict.fromkeys(_all_ids(address, sent, end, asked.tls, api_mode, pick or usable_ids)))
            except _NoListError as error:
                problem, status = str(error), error.status
            except httpx.TimeoutException:
                problem, status = f"no answer within {timeout:g} s", 0
            except httpx.ConnectError:
                problem, status = f"cannot connect to {host_of(address)}", 0
            except (httpx.HTTPError, httpx.InvalidURL, OSError, ValueError, ImportError, RecursionError) as error:
                problem, status = f"no answer: {type(error).__name__}", 0
            log.debug("model list failed reason=%s", problem)
            asked.problem = asked.problem or problem
            if status not in (401, 403):
                break
        if status not in (404, 405):
            break
    return None


def usable_ids(items: Iterable[Any]) -> list[str]:
    """The model ids among a list's items, each once, in its order.

    An item is a mapping with an ``id``, else a ``name`` or ``model``, or the id itself. One that says what it takes,
    and takes no tools, is left out: it cannot be an agent's.

    Example:
        >>> usable_ids([{"id": None}, {"id": 1}, {"id": "a"}, {"name": "models/b"}, "a", "c"])
        ['a', 'b', 'c']
    """
    found = []
    for item in items:
        word = item
        if isinstance(item, dict):
            takes = item.get("supported_parameters")
            if isinstance(takes, list) and "tools" not in takes:
                continue
            word = next((item[key] for key in ("id", "name", "model") if key in item), None)
            word = word.removeprefix("models/") if isinstance(word, str) and "id" not in item else word
        if isinstance(word, str) and word.strip() and len(word) <= LONGEST_ID and word.isprintable():
            found.append(word.strip())
    return list(dict.fromkeys(found))


@cache
def _usual_tls(*, trust_env: bool) -> ssl.SSLContext:
    """The usual certificates, read once a process: that takes longer than many an answer."""
    import httpx

    return httpx.create_ssl_context(trust_env=trust_env)


def _all_ids(
    address: str,
    headers: Mapping[str, str],
    end: float,
    tls: ssl.SSLContext | None,
    api_mode: str,
    pick: Callable[[list[Any]], Iterable[str]],
) -> Iterator[str]:
    """The ids on every page."""
    import httpx

    seen: set[str] = set()
    page: dict[str, str] = {}
    proxied = not is_loopback(host_of(address))
    with httpx.Client(trust_env=proxied, verify=tls or _usual_tls(trust_env=proxied)) as client:
        for _ in range(MOST_PAGES):
            url = str(httpx.URL(address).copy_merge_params(page)) if page else address
            body = _json(_read(client, url, headers, end))
            items = _items(body)
            yield from pick(items)
            ids = usable_ids(items)
            page = _next_page(body, api_mode) if not seen.issuperset(ids) else {}
            seen.update(ids)
            if not page:
                return


def _read(client: Any, url: str, headers: Mapping[str, str], end: float) -> bytes:
    """The body at a URL; a redirect to another origin is followed without what is secret."""
    import httpx

    for _ in range(MOST_REDIRECTS + 1):
        left = end - time.monotonic()
        if left <= 0:
            raise httpx.ReadTimeout("the time is over")
        with client.stream("GET", url, headers=dict(headers), timeout=left) as answer:
            if answer.is_redirect:
                target = urljoin(url, answer.headers["location"])
                if is_loopback(host_of(target)) and not is_loopback(host_of(url)):
                    raise _NoListError("it redirects to this machine")
                if _origin(target) != _origin(url):
                    headers = {"User-Agent": USER_AGENT, "Accept": "application/json"}
                url = target
                continue
            if not 200 <= answer.status_code < 300:
                raise _NoListError(f"answered with HTTP {answer.status_code}", answer.status_code)
            body = bytearray()
            for chunk in answer.iter_bytes():
                body += chunk
                if len(body) > MOST_BYTES:
                    raise _NoListError(f"the list is larger than {MOST_BYTES // 2**20} MiB")
                if time.monotonic() > end:
                    raise httpx.ReadTimeout("the time is over")
            return bytes(body)
    raise _NoListError("it redirects again and again")


def _origin(url: str) -> tuple[str, str, int | None]:
    parts = urlsplit(url)
    return parts.scheme, host_of(url), parts.port or {"http": 80, "https": 443}.get(parts.scheme)


def _json(body: bytes) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        raise _NoListError("its answer is no JSON") from None


def _items(body: Any) -> list[Any]:
    if isinstance(body, dict):
        body = next((body[key] for key in ("data", "models") if key in body), None)
    if not isinstance(body, list):
        raise _NoListError("its answer holds no list of models")
    return body


def _next_page(body: Any, api_mode: str) -> dict[str, str]:
    """The parameter that asks for the next page; none behind the last."""
    if not isinstance(body, dict):
        return {}
    found = {parameter: body.get(field) for field, parameter in PAGES}
    if body.get("has_more") is True:
        found["after_id" if api_mode == "anthropic_messages" else "after"] = body.get("last_id")
    return {parameter: value for parameter, value in found.items() if isinstance(value, str) and value}
