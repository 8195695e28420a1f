"""What GitHub Copilot is sent."""

from __future__ import annotations

import pytest

from hermes_core import MissingCredentialError

O_SERIES, MINI = "o4-mini", "gpt-5-mini"
LEVELS = {
    "nothing said": (O_SERIES, None, None),
    "off": (O_SERIES, "none", "medium"),
    **{word: (O_SERIES, word, word) for word in ("low", "medium", "high")},
    "minimal is low": (O_SERIES, "minimal", "low"),
    "xhigh is high": (O_SERIES, "xhigh", "high"),
    "no effort is medium": (O_SERIES, {"enabled": True, "effort": ""}, "medium"),
    "a newer one has minimal": (MINI, "minimal", "minimal"),
    "but no xhigh": (MINI, "xhigh", "high"),
    "a model without efforts": ("claude-sonnet-4.5", "high", None),
    "another": ("gpt-4o", "high", None),
}


@pytest.mark.parametrize(("model", "reasoning", "effort"), LEVELS.values(), ids=LEVELS)
def test_an_effort_is_one_that_the_model_takes(ask, model, reasoning, effort):
    """``reasoning.effort``, the nearest that there is, and nothing for models that take none."""
    assert ask("copilot", model, reasoning=reasoning).rest == ({"reasoning": {"effort": effort}} if effort else {})


def test_a_hook_that_is_told_no_effort_asks_for_the_usual_one(bundled):
    """A caller that knows of reasoning but says nothing of it gets medium."""
    extras = bundled.providers.get("github").build_api_kwargs_extras
    medium = {"reasoning": {"effort": "medium"}}
    assert extras(reasoning_config=None, supports_reasoning=True, model=O_SERIES) == (medium, {})
    assert extras(reasoning_config=None, supports_reasoning=False, model=O_SERIES) == ({}, {})
    assert extras(reasoning_config="odd", supports_reasoning=True, model=O_SERIES) == (medium, {})


WIRES = {
    "gpt-5.4": "responses",
    "gpt-5": "responses",
    "gpt-6-codex": "responses",
    "gpt-10": "responses",
    "gpt-5-mini": "chat/completions",
    "gpt-5-mini-2026": "chat/completions",
    "gpt-4.1": "chat/completions",
    "o4-mini": "chat/completions",
    "claude-sonnet-4.5": "chat/completions",
}


@pytest.mark.parametrize(("model", "path"), WIRES.items(), ids=WIRES)
def test_the_model_says_the_format(ask, model, path):
    """GPT from 5 on speaks the Responses API, but for the small one; all others chat completions."""
    assert ask("copilot", model).url == f"https://api.githubcopilot.com/{path}"


def test_an_effort_reaches_the_responses_api_too(ask):
    """There, too, it is one that the model takes."""
    assert ask("copilot", "gpt-5.4", reasoning="xhigh").body["reasoning"] == {"effort": "high"}


@pytest.mark.parametrize(
    ("asked", "headers"),
    [
        ({}, {"x-initiator": "user"}),
        ({"image": True}, {"x-initiator": "user", "copilot-vision-request": "true"}),
        ({"tools": True}, {"x-initiator": "agent"}),
    ],
    ids=["words", "an image", "tools"],
)
def test_headers_say_what_a_request_is(ask, asked, headers):
    """Who speaks last, and whether there is an image; no header says that an editor asks."""
    sent = ask("copilot", "gpt-4o", **asked).headers
    told = {name: value for name, value in sent.items() if name.startswith(("x-", "copilot", "editor", "openai"))}
    assert (told, sent["user-agent"].startswith("hermes-cli/")) == (headers, True)


def test_the_limit_has_its_newer_name(ask):
    """The output limit is ``max_completion_tokens`` for every model, and a temperature goes along."""
    assert ask("copilot", "claude-sonnet-4.5", max_tokens=7, temperature=0.3).rest == {
        "max_completion_tokens": 7,
        "temperature": 0.3,
    }


def test_a_classic_token_is_refused_before_it_is_sent(ask):
    """A ``ghp_`` token is an error that says which one to use, and does not show it."""
    with pytest.raises(MissingCredentialError, match="no classic personal access token") as raised:
        ask("copilot", "gpt-4o", api_key="ghp_1234567890")
    assert "1234567890" not in str(raised.value)
    assert "COPILOT_GITHUB_TOKEN" in raised.value.hint
