"""``hermes auth``: keys and logins, never shown and never an argument."""

import json
import os
import pty
import select
import subprocess
import sys
import time

import pytest

from hermes_core.testing import FakeOAuth

KEY = "k-typed-by-hand-1"


@pytest.fixture
def acme(home):
    """A provider with two variables and an address."""
    profile = {"base_url": "https://api.acme.test/v1", "env_vars": ["ACME_API_KEY", "ACME_TOKEN"], "aliases": ["ac"]}
    home.plugin("model-providers/acme", name="acme", profile=profile)
    return home


@pytest.fixture
def logins(home):
    """A provider with a login server."""
    with FakeOAuth() as server:
        home.plugin("model-providers/fake-oauth", name="fake-oauth", profile=server.profile)
        yield server


def stored(home):
    """What the home's store holds."""
    return json.loads((home.path / "auth.json").read_text())


def test_a_home_without_credentials_lists_none(hermes, acme):
    """With nothing stored and nothing set the list is empty, and no file is made."""
    done = hermes("auth", "list", "--json")
    assert (done.code, done.json, (acme.path / "auth.json").exists()) == (0, [], False)


def test_a_key_is_added_from_a_pipe(hermes, acme):
    """A key that is piped in is stored; it is in no output."""
    done = hermes("auth", "add", "ac", "--label", "work", stdin=f"{KEY}\n")
    (row,) = stored(acme)["credential_pool"]["acme"]
    assert (done.code, row["access_token"], row["label"]) == (0, KEY, "work")
    assert (KEY in done.out + done.err, done.out) == (False, f"acme: work (manual, {row['id']}) stored\n")


LISTED = {
    "provider": "acme",
    "label": "manual-1",
    "kind": "api_key",
    "source": "manual",
    "status": "ok",
    "until": "",
    "key": "[configured]",
    "base_url": "",
    "expires_at": "",
    "last_error_code": None,
    "last_error_reason": None,
}


def test_keys_are_listed_without_their_values_r20_07(hermes, acme, monkeypatch):
    """Every key there is, stored or set, with how it fares; in the place of its value stands that there is one."""
    monkeypatch.setenv("ACME_TOKEN", "k-in-the-environment-1")
    made = hermes("auth", "add", "acme", "--first", "--json", stdin=KEY).json
    done = hermes("auth", "list", "--json")
    first, second = done.json
    assert (first, made) == ({**LISTED, "id": first["id"], "stored_in": str(acme.path / "auth.json")}, [first])
    assert (second["source"], second["key"], second["stored_in"] != "") == ("env:ACME_TOKEN", "[configured]", True)
    plain = hermes("auth", "list", "acme")
    assert [row["key"] for row in plain.rows] == ["[configured]"] * 2
    for part in (KEY[:6], KEY[-4:], "k-in-the", "ment-1"):
        assert part not in done.out + plain.out + done.err + plain.err


def test_the_list_names_only_providers_that_have_something(hermes, acme, monkeypatch, home):
    """Providers without any credential are left out, those known to the store alone are not."""
    home.write("auth.json", json.dumps({"credential_pool": {"unheard-of": [{"id": "a", "access_token": "k-1234"}]}}))
    monkeypatch.setenv("ACME_API_KEY", "k-first-1")
    rows = hermes("auth", "list", "--json").json
    assert [(row["provider"], row["status"]) for row in rows] == [("acme", "ok"), ("unheard-of", "elsewhere")]


def test_a_variable_that_holds_no_key_is_named(hermes, acme, monkeypatch):
    """A variable with a sign that no key has is an error that names both, and does not show the value."""
    monkeypatch.setenv("ACME_API_KEY", "k-\u200bfirst")
    done = hermes("auth", "list")
    assert (done.code, "env:ACME_API_KEY" in done.err, "U+200B" in done.err, "first" in done.err) == (
        1,
        True,
        True,
        False,
    )


@pytest.mark.parametrize(
    ("words", "stdin", "message"),
    [
        pytest.param(["add", "acme"], "", "there is no key", id="an empty pipe"),
        pytest.param(["add", "acme"], "k-with a-blank", "U+0020", id="no key"),
        pytest.param(["add", "acm"], KEY, "did you mean 'acme'", id="an unknown provider"),
        pytest.param(["remove", "acme", "nobody"], "", "no stored credential", id="an unknown entry"),
        pytest.param(["login", "acme"], "", "no login of this kind", id="a provider without logins"),
        pytest.param(["logout", "acme"], "", "there is no login", id="nobody logged in"),
        pytest.param(["reset", "acme", "nobody"], "", "no stored credential", id="nothing to reset"),
        pytest.param(["status", "nobody"], "", "unknown provider", id="no such provider"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_line(hermes, acme, words, stdin, message):
    """An error is one line and mostly a hint, with exit code 1; nothing is stored."""
    done = hermes("auth", *words, stdin=stdin)
    assert (done.code, done.out, message in done.err, done.err.startswith("error: ")) == (1, "", True, True)
    assert not (acme.path / "auth.json").exists()


def test_a_key_is_no_argument(hermes, acme):
    """There is no way to give a key on the command line: it would be seen in the list of processes."""
    assert hermes("auth", "add", "acme", KEY).code == 2


def test_bytes_that_are_no_text_are_no_key(shell, acme):
    """What is piped in and is no UTF-8 is refused without being shown."""
    done = shell("auth", "add", "acme", stdin=b"\xff\xfe key")
    assert (done.code, "not UTF-8" in done.err) == (1, True)


def test_a_broken_store_is_said_and_never_written(hermes, acme, monkeypatch):
    """With a store that cannot be read, lists work and say so; commands that write refuse; the file stays."""
    monkeypatch.setenv("ACME_API_KEY", "k-first-1")
    path = acme.write("auth.json", '{"credential_pool": ')
    listed, status = hermes("auth", "list", "--json"), hermes("auth", "status", "acme", "--json")
    assert ([row["source"] for row in listed.json], "cannot read" in listed.err) == (["env:ACME_API_KEY"], True)
    assert (status.code, status.json["uses"], "cannot read" in status.json["problem"]) == (0, "ACME_API_KEY", True)
    for words in (["add", "acme"], ["remove", "acme", "ACME_API_KEY"]):
        done = hermes("auth", *words, stdin=KEY)
        assert (done.code, "cannot read" in done.err, "auth.json.corrupt" in done.err) == (1, True, True)
    assert path.read_text() == '{"credential_pool": '
    assert (acme.path / "auth.json.corrupt").read_text() == path.read_text()


def test_removing_and_resetting(hermes, acme, monkeypatch):
    """A stored key goes for good; a variable is passed over until it is reset."""
    monkeypatch.setenv("ACME_API_KEY", "k-first-1")
    hermes("auth", "add", "acme", stdin=KEY)
    removed = [hermes("auth", "remove", "acme", name, "--json").json[0] for name in ("manual-1", "ACME_API_KEY")]
    nothing = hermes("auth", "status", "acme", "--json")
    back = hermes("auth", "reset", "--json")
    assert ([row["status"] for row in removed], [row["label"] for row in removed]) == (
        ["gone", "suppressed"],
        ["manual-1", "ACME_API_KEY"],
    )
    assert (nothing.code, nothing.json["ready"], back.json[0]["status"]) == (1, False, "ok")
    assert hermes("auth", "reset").out == "nothing to do\n"


def test_a_key_that_rests_is_shown_and_reset_r18_05(hermes, acme):
    """The list says until when a key rests and why; a reset ends it."""
    row = {"id": "abc123", "label": "a", "source": "manual", "access_token": "k-a-1", "priority": 0}
    refused = {"last_status": "exhausted", "last_status_at": time.time(), "last_error_code": 402}
    acme.write("auth.json", json.dumps({"credential_pool": {"acme": [{**row, **refused}]}}))
    resting, status = hermes("auth", "list", "--json").json[0], hermes("auth", "status", "acme")
    done = hermes("auth", "reset", "acme", "a")
    assert (resting["status"], resting["until"] > "2026", resting["last_error_code"]) == ("resting", True, 402)
    assert (status.code, "hermes auth reset acme" in status.out, done.out) == (
        1,
        True,
        "acme: a (manual, abc123) used again\n",
    )
    assert hermes("auth", "status", "acme").code == 0


@pytest.mark.parametrize(
    ("config", "expected"),
    [({}, "ACME_API_KEY"), ({"credential_pool_strategies": {"acme": "round_robin"}}, "ACME_API_KEY")],
    ids=["the usual", "with a strategy"],
)
def test_the_status_says_what_a_call_would_use(hermes, acme, monkeypatch, config, expected):
    """Without a provider it is the active one's; the strategy is named."""
    acme.config({"model": {"provider": "acme", "default": "m"}, **config})
    monkeypatch.setenv("ACME_API_KEY", "k-first-1")
    shown = hermes("auth", "status", "--json").json
    assert (shown["provider"], shown["ready"], shown["uses"], shown["credentials"]) == ("acme", True, expected, 1)
    assert shown["strategy"] == config.get("credential_pool_strategies", {}).get("acme", "fill_first")


def test_logging_in(hermes, logins, home):
    """The code and the address are said on standard error; then the login is stored, and is the active provider."""
    done = hermes("auth", "login", "fake-oauth", "--json")
    (row,) = stored(home)["credential_pool"]["fake-oauth"]
    assert (done.code, "WDJB-MJHT" in done.err, "/oauth/confirm" in done.err) == (0, True, True)
    assert (done.json[0]["kind"], done.json[0]["label"], done.json[0]["status"]) == ("oauth", "login", "ok")
    assert (row["access_token"] in logins._access, stored(home)["active_provider"]) == (True, "fake-oauth")
    assert row["access_token"] not in done.out + done.err
    logins.answer("logged in")
    said = hermes("llm", "hello")
    assert (said.out, "using fake-oauth, where you logged in" in said.err) == ("logged in\n", True)


def test_logging_in_twice(hermes, logins, home):
    """Without a label the login is renewed, with another one a second account is added, and both can be named."""
    for words in ([], ["--label", "work"], []):
        assert hermes("auth", "login", "fake-oauth", *words).code == 0
    assert [row["label"] for row in hermes("auth", "list", "--json").json] == ["login", "work"]
    out = hermes("auth", "logout", "fake-oauth", "work")
    rest = [row["label"] for row in hermes("auth", "list", "--json").json]
    everything = hermes("auth", "logout", "fake-oauth")
    assert ("work" in out.out, rest, everything.code, stored(home)["active_provider"]) == (True, ["login"], 0, None)
    assert "access_token" not in (home.path / "auth.json").read_text()


def test_a_login_that_is_refused(hermes, logins, home):
    """When the user refuses, the command fails in a line, and nothing is stored."""
    logins.queue_token_response({"error": "access_denied"})
    done = hermes("auth", "login", "fake-oauth")
    assert (done.code, "access_denied" in done.err, (home.path / "auth.json").exists()) == (1, True, False)


def test_a_key_is_typed_unseen(acme):
    """At a terminal the key is asked for, and what is typed is not shown."""
    command = [sys.executable, "-m", "hermes_core.cli", "auth", "add", "acme"]
    pid, terminal = pty.fork()
    if pid == 0:
        os.execv(command[0], command)
    shown = b""
    while b"not shown" not in shown:
        shown += os.read(terminal, 4096)
    os.write(terminal, f"{KEY}\n".encode())
    while select.select([terminal], [], [], 30)[0]:
        try:
            read = os.read(terminal, 4096)
        except OSError:  # the child has ended
            break
        if not read:
            break
        shown += read
    os.close(terminal)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0, shown
    assert (KEY.encode() in shown, stored(acme)["credential_pool"]["acme"][0]["access_token"]) == (False, KEY)


def test_an_interrupted_login_ends_quietly(logins, home):
    """An interrupt while the login is waited for ends the command with 130, and nothing is stored."""
    logins.queue_token_response({"error": "authorization_pending"})
    command = [sys.executable, "-m", "hermes_core.cli", "auth", "login", "fake-oauth"]
    logins.delay = 1.0
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        process.stderr.readline()
        process.send_signal(2)
        _, err = process.communicate(timeout=30)
    assert (process.returncode, "Traceback" in err, (home.path / "auth.json").exists()) == (130, False, False)
