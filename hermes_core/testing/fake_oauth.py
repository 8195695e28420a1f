"""A real OAuth 2 server on this machine, and the provider that takes its tokens."""

from __future__ import annotations

import secrets
import threading
import time
from base64 import urlsafe_b64encode
from collections import deque
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from hermes_core.testing.fake_provider import FakeProvider, Reply

if TYPE_CHECKING:
    from hermes_core.testing.fake_provider import ReceivedRequest


class FakeOAuth(FakeProvider):
    """Token and device endpoint of a provider whose refresh tokens can be spent once, and its chat endpoint.

    Attributes:
        profile: A ``profile:`` block for a provider ``fake-oauth`` that uses it.
        refreshes: How many refresh tokens have been spent.
        lifetime: Seconds a new access token lasts.
        delay: Seconds each answer of the token endpoint takes.

    Example:
        >>> import httpx
        >>> with FakeOAuth() as server:
        ...     form = {"grant_type": "refresh_token", "refresh_token": server.grant()}
        ...     first = httpx.post(server.token_url, data=form).status_code
        ...     again = httpx.post(server.token_url, data=form).json()["error"]
        >>> first, again
        (200, 'invalid_grant')
    """

    def __init__(self, *, pkce: bool = False) -> None:
        super().__init__()
        root = self.base_url.removesuffix("/v1")
        self.token_url, self.device_url = f"{root}/oauth/token", f"{root}/oauth/device"
        self.profile = {
            "name": "fake-oauth",
            "base_url": self.base_url,
            "auth_type": "oauth",
            "fallback_models": ["fake-model"],
            "oauth": {
                "token_url": self.token_url,
                "device_url": self.device_url,
                "client_id": "fake-client",
                "scope": "chat",
                "pkce": pkce,
            },
        }
        self.refreshes = 0
        self.lifetime = 3600
        self.delay = 0.0
        self._pkce = pkce
        self._lock = threading.Lock()
        self._access: set[str] = set()
        self._refresh: set[str] = set()
        self._token_answers: deque[Reply] = deque()
        self._challenges: dict[str, str] = {}

    def grant(self) -> str:
        """A refresh token as a login would have given it."""
        token = f"refresh-{secrets.token_hex(8)}"
        self._refresh.add(token)
        return token

    def access(self) -> str:
        """An access token that the chat endpoint takes."""
        token = f"access-{secrets.token_hex(8)}"
        self._access.add(token)
        return token

    def revoke(self, *tokens: str) -> None:
        """Take access and refresh tokens back; all of them when none is named."""
        for known in (self._access, self._refresh):
            known.difference_update(tokens or set(known))

    def queue_token_response(self, body: Any, *, status: int = 400, headers: dict[str, str] | None = None) -> None:
        """Answer the next request to the token endpoint so, before the usual answers."""
        self._token_answers.append(_reply(status, body, headers))

    def next_response(self, request: ReceivedRequest) -> Reply:
        """What the path asks for."""
        form = request.body if isinstance(request.body, dict) else {}
        if request.path == "/oauth/device":
            return self._begin(form)
        if request.path == "/oauth/token":
            time.sleep(self.delay)
            with self._lock:
                return self._token_answers.popleft() if self._token_answers else self._grant(form)
        if request.headers.get("authorization", "").removeprefix("Bearer ") not in self._access:
            return _reply(401, {"error": {"message": "this token is not valid", "code": "token_expired"}})
        return super().next_response(request)

    def _begin(self, form: dict[str, Any]) -> Reply:
        if form.get("client_id") != "fake-client" or (self._pkce and form.get("code_challenge_method") != "S256"):
            return _reply(400, {"error": "invalid_request"})
        code = f"device-{secrets.token_hex(8)}"
        self._challenges[code] = form.get("code_challenge", "")
        body = {"device_code": code, "user_code": "WDJB-MJHT", "expires_in": 600, "interval": 0.05}
        return _reply(200, {**body, "verification_uri": self.token_url.replace("/token", "/confirm")})

    def _grant(self, form: dict[str, Any]) -> Reply:
        if form.get("grant_type") == "refresh_token":
            if form.get("refresh_token") not in self._refresh:
                return _reply(400, {"error": "invalid_grant", "error_description": "this refresh token is spent"})
            self._refresh.remove(form["refresh_token"])
            self.refreshes += 1
            return self._tokens()
        challenge = self._challenges.get(form.get("device_code", ""))
        if challenge is None:
            return _reply(400, {"error": "invalid_grant"})
        verifier = form.get("code_verifier", "")
        if self._pkce and urlsafe_b64encode(sha256(verifier.encode()).digest()).rstrip(b"=").decode() != challenge:
            return _reply(400, {"error": "invalid_grant", "error_description": "the code verifier is wrong"})
        del self._challenges[form["device_code"]]
        return self._tokens()

    def _tokens(self) -> Reply:
        body = {"token_type": "Bearer", "expires_in": self.lifetime, "scope": "chat"}
        return _reply(200, {**body, "access_token": self.access(), "refresh_token": self.grant()})


def _reply(status: int, body: Any, headers: dict[str, str] | None = None) -> Reply:
    return Reply(status, headers or {}, body)
