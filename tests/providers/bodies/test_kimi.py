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


@pytest.mark.parametrize("name", ["kimi-coding"])
@pytest.mark.parametrize(("asked", "sent"), CASES.values(), ids=CASES)
def test_kimi_takes_a_switch_or_an_effort(ask, name, asked, sent):
    """A thinking switch or an effort, never both; a limit always; a temperature never."""
    assert ask(name, "kimi-k2.5", **asked).rest == {"max_tokens": 32000, **sent}
