"""Token endpoints and device codes: what is sent, what is taken for an answer, and what an error means."""

import base64
import json

import pytest

from hermes_core.auth.oauth import (
    DEVICE_GRANT,
    DeviceCode,
    OAuthSettings,
    begin_login,
    finish_login,
    refreshed,
    settings_of,
)
from hermes_core.config.redact import redact
from hermes_core.errors import ConfigError, OAuthError, ProviderTransportError
from hermes_core.providers.profile import ProviderProfile
from hermes_core.testing import FakeOAuth
from hermes_core.types.wire import HttpResponse

SETTINGS = OAuthSettings(
    "acme", token_url="https://acme.test/token", device_url="https://acme.test/device", client_id="c-1"
)


class Endpoint:
    """Answers in the place of a token endpoint, and remembers what it was sent."""

    def __init__(self, *answers):
        self.answers = [*answers]
        self.requests = []

    def __call__(self, request, timeout):
        self.requests.append((request, timeout))
        answer = self.answers.pop(0) if self.answers else {"error": "authorization_pending"}
        if isinstance(answer, Exception):
            raise answer
        status, body = answer if isinstance(answer, tuple) else (400 if "error" in answer else 200, answer)
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        return HttpResponse(status, {"retry-after": "7"} if status == 429 else {}, content)

    @property
    def forms(self):
        """The forms it was sent, as text."""
        return [request.body.decode() for request, _ in self.requests]


class Time:
    """A clock that sleeping moves."""

    def __init__(self):
        self.now, self.naps = 0.0, []

    def __call__(self):
        return self.now

    def sleep(self, seconds):
        """Move on."""
        self.naps.append(seconds)
        self.now += seconds


# --- a provider's data -----------------------------------------------------------------------------------------------

SOUND = {"token_url": "https://acme.test/token", "device_url": "https://acme.test/device", "client_id": "c-1"}


@pytest.mark.parametrize(
    ("given", "field", "expected"),
    [
        ({"skew": 60}, "skew", 60.0),
        ({"skew": 0.5}, "skew", 0.5),
        ({"pkce": True}, "pkce", True),
        ({"scope": "a b"}, "scope", "a b"),
        ({"scope": None}, "scope", ""),
        ({"of_a_newer_host": 1}, "skew", 120.0),
        ({"token_url": "http://127.0.0.1:1/t"}, "token_url", "http://127.0.0.1:1/t"),
        ({"token_url": "http://localhost/t"}, "token_url", "http://localhost/t"),
        ({"provider": "other"}, "provider", "acme"),
    ],
)
def test_a_profile_says_how_logins_work(given, field, expected):
    """The ``oauth:`` mapping is data; what it leaves out has a usual value, and unknown fields do no harm."""
    assert getattr(settings_of(ProviderProfile("acme", oauth={**SOUND, **given})), field) == expected


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"token_url": "http://acme.test/token"}, "oauth.token_url must be an https address"),
        ({"device_url": "http://acme.test/d"}, "oauth.device_url must be an https address"),
        ({"token_url": "ftp://acme.test"}, "oauth.token_url must be an https address"),
        ({"token_url": "https://user:pw@acme.test/"}, "oauth.token_url must be an https address"),
        ({"token_url": "https://127.0.0.1.evil.test@[::1"}, "oauth.token_url must be an https address"),
        ({"token_url": "http://127.0.0.1.evil.test/"}, "oauth.token_url must be an https address"),
        ({"token_url": 5}, "oauth.token_url must be text, got int"),
        ({"skew": "60"}, "oauth.skew must be a number, got str"),
        ({"skew": True}, "oauth.skew must be a number, got bool"),
        ({"pkce": "yes"}, "oauth.pkce must be true or false, got str"),
    ],
)
def test_a_wrong_field_is_named(given, message):
    """A field of the wrong type, or an address that tokens must not be sent to, is an error that names it."""
    with pytest.raises(ConfigError, match=message) as caught:
        settings_of(ProviderProfile("acme", oauth={**SOUND, **given}))
    assert "provider 'acme'" in str(caught.value)


def test_a_manifest_declares_a_login(home, load_host):
    """The ``oauth:`` mapping of a manifest's ``profile:`` block is the profile's, and one that is none fails it."""
    home.plugin("model-providers/acme", name="acme", profile={"base_url": "https://acme.test/v1", "oauth": SOUND})
    home.plugin("model-providers/bad", name="bad", profile={"base_url": "https://bad.test/v1", "oauth": "https://x"})
    host = load_host()
    assert settings_of(host.providers.get("acme")).client_id == "c-1"
    assert "profile.oauth must be a mapping" in host.plugin("bad").reason


# --- refreshing ------------------------------------------------------------------------------------------------------


def test_what_a_refresh_sends():
    """A form with the grant, the token and the client (RFC 6749, 6); the secret is nowhere else."""
    endpoint = Endpoint({"access_token": "at-2"})
    refreshed(SETTINGS, "rt-1", endpoint, timeout=9)
    ((request, timeout),) = endpoint.requests
    assert (request.url, timeout, "rt-1" in repr(request)) == ("https://acme.test/token", 9, False)
    assert request.body == b"grant_type=refresh_token&refresh_token=rt-1&client_id=c-1"
    assert request.headers["Content-Type"] == "application/x-www-form-urlencoded"
    assert "Authorization" not in request.headers


def test_a_refresh_token_may_go_into_a_header():
    """Where a provider wants its refresh token in a header, it is there and not in the form."""
    endpoint = Endpoint({"access_token": "at-2"})
    refreshed(SETTINGS._replace(refresh_header="x-acme-refresh"), "rt-1", endpoint, client_id="c-own")
    ((request, _),) = endpoint.requests
    assert (request.headers["x-acme-refresh"], request.body) == ("rt-1", b"grant_type=refresh_token&client_id=c-own")


@pytest.mark.parametrize(
    ("body", "refresh_token", "seconds"),
    [
        pytest.param({"expires_in": 60, "refresh_token": "rt-2"}, "rt-2", 60, id="a new refresh token"),
        pytest.param({"expires_in": "60"}, "rt-1", 60, id="none, so the old one stays"),
        pytest.param({"expired_in": 60}, "rt-1", 60, id="the end under another name"),
        pytest.param(
            {"expired_in": 4_000_000_000_000}, "rt-1", 4_000_000_000, id="the end as a moment in milliseconds"
        ),
        pytest.param({"expires_in": 4_000_000_000}, "rt-1", 4_000_000_000, id="the end as a moment"),
        pytest.param({}, "rt-1", None, id="no end"),
        pytest.param({"expires_in": -5, "refresh_token": None}, "rt-1", None, id="no end that could be"),
        pytest.param({"expires_in": True}, "rt-1", None, id="no number"),
    ],
)
def test_what_a_token_endpoint_gives(body, refresh_token, seconds):
    """Tokens, and when they end; the old refresh token stays in use when no new one comes."""
    tokens = refreshed(SETTINGS, "rt-1", Endpoint({"access_token": "at-2", **body}))
    assert (tokens.access_token, tokens.refresh_token) == ("at-2", refresh_token)
    if seconds is None:
        assert tokens.expires_at is None
    elif seconds > 1e9:
        assert tokens.expires_at == seconds
    else:
        assert tokens.expires_at > 1e9
    assert "at-2" not in repr(tokens)


def test_new_tokens_are_redacted_from_the_start():
    """What an endpoint gives is known to the redactor before anybody else gets it."""
    refreshed(SETTINGS, "rt-1", Endpoint({"access_token": "at-fresh-1", "refresh_token": "rt-fresh-1"}))
    assert redact("at-fresh-1 rt-fresh-1") == "[redacted] [redacted]"


FAILURES = {
    "invalid_grant": ((400, {"error": "invalid_grant"}), {"relogin_required": True, "code": "invalid_grant"}),
    "a reused token": ((401, {"error": {"code": "refresh_token_reused"}}), {"relogin_required": True}),
    "an error in a success": ((200, {"error": "invalid_grant"}), {"relogin_required": False}),
    "invalid_client": ((401, {"error": "invalid_client"}), {"relogin_required": False, "code": "invalid_client"}),
    "a plan without it": ((403, {"error": "invalid_grant"}), {"relogin_required": False}),
    "rate limited": ((429, {}), {"retryable": True, "retry_after": pytest.approx(7, abs=1), "relogin_required": False}),
    "rate limited with a final word": (
        (429, {"error": "invalid_grant"}),
        {"retryable": True, "relogin_required": False},
    ),
    "a broken server": ((500, b"<html>"), {"retryable": True}),
    "an overloaded one": ((503, {"error": "invalid_grant"}), {"retryable": True, "relogin_required": False}),
    "no JSON": ((200, b"<html>"), {"retryable": False}),
    "a list": ((200, []), {}),
    "no token": ((200, {"status": "pending"}), {"relogin_required": False}),
    "a token that is none": ((200, {"access_token": 5}), {}),
    "a token with a line break": ((200, {"access_token": "at\r\nX: 1"}), {}),
    "a redirect": ((302, b""), {"relogin_required": False}),
    "no connection": (ProviderTransportError("no complete answer: refused"), {"retryable": True}),
}


@pytest.mark.parametrize(("answer", "facts"), FAILURES.values(), ids=FAILURES)
def test_what_an_error_of_the_endpoint_means(answer, facts):
    """A final word asks for a new login; a limit, an outage or an odd answer does not."""
    with pytest.raises(OAuthError, match="the login at 'acme' failed") as caught:
        refreshed(SETTINGS, "rt-1", Endpoint(answer))
    assert {name: getattr(caught.value, name) for name in facts} == facts
    assert (isinstance(caught.value, RuntimeError), caught.value.provider) == (True, "acme")
    assert ("hermes auth login acme" in caught.value.hint) is caught.value.relogin_required


def test_an_error_that_repeats_the_token_shows_none():
    """Whatever of the request an endpoint repeats, the error does not hold it."""
    endpoint = Endpoint((400, {"error": "invalid_grant", "error_description": "no such token: at-echoed-1"}))
    refreshed(SETTINGS, "rt-1", Endpoint({"access_token": "at-echoed-1"}))
    with pytest.raises(OAuthError) as caught:
        refreshed(SETTINGS, "at-echoed-1", endpoint)
    error = caught.value
    assert "at-echoed-1" not in f"{error}{error.hint}{vars(error)}{error.__cause__!r}{error.__context__!r}"


def test_a_provider_without_a_token_endpoint_says_so():
    """Refreshing where the profile names no endpoint is an error that names the field."""
    with pytest.raises(OAuthError, match=r"no oauth\.token_url"):
        refreshed(OAuthSettings("acme"), "rt-1", Endpoint())


# --- device codes ----------------------------------------------------------------------------------------------------

BEGUN = {"device_code": "dc-1", "user_code": "ABCD", "verification_uri": "https://acme.test/go", "expires_in": 60}


def test_what_a_login_sends():
    """The client and the scope first; then, until it is confirmed, the device code (RFC 8628, 3.1 and 3.4)."""
    endpoint = Endpoint(BEGUN, {"error": "authorization_pending"}, {"access_token": "at-1", "refresh_token": "rt-1"})
    clock = Time()
    begun = begin_login(SETTINGS._replace(scope="a b"), endpoint)
    tokens = finish_login(SETTINGS, begun, endpoint, sleep=clock.sleep, clock=clock)
    poll = f"grant_type={DEVICE_GRANT.replace(':', '%3A')}&device_code=dc-1&client_id=c-1"
    assert endpoint.forms == ["client_id=c-1&scope=a+b", poll, poll]
    assert (tokens.access_token, tokens.refresh_token, clock.naps) == ("at-1", "rt-1", [5, 5])


@pytest.mark.parametrize(
    ("fields", "address", "interval"),
    [
        pytest.param({}, "https://acme.test/go", 5, id="the usual"),
        pytest.param(
            {"verification_uri_complete": "https://acme.test/go?c=ABCD"}, "https://acme.test/go?c=ABCD", 5, id="whole"
        ),
        pytest.param({"interval": 2}, "https://acme.test/go", 2, id="an interval"),
        pytest.param(
            {"verification_uri": None, "verification_url": "https://acme.test/old"},
            "https://acme.test/old",
            5,
            id="old name",
        ),
        pytest.param({"verification_uri": "http://127.0.0.1:1/go"}, "http://127.0.0.1:1/go", 5, id="on this machine"),
    ],
)
def test_what_the_user_is_told(fields, address, interval):
    """Where to go, with the code already in the address if the provider offers that."""
    begun = begin_login(SETTINGS, Endpoint({**BEGUN, **fields}))
    assert (begun.address, begun.user_code, begun.interval) == (address, "ABCD", interval)
    assert "dc-1" not in repr(begun)


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param({"verification_uri": "http://acme.test/go"}, id="an address that is not https"),
        pytest.param({"verification_uri": "javascript:alert(1)"}, id="no address"),
        pytest.param({"verification_uri": "https://acme.test/\x1b[2J"}, id="a control sequence in the address"),
        pytest.param({"user_code": "AB\nCD"}, id="a line break in the code"),
        pytest.param({"user_code": None}, id="no code"),
        pytest.param({"device_code": ""}, id="no device code"),
    ],
)
def test_an_odd_beginning_is_refused(fields):
    """What could not be shown safely, or not used, is an error."""
    with pytest.raises(OAuthError, match="the login at 'acme' failed"):
        begin_login(SETTINGS, Endpoint({**BEGUN, **fields}))


SLOW = {"error": "slow_down"}
DONE = {"access_token": "at-1"}
WAITS = {
    "at once": ([DONE], [5]),
    "slower by five seconds (RFC 8628, 3.5)": ([SLOW, {"error": "authorization_pending"}, DONE], [5, 10, 10]),
    "never slower than half a minute": ([SLOW] * 7 + [DONE], [5, 10, 15, 20, 25, 30, 30, 30]),
    "slower after a failed connection": ([ProviderTransportError("refused"), DONE], [5, 10]),
    "slower after an outage": ([(503, b""), DONE], [5, 10]),
    "slower after a limit": ([(429, {}), DONE], [5, 10]),
}


@pytest.mark.parametrize(("answers", "naps"), WAITS.values(), ids=WAITS)
def test_how_a_login_is_waited_for(answers, naps):
    """The endpoint is asked at its own pace, and slower when it says so or cannot answer."""
    clock = Time()
    begun = DeviceCode("ABCD", "https://acme.test/go", 600, 5, "dc-1")
    finish_login(SETTINGS, begun, Endpoint(*answers), sleep=clock.sleep, clock=clock)
    assert clock.naps == naps


@pytest.mark.parametrize(
    ("answers", "code", "words"),
    [
        pytest.param([{"error": "access_denied"}], "access_denied", "access_denied", id="the user refused"),
        pytest.param([{"error": "expired_token"}], "expired_token", "expired_token", id="the code ran out"),
        pytest.param([(400, b"<html>")], "", "answered 400", id="no JSON"),
        pytest.param([], "expired_token", "nobody confirmed", id="nobody did anything"),
    ],
)
def test_a_login_that_fails(answers, code, words):
    """A refusal ends the wait at once, and the end of the code's time in any case."""
    clock = Time()
    begun = DeviceCode("ABCD", "https://acme.test/go", 60, 5, "dc-1")
    with pytest.raises(OAuthError, match=words) as caught:
        finish_login(SETTINGS, begun, Endpoint(*answers), sleep=clock.sleep, clock=clock)
    assert (caught.value.code, clock.now <= 60) == (code, True)


def test_a_provider_without_a_device_endpoint_says_so():
    """Logging in where the profile names no endpoint is an error that names the field, and what works instead."""
    with pytest.raises(OAuthError, match=r"no oauth\.device_url") as caught:
        begin_login(SETTINGS._replace(device_url=""), Endpoint())
    assert "hermes auth add acme" in caught.value.hint


@pytest.mark.parametrize("pkce", [False, True], ids=["without a challenge", "with a challenge (RFC 7636)"])
def test_a_login_at_a_real_server(send, pkce):
    """A login by device code is begun and ended, with PKCE where the provider's data says so."""
    with FakeOAuth(pkce=pkce) as server:
        settings = settings_of(ProviderProfile(**server.profile))
        begun = begin_login(settings, send)
        tokens = finish_login(settings, begun, send)
        first, second = (request.body for request in server.requests)
    assert (tokens.access_token[:7], len(begun.verifier) >= 43 if pkce else begun.verifier == "") == ("access-", True)
    assert ("code_challenge" in first, "code_verifier" in second) == (pkce, pkce)
    if pkce:
        assert base64.urlsafe_b64decode(first["code_challenge"] + "=") != begun.verifier.encode()


def test_a_challenge_of_another_login_is_refused(send):
    """The server checks the verifier against the challenge, so a stolen device code is worth nothing."""
    with FakeOAuth(pkce=True) as server:
        settings = settings_of(ProviderProfile(**server.profile))
        begun = begin_login(settings, send)
        with pytest.raises(OAuthError, match="the code verifier is wrong"):
            finish_login(settings, begun._replace(verifier="x" * 43), send)
