"""``hermes doctor``: what is wrong with an installation and its home, and what helps."""

import json
import os
import socket
import time

import pytest

from hermes_core.cli.checks import Finding, examine
from hermes_core.testing import FakeProvider

KEY = "sk-acme-0123456789abcdef"


@pytest.fixture
def findings(hermes, home):
    """What ``hermes doctor --json`` finds, by area; the exit code fits the levels."""

    def run(*words, offline=True):
        done = hermes("doctor", "--json", *(["--offline"] if offline else []), *words)
        found = [Finding(**finding) for finding in done.json["findings"]]
        assert done.code == int(any(finding.level == "error" for finding in found))
        assert done.err == ""
        assert KEY[3:] not in done.out
        assert {finding.level for finding in found} <= {"ok", "note", "warning", "error"}
        assert [finding for finding in found if finding.level in ("warning", "error") and not finding.remedy] == []
        return found

    return run


def told(found, area):
    """Level and message of what was found in an area."""
    return [(finding.level, finding.message) for finding in found if finding.area == area]


def test_a_fresh_installation_is_well(findings, home, monkeypatch):
    """With a key and before there is a home, nothing is broken, and what comes next is told."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    found = findings()
    assert [finding for finding in found if finding.level in ("warning", "error")] == []
    assert ("note", f"{home.path} is not there yet") in told(found, "home")


def test_every_area_is_looked_at(findings, home):
    """Nothing is left out when all is well: each area has a finding."""
    home.config({})
    areas = {finding.area for finding in findings()}
    assert areas >= {"version", "extra", "home", "config", "plugin", "memory", "model", "provider", "log"}


BROKEN = {
    "a file that is no YAML": ("config.yaml", "model: [", "error", "config", "config.yaml:2"),
    "an unknown provider": ("config.yaml", "model: {provider: opnrouter}", "error", "model", "unknown provider"),
    "a missing key": ("config.yaml", "model: {provider: openai}", "error", "model", "OPENAI_API_KEY"),
    "a plain secret": ("config.yaml", f"model: {{api_key: {KEY}}}", "warning", "config", "api_key"),
    "a fallback without a key": (
        "config.yaml", "fallback_providers: [{provider: openai, model: m}]", "warning", "model", "1 of 1 fallbacks",
    ),
    "an odd line": (".env", "A B C\n", "error", "config", ".env:1"),
    "a store that is no JSON": ("auth.json", "{", "error", "secret file", "auth.json"),
    "a plugin that fails": ("plugins/bad/__init__.py", "raise RuntimeError('no')", "error", "plugin", "bad failed"),
}  # fmt: skip


@pytest.mark.parametrize(("file", "text", "level", "area", "message"), BROKEN.values(), ids=BROKEN)
def test_what_is_broken_is_found(findings, home, file, text, level, area, message):
    """Each trouble is a finding with its level, place and remedy."""
    if file.startswith("plugins"):
        home.config({"plugins": {"enabled": ["bad"]}})
        home.plugin("bad", name="bad", provides_commands={"bad": ""})
    home.write(file, text).chmod(0o600)
    found = [finding for finding in findings() if message in finding.message]
    assert [(finding.level, finding.area) for finding in found] == [(level, area)]


@pytest.mark.parametrize("name", [".env", "auth.json"])
def test_a_secret_file_that_others_may_read_is_found(findings, home, name):
    """A file with secrets that others may read is told with the command that mends it."""
    home.write(name, f"A_API_KEY={KEY}\n" if name == ".env" else "{}").chmod(0o644)
    (found,) = [finding for finding in findings() if finding.area == "secret file"]
    assert (found.level, found.remedy) == ("warning", f"chmod 600 {home.path / name}")
    (home.path / name).chmod(0o600)
    assert told(findings(), "secret file") == [("ok", "1 readable by you alone")]


def test_what_is_wrong_with_the_memory_is_found(findings, home):
    """The findings of `hermes memory doctor` are among the others; a broken configuration is told of once."""
    home.config({"memory": {"provider": "none-such"}})
    assert [level for level, message in told(findings(), "memory") if "'none-such'" in message] == ["error"]
    home.write("config.yaml", "memory: [")
    assert [level for level, _ in told(findings(), "memory")] == ["ok"]


def test_a_home_that_everybody_may_write_is_found(findings, home):
    """Whoever may write plugins may run anything, so an open home is broken."""
    home.config({})
    home.path.chmod(0o777)
    assert ("error", f"{home.path} may be written by everybody, plugins included") in told(findings(), "home")


@pytest.mark.parametrize("mode", [0o755, 0o700], ids=["somebody may look into it", "nobody may"])
def test_a_home_that_cannot_be_written_is_found(as_nobody, mode):
    """A home of somebody else's is told as such, with exit code 1 and no traceback; each remedy is one's own."""
    first = f"""
    import contextlib, io, os
    from hermes_core.cli import main
    os.environ["HERMES_HOME"] = {str(as_nobody.folder / "home")!r}
    with contextlib.redirect_stdout(io.StringIO()):
        main(["doctor", "--offline"])  # imports what it needs, and finds no home
    os.mkdir(os.environ["HERMES_HOME"], {mode})
    """
    done = as_nobody("sys.exit(main(['doctor', '--offline']))", first=first)
    assert done.returncode == 1, done.stderr
    assert "cannot be written" in done.stdout
    assert "report it" not in done.stdout
    assert "Traceback" not in done.stderr


NEEDS = """
from hermes_core import HermesError, ProviderProfile, hookimpl

class Needy(ProviderProfile):
    def open_endpoint(self, host):
        raise AssertionError("it was started")

    def check_endpoint(self, host):
        raise {raised}

@hookimpl
def hermes_provider_profiles(ctx):
    yield ctx.declared_profile(Needy)
"""


@pytest.mark.parametrize(
    ("raised", "message", "remedy"),
    [
        ("HermesError('it lacks a library', hint='pip install it')", "it lacks a library", "pip install it"),
        ("RuntimeError('odd')", "its hook check_endpoint raised RuntimeError: odd", "hermes providers explain needy"),
    ],
    ids=["an obstacle", "a hook that breaks"],
)
def test_what_keeps_a_provider_from_running_is_found(hermes, findings, home, raised, message, remedy):
    """A provider that runs its own server says what keeps it from doing so; it is not started to find out."""
    profile = {"auth_type": "none", "fallback_models": ["m"], "auto_rank": 5}
    home.plugin("needy", NEEDS.format(raised=raised), name="needy", kind="model-provider", profile=profile)
    home.config({"model": {"provider": "needy"}})
    (found,) = [finding for finding in findings() if finding.level == "error"]
    assert message in found.message
    assert remedy in found.remedy
    assert message in hermes("model", "--json").json["problem"]


@pytest.fixture
def acme(home, monkeypatch):
    """A provider with a key, configured, at a server on this machine."""
    monkeypatch.setenv("ACME_API_KEY", KEY)
    with FakeProvider() as server:
        server.models = ["m-1", "m-2"]
        profile = {"base_url": server.base_url, "env_vars": ["ACME_API_KEY"]}
        home.plugin("acme", name="acme", kind="model-provider", profile=profile)
        home.config({"model": {"provider": "acme", "default": "m-1"}})
        yield server


def test_a_provider_that_answers_is_well(findings, acme):
    """The provider is asked with its key, and its model is looked for in its list."""
    assert ("ok", "acme answers, with 2 models") in told(findings(offline=False), "provider")
    assert acme.requests[-1].headers["authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize("main", [True, False], ids=["the active one", "another one"])
def test_a_provider_that_does_not_answer_is_found(findings, home, acme, main):
    """What keeps the active provider from answering is an error; another one's trouble is a warning."""
    if not main:
        home.config({"model": {"provider": "embedded"}})
    acme.queue_response("", status=401)
    found = told(findings(offline=False), "provider")
    assert ("error" if main else "warning", "acme: answered with HTTP 401") in found


def test_a_missing_key_is_told_once(findings, home):
    """Where no call would go for want of a key, that is one finding, and nobody is asked."""
    home.config({"model": {"provider": "openai"}})
    assert [finding.area for finding in findings(offline=False) if finding.level == "error"] == ["model"]


def test_a_model_that_is_not_listed_is_found(findings, home, acme):
    """A model that the provider does not list is told with the nearest one."""
    home.config({"model": {"provider": "acme", "default": "m-11"}})
    assert ("warning", "acme does not list the model 'm-11'; did you mean 'm-1'?") in told(
        findings(offline=False), "provider"
    )


def test_offline_nobody_is_asked(findings, acme):
    """``--offline`` opens no connection."""
    assert told(findings(), "provider") == [("note", "nobody was asked")]
    assert acme.requests == []


def test_a_network_that_swallows_everything_costs_seconds(findings, home, monkeypatch):
    """A server that accepts and never answers is given up after a few seconds."""
    monkeypatch.setenv("ACME_API_KEY", KEY)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        profile = {"base_url": f"http://127.0.0.1:{silent.getsockname()[1]}/v1", "env_vars": ["ACME_API_KEY"]}
        home.plugin("acme", name="acme", kind="model-provider", profile=profile)
        home.config({"model": {"provider": "acme", "default": "m"}})
        begun = time.monotonic()
        found = told(findings(offline=False), "provider")
    assert ("error", "acme: no answer within 4 s") in found
    assert time.monotonic() - begun < 10


def test_the_end_of_the_log_is_shown_without_secrets(hermes, findings, home):
    """The last warnings are quoted, without any key in them."""
    home.write(".env", f"ACME_API_KEY={KEY}\n").chmod(0o600)
    home.write("logs/errors.log", "".join(f"2026-01-01 10:00:0{n} WARNING hermes: no {n} {KEY}\n" for n in range(9)))
    done = hermes("doctor", "--json", "--offline")
    assert len(done.json["log"]) == 5
    assert "no 8" in done.json["log"][-1]
    assert KEY[3:] not in done.out
    assert told(findings(), "log")[0][0] == "note"


def test_a_person_reads_a_line_each_and_the_remedies(hermes, home):
    """Without ``--json``, each finding is a line, with its remedy below, and the sum comes last."""
    home.config({"model": {"provider": "openai"}})
    done = hermes("doctor", "--offline")
    lines = done.out.splitlines()
    at = next(number for number, line in enumerate(lines) if line.startswith("error"))
    assert "OPENAI_API_KEY" in lines[at]
    assert lines[at + 1].startswith("         set OPENAI_API_KEY")
    assert (done.code, lines[-1]) == (1, "1 broken, 0 to look at")


def test_a_check_that_breaks_is_a_finding(load_host, home):
    """A check that raises is told, and hides none of the others."""
    home.config({})
    host = load_host()

    class Odd:
        def __getattr__(self, name):
            if name == "plugins":
                raise RuntimeError("odd")
            return getattr(host, name)

    found = examine(Odd(), offline=True)
    assert ("error", "this could not be looked at: RuntimeError: odd") in told(found, "plugin")
    assert told(found, "log") == [("ok", "no warning was logged")]


def test_nothing_is_written(hermes, home, monkeypatch):
    """Looking changes nothing that the user wrote, and makes no configuration."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    assert hermes("doctor", "--offline").code == 0
    assert not [path for path in home.path.rglob("*") if path.is_file() and "cache" not in path.parts]
    assert json.loads(hermes("doctor", "--offline", "--json").out)["log"] == []
    assert not os.path.exists(home.path / "config.yaml")
