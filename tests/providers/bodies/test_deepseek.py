"""What DeepSeek is sent."""

from __future__ import annotations

import pytest

ON, OFF = {"thinking": {"type": "enabled"}}, {"thinking": {"type": "disabled"}}
CASES = {
    "nothing said": ({}, ON),
    "off": ({"reasoning": "none"}, OFF),
    "off, with an effort": ({"reasoning": {"enabled": False, "effort": "high"}}, OFF),
    "on without an effort": ({"reasoning": {"enabled": True, "effort": ""}}, ON),
    "minimal": ({"reasoning": "minimal"}, ON),
    **{word: ({"reasoning": word}, {**ON, "reasoning_effort": word}) for word in ("low", "medium", "high")},
    **{word: ({"reasoning": word}, {**ON, "reasoning_effort": "max"}) for word in ("xhigh", "max", "ultra")},
    "tools": ({"reasoning": "low", "tools": True}, {**ON, "reasoning_effort": "low"}),
    "an image": ({"image": True}, ON),
    "the rest": (
        {"temperature": 0.3, "max_tokens": 7, "session_id": "s-1"},
        {**ON, "temperature": 0.3, "max_tokens": 7},
    ),
}
THINKING = ["deepseek-reasoner", "DeepSeek-Reasoner", "deepseek-v4", "deepseek-v3.2", "deepseek-chat", "deepseek-r1"]


@pytest.mark.parametrize(("asked", "sent"), CASES.values(), ids=CASES)
def test_a_model_that_thinks_is_told_how_much(ask, asked, sent):
    """A switch always, and an effort by the words that DeepSeek has for it."""
    assert ask("deepseek", "deepseek-v4-flash", **asked).rest == sent


@pytest.mark.parametrize(
    ("model", "thinks"),
    [(model, model.lower() in ("deepseek-reasoner", "deepseek-v4")) for model in THINKING],
)
def test_other_models_are_told_nothing(ask, model, thinks):
    """``deepseek-reasoner`` thinks, and every version after 3."""
    assert ask("deepseek", model, reasoning="high").rest == ({**ON, "reasoning_effort": "high"} if thinks else {})
