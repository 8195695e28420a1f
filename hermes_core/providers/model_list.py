"""Asking a provider which models it serves."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from hermes_core.types.address import host_of, is_loopback
from hermes_core.version import USER_AGENT

if TYPE_CHECKING:
    from collections.abc import Mapping

log = logging.getLogger(__name__)


def fetch_model_ids(url: str, *, api_key: str | None, headers: Mapping[str, str], timeout: float) -> list[str] | None:
    """Ids in ``{"data": [{"id": …}]}`` or a bare list at ``url``; None on any failure.

    Redirects are not followed, so the key goes to no other host. ``timeout`` is in seconds.
    """
    import httpx

    sent = {"User-Agent": USER_AGENT, "Accept": "application/json", **headers}
    if api_key:
        sent["Authorization"] = f"Bearer {api_key}"
    try:
        proxied = not is_loopback(host_of(url))
        checked = not url.startswith("http:") or proxied  # reading the certificates takes longer than a local answer
        answer = httpx.get(url, headers=sent, timeout=timeout, trust_env=proxied, verify=checked)
        body: Any = answer.raise_for_status().json()
    except (httpx.HTTPError, httpx.InvalidURL, ValueError, ImportError, RecursionError) as error:
        log.debug("model list failed error=%s", type(error).__name__)
        return None
    items = body.get("data") if isinstance(body, dict) else body
    if not isinstance(items, list):
        return None
    ids = [item["id"] for item in items if isinstance(item, dict) and isinstance(item.get("id"), str) and item["id"]]
    return list(dict.fromkeys(ids))
