"""What Upstage is sent."""

from __future__ import annotations

import pytest


def effort(word):
    """An effort at the top of the body."""
    return {"reasoning_effort": word}


CASES = {
    "nothing said": ({}, effort("medium")),
    "off": ({"reasoning": "none"}, {}),
    "off, with an effort": ({"reasoning": {"enabled": False, "effort": "high"}}, {}),
    "on, without an effort": ({"reasoning": {"enabled": True}}, effort("medium")),
    "minimal": ({"reasoning": "minimal"}, {}),
    "low": ({"reasoning": "low"}, effort("low")),
    "medium": ({"reasoning": "medium"}, effort("medium")),
    "high": ({"reasoning": "high"}, effort("high")),
    "xhigh": ({"reasoning": "xhigh"}, effort("high")),
    "ultra": ({"reasoning": "ultra"}, effort("high")),
    "tools": ({"reasoning": "low", "tools": True}, effort("low")),
    "an image": ({"image": True}, effort("medium")),
    "a temperature and a limit": (
        {"temperature": 0.3, "max_tokens": 7},
        {**effort("medium"), "temperature": 0.3, "max_tokens": 7},
    ),
    "a session": ({"session_id": "s-1"}, effort("medium")),
}


@pytest.mark.parametrize("model", ["solar-pro3", ""])
@pytest.mark.parametrize(("asked", "sent"), CASES.values(), ids=CASES)
def test_solar_is_told_an_effort(ask, model, asked, sent):
    """An effort of three, medium where nothing is said, high for every higher word."""
    assert ask("upstage", model, **asked).rest == sent


@pytest.mark.parametrize("model", ["solar-mini", "upstage/Solar-Mini-250422", "syn-pro"])
@pytest.mark.parametrize("word", [None, "none", "low", "high"])
def test_small_models_are_told_nothing(ask, model, word):
    """Models that do not reason get no effort."""
    assert ask("upstage", model, reasoning=word).rest == {}
