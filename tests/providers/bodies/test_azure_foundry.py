"""What Azure Foundry is sent."""

from __future__ import annotations

import pytest

BASE = "https://acme.openai.azure.com/openai/v1"
WIRES = {
    **dict.fromkeys(("codex-mini", "gpt-5.4", "o1", "o3-mini", "openai/o4-mini", "GPT-5"), "responses"),
    **dict.fromkeys(("gpt-4o", "gpt-4.1", "Phi-4", "gpt-oss-120b", "my-o1-copy"), "chat/completions"),
}


@pytest.mark.parametrize(("model", "path"), WIRES.items(), ids=WIRES)
def test_the_model_says_the_format(ask, model, path):
    """Names that begin like newer OpenAI models speak the Responses API."""
    assert ask("azure", model, base_url=BASE).url == f"{BASE}/{path}"


def test_the_operator_says_it_first(ask):
    """A format that the operator demands counts for every model."""
    assert ask("azure", "gpt-5.4", base_url=BASE, api_mode="chat_completions").url == f"{BASE}/chat/completions"


@pytest.mark.parametrize("model", ["claude-sonnet-4-5", "gpt-5.4"])
def test_an_anthropic_path_speaks_that_format(ask, model):
    """Its version is said in the query, and the key is a bearer token."""
    request = ask("azure", model, base_url="https://acme.services.ai.azure.com/anthropic/v1")
    assert request.url == "https://acme.services.ai.azure.com/anthropic/v1/messages?api-version=2025-04-15"
    assert request.headers["authorization"] == "Bearer k-test-1"


def test_a_query_stays_at_the_end(ask):
    """What the address asks for goes with every request."""
    url = ask("azure", "gpt-4o", base_url=f"{BASE}?api-version=preview").url
    assert url == f"{BASE}/chat/completions?api-version=preview"


CASES = {
    "words": ({}, {}),
    "a limit": ({"max_tokens": 7, "temperature": 0.3}, {"max_completion_tokens": 7, "temperature": 0.3}),
    **{word: ({"reasoning": word}, {}) for word in ("none", "low", "high")},
    "tools": ({"tools": True}, {}),
    "an image": ({"image": True}, {}),
    "a session": ({"session_id": "s-1"}, {}),
}


@pytest.mark.parametrize(("asked", "sent"), CASES.values(), ids=CASES)
def test_a_chat_is_sent_what_was_asked(ask, asked, sent):
    """The limit has the name that newer models take."""
    assert ask("azure", "gpt-4o", base_url=BASE, **asked).rest == sent
