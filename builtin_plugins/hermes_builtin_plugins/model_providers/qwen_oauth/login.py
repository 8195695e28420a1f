"""The login that Qwen's own program keeps in the user's home."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from hermes_core import MissingCredentialError

if TYPE_CHECKING:
    from hermes_core import EndpointHost, ProviderProfile

FILE = ".qwen/oauth_creds.json"
HOSTS = ("qwen.ai", "aliyuncs.com")
"""Where a token may go, whatever the file says."""


def stored_login(profile: ProviderProfile, host: EndpointHost) -> tuple[str, str]:
    """Address and access token.

    Raises:
        MissingCredentialError: There is no login, or it has ended: nobody but Qwen's program can renew it.
    """
    path = Path.home() / FILE
    hint = "log in with Qwen's own program, or set QWEN_API_KEY"
    try:
        held = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        message = f"there is no login of Qwen's program to be read from {path}"
        raise MissingCredentialError(message, provider=profile.name, hint=hint) from error
    token, ends = (held.get(name) for name in ("access_token", "expiry_date")) if isinstance(held, dict) else ("", 0)
    if not isinstance(token, str) or not token or (isinstance(ends, int) and ends / 1000 <= time.time()):
        raise MissingCredentialError(f"the login in {path} has ended", provider=profile.name, hint=hint)
    is_usual = host.base_url.rstrip("/") == profile.base_url
    return (_address(held.get("resource_url")) if is_usual else "") or host.base_url, token


def _address(resource: object) -> str:
    """The root of the API at the host that a login is for; ``""`` when it names none of Qwen's."""
    if not isinstance(resource, str):
        return ""
    name = (urlsplit(resource if "://" in resource else f"//{resource}").hostname or "").lower()
    return f"https://{name}/v1" if any(name == known or name.endswith(f".{known}") for known in HOSTS) else ""
