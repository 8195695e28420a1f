"""What Z.AI is sent."""

from __future__ import annotations

import pytest

ON, OFF = {"thinking": {"type": "enabled"}}, {"thinking": {"type": "disabled"}}


def both(word):
    """Thinking on, with an effort."""
    return {**ON, "reasoning_effort": word}


NEWEST = {None: {}, "none": OFF, "minimal": both("high"), "low": both("high"), "high": both("high"),
          "xhigh": both("max"), "max": both("max"), "ultra": both("max")}  # fmt: skip
SWITCH = {None: {}, "none": OFF, "low": ON, "high": ON, "ultra": ON}
NOTHING = {None: {}, "none": {}, "low": {}, "high": {}}
CASES = {
    "glm-5.2": NEWEST,
    "zai-org/GLM-5.2-FP8": NEWEST,
    "fw/glm-5p2": NEWEST,
    "glm-5-2-air": NEWEST,
    "glm-4.5": SWITCH,
    "glm-4.5-flash": SWITCH,
    "glm-4.10": SWITCH,
    "glm-5": SWITCH,
    "GLM-6": SWITCH,
    "glm-4": NOTHING,
    "glm-4-9b": NOTHING,
    "glm-4.4": NOTHING,
    "glm-3-turbo": NOTHING,
    "me/glm-5": NOTHING,
    "other": NOTHING,
}
ROWS = [(model, word, sent) for model, words in CASES.items() for word, sent in words.items()]


@pytest.mark.parametrize(("model", "word", "sent"), ROWS, ids=[f"{model} {word}" for model, word, _ in ROWS])
@pytest.mark.parametrize("held", [{}, {"tools": True}], ids=["text", "tools"])
def test_glm_has_a_switch_from_4_5_on_and_an_effort_from_5_2_on(ask, model, word, sent, held):
    """Thinking is a switch, the newest model has an effort beside it, and older ones are told nothing."""
    assert ask("zai", model, reasoning=word, **held).rest == sent


@pytest.mark.parametrize(
    ("config", "sent"),
    [
        ({"enabled": True}, ON),
        ({"enabled": True, "effort": "none"}, ON),
        ({"enabled": False, "effort": "max"}, OFF),
        ({}, ON),
    ],
)
def test_off_beats_an_effort(ask, config, sent):
    """A config that is off is off whatever its effort; one without an effort is a switch."""
    assert ask("zai", "glm-5.2", reasoning=config).rest == sent


@pytest.mark.parametrize("model", ["glm-5v-turbo", "glm-4v-flash", "GLM-4.5V", "glm-4.1v-thinking"])
def test_models_that_see_take_no_limit(ask, bundled, model):
    """A limit is not sent to a model that sees, which would refuse it in words that do not name it."""
    assert "max_tokens" not in ask("zai", model, image=True, max_tokens=7, temperature=0.3, session_id="s-1").body
    assert ask("zai", "glm-5", max_tokens=7).rest == {"max_tokens": 7}
    assert bundled.providers.get("glm").default_vision_model() == "glm-5v-turbo"
