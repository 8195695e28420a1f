"""What Kimi is sent."""

from __future__ import annotations

import pytest

THINKS, SILENT = {"thinking": {"type": "enabled"}}, {"thinking": {"type": "disabled"}}
CASES = {
    "nothing said": ({}, THINKS),
    "off": ({"reasoning": "none"}, SILENT),
    "minimal": ({"reasoning": "minimal"}, THINKS),
    "low": ({"reasoning": "low"}, {"reasoning_effort": "low"}),
    "medium": ({"reasoning": "medium"}, {"reasoning_effort": "medium"}),
    "high": ({"reasoning": "high"}, {"reasoning_effort": "high"}),
    "xhigh": ({"reasoning": "xhigh"}, THINKS),
    "tools": ({"reasoning": "low", "tools": True}, {"reasoning_effort": "low"}),
    "a temperature is never sent": ({"temperature": 0.3}, THINKS),
    "a session is none of its business": ({"session_id": "s-1"}, THINKS),
    "a limit": ({"max_tokens": 7}, {**THINKS, "max_tokens": 7}),
}


@pytest.mark.parametrize("name", ["kimi-coding", "kimi-coding-cn"])
@pytest.mark.parametrize(("asked", "sent"), CASES.values(), ids=CASES)
def test_kimi_takes_a_switch_or_an_effort(ask, name, asked, sent):
    """A thinking switch or an effort, never both; a limit always; a temperature never."""
    assert ask(name, "kimi-k2.5", **asked).rest == {"max_tokens": 32000, **sent}


PLACES = {
    "a key of the platform": ({}, "https://api.moonshot.ai/v1/chat/completions"),
    "one of the coding plan": ({"api_key": "sk-kimi-1"}, "https://api.kimi.com/coding/v1/messages"),
    "the operator's address stays": (
        {"api_key": "sk-kimi-1", "base_url": "https://kimi.acme.test/v1"},
        "https://kimi.acme.test/v1/chat/completions",
    ),
    "the coding endpoint speaks one format": (
        {"base_url": "https://api.kimi.com/coding/v1", "api_mode": "chat_completions"},
        "https://api.kimi.com/coding/v1/messages",
    ),
}


@pytest.mark.parametrize(("asked", "url"), PLACES.values(), ids=PLACES)
def test_a_key_of_the_coding_plan_goes_to_its_own_place(ask, asked, url):
    """``sk-kimi-`` keys go to api.kimi.com, in Anthropic's format, unless the operator says where."""
    assert ask("kimi", "kimi-k2.5", **asked).url == url
