"""OAuth 2 without a browser of our own: refreshing tokens (RFC 6749) and logging in by device code (RFC 8628)."""

from __future__ import annotations

import base64
import json
import secrets
import time
from collections.abc import Mapping
from hashlib import sha256
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlencode, urlsplit

from hermes_core.auth.cooldown import read_moment, reset_moment
from hermes_core.config.redact import redact, register_secret
from hermes_core.errors import ConfigError, OAuthError, ProviderTransportError
from hermes_core.types.address import host_of, is_loopback
from hermes_core.types.wire import HttpRequest
from hermes_core.version import USER_AGENT

if TYPE_CHECKING:
    from collections.abc import Callable

    from hermes_core.providers.profile import ProviderProfile
    from hermes_core.types.wire import HttpResponse

    Send = Callable[[HttpRequest, float], HttpResponse]

REQUEST_SECONDS = 20.0
"""How long a token endpoint may take."""

TERMINAL = frozenset(
    "invalid_grant invalid_token refresh_token_reused token_invalidated token_revoked unauthorized_client".split()
)
"""Errors after which the tokens are worth nothing: only a new login helps."""

DEVICE_GRANT = "urn:ietf:params:oauth:grant-type:device_code"
USUAL_INTERVAL = 5.0
SLOWER = 5.0
SLOWEST = 30.0


class OAuthSettings(NamedTuple):
    """How a provider's logins work, from the ``oauth:`` mapping of its profile.

    Attributes:
        provider: Its name.
        token_url: Where tokens are refreshed and device codes exchanged; https.
        device_url: Where a login by device code begins; ``""`` when there is no such login.
        client_id: The public client that this host is to the provider.
        scope: What a login asks for, words apart by blanks.
        skew: Seconds before a token's end at which it is refreshed.
        pkce: Whether a login by device code carries a code challenge (RFC 7636).
        refresh_header: A header that carries the refresh token in place of the form, or ``""``.
    """

    provider: str
    token_url: str = ""
    device_url: str = ""
    client_id: str = ""
    scope: str = ""
    skew: float = 120.0
    pkce: bool = False
    refresh_header: str = ""


class Tokens(NamedTuple):
    """What a token endpoint gave; ``expires_at`` is in seconds since 1970, or None."""

    access_token: str
    refresh_token: str
    expires_at: float | None
    about: Mapping[str, Any]

    def __repr__(self) -> str:
        return f"Tokens(expires_at={self.expires_at!r})"


class DeviceCode(NamedTuple):
    """A login that has begun: what the user has to do, and what its end is asked with.

    Attributes:
        user_code: What the user types in.
        address: Where; the code is already in it if the provider offers that.
        expires_in: Seconds the user has.
        interval: Seconds between two questions.
        device_code: The secret that stands for this login.
        verifier: The code verifier, or ``""`` without PKCE.
    """

    user_code: str
    address: str
    expires_in: float
    interval: float
    device_code: str
    verifier: str = ""

    def __repr__(self) -> str:
        return f"DeviceCode(address={self.address!r})"


def settings_of(profile: ProviderProfile) -> OAuthSettings:
    """A profile's ``oauth:`` mapping, checked.

    Raises:
        ConfigError: A field has the wrong type, or an address is neither https nor on this machine.

    Example:
        >>> from hermes_core.providers.profile import ProviderProfile
        >>> settings_of(ProviderProfile("acme", oauth={"token_url": "https://acme.test/token"})).skew
        120.0
    """
    found: dict[str, Any] = {}
    for name, usual in OAuthSettings("")._asdict().items():
        value = profile.oauth.get(name)
        if name == "provider" or value is None:
            continue
        if isinstance(usual, float) and isinstance(value, int) and not isinstance(value, bool):
            value = float(value)
        if type(value) is not type(usual):
            raise _wrong(profile.name, name, f"must be {_KINDS[type(usual)]}, got {type(value).__name__}")
        if name.endswith("_url") and value and not _is_safe(str(value)):
            raise _wrong(profile.name, name, "must be an https address: it is sent tokens")
        found[name] = value
    return OAuthSettings(profile.name, **found)


_KINDS = {str: "text", float: "a number", bool: "true or false"}


def _wrong(provider: str, field: str, what: str) -> ConfigError:
    message = f"provider {provider!r}: oauth.{field} {what}"
    return ConfigError(message, key=f"profile.oauth.{field}", hint="correct the provider's plugin.yaml")


def _is_safe(url: str) -> bool:
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return "@" not in parts.netloc and (
        (parts.scheme == "https" and bool(parts.hostname)) or (parts.scheme == "http" and is_loopback(host_of(url)))
    )


def refreshed(
    settings: OAuthSettings,
    refresh_token: str,
    send: Send,
    *,
    client_id: str = "",
    timeout: float = REQUEST_SECONDS,
    now: Callable[[], float] = time.time,
) -> Tokens:
    """New tokens for a refresh token; the old refresh token stays when the answer holds none.

    Args:
        settings: The provider's.
        refresh_token: What is spent.
        send: Sends a request and waits for the answer, that many seconds at most.
        client_id: The client it was given to, if not the provider's usual one.
        timeout: In seconds.
        now: Tells the time in seconds since 1970.

    Raises:
        OAuthError: The endpoint refused, could not be reached, or said something else.
    """
    _need(settings, "token_url")
    form = {"grant_type": "refresh_token", "refresh_token": refresh_token, "client_id": client_id or settings.client_id}
    headers = {}
    if settings.refresh_header:
        headers[settings.refresh_header] = form.pop("refresh_token")
    body = _post(settings, settings.token_url, form, send, timeout, headers)
    return _tokens(settings, body, refresh_token, now())


def begin_login(settings: OAuthSettings, send: Send) -> DeviceCode:
    """Ask for a device code.

    Raises:
        OAuthError: There is no such login, or the endpoint refused.
    """
    _need(settings, "device_url")
    _need(settings, "token_url")
    form = {"client_id": settings.client_id, "scope": settings.scope}
    verifier = secrets.token_urlsafe(48) if settings.pkce else ""
    if verifier:
        register_secret(verifier)
        digest = sha256(verifier.encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        form |= {"code_challenge": challenge, "code_challenge_method": "S256"}
    body = _post(settings, settings.device_url, form, send, REQUEST_SECONDS)
    device_code, user_code = body.get("device_code"), body.get("user_code")
    address = body.get("verification_uri_complete") or body.get("verification_uri") or body.get("verification_url")
    if not all(isinstance(part, str) and part.isprintable() and part for part in (device_code, user_code, address)):
        raise _failed(settings, "the answer holds no device code")
    register_secret(str(device_code))
    if not _is_safe(str(address)):
        raise _failed(settings, f"it sends the user to {redact(str(address))!r}, which is no https address")
    return DeviceCode(
        user_code=str(user_code),
        address=str(address),
        expires_in=_seconds(body.get("expires_in")) or 600.0,
        interval=_seconds(body.get("interval")) or USUAL_INTERVAL,
        device_code=str(device_code),
        verifier=verifier,
    )


def finish_login(
    settings: OAuthSettings,
    begun: DeviceCode,
    send: Send,
    *,
    sleep: Callable[[float], None] = time.sleep,
    clock: Callable[[], float] = time.monotonic,
) -> Tokens:
    """Wait until the user has confirmed a login.

    Args:
        settings: The provider's.
        begun: The login that ``begin_login`` began.
        send: Sends a request and waits for the answer, that many seconds at most.
        sleep: Waits so many seconds.
        clock: Tells the time in seconds.

    Raises:
        OAuthError: The user refused, the time ran out, or the endpoint said something else.
    """
    form = {"grant_type": DEVICE_GRANT, "device_code": begun.device_code, "client_id": settings.client_id}
    if begun.verifier:
        form["code_verifier"] = begun.verifier
    end, interval = clock() + begun.expires_in, begun.interval
    while clock() + interval <= end:
        sleep(interval)
        try:
            body = _post(settings, settings.token_url, form, send, REQUEST_SECONDS)
            return _tokens(settings, body, "", time.time())
        except OAuthError as error:
            if error.code == "slow_down" or error.retryable:
                interval = min(interval + SLOWER, max(SLOWEST, begun.interval))
            elif error.code != "authorization_pending":
                raise
    raise _failed(settings, "nobody confirmed the login in time", code="expired_token")


def _post(
    settings: OAuthSettings,
    url: str,
    form: Mapping[str, str],
    send: Send,
    timeout: float,
    headers: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Send a form and read the JSON object in a successful answer.

    Raises:
        OAuthError: There is none.
    """
    content = urlencode({name: value for name, value in form.items() if value}).encode()
    usual = {
        "Accept": "application/json",
        "Content-Type": "application/x-www-form-urlencoded",
        "User-Agent": USER_AGENT,
    }
    try:
        response = send(HttpRequest(url, {**usual, **(headers or {})}, content), timeout)
    except ProviderTransportError as error:
        raise _failed(settings, f"its token endpoint gave {error}", retryable=True) from error
    try:
        body = json.loads(response.body)
    except (ValueError, RecursionError):
        body = None
    if response.status == 200 and isinstance(body, dict) and "error" not in body:
        return body
    raise _refusal(settings, response, body if isinstance(body, dict) else {})


def _refusal(settings: OAuthSettings, response: HttpResponse, body: Mapping[str, Any]) -> OAuthError:
    """What an answer that is no success means."""
    error, status = body.get("error"), response.status
    nested = error if isinstance(error, Mapping) else {}
    code = str(nested.get("code") or nested.get("type") or (error if isinstance(error, str) else ""))[:80].lower()
    said = nested.get("message") or body.get("error_description") or body.get("message") or code
    shown = redact(str(said))[:200] or "(no text)"
    if status == 429:
        now = time.time()
        reset = reset_moment(response.headers, response.body, now)
        return _failed(
            settings,
            f"its token endpoint is rate limited, the login itself is still good: {shown}",
            code=code or "rate_limited",
            retryable=True,
            retry_after=None if reset is None else reset - now,
        )
    if status >= 500:
        return _failed(settings, f"its token endpoint answered {status}: {shown}", code=code, retryable=True)
    return _failed(
        settings,
        f"its token endpoint answered {status}: {shown}",
        code=code,
        relogin_required=status in (400, 401) and code in TERMINAL,
    )


def _tokens(settings: OAuthSettings, body: Mapping[str, Any], refresh_token: str, now: float) -> Tokens:
    access, refresh = body.get("access_token"), body.get("refresh_token") or refresh_token
    for value in (access, refresh):
        if isinstance(value, str):
            register_secret(value)
    if not isinstance(access, str) or not access or not isinstance(refresh, str) or not access.isprintable():
        raise _failed(settings, "its token endpoint gave no access token")
    about = {name: body[name] for name in ("token_type", "scope", "expires_in") if name in body}
    return Tokens(access, refresh, _end(body, now), about)


def _end(body: Mapping[str, Any], now: float) -> float | None:
    """When a token that was just given ends; some endpoints say the moment, in milliseconds."""
    said = body.get("expires_in") if body.get("expires_in") is not None else body.get("expired_in")
    seconds = _seconds(said)
    if seconds is None:
        return None
    return read_moment(seconds) if seconds > now / 2 else now + seconds


def _seconds(value: object) -> float | None:
    try:
        seconds = float(value) if isinstance(value, str | int | float) and not isinstance(value, bool) else -1.0
    except (ValueError, OverflowError):
        return None
    return seconds if 0 < seconds < float("inf") else None


def _need(settings: OAuthSettings, field: str) -> None:
    if not getattr(settings, field):
        message = f"provider {settings.provider!r} has no login of this kind: its profile has no oauth.{field}"
        hint = f"run `hermes auth add {settings.provider}` if it takes keys, or write the field into its plugin.yaml"
        raise OAuthError(message, provider=settings.provider, hint=hint)


def _failed(settings: OAuthSettings, what: str, *, relogin_required: bool = False, **facts: Any) -> OAuthError:
    hint = "try again later" if facts.get("retryable") else ""
    if relogin_required:
        hint = f"run `hermes auth login {settings.provider}`"
    message = f"the login at {settings.provider!r} failed: {what}"
    return OAuthError(message, provider=settings.provider, relogin_required=relogin_required, hint=hint, **facts)
