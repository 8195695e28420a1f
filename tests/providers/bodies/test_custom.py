"""What an endpoint of one's own is sent."""

from __future__ import annotations

import pytest

BASE = "http://127.0.0.1:11434/v1"
LIMIT = {"max_tokens": 65536}
CASES = {
    "nothing said": ({}, LIMIT),
    "off": ({"reasoning": "none"}, {**LIMIT, "think": False, "reasoning_effort": "none"}),
    **{
        word: ({"reasoning": word}, {**LIMIT, "reasoning_effort": word}) for word in ("minimal", "low", "high", "xhigh")
    },
    "a limit": ({"max_tokens": 7, "temperature": 0.3}, {"max_tokens": 7, "temperature": 0.3}),
    "tools": ({"tools": True}, LIMIT),
    "an image": ({"image": True}, LIMIT),
    "a size of the context": ({"settings": {"ollama_num_ctx": 8192}}, {**LIMIT, "options": {"num_ctx": 8192}}),
    "a session": ({"session_id": "s-1"}, LIMIT),
}


@pytest.mark.parametrize(("asked", "sent"), CASES.values(), ids=CASES)
def test_it_is_sent_an_effort_and_a_limit(ask, asked, sent):
    """Thinking is switched off in both of the ways that local servers know, and never on."""
    assert ask("custom", "llama3", base_url=BASE, **asked).rest == sent
