"""Calls with stored keys and logins: which is sent, where to, and who is shown it."""

from __future__ import annotations

import json
import logging
import time
from uuid import uuid4

import pytest

from hermes_core import HermesError, MissingCredentialError
from hermes_core.errors import ExhaustedCredentialsError, OAuthError, UnknownAuthProfileError
from hermes_core.testing import FakeOAuth

ACME = "name: acme\nprofile: {base_url: %r, env_vars: [ACME_API_KEY], fallback_models: [m]}\n"


def row(label: str, priority: int = 0, **fields: object) -> dict:
    """A stored key."""
    return {
        "id": f"id-{label}",
        "label": label,
        "source": "manual",
        "priority": priority,
        "access_token": f"k-{label}-1",
        **fields,
    }


@pytest.fixture
def acme(lane):
    """Store credentials for a provider at the test's server; returns a plugin's model surface on it."""

    def make(*rows: dict, grant: bool = True, **config: object):
        lane.write("plugins/model-providers/acme/plugin.yaml", ACME % lane.server.base_url)
        lane.write("auth.json", json.dumps({"credential_pool": {"acme": list(rows)}}))
        granted = lane.granting(allow_profile_override=True) if grant else {}
        return lane.bare_host({"model": {"provider": "acme"}, **granted, **config}).llm("p")

    return make


@pytest.fixture
def login_server(lane):
    """A login server that is also the provider; its one login has been stored, and ends when the test says."""
    with FakeOAuth() as server:
        lane.write(
            "plugins/model-providers/fake-oauth/plugin.yaml",
            json.dumps({"name": "fake-oauth", "profile": server.profile}),
        )

        def store(**fields: object):
            login = {**row("me"), "auth_type": "oauth", "source": "manual:device_code", "refresh_token": server.grant()}
            pool = [{**login, "access_token": server.access(), **fields}]
            lane.write("auth.json", json.dumps({"credential_pool": {"fake-oauth": pool}}))
            return lane.bare_host({"model": {"provider": "fake-oauth"}}).llm("p")

        server.store = store
        yield server


def sent(server) -> list[str]:
    """The keys that a server was sent with calls."""
    calls = [request for request in server.requests if request.path.endswith("/chat/completions")]
    return [request.headers.get("authorization", "").removeprefix("Bearer ") for request in calls]


def test_a_stored_key_is_sent(call, lane, acme):
    """A key of ``auth.json`` is sent like any other."""
    call(acme(row("a"), row("b", 1)))
    assert sent(lane.server) == ["k-a-1"]


def test_a_stored_key_is_found_without_configuration(way, lane, acme):
    """A key stored for a bundled provider makes it the one that is used when nothing is configured."""
    said = []
    lane.write("auth.json", json.dumps({"credential_pool": {"openai": [row("a", base_url=lane.server.base_url)]}}))
    way.complete(lane.bare_host({}, say=said.append).llm("p"))
    assert (sent(lane.server), "openai" in said[0], "k-a-1" in said[0]) == (["k-a-1"], True, False)


def test_a_variable_out_of_use_is_not_found(lane, monkeypatch):
    """A variable that the operator took out of use does not choose a provider."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-123456")
    lane.write("auth.json", json.dumps({"suppressed_sources": {"openai": ["env:OPENAI_API_KEY"]}}))
    with pytest.raises(MissingCredentialError):
        lane.bare_host({"plugins": {"disabled": ["embedded"]}}).llm("p").complete([{"role": "user", "content": "x"}])


@pytest.mark.parametrize("name", ["id-b", "B", " b "], ids=["by-id", "by-label", "by-label-with-blanks"])
def test_a_profile_chooses_the_credential(call, lane, acme, name):
    """``profile=`` sends the credential of that id or label, and tells the provider nothing about it."""
    answer = call(acme(row("a"), row("b", 1)), profile=name)
    assert (sent(lane.server), answer.audit["profile"]) == (["k-b-1"], name.strip())
    assert [word for word in ("profile", "id-b") if word in json.dumps(lane.server.bodies)] == []


@pytest.mark.parametrize("name", ["nobody", "twin"], ids=["unknown", "ambiguous"])
def test_a_profile_that_is_none_is_a_value_error(call, lane, acme, name):
    """A name that leads to no credential, or to several, is a ``ValueError``; nothing is sent."""
    llm = acme(row("a"), row("twin", 1), row("twin", 2, id="id-other", access_token="k-twin-2"))
    with pytest.raises(UnknownAuthProfileError, match=name) as caught:
        call(llm, profile=name)
    assert (isinstance(caught.value, ValueError), lane.server.requests) == (True, [])


def test_a_profile_needs_a_grant(call, lane, acme):
    """Without the operator's word a plugin may not choose a credential."""
    with pytest.raises(PermissionError, match="allow_profile_override"):
        call(acme(row("a"), grant=False), profile="a")
    assert lane.server.requests == []


def test_a_pinned_credential_that_rests_is_not_replaced(call, lane, acme):
    """When the chosen credential rests no other is sent in its place; the error says for how long."""
    resting = row("a", last_status="exhausted", last_status_at=time.time(), last_error_code=402)
    with pytest.raises(ExhaustedCredentialsError, match="rests"):
        call(acme(resting, row("b", 1)), profile="a")
    assert lane.server.requests == []


def test_a_key_goes_to_the_address_it_was_stored_for(call, lane, acme, other_server):
    """A key stored for another address of its provider is sent there, and not to the usual one."""
    call(acme(row("a", base_url=other_server.base_url)))
    assert (sent(lane.server), sent(other_server)) == ([], ["k-a-1"])


def test_a_login_about_to_end_is_refreshed_first(call, lane, login_server):
    """A stale token is not sent: the call goes out with the new one, and the next call does without a refresh."""
    llm = login_server.store(expires_at=time.time() + 60)
    for _ in range(2):
        call(llm)
    first, second = sent(login_server)
    stored = json.loads((lane.home / "auth.json").read_text())["credential_pool"]["fake-oauth"][0]
    assert (first, second, login_server.refreshes) == (stored["access_token"], first, 1)


def test_a_login_that_has_ended_says_what_helps(call, lane, login_server):
    """When the refresh token is spent the error names the command; nothing is sent to the provider."""
    llm = login_server.store(expires_at=1)
    login_server.revoke()
    with pytest.raises(OAuthError) as caught:
        call(llm)
    assert (caught.value.relogin_required, "hermes auth login fake-oauth" in caught.value.hint) == (True, True)
    assert (sent(login_server), caught.value.provider) == ([], "fake-oauth")
    with pytest.raises(MissingCredentialError, match="has ended"):
        call(llm)


def test_a_refresh_does_not_outlast_the_call(way, login_server):
    """A slow token endpoint ends the call at its own deadline, as a timeout."""
    llm = login_server.store(expires_at=1)
    login_server.delay = 1.0
    with pytest.raises(TimeoutError, match=r"no answer within 0\.3 s"):
        way.complete(llm, timeout=0.3)


def test_a_refresh_does_not_block_the_event_loop(login_server, ticking):
    """While a token is refreshed an event loop goes on."""
    llm = login_server.store(expires_at=1)
    login_server.delay = 0.5
    pause = ticking(lambda: llm.acomplete([{"role": "user", "content": "ping"}]))
    assert (login_server.refreshes, pause < 0.4) == (1, True)


# --- planted secrets -------------------------------------------------------------------------------------------------

PLACES = (
    "env", "env-file", "config", "header", "key", "access", "refresh", "agent", "state", "nested", "client",
)  # fmt: skip


@pytest.fixture
def planted(lane, monkeypatch):
    """Secrets in every place that may hold one: place → secret."""
    secrets = {place: f"{place}-{uuid4().hex}" for place in PLACES}
    monkeypatch.setenv("ACME_API_KEY", secrets["env"])
    lane.write(".env", f"OTHER_API_KEY={secrets['env-file']}\n")
    tree = {
        "providers": {
            "acme": {"access_token": secrets["state"]},
            "other": {"tokens": {"access_token": secrets["nested"]}, "client_secret": secrets["client"]},
        },
        "credential_pool": {
            "acme": [
                row("a", access_token=secrets["key"]),
                row(
                    "b", 1, access_token=secrets["access"], refresh_token=secrets["refresh"], agent_key=secrets["agent"]
                ),
            ]
        },
    }
    lane.write("auth.json", json.dumps(tree))
    lane.write("plugins/model-providers/acme/plugin.yaml", ACME % lane.server.base_url)
    lane.config_file(
        {
            "model": {"provider": "acme", "extra_headers": {"X-Api-Key": secrets["header"]}},
            "auxiliary": {"transient_retries": 0},
            "providers": {"mine": {"base_url": "http://127.0.0.1:9/v1", "api_key": secrets["config"]}},
            **lane.granting(allow_profile_override=True, allow_provider_override=True),
        }
    )
    return secrets


HOLDERS = {"config.yaml", ".env", "auth.json", "auth.json.corrupt"}


def test_planted_secrets_stay_where_they_belong(way, lane, planted, caplog, monkeypatch):
    """Good calls, refused ones and broken stores show no secret: not in a file, a log, an error, or a wrong header."""
    caplog.set_level(logging.DEBUG)
    given = []
    host = lane.bare_host()
    llm = host.llm("p")
    for profile in (None, "b", "nobody"):
        for status, body in ((200, None), (401, None), (429, {"error": {"message": " ".join(planted.values())}})):
            if body or status != 200:
                lane.server.queue_response(body or " ".join(planted.values()), status=status)
            try:
                given.append(way.complete(llm, profile=profile))
            except HermesError as error:
                given += [error, error.__cause__, error.__context__, vars(error)]
            lane.server._queue.clear()
    pool = host.engine._planner.pool(host.config(), "acme")
    for entry in pool.entries():
        pool.mark(pool.credential_of(entry), 429, body=" ".join(planted.values()))
    given += [pool.entries(), pool.refusal(), host, host.credentials, host.credentials.store, pool]
    lane.write("auth.json", (lane.home / "auth.json").read_text()[:-20])
    given.append(host.credentials.store.error)
    shown = {"objects": " ".join(f"{thing!r} {thing}" for thing in given), "records": caplog.text}
    for path in lane.home.rglob("*"):
        if path.is_file() and path.name not in HOLDERS:
            shown[str(path)] = path.read_text(errors="replace")
    assert {
        (place, where) for place, secret in planted.items() for where, text in shown.items() if secret in text
    } == set()
    wire = [
        {place for place, secret in planted.items() if secret in f"{request.path} {request.headers} {request.body}"}
        for request in lane.server.requests
    ]
    sent = [{"key", "header"}, {"agent", "header"}, {"env", "header"}]  # a refused key gives way to the next
    assert {frozenset(places) for places in wire} == {*map(frozenset, sent)}
    borrowed = [planted[place] for place in ("env", "env-file", "config", "header")]
    assert [secret for secret in borrowed if secret in (lane.home / "auth.json").read_text()] == []
