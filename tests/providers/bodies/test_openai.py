"""What OpenAI is sent, by key and by a ChatGPT account."""

from __future__ import annotations

import pytest

CASES = {
    "nothing said": ("gpt-5.4", {}, {}),
    "off": ("gpt-4o", {"reasoning": "none"}, {}),
    "high, with tools": ("gpt-4o", {"reasoning": "high", "tools": True}, {}),
    "an image": ("gpt-4o", {"image": True}, {}),
    "a limit": ("gpt-4o-mini", {"max_tokens": 7}, {"max_completion_tokens": 7}),
    "a temperature": ("gpt-4.1", {"temperature": 0.3}, {"temperature": 0.3}),
    "a session": ("gpt-5-mini", {"session_id": "s-1"}, {}),
}


@pytest.mark.parametrize(("model", "asked", "sent"), CASES.values(), ids=CASES)
def test_openai_has_a_name_of_its_own_for_the_limit(ask, model, asked, sent):
    """The limit goes by its newer name; nothing else is added."""
    found = ask("openai", model, **asked)
    assert (found.rest, found.url) == (sent, "https://api.openai.com/v1/chat/completions")


@pytest.mark.parametrize("model", ["gpt-5-codex", "codex-mini-latest", "gpt-5.4-pro"])
def test_codex_models_speak_responses(ask, model):
    """Models that only the Responses API has are asked there."""
    assert ask("openai", model).url == "https://api.openai.com/v1/responses"


SYSTEM = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "ping"}]


@pytest.mark.parametrize(
    ("model", "messages", "roles"),
    [
        ("gpt-5.4", SYSTEM, ["developer", "user"]),
        ("GPT-5-mini", [*SYSTEM, SYSTEM[0]], ["developer", "user", "system"]),
        ("gpt-4o", SYSTEM, None),
        ("gpt-5.4", SYSTEM[::-1], None),
        ("gpt-5.4", [], None),
        ("gpt-5.4", None, None),
    ],
)
def test_newer_models_take_a_developers_message(bundled, model, messages, roles):
    """A system message at the beginning is a developer's for GPT-5 and Codex; the conversation itself stays."""
    profile = bundled.providers.get("openai")
    _, top = profile.build_api_kwargs_extras(model=model, messages=messages, newer=1)
    assert (roles and [message["role"] for message in top["messages"]]) == (roles or top or None)
    assert SYSTEM[0]["role"] == "system"


ACCOUNT = {"store": False, "stream": True, "instructions": "You are a helpful assistant."}
CODEX = {
    "nothing said": ({}, {}),
    "off": ({"reasoning": "none"}, {}),
    "minimal": ({"reasoning": "minimal"}, {"reasoning": {"effort": "low", "summary": "auto"}}),
    "high, with tools": ({"reasoning": "high", "tools": True}, {"reasoning": {"effort": "high", "summary": "auto"}}),
    "an image": ({"image": True}, {}),
    "neither temperature nor limit": ({"temperature": 0.3, "max_tokens": 7}, {}),
    "a session": ({"session_id": "s-1"}, {}),
}


@pytest.mark.parametrize(("asked", "sent"), CODEX.values(), ids=CODEX)
def test_the_codex_backend_streams_and_takes_no_limit(ask, asked, sent):
    """It streams, keeps nothing, and is sent neither a temperature nor a limit; its client is not played."""
    found = ask("openai-codex", "gpt-5-codex", **asked)
    assert (found.rest, found.url) == ({**ACCOUNT, **sent}, "https://chatgpt.com/backend-api/codex/responses")
    assert found.headers["user-agent"].startswith("hermes-cli/")
    assert found.headers.keys() <= {"content-type", "accept", "authorization", "user-agent"}


def test_the_codex_backend_is_never_chosen_unasked(bundled):
    """A ChatGPT account's backend is asked only by name, and says why it may refuse."""
    (row,) = [row for row in bundled.providers if row.name == "openai-codex"]
    assert (row.auto_rank, "API key" in bundled.providers.get("codex").refusal_hint) == (None, True)
