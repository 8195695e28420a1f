"""What Ollama's cloud is sent."""

from __future__ import annotations

import pytest

CASES = {
    "nothing said": ({}, {}),
    "off": ({"reasoning": "none"}, {"reasoning_effort": "none"}),
    "off, with an effort": ({"reasoning": {"enabled": False, "effort": "high"}}, {"reasoning_effort": "none"}),
    "an effort of none": ({"reasoning": {"enabled": True, "effort": "none"}}, {"reasoning_effort": "none"}),
    "on, without an effort": ({"reasoning": {"enabled": True}}, {}),
    "minimal": ({"reasoning": "minimal"}, {}),
    "low": ({"reasoning": "low"}, {"reasoning_effort": "low"}),
    "medium": ({"reasoning": "medium"}, {"reasoning_effort": "medium"}),
    "high": ({"reasoning": "high"}, {"reasoning_effort": "high"}),
    "xhigh": ({"reasoning": "xhigh"}, {"reasoning_effort": "max"}),
    "max": ({"reasoning": "max"}, {"reasoning_effort": "max"}),
    "ultra": ({"reasoning": "ultra"}, {"reasoning_effort": "max"}),
    "tools": ({"reasoning": "low", "tools": True}, {"reasoning_effort": "low"}),
    "an image": ({"image": True}, {}),
    "a temperature and a limit": ({"temperature": 0.3, "max_tokens": 7}, {"temperature": 0.3, "max_tokens": 7}),
    "a session": ({"session_id": "s-1"}, {}),
}


@pytest.mark.parametrize(("asked", "sent"), CASES.values(), ids=CASES)
def test_ollama_cloud_has_words_of_its_own(ask, asked, sent):
    """Efforts it knows go as they are, higher ones as max; what it does not know is left out."""
    assert ask("ollama-cloud", "gpt-oss:120b", **asked).rest == sent


def test_a_model_that_does_not_reason_is_told_nothing(bundled):
    """Nothing is said of reasoning to a model that is known not to reason."""
    context = {"reasoning_config": {"enabled": True, "effort": "high"}, "supports_reasoning": False}
    assert bundled.providers.get("ollama-cloud").build_api_kwargs_extras(**context) == ({}, {})
