"""Access tokens by Google's own library, kept until shortly before they end."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta
from importlib import import_module
from typing import TYPE_CHECKING, Any

from hermes_core import MissingCredentialError

if TYPE_CHECKING:
    from hermes_core import EndpointHost

FILES = ("VERTEX_CREDENTIALS_PATH", "GOOGLE_APPLICATION_CREDENTIALS")
SCOPE = "https://www.googleapis.com/auth/cloud-platform"
EARLY = timedelta(minutes=5)

_held: dict[str, tuple[Any, str]] = {}
_lock = threading.Lock()


def access_token(host: EndpointHost) -> tuple[str, str]:
    """A token, and the project that its credentials belong to, or ``""``. May ask Google.

    Raises:
        MissingCredentialError: Google's library is not installed, or finds no credentials.
    """
    try:
        auth = import_module("google.auth")
        requests = import_module("google.auth.transport.requests")
        refused = import_module("google.auth.exceptions").GoogleAuthError
    except ImportError as error:
        message = "vertex needs Google's library, which is not installed"
        raise MissingCredentialError(message, provider="vertex", hint="pip install google-auth requests") from error
    path = next(filter(None, map(host.variable, FILES)), "")
    with _lock:
        try:
            if path not in _held:
                load = auth.load_credentials_from_file
                _held[path] = load(path, scopes=[SCOPE]) if path else auth.default(scopes=[SCOPE])
            credentials, project = _held[path]
            if not credentials.token or _ends_soon(credentials.expiry):
                credentials.refresh(requests.Request())
        except (refused, OSError, ValueError) as error:
            _held.pop(path, None)
            message = f"vertex: Google gives no access token: {type(error).__name__}"
            hint = f"set {FILES[0]} to a service account's file, or run `gcloud auth application-default login`"
            raise MissingCredentialError(message, provider="vertex", hint=hint) from error
        return str(credentials.token), project or ""


def _ends_soon(expiry: datetime | None) -> bool:
    """Whether a moment, in UTC as Google's library tells it, is about to come."""
    return expiry is not None and expiry.replace(tzinfo=UTC) - datetime.now(UTC) < EARLY
