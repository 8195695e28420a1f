"""Secrets: wherever a key comes from and whatever goes wrong, nobody is shown it."""

from __future__ import annotations

import asyncio
import json
import logging
import runpy
from pathlib import Path
from urllib.parse import quote
from uuid import uuid4

import pytest

from hermes_core import HermesError, MissingCredentialError, ProviderProfile
from hermes_core.auth.keys import Credential
from hermes_core.config.redact import REDACTED, redact, register_secret
from hermes_core.config.settings import merge
from hermes_core.llm.route import Route
from hermes_core.types.wire import HttpRequest, HttpResponse, WireRequest

KEY = "@the key@"
"""Stands for the test's own key in what a server says; it holds a slash, as keys in base64 do."""

ESCAPED = "@the escaped key@"
"""The same, with its slash as some JSON writers have it."""

QUOTED = "@the quoted key@"
"""The same, as it stands in a URL."""

MESSAGES = [{"role": "user", "content": "ping"}]


@pytest.fixture
def secret() -> str:
    """A key that no other test has made known to the process."""
    return f"sk-{uuid4().hex}/{uuid4().hex}"


everything_in = runpy.run_path(str(Path(__file__).with_name("leaks.py")))["everything_in"]


def in_env_file(lane, _monkeypatch, secret):
    """The key is in the home's .env."""
    lane.write(".env", f"MY_KEY={secret}\n")
    return {"key_env": "MY_KEY"}


def in_environment(_lane, monkeypatch, secret):
    """The key is in the process's environment."""
    monkeypatch.setenv("MY_KEY", secret)
    return {"key_env": "MY_KEY"}


def in_config(_lane, _monkeypatch, secret):
    """The key is written out in the configuration."""
    return {"api_key": secret}


def in_reference(_lane, monkeypatch, secret):
    """The configuration refers to a variable."""
    monkeypatch.setenv("MY_KEY", secret)
    return {"api_key": "${MY_KEY}"}


def in_header(_lane, _monkeypatch, secret):
    """The key is a header of the operator's own."""
    return {"extra_headers": {"X-Api-Key": secret}}


def in_bearer_header(_lane, _monkeypatch, secret):
    """The key is an Authorization header of the operator's own."""
    return {"default_headers": {"Authorization": f"Bearer {secret}"}}


SOURCES = [in_env_file, in_environment, in_config, in_reference, in_header, in_bearer_header]
ECHO = {
    "401-echoes-the-key": (401, {"error": {"message": f"Incorrect API key provided: {KEY}"}}),
    "401-echoes-the-header-r20_01": (401, f"Authorization: Bearer {KEY}"),
    "403-echoes-a-url-r20_01": (403, {"error": f"GET https://api.acme.test/v1?key={KEY} is forbidden"}),
    "401-escapes-the-key": (401, f'{{"error": {{"message": "bad key {ESCAPED}"}}}}'),
    "403-quotes-the-key-r20_01": (403, {"error": f"GET https://api.acme.test/v1?key={QUOTED} is forbidden"}),
    "500-dumps-html-r20_01": (500, f"<html><pre>authorization: Bearer {KEY}</pre>{'x' * 3000}</html>"),
    "400-echoes-it-late": (400, "x" * 490 + KEY),
    "400-echoes-it-at-the-edge": (400, "x" * 1990 + KEY),
    "400-in-the-message-at-the-edge": (400, {"error": {"message": "x" * 190 + KEY}}),
    "200-is-no-json": (200, f"<html>{KEY}</html>"),
    "200-is-no-json-at-the-edge": (200, "x" * 110 + KEY),
    "200-holds-an-error-r15_01": (200, {"error": {"message": f"bad key {KEY}"}}),
    "200-holds-a-late-error": (200, {"error": {"message": "x" * 190 + KEY}}),
    "200-holds-no-message": (200, {KEY: 1}),
    "200-names-it-as-the-finish": (200, {"choices": [{"message": {}, "finish_reason": KEY}]}),
}


def filled(body, secret: str):
    """What a server says, with the key in its place."""
    if not isinstance(body, str):
        return json.loads(filled(json.dumps(body), secret))
    body = body.replace(ESCAPED, secret.replace("/", "\\/")).replace(QUOTED, quote(secret, safe=""))
    return body.replace(KEY, secret)


@pytest.fixture
def nothing_shows(lane, caplog, secret):
    """Check that no file the run wrote, no log record and nothing reachable from what it gave holds the secret."""
    caplog.set_level(logging.DEBUG)

    def check(*given: object) -> None:
        shown = {
            "result or error": everything_in(given),
            "records": caplog.text + "".join(everything_in(vars(record)) for record in caplog.records),
            **{
                str(path): path.read_bytes().decode("utf-8", "replace")
                for path in lane.home.rglob("*")
                if path.is_file() and path.name not in (".env", "config.yaml")
            },
        }
        parts = [secret[:10], secret[-10:]]
        assert {place for place, text in shown.items() if any(part in text for part in parts)} == set()

    return check


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.__name__)
def test_a_good_call_shows_no_secret_r20_10(call, lane, monkeypatch, nothing_shows, source, secret):
    """Neither result, audit, log nor any file of the home holds the key that was sent."""
    answer = call(lane.llm({"model": source(lane, monkeypatch, secret)}), purpose="why")
    assert any(secret in value for value in lane.server.requests[0].headers.values())
    nothing_shows(answer)


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.__name__)
@pytest.mark.parametrize(("status", "body"), ECHO.values(), ids=ECHO)
def test_a_provider_that_echoes_the_key_shows_no_secret_r20_01(
    way, lane, monkeypatch, nothing_shows, source, status, body, secret
):
    """Whatever of the request a provider repeats in its error, the plugin and the log do not see the key."""
    lane.server.queue_response(filled(body, secret), status=status)
    with pytest.raises(HermesError) as caught:
        way.complete(lane.llm({"model": source(lane, monkeypatch, secret)}))
    nothing_shows(caught.value)


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.__name__)
def test_a_broken_connection_shows_no_secret_r20_10(way, lane, monkeypatch, nothing_shows, raw_server, source, secret):
    """An error of the network, with all its causes, does not lead to the key."""
    server = raw_server(lambda connection: connection.recv(65536))
    config = {**server.config, "model": {**server.config["model"], **source(lane, monkeypatch, secret)}}
    with pytest.raises(HermesError) as caught:
        way.complete(lane.bare_host(config).llm("p"), timeout=20)
    nothing_shows(caught.value)


@pytest.mark.parametrize("junk", ["\u028b", "\u200b", "\n", "\x00"], ids=["letter", "zero-width", "newline", "nul"])
@pytest.mark.parametrize("source", ["api_key", "header"])
def test_a_key_that_fits_no_header_shows_no_secret_r19_11(way, lane, nothing_shows, junk, source, secret):
    """A key that cannot be sent is refused without being shown, not by the error's text and not by its causes."""
    key = f"{secret}{junk}{secret}"
    config = {"api_key": key} if source == "api_key" else {"extra_headers": {"X-Api-Key": key}}
    with pytest.raises(HermesError) as caught:
        way.complete(lane.llm({"model": config}))
    nothing_shows(caught.value)


@pytest.mark.parametrize(
    "ending",
    [f"?key={QUOTED}", f"?key={KEY}&x=1", f"/{KEY}/v1?x=1"],
    ids=["quoted-r20_01", "in-the-query-r20_01", "in-the-path"],
)
def test_a_key_in_the_address_shows_no_secret_r20_01(way, lane, nothing_shows, ending, secret):
    """A key that the operator wrote into the address is in no error that a provider makes of that address."""
    ending = filled(ending, secret)
    lane.server.queue_response(f"no route for {ending}", status=404)
    with pytest.raises(HermesError) as caught:
        way.complete(lane.llm({"model": {"base_url": lane.server.base_url + ending}}))
    nothing_shows(caught.value)


def test_a_key_that_a_profile_opened_shows_no_secret(way, lane, nothing_shows, secret):
    """The key of an endpoint that a profile opens itself is kept like any other."""

    class Opening(ProviderProfile):
        def open_endpoint(self, host):
            return lane.server.base_url, secret

    lane.server.queue_response(f"bad key {secret}", status=401)
    host = lane.bare_host({"model": {"provider": "acme", "default": "m"}, "auxiliary": {"transient_retries": 0}})
    host.program_context().register_provider(Opening("acme", auth_type="none"))
    with pytest.raises(HermesError) as caught:
        way.complete(host.llm("p"))
    nothing_shows(caught.value)


def test_a_line_for_the_operator_shows_no_secret(lane, secret):
    """What a provider's profile has the host say is said without keys."""
    said = []
    host = lane.bare_host({"model": {"api_key": secret}}, say=said.append)
    host.endpoint_host(host.config(), "acme").say(f"starting with {secret}")
    assert said == [f"starting with {REDACTED}"]


def test_a_refused_override_shows_no_secret(way, lane, nothing_shows, secret):
    """The gate's refusal does not lead to the key."""
    with pytest.raises(PermissionError) as caught:
        way.complete(lane.llm({"model": {"api_key": secret}}), model="other")
    nothing_shows(caught.value)


def test_a_breach_of_the_schema_shows_no_secret(way, lane, nothing_shows, secret):
    """The error that carries the whole result does not lead to the key."""
    lane.server.answer("[]")
    with pytest.raises(ValueError, match="schema") as caught:
        way.structured(lane.llm({"model": {"api_key": secret}}), json_schema={"type": "object"})
    nothing_shows(caught.value)


def test_an_unset_reference_shows_its_name_alone(way, lane, monkeypatch, secret):
    """A key that refers to one set and one unset variable does not show the set one's value."""
    monkeypatch.setenv("HALF", secret)
    with pytest.raises(MissingCredentialError, match="OTHER_HALF") as caught:
        way.complete(lane.llm({"model": {"api_key": "${HALF}${OTHER_HALF}"}}))
    assert secret not in everything_in(caught.value)


def test_the_audit_of_a_plugin_that_knows_a_key_is_redacted(way, lane, nothing_shows, secret):
    """A purpose that holds a resolved key is written without it."""
    llm = lane.llm({"model": {"api_key": secret}})
    way.complete(llm)
    way.complete(llm, purpose=f"leak {secret}")
    nothing_shows()
    assert lane.log()[1]["purpose"] == f"leak {REDACTED}"


def shown_objects(secret: str) -> list:
    """Everything on the way of a request that may come into a traceback or a log."""
    credential = Credential(secret, "env:MY_KEY")
    headers = {"Authorization": f"Bearer {secret}"}
    profile = ProviderProfile("acme", default_headers=headers)
    return [
        credential,
        profile,
        Route(profile=profile, provider="acme", model="m", base_url="http://x", credential=credential, headers=headers),
        HttpRequest(url=f"https://api.acme.test/v1?key={secret}", headers=headers, body=secret.encode()),
        HttpResponse(status=200, headers=headers, body=secret.encode()),
        WireRequest(base_url=f"http://x/v1?key={secret}", model="m", messages=[], api_key=secret, headers=headers),
    ]


@pytest.mark.parametrize("value", shown_objects(KEY), ids=lambda value: type(value).__name__)
def test_no_object_shows_a_secret_in_its_text_r20_03(value):
    """repr, str and format of what carries a key leave the key, and a query that may hold one, out."""
    assert KEY not in f"{value!r} {value!s} {value}"


def test_no_object_of_the_host_shows_a_secret_r20_03(lane, secret):
    """The reprs of host, configuration, plugin surface and engine leave keys out."""
    host = lane.host({"model": {"api_key": secret, "extra_headers": {"X-Api-Key": secret}}})
    llm = host.llm("p")
    llm.complete(MESSAGES)
    shown = [repr(value) for value in (host, host.config(), llm, host.engine, host.environment, host.providers)]
    assert [text for text in shown if secret in text] == []


def test_redaction_blanks_every_secret_whole():
    """A secret that begins with another is blanked whole, in whatever order they became known."""
    pairs = [(f"pre{n}fix-a", f"pre{n}fix-and-its-own-end") for n in range(30)]
    for short, long in pairs:
        register_secret(long)
        register_secret(short)
    assert [redact(long) for _, long in pairs] == [REDACTED] * len(pairs)


def test_redaction_bears_secrets_that_become_known_meanwhile(script):
    """Text is redacted while other threads resolve new keys."""
    printed = script("""
        import threading
        from hermes_core.config.redact import redact, register_secret
        learned = threading.Event()
        def learn():
            for number in range(20_000):
                register_secret(f"learned-secret-{number}")
            learned.set()
        def read():
            try:
                while not learned.is_set():
                    redact("some text without a secret")
            except RuntimeError as error:
                print(error)
        threads = [threading.Thread(target=work) for work in (read, read, learn)]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
    """)
    assert printed == ""


@pytest.fixture
def logged(script, lane):
    """The purpose that a call under a configuration leaves in the log; in a process of its own, as secrets are."""

    def run(config: dict, purpose: str) -> str:
        text = """
            import json, sys
            from hermes_core import Host
            home, config, purpose = sys.argv[1:]
            with Host.load(home, config=json.loads(config)) as host:
                host.llm("p").complete([{"role": "user", "content": "ping"}], purpose=purpose)
        """
        script(text, lane.home, json.dumps(merge(lane.server.config, config)), purpose)
        return lane.log()[0]["purpose"]

    return run


@pytest.mark.parametrize(
    ("name", "value", "word"),
    [
        ("X-Title", "My zebra", "zebra"),
        ("HTTP-Referer", "https://zebra.test", "https://zebra.test"),
        ("X-Env", "zebra", "zebra"),
        ("Accept", "application/json", "application/json"),
    ],
    ids=["title", "referer", "environment", "accept"],
)
def test_an_ordinary_header_blanks_no_words(logged, name, value, word):
    """A header that is no credential leaves its words readable in log and errors."""
    assert logged({"model": {"extra_headers": {name: value}}}, word) == word


@pytest.mark.parametrize("value", ["changeme", "none", "dummy"])
def test_a_placeholder_blanks_no_words(logged, lane, value):
    """A placeholder in .env is no secret: its word stays readable in log and errors."""
    lane.write(".env", f"ACME_API_KEY={value}\n")
    assert logged({"model": {"key_env": "ACME_API_KEY"}}, value) == value


def test_an_address_is_no_secret(logged):
    """``api`` in a provider's entry is its address, and stays readable in log and errors."""
    address = "https://api.acme.test/v1"
    assert logged({"providers": {"acme": {"api": address}}}, address) == address


def test_a_short_value_blanks_no_words():
    """A value too short for a key is not taken for one."""
    register_secret("an")
    assert redact("an answer") == "an answer"


def test_a_cancelled_call_shows_no_secret(lane, nothing_shows, raw_server, secret):
    """Cancelling a call does not lay its key open."""
    server = raw_server(lambda connection: connection.recv(65536) and connection.recv(65536))
    llm = lane.bare_host({**server.config, "model": {**server.config["model"], "api_key": secret}}).llm("p")

    async def main() -> BaseException:
        task = asyncio.create_task(llm.acomplete(MESSAGES, timeout=30))
        await asyncio.sleep(0.2)
        task.cancel()
        (error,) = await asyncio.gather(task, return_exceptions=True)
        return error

    nothing_shows(asyncio.run(main()))


def test_the_body_never_holds_what_the_gate_keeps(call, lane):
    """Nothing about plugin, purpose, agent or stored credential is sent to the provider."""
    config = lane.granting(allow_agent_id_override=True)
    call(lane.llm(config, plugin="p"), purpose="my-purpose", agent_id="my-agent")
    sent = json.dumps(lane.server.bodies) + str(lane.server.requests[0].headers)
    assert [word for word in ("my-purpose", "my-agent", "plugin_id", "auth_profile") if word in sent] == []
