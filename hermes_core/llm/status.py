"""The typed errors that stand for an answer that is no success."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from hermes_core.auth.cooldown import read_retry_after
from hermes_core.config.redact import redact
from hermes_core.errors import (
    AuthenticationError,
    InvalidRequestError,
    ProviderError,
    ProviderStatusError,
    RateLimitError,
    ResponseFormatError,
    ServerError,
)
from hermes_core.llm.answer import MAX_ERROR_BYTES, status_of
from hermes_core.types.address import host_of

if TYPE_CHECKING:
    from hermes_core.llm.route import Route
    from hermes_core.providers.profile import ProviderProfile
    from hermes_core.types.wire import HttpResponse

REQUEST_IDS = ("x-request-id", "request-id", "x-amzn-requestid")
"""Headers in which providers name a request, for when one has to be asked about it."""

_HINTS: dict[type[ProviderStatusError], str] = {
    AuthenticationError: "check the provider's key, and what it may be used for",
    RateLimitError: "wait a little, or choose another provider or model",
    ServerError: "try again later, or choose another provider or model",
    InvalidRequestError: "check the model's name and what the call asks of it",
}


def status_error(response: HttpResponse, route: Route) -> ProviderStatusError:
    """The typed error for an answer that is no success."""
    status = response.status
    text = redact(response.body[:MAX_ERROR_BYTES].decode("utf-8", "replace"))
    classes = {401: AuthenticationError, 403: AuthenticationError, 429: RateLimitError, 408: ServerError}
    kind = classes.get(status) or (ServerError if status >= 500 else InvalidRequestError)
    request_id = next((response.headers[name] for name in REQUEST_IDS if name in response.headers), "")
    error = kind(
        f"{route.provider} answered {status} for model {route.model!r}: {_reason(text)}",
        status_code=status,
        body=text[:500],
        request_id=request_id,
        provider=route.provider,
        model=route.model,
        hint=_special_hint(route.profile, kind, text.lower()) or _redirect_hint(response) or _HINTS[kind],
        headers={name: value for name, value in response.headers.items() if _says_when(name)},
    )
    now = time.time()
    moment = read_retry_after(response.headers.get("retry-after", ""), now)
    error.retry_after = None if moment is None else round(moment - now, 3)
    return error


def _special_hint(profile: ProviderProfile, kind: type[ProviderStatusError], text: str) -> str:
    """What the provider's profile says of such a refusal."""
    found = next((hint for words, hint in profile.error_hints.items() if words in text), "")
    return found or (profile.refusal_hint if kind is AuthenticationError else "")


def _redirect_hint(response: HttpResponse) -> str:
    """What to do about a redirect: it is not followed, so that no key goes to where it points."""
    host = host_of(response.headers.get("location", "")) if 300 <= response.status < 400 else ""
    return f"correct base_url: it leads on to {redact(host)}, where nothing is sent unasked" if host else ""


def _says_when(name: str) -> bool:
    """Whether a header says when to come back, and nothing that is a secret."""
    return name == "retry-after" or "ratelimit" in name


def disguised_error(error: Any, response: HttpResponse, route: Route) -> ProviderError:
    """The error that came as a success: the one of the status it names, else one of the format."""
    status = status_of(error)
    try:
        body = json.dumps({"error": error})
    except RecursionError:
        body = ""
    if status is not None:
        return status_error(response._replace(status=status, body=body.encode()), route)
    code = error.get("code") or error.get("type") if isinstance(error, Mapping) else None
    code = redact(str(code))[:50] if isinstance(code, str | int) else ""
    return ResponseFormatError(f"the provider answered 200 with an error: {_reason(redact(body))}", code=code)


def _reason(text: str) -> str:
    """The message in an error body, or its beginning."""
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        body = None
    error = body.get("error", body) if isinstance(body, Mapping) else None
    message = error.get("message") or error.get("Message") if isinstance(error, Mapping) else error
    return str(message if isinstance(message, str) else text)[:200].strip() or "(no text)"
