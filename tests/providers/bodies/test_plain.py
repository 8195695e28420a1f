"""What providers without ways of their own are sent: a plain request."""

from __future__ import annotations

import pytest

PLAIN = (
    "novita", "stepfun", "togetherai", "perplexity", "cohere", "nebius", "hyperbolic", "siliconflow", "baseten",
    "vercel-ai-gateway", "github-models-api",
)  # fmt: skip
STRICT = ("groq", "mistral", "cerebras", "sambanova")
CASES = {
    "nothing said": ({}, {}),
    "off": ({"reasoning": "none"}, {}),
    "low": ({"reasoning": "low"}, {}),
    "high, with tools": ({"reasoning": "high", "tools": True}, {}),
    "an image": ({"image": True}, {}),
    "a temperature and a limit": ({"temperature": 0.3, "max_tokens": 7}, {"temperature": 0.3, "max_tokens": 7}),
    "a session": ({"session_id": "s-1"}, {}),
}


@pytest.mark.parametrize("name", [*PLAIN, *STRICT])
@pytest.mark.parametrize(("asked", "sent"), CASES.values(), ids=CASES)
def test_a_plain_provider_gets_a_plain_request(bundled, ask, name, asked, sent):
    """Model, messages and what the caller gave; nothing of the host's own."""
    found = ask(name, "some/model-1", **asked)
    assert (found.rest, found.body["model"]) == (sent, "some/model-1")
    assert found.url == f"{bundled.providers.get(name).base_url}/chat/completions"


@pytest.mark.parametrize(("names", "kept"), [(STRICT, False), (PLAIN, True)], ids=["strict", "lenient"])
def test_a_strict_provider_gets_known_fields_alone(ask, names, kept):
    """Fields of a message that only some servers know are left out for those that refuse them."""
    for name in names:
        _, said, seen = ask(name, "m", tools=True).body["messages"]
        assert (name, "reasoning_content" in said, "call_id" in said["tool_calls"][0]) == (name, kept, kept)
        assert (said["tool_calls"][0]["function"]["name"], seen["tool_call_id"]) == ("look", "c1")
