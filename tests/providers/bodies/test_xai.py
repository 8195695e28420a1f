"""What xAI is sent, by key or by login."""

from __future__ import annotations

import pytest


def effort(word):
    """An effort as the Responses API has it."""
    return {"reasoning": {"effort": word, "summary": "auto"}}


CASES = {
    "nothing said": ("grok-4.3", {}, {}),
    "off": ("grok-4.3", {"reasoning": "none"}, {}),
    "minimal": ("grok-4.3", {"reasoning": "minimal"}, effort("low")),
    "low": ("grok-4.3", {"reasoning": "low"}, effort("low")),
    "high": ("x-ai/grok-4.3", {"reasoning": "high"}, effort("high")),
    "xhigh": ("grok-3-mini", {"reasoning": "xhigh"}, effort("high")),
    "max": ("grok-3-mini-fast", {"reasoning": "max"}, effort("high")),
    "ultra": ("grok-4.3", {"reasoning": "ultra"}, effort("high")),
    **{
        f"{model} takes none": (model, {"reasoning": "high"}, {})
        for model in ("grok-3", "grok-4", "grok-4-fast", "grok-code-fast-1", "grok-4.20-reasoning")
    },
    "tools": ("grok-4.3", {"reasoning": "low", "tools": True}, effort("low")),
    "an image": ("grok-4", {"image": True}, {}),
    "a temperature and a limit": (
        "grok-4", {"temperature": 0.3, "max_tokens": 70}, {"temperature": 0.3, "max_output_tokens": 70},
    ),
    "a session": ("grok-4", {"session_id": "s-1"}, {"prompt_cache_key": "s-1"}),
}  # fmt: skip


@pytest.mark.parametrize("name", ["xai", "xai-oauth"])
@pytest.mark.parametrize(("model", "asked", "sent"), CASES.values(), ids=CASES)
def test_grok_is_told_an_effort_if_it_takes_one(ask, name, model, asked, sent):
    """Models that take an effort get one of those they know, the others none; the session is the cache's key."""
    found = ask(name, model, **asked)
    assert (found.rest, found.url) == ({"store": False, **sent}, "https://api.x.ai/v1/responses")


def test_grok_speaks_chat_completions_too(ask):
    """The operator may choose the other format of this host; what the first one takes is not sent in it."""
    found = ask("xai", "grok-4.3", api_mode="chat_completions", session_id="s-1", reasoning="high")
    assert (found.rest, found.url) == ({}, "https://api.x.ai/v1/chat/completions")
