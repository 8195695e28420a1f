"""What the Nous Portal is sent."""

from __future__ import annotations

import pytest

from hermes_core import __version__

TAGS = ["product=hermes_core", f"client=hermes_core-{__version__}"]


def thinks(effort):
    """A reasoning config that is on."""
    return {"reasoning": {"enabled": True, "effort": effort}}


CASES = {
    "nothing said": ({}, {}),
    "off": ({"reasoning": "none"}, {}),
    "on, without an effort": ({"reasoning": {"enabled": True}}, {"reasoning": {"enabled": True}}),
    "a config that says nothing": ({"reasoning": {}}, thinks("medium")),
    "low": ({"reasoning": "low"}, thinks("low")),
    "high": ({"reasoning": "high"}, thinks("high")),
    "xhigh": ({"reasoning": "xhigh"}, thinks("xhigh")),
    "tools": ({"reasoning": "low", "tools": True}, thinks("low")),
    "an image": ({"image": True}, {}),
    "a temperature and a limit": ({"temperature": 0.3, "max_tokens": 7}, {"temperature": 0.3, "max_tokens": 7}),
    "a session": ({"session_id": "s-1"}, {"tags": [*TAGS, "conversation=s-1"]}),
}


@pytest.mark.parametrize(("asked", "sent"), CASES.values(), ids=CASES)
def test_nous_is_told_who_asks_and_how_to_reason(ask, asked, sent):
    """Tags always, with the conversation if there is one; a copy of the reasoning config, unless it is off."""
    assert ask("nous", "hermes-3-405b", **asked).rest == {"tags": TAGS, **sent}


@pytest.mark.parametrize(
    ("context", "sent"),
    [
        ({"session_id": "s-1", "conversation": "c-1"}, {"tags": [*TAGS, "conversation=c-1"]}),
        ({"provider_preferences": {"order": ["a"]}}, {"tags": TAGS, "provider": {"order": ["a"]}}),
        ({"provider_preferences": {}}, {"tags": TAGS}),
    ],
    ids=["a conversation beats the session", "preferences", "no preferences"],
)
def test_nous_is_told_how_to_route(bundled, context, sent):
    """The conversation beats the session, and preferences go along when there are any."""
    assert bundled.providers.get("nous").build_extra_body(**context, newer=1) == sent
