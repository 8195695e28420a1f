"""``hermes setup``: from nothing to a first answer."""

import pytest
import yaml

from hermes_core.testing import FakeProvider
from hermes_core.testing.fake_provider import Reply

KEY = "sk-acme-0123456789abcdef"


@pytest.fixture
def server():
    """A provider's server with two models, which answers ``Hello!``."""
    with FakeProvider() as running:
        running.models = ["m-1", "m-2"]
        running.answer("Hello!")
        yield running


@pytest.fixture
def acme(home, server):
    """A provider with a key variable, at that server."""
    profile = {"base_url": server.base_url, "env_vars": ["ACME_API_KEY"], "fallback_models": ["best"]}
    home.plugin("acme", name="acme", kind="model-provider", profile=profile)
    return server


@pytest.fixture
def local(home, server):
    """A provider that is a server on this machine."""
    profile = {"base_url": server.base_url, "is_local": True, "auto_rank": None}
    home.plugin("shed", name="shed", kind="model-provider", profile=profile)
    return server


def config(home):
    """What the configuration says now."""
    return yaml.safe_load((home.path / "config.yaml").read_text())


def files(home):
    """What a person's choice would be written to."""
    return [path.name for path in home.path.glob("*") if path.name in ("config.yaml", ".env")]


@pytest.mark.parametrize("where", ["environment", ".env"])
def test_a_key_is_found_tried_out_and_used(hermes, home, acme, monkeypatch, where):
    """A key in the environment or in .env leads to its provider, which answers a question before it is written."""
    if where == ".env":
        home.write(".env", f"ACME_API_KEY={KEY}\n")
    else:
        monkeypatch.setenv("ACME_API_KEY", KEY)
    done = hermes("setup", "--yes")
    assert done.code == 0
    assert "found acme: there is a key: env:ACME_API_KEY" in done.out
    assert "it answered within" in done.out
    assert ": Hello!" in done.out
    assert config(home)["model"] == {"provider": "acme", "default": "best"}
    assert f"wrote {home.path / 'config.yaml'}:" in done.out
    asked = acme.requests[-1]
    assert (asked.headers["authorization"], asked.body["model"]) == (f"Bearer {KEY}", "best")
    assert KEY[3:] not in done.out + done.err


def test_a_server_on_this_machine_is_found(hermes, home, local):
    """A server that listens where a profile says is offered with its address, and used before the embedded model."""
    done = hermes("setup", "--yes")
    assert f"found shed: a server listens at {local.base_url}" in done.out
    assert config(home)["model"] == {"provider": "shed", "default": "m-1"}


def test_the_embedded_model_is_offered_when_there_is_nothing_else(hermes, home):
    """With no key and no server, the model that needs none is the choice."""
    done = hermes("setup", "--yes", "--no-test")
    assert done.code == 0
    assert config(home)["model"]["provider"] == "embedded"


def test_what_is_configured_stays(hermes, home, acme, local, monkeypatch):
    """What is configured already is tried out, and stays with its model and address."""
    monkeypatch.setenv("ACME_API_KEY", KEY)
    before = {"provider": "custom", "default": "mine", "base_url": acme.base_url}
    home.config({"model": before})
    done = hermes("setup", "--yes")
    assert "found custom: it is configured" in done.out
    assert config(home)["model"] == before
    assert acme.requests[-1].body["model"] == "mine"


def test_nothing_is_asked_for_a_file_that_cannot_be_written(hermes, home, server):
    """With a broken configuration no model is asked: the choice could not be kept."""
    home.write("config.yaml", "model: [")
    done = hermes("setup", "--base-url", server.base_url, "--model", "m-1")
    assert (done.code, server.requests) == (1, [])
    assert f"cannot read {home.path / 'config.yaml'}" in done.err


def test_one_may_name_everything(hermes, home, server):
    """``--provider``, ``--model``, ``--base-url`` and a piped key choose without a question."""
    words = ["--provider", "custom", "--model", "m-2", "--base-url", server.base_url, "--key-stdin"]
    done = hermes("setup", *words, stdin=KEY)
    assert done.code == 0
    variable = config(home)["model"].pop("key_env")
    assert config(home)["model"] == {
        "provider": "custom", "default": "m-2", "base_url": server.base_url, "key_env": variable,
    }  # fmt: skip
    assert (home.path / ".env").read_text() == f"{variable}={KEY}\n"
    assert server.requests[-1].headers["authorization"] == f"Bearer {KEY}"


def test_the_only_model_of_a_server_needs_no_name(hermes, home, server):
    """A server that lists one model is asked for that; one that lists several asks which."""
    done = hermes("setup", "--base-url", server.base_url)
    assert (done.code, files(home)) == (1, [])
    assert "it lists m-1, m-2" in done.err
    server.models = ["only"]
    assert hermes("setup", "--base-url", server.base_url).code == 0
    assert config(home)["model"]["default"] == "only"


class Refusing(FakeProvider):
    """A provider that lists its models, and answers no call."""

    def next_response(self, request):
        return super().next_response(request) if request.method == "GET" else Reply(401, {}, {"error": "no"})


def test_a_choice_that_does_not_answer_is_not_written(hermes, home):
    """When the question fails, the reason is told, the exit code is 1, and nothing is written, not the key either."""
    with Refusing() as server:
        words = ["--base-url", server.base_url, "--model", "m", "--key-stdin"]
        done = hermes("setup", *words, stdin=KEY)
        assert (done.code, files(home)) == (1, [])
        assert "nothing was written" in done.err
        assert "401" in done.err
        assert hermes("setup", *words, "--no-test", stdin=KEY).code == 0
        assert files(home) != []


def test_no_other_provider_answers_in_its_place(hermes, home, server):
    """The question goes to the choice alone, whatever fallbacks and side tasks are configured."""
    with Refusing() as refusing:
        other = {"provider": "custom", "base_url": server.base_url, "model": "x"}
        home.config({"fallback_providers": [other], "auxiliary": {"plugin": other}})
        done = hermes("setup", "--base-url", refusing.base_url, "--model", "m")
    assert done.code == 1
    assert [request for request in server.requests if request.method == "POST"] == []


def test_headers_of_the_former_endpoint_are_not_sent_on(hermes, home, server):
    """What belonged to the former endpoint is not sent to the new one while it is tried out."""
    home.config({"model": {"provider": "custom", "base_url": "http://127.0.0.1:1/v1", "api_key": "k-old-12345",
                           "extra_headers": {"X-Old": "h-old-12345"}}})  # fmt: skip
    hermes("setup", "--base-url", server.base_url, "--model", "m")
    assert not [request for request in server.requests if "old-12345" in str(request.headers)]


def test_json_is_one_value(hermes, home, acme, monkeypatch):
    """``--json`` asks nothing, and prints what was found, what answered and what was written."""
    monkeypatch.setenv("ACME_API_KEY", KEY)
    shown = hermes("setup", "--json").json
    assert (shown["provider"], shown["model"], shown["answer"]) == ("acme", "best", "Hello!")
    assert shown["set"] == {"model.provider": "acme", "model.default": "best"}
    assert [row["provider"] for row in shown["found"]] == ["acme", "embedded"]


def test_without_a_terminal_somebody_must_choose(hermes, home):
    """In a pipe, without ``--yes`` or a name, nothing is guessed."""
    done = hermes("setup")
    assert (done.code, files(home)) == (1, [])
    assert "--yes" in done.err


def test_a_person_is_led_to_the_first_answer(terminal, home, acme, tmp_path):
    """What was found is offered; the choice is tried out, its answer shown, and then written."""
    (tmp_path / "questionary.py").write_text("raise ImportError")
    answers = [("Who shall answer?", "acme\n"), ("Model:", "m-2\n")]
    done = terminal("setup", answers=answers, PYTHONPATH=str(tmp_path), ACME_API_KEY=KEY)
    assert done.code == 0, done.text
    assert "found acme: there is a key: env:ACME_API_KEY" in done.text
    assert ": Hello!" in done.text
    assert config(home)["model"] == {"provider": "acme", "default": "m-2"}
    assert KEY[3:] not in done.raw


@pytest.mark.parametrize("typed", ["\n", "n\n", "\x03"], ids=["enter", "no", "interrupted"])
def test_a_person_may_drop_what_does_not_answer(terminal, home, tmp_path, typed):
    """After a failure, the choice is written only when one says so."""
    (tmp_path / "questionary.py").write_text("raise ImportError")
    with Refusing() as server:
        profile = {"base_url": server.base_url, "is_local": True}
        home.plugin("shed", name="shed", kind="model-provider", profile=profile)
        answers = [("Who shall answer?", "shed\n"), ("Model:", "1\n"), ("all the same?", typed)]
        done = terminal("setup", answers=answers, PYTHONPATH=str(tmp_path))
    assert done.code in (1, 130)
    assert "nothing was written" in done.text
    assert files(home) == []


class Slow(FakeProvider):
    """A provider that lists its models, and thinks about a call for long."""

    def next_response(self, request):
        reply = super().next_response(request)
        return reply if request.method == "GET" else reply._replace(delay=5.0)


def test_a_person_may_call_the_question_off(terminal, home, tmp_path):
    """Ctrl-C while the model is asked ends at once, and nothing is written."""
    (tmp_path / "questionary.py").write_text("raise ImportError")
    with Slow() as server:
        profile = {"base_url": server.base_url, "is_local": True}
        home.plugin("shed", name="shed", kind="model-provider", profile=profile)
        answers = [("Who shall answer?", "shed\n"), ("Model:", "1\n"), ("asking shed / fake-model", "\x03")]
        done = terminal("setup", answers=answers, PYTHONPATH=str(tmp_path))
    assert done.code in (130, -2)  # a shell shows 130 for both; Python ends by the signal when it cuts off an exec()
    assert files(home) == []
    assert "nothing was written" in done.text
    assert "Traceback" not in done.text
