"""What Tencent's TokenHub is sent."""

from __future__ import annotations

import pytest


def effort(word):
    """An effort at the top of the body."""
    return {"reasoning_effort": word}


CASES = {
    "nothing said": ({}, effort("high")),
    "off": ({"reasoning": "none"}, {}),
    "minimal": ({"reasoning": "minimal"}, effort("high")),
    "low": ({"reasoning": "low"}, effort("low")),
    "medium": ({"reasoning": "medium"}, effort("medium")),
    "high, with tools": ({"reasoning": "high", "tools": True}, effort("high")),
    "ultra": ({"reasoning": "ultra"}, effort("high")),
    "an image": ({"image": True}, effort("high")),
    "a temperature and a limit": (
        {"temperature": 0.3, "max_tokens": 7},
        {**effort("high"), "temperature": 0.3, "max_tokens": 7},
    ),
    "a session": ({"session_id": "s-1"}, effort("high")),
}


@pytest.mark.parametrize(("asked", "sent"), CASES.values(), ids=CASES)
def test_tokenhub_is_always_told_an_effort(ask, asked, sent):
    """An effort of three unless it is off, high where nothing is said."""
    assert ask("tencent-tokenhub", "hy3-preview", **asked).rest == sent
