"""``hermes models``: the lists, and where each came from."""

import pytest

from hermes_core.testing import FakeProvider


@pytest.fixture
def several(home):
    """Three providers of one's own: one that answers, one that refuses, one that is not there."""
    with FakeProvider() as good, FakeProvider() as bad:
        good.models = ["b", "a"]
        for _ in range(9):
            bad.queue_response("", status=500)
        home.config(
            {
                "model": {"provider": "good"},
                "providers": {
                    "good": {"base_url": good.base_url, "models": ["best"]},
                    "bad": {"base_url": bad.base_url},
                    "gone": {"base_url": "http://127.0.0.1:1/v1"},
                },
            }
        )
        yield good


def test_every_provider_that_would_answer_is_summed_up_r26_13(hermes, several):
    """Each is a row that says where its list came from; a broken one costs the others nothing."""
    rows = {row["provider"]: row for row in hermes("models").rows}
    assert {name: (row["count"], row["from"], row["first"]) for name, row in rows.items()} == {
        "custom:good": ("3", "asked just now", "best, b, a"),
        "custom:bad": ("0", "no list", ""),
        "custom:gone": ("0", "no list", ""),
        "embedded": ("1", "recommended by its profile", "SmolLM2-135M-Instruct"),
    }
    assert [rows[name]["reason"] for name in ("custom:bad", "custom:gone")] == [
        "answered with HTTP 500", "cannot connect to 127.0.0.1",
    ]  # fmt: skip


def test_one_provider_is_a_model_a_line(hermes, several):
    """A provider's models come one a line, so that they can be searched; where they came from goes beside them."""
    done = hermes("models", "good")
    assert (done.code, done.out) == (0, "best\nb\na\n")
    assert done.err == "custom:good: 3 models, asked just now\n"
    assert hermes("models", "good").err.startswith("custom:good: 3 models, asked ")
    assert len(several.requests) == 1


def test_refresh_asks_anew(hermes, several):
    """``--refresh`` passes the kept list over."""
    hermes("models", "good")
    assert hermes("models", "good", "--refresh").err.endswith("asked just now\n")
    assert len(several.requests) == 2


def test_json_holds_every_model(hermes, several):
    """``--json`` is one value: a list of lists, or one."""
    found = {row["provider"]: row for row in hermes("models", "--json").json}
    one = hermes("models", "good", "--json").json
    assert (found["custom:good"]["models"], found["custom:good"]["source"]) == (["best", "b", "a"], "live")
    assert (one["models"], one["source"], one["provider"]) == (["best", "b", "a"], "cache", "custom:good")


def test_all_shows_who_would_not_answer(hermes, several):
    """``--all`` adds the others, which are not asked, and why."""
    rows = {row["provider"]: row for row in hermes("models", "--all").rows}
    assert rows["openai"]["from"] == "recommended by its profile"
    assert "OPENAI_API_KEY" in rows["openai"]["reason"]


def test_no_list_is_code_1(hermes, several):
    """A named provider without any model ends with 1, and says why."""
    done = hermes("models", "bad")
    assert (done.code, done.out) == (1, "")
    assert done.err == "custom:bad: 0 models, no list: answered with HTTP 500\n"


def test_an_unknown_provider_is_an_error(hermes, home):
    """A name that leads nowhere is an error with the nearest one."""
    done = hermes("models", "opnrouter")
    assert done.code == 1
    assert "did you mean 'openrouter'" in done.err


def test_no_secret_is_shown(hermes, home):
    """A login in an address is in no output."""
    home.config({"providers": {"own": {"base_url": "http://ann:pass-word-1@127.0.0.1:1/v1"}}})
    outputs = [hermes(*words) for words in (["models"], ["models", "--json"], ["models", "own"])]
    assert "pass-word-1" not in "".join(done.out + done.err for done in outputs)


def test_a_terminal_shows_what_is_going_on(terminal, several):
    """On a terminal, a bar counts the answers, and the table stands there in the end."""
    shown = terminal("models", columns=160)
    assert shown.code == 0
    assert "asking providers" in shown.text
    assert "custom:good" in shown.text


def test_a_pipe_shows_no_bar(shell, several):
    """In a pipe there are rows alone."""
    done = shell("models")
    assert (done.code, done.err, "\x1b" in done.out) == (0, "", False)
