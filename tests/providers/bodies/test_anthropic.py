"""What Anthropic is sent."""

from __future__ import annotations

import pytest

from hermes_core.errors import ProviderHookError

SONNET, OPUS, HAIKU = "claude-sonnet-4-5-20250929", "claude-opus-4-7", "claude-haiku-4-5-20251001"
CASES = {
    "nothing said": (SONNET, {}, {"max_tokens": 64000}),
    "off": (SONNET, {"reasoning": "none"}, {"max_tokens": 64000}),
    "low": (
        SONNET,
        {"reasoning": "low"},
        {"max_tokens": 64000, "temperature": 1, "thinking": {"type": "enabled", "budget_tokens": 4000}},
    ),
    "high, with a small limit": (
        SONNET,
        {"reasoning": "high", "max_tokens": 7},
        {"max_tokens": 20096, "temperature": 1, "thinking": {"type": "enabled", "budget_tokens": 16000}},
    ),
    "a newer one, high": (
        OPUS,
        {"reasoning": "high"},
        {"max_tokens": 128000, "thinking": {"type": "adaptive"}, "output_config": {"effort": "high"}},
    ),
    "haiku does not think": (HAIKU, {"reasoning": "high"}, {"max_tokens": 64000}),
    "a temperature": (SONNET, {"temperature": 0.3}, {"max_tokens": 64000, "temperature": 0.3}),
    "a newer one takes none": (OPUS, {"temperature": 0.3}, {"max_tokens": 128000}),
    "a session": (SONNET, {"session_id": "s-1"}, {"max_tokens": 64000}),
    "an image": (SONNET, {"image": True}, {"max_tokens": 64000}),
    "tools": (
        SONNET,
        {"tools": True},
        {
            "max_tokens": 64000,
            "tools": [{"name": "look", "input_schema": {"type": "object"}}],
            "tool_choice": {"type": "none"},
        },
    ),
}


@pytest.mark.parametrize(("model", "asked", "sent"), CASES.values(), ids=CASES)
def test_claude_is_sent_what_its_version_takes(ask, model, asked, sent):
    """A limit always; thinking, and a temperature, as the version takes them."""
    assert ask("anthropic", model, **asked).rest == sent


def test_a_key_of_the_console_is_no_bearer_token(ask):
    """The key goes into its own header, with the version of the API."""
    request = ask("claude", HAIKU, api_key="sk-ant-api03-1")
    assert request.url == "https://api.anthropic.com/v1/messages"
    assert (request.headers["x-api-key"], request.headers["anthropic-version"]) == ("sk-ant-api03-1", "2023-06-01")


PLACES = {
    "https://api.anthropic.com/v1": True,
    "https://eu.api.anthropic.com": True,
    "https://acme.services.ai.azure.com/anthropic": True,
    "https://llm.acme.test/anthropic": True,
    "https://llm.acme.test/anthropic/v1/": True,
    "https://api.kimi.com/coding": True,
    "http://127.0.0.1:8080": True,
    "https://openrouter.ai/api/v1": False,
    "https://api.anthropic.com.evil.test": False,
    "https://api.kimi.com/codings": False,
}


@pytest.mark.parametrize(("base_url", "speaks"), PLACES.items(), ids=PLACES)
def test_only_an_address_that_speaks_its_format_gets_its_key(ask, base_url, speaks):
    """An address left over from another provider is an error that says so; nothing is sent."""
    if speaks:
        assert ask("anthropic", HAIKU, base_url=base_url).url.startswith(base_url.rstrip("/").removesuffix("/v1"))
    else:
        with pytest.raises(ProviderHookError, match="not known to speak the Messages API") as raised:
            ask("anthropic", HAIKU, base_url=base_url)
        assert "unset base_url" in raised.value.hint
