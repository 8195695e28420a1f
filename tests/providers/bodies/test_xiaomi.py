"""What Xiaomi is sent."""

from __future__ import annotations

import pytest

CASES = {
    "nothing said": ({}, {}),
    "off": ({"reasoning": "none"}, {}),
    "low": ({"reasoning": "low"}, {}),
    "high, with tools": ({"reasoning": "high", "tools": True}, {}),
    "an image": ({"image": True}, {}),
    "a temperature and a limit": ({"temperature": 0.3, "max_tokens": 7}, {"temperature": 0.3, "max_tokens": 7}),
    "a session": ({"session_id": "s-1"}, {}),
}


@pytest.mark.parametrize("model", ["mimo-v2.5", "MiMo-V2.5"])
@pytest.mark.parametrize(("asked", "sent"), CASES.values(), ids=CASES)
def test_mimo_goes_in_lower_case(ask, model, asked, sent):
    """A model's name is sent in lower case, whatever it is called; nothing else is added."""
    found = ask("xiaomi", model, **asked)
    assert (found.rest, found.body["model"]) == (sent, "mimo-v2.5")


def test_mimo_gets_no_list_from_a_tool(ask, bundled):
    """What a tool says is a string; and one model is the one that sees."""
    messages = ask("xiaomi", "mimo-v2.5", tools=True).body["messages"]
    assert [message["content"] for message in messages if message["role"] == "tool"] == ["seen"]
    assert bundled.providers.get("mimo").default_vision_model() == "mimo-v2.5"
