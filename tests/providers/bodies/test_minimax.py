"""What MiniMax is sent."""

from __future__ import annotations

import pytest

OPENAI = "https://api.minimax.io/v1"
SPLIT = {"reasoning_split": True}
CASES = {
    "nothing said": ({}, SPLIT),
    "off": ({"reasoning": "none"}, {**SPLIT, "thinking": {"type": "disabled"}}),
    **{
        word: ({"reasoning": word}, {**SPLIT, "thinking": {"type": "adaptive"}})
        for word in ("minimal", "low", "high", "xhigh")
    },
    "tools": ({"tools": True}, SPLIT),
    "an image": ({"image": True}, SPLIT),
    "the rest": (
        {"temperature": 0.3, "max_tokens": 7, "session_id": "s-1"},
        {**SPLIT, "temperature": 0.3, "max_tokens": 7},
    ),
}


@pytest.mark.parametrize("model", ["MiniMax-M3", "minimax/minimax-m3"])
@pytest.mark.parametrize(("asked", "sent"), CASES.values(), ids=CASES)
def test_the_openai_surface_splits_reasoning_off(ask, model, asked, sent):
    """The newest model gives its reasoning apart, and is told whether to think."""
    assert ask("minimax", model, base_url=OPENAI, **asked).rest == sent


ELSEWHERE = {
    "another model": ("minimax", "MiniMax-M2.7", OPENAI),
    "the mainland": ("minimax-cn", "MiniMax-M3", "https://api.minimaxi.com/v1"),
    "a proxy": ("minimax", "MiniMax-M3", "https://minimax.acme.test/v1"),
    "a host that only looks like it": ("minimax", "MiniMax-M3", "https://api.minimax.io.evil.test/v1"),
}


@pytest.mark.parametrize(("name", "model", "base_url"), ELSEWHERE.values(), ids=ELSEWHERE)
def test_nobody_else_is_told_to(ask, name, model, base_url):
    """Other models, and other addresses, are sent no field of that kind."""
    assert ask(name, model, base_url=base_url, reasoning="high").rest == {}


PLACES = {
    "its own": ({}, "https://api.minimax.io/anthropic/v1/messages"),
    "the other surface": ({"base_url": f"{OPENAI}/"}, f"{OPENAI}/chat/completions"),
    "in capitals": ({"base_url": "https://API.minimax.io/V1"}, "https://API.minimax.io/V1/chat/completions"),
    "the other format": ({"api_mode": "chat_completions"}, f"{OPENAI}/chat/completions"),
    "the format beats the path": (
        {"base_url": OPENAI, "api_mode": "anthropic_messages"},
        "https://api.minimax.io/v1/messages",
    ),
}


@pytest.mark.parametrize(("asked", "url"), PLACES.values(), ids=PLACES)
def test_each_surface_is_asked_at_its_place(ask, asked, url):
    """The path of the address says the format, and a format that the operator demands moves the address."""
    assert ask("minimax", "MiniMax-M3", **asked).url == url


@pytest.mark.parametrize("name", ["minimax", "minimax-cn", "minimax-oauth"])
@pytest.mark.parametrize("reasoning", [None, "none", "low", "high"])
def test_the_anthropic_surface_wants_a_bearer_token_and_a_limit(ask, name, reasoning):
    """The key is a bearer token, no beta is asked for, and the output limit is always there."""
    request = ask(name, "MiniMax-M3", reasoning=reasoning)
    assert request.rest == {"max_tokens": 131072}
    assert request.headers["authorization"] == "Bearer k-test-1"
    assert not {"x-api-key", "anthropic-beta"} & {*request.headers}
    assert ask(name, "MiniMax-M3", max_tokens=7, temperature=0.3).rest == {"max_tokens": 7, "temperature": 0.3}
