"""What OpenRouter is sent."""

from __future__ import annotations

import pytest

PRICE = {"usage": {"include": True}}
PARETO = "openrouter/pareto-code"


def thinks(effort, enabled=True):
    """A reasoning config."""
    return {"reasoning": {"enabled": enabled, "effort": effort}}


CASES = {
    "nothing said": ("openai/gpt-5.4", {}, {}),
    "off": ("openai/gpt-5.4", {"reasoning": "none"}, thinks("none", enabled=False)),
    "low": ("openai/gpt-5.4", {"reasoning": "low"}, thinks("low")),
    "high": ("openai/gpt-5.4", {"reasoning": "high"}, thinks("high")),
    "tools": ("deepseek/deepseek-chat", {"reasoning": "low", "tools": True}, thinks("low")),
    "an image": ("openai/gpt-5.4", {"image": True}, {}),
    "Claude, off": ("anthropic/claude-sonnet-4.6", {"reasoning": "none"}, {}),
    "Claude, low": ("anthropic/claude-sonnet-4.6", {"reasoning": "low"}, {"verbosity": "low"}),
    "Claude, high, with tools": (
        "anthropic/claude-opus-4.7", {"reasoning": "high", "tools": True}, {"verbosity": "high"},
    ),
    "an older Claude": ("anthropic/claude-sonnet-4.5", {"reasoning": "high"}, thinks("high")),
    "a limit": ("qwen/qwen3-plus", {"max_tokens": 7}, {"max_tokens": 7}),
    "a limit, and OpenAI's name for it": ("openai/gpt-5.4", {"max_tokens": 7}, {"max_completion_tokens": 7}),
    "a temperature": ("openai/gpt-5.4", {"temperature": 0.3}, {"temperature": 0.3}),
    "a session": ("openai/gpt-5.4", {"session_id": "s-1"}, {"session_id": "s-1"}),
}  # fmt: skip


@pytest.mark.parametrize(("model", "asked", "sent"), CASES.values(), ids=CASES)
def test_openrouter_is_told_how_to_reason(ask, model, asked, sent):
    """A copy of the reasoning config, a verbosity for Claudes that always reason, and the price is asked for."""
    assert ask("openrouter", model, **asked).rest == {**PRICE, **sent}


@pytest.mark.parametrize(
    ("model", "session", "value"),
    [
        ("x-ai/grok-4.3", "s-1", "s-1"),
        ("XAI/Grok-4", "s-1", "s-1"),
        ("x-ai/grok-4.3", None, None),
        ("openai/gpt-5.4", "s-1", None),
        ("me/x-ai/grok-4", "s-1", None),
    ],
)
@pytest.mark.parametrize("effort", [None, "low"])
def test_grok_keeps_a_conversation_at_one_place(ask, model, session, value, effort):
    """For Grok the session is a header too, whatever is said of reasoning; no other model gets one."""
    asked = ask("openrouter", model, session_id=session, reasoning=effort)
    assert (asked.headers.get("x-grok-conv-id"), asked.headers["x-title"]) == (value, "hermes_core")
    assert "extra_headers" not in asked.body


SETTINGS = {
    "nothing configured": ({}, 0.65, (None, None)),
    "a score": ({"min_coding_score": 0.9}, 0.9, (None, None)),
    "no score": ({"min_coding_score": "high"}, None, (None, None)),
    "a cache": ({"response_cache": True}, 0.65, ("true", None)),
    "a cache for a while": ({"response_cache": True, "response_cache_ttl": 60}, 0.65, ("true", "60")),
    "a cache for ever": ({"response_cache": True, "response_cache_ttl": 10**9}, 0.65, ("true", "86400")),
    "no cache": ({"response_cache": False, "response_cache_ttl": 60}, 0.65, (None, None)),
}


@pytest.mark.parametrize(("settings", "score", "cache"), SETTINGS.values(), ids=SETTINGS)
def test_openrouter_does_as_its_section_says(ask, settings, score, cache):
    """The section ``openrouter`` of the configuration sets the score of one model, and the cache of answers."""
    asked = ask("openrouter", PARETO, settings=settings)
    plugins = [] if score is None else [{"id": "pareto-router", "min_coding_score": score}]
    assert asked.rest.get("plugins", []) == plugins
    assert tuple(asked.headers.get(name) for name in ("x-openrouter-cache", "x-openrouter-cache-ttl")) == cache
    assert "plugins" not in ask("openrouter", "openai/gpt-5.4", settings=settings).rest
