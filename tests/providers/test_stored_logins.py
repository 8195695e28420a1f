"""Logins that the original program left in ``auth.json``, used by the bundled providers they are for."""

import base64
import json
import time

import pytest

from hermes_core import MissingCredentialError
from hermes_core.testing import FakeProvider

PING = [{"role": "user", "content": "ping"}]


def token(seconds):
    """A JSON web token that ends in so many seconds."""
    claims = json.dumps({"exp": int(time.time()) + seconds, "scope": "inference:invoke"}).encode()
    return f"eyJhbGciOiJub25lIn0.{base64.urlsafe_b64encode(claims).rstrip(b'=').decode()}.c2ln"


LIVE = token(7200)
STATES = {
    "nous, by its agent key": ("nous", {"access_token": "at-1-of-nous", "agent_key": LIVE}, LIVE),
    "nous, by its access token": ("nous", {"access_token": LIVE}, LIVE),
    "a ChatGPT account": ("openai-codex", {"tokens": {"access_token": LIVE, "refresh_token": "rt-1-of-codex"}}, LIVE),
    "a Grok subscription": ("xai-oauth", {"tokens": {"access_token": LIVE, "refresh_token": "rt-1-of-xai"}}, LIVE),
}


@pytest.fixture
def ask(home, load_host):
    """Ask a provider with what ``auth.json`` holds of it; returns the request, or raises."""

    def call(provider, state):
        home.write("auth.json", json.dumps({"version": 1, "providers": {provider: state}}))
        with FakeProvider() as server:
            config = {"model": {"provider": provider, "base_url": server.base_url, "default": "m"}}
            load_host(config=config).llm("p").complete(PING)
        (request,) = server.requests
        return request

    return call


@pytest.mark.parametrize(("provider", "state", "sent"), STATES.values(), ids=STATES)
def test_a_stored_login_is_what_a_call_carries(ask, provider, state, sent):
    """The token goes as a bearer token; nothing else of the login goes anywhere."""
    request = ask(provider, state)
    assert request.headers["authorization"] == f"Bearer {sent}"
    assert "rt-1" not in json.dumps(request.body) + str(request.headers)


@pytest.mark.parametrize("provider", ["openai-codex", "xai-oauth", "minimax-oauth"])
def test_without_a_login_the_error_says_how_to_store_one(load_host, provider):
    """A provider that this host offers no login for says how a token is stored."""
    config = {"model": {"provider": provider, "default": "m"}}
    with pytest.raises(MissingCredentialError) as error:
        load_host(config=config).llm("p").complete(PING)
    assert f"hermes auth add {provider}" in error.value.hint


def test_nous_offers_a_login_of_its_own(load_host):
    """Nous is logged in to by device code, as the client that this family of programs is to it."""
    oauth = load_host().providers.get("nous").oauth
    assert (oauth["client_id"], oauth["scope"]) == ("hermes-cli", "inference:invoke")
    assert {oauth["device_url"].split("/")[2], oauth["token_url"].split("/")[2]} == {"portal.nousresearch.com"}
