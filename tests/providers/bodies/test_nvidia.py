"""What NVIDIA's models are sent, hosted or on one's own machines."""

from __future__ import annotations

import pytest

MODEL = "nvidia/llama-3.3-70b-instruct"
CASES = {
    "nothing said": ({}, {}),
    "reasoning is none of its business": ({"reasoning": "high"}, {}),
    "off": ({"reasoning": "none"}, {}),
    "tools": ({"tools": True}, {}),
    "an image": ({"image": True}, {}),
    "a temperature": ({"temperature": 0.3}, {"temperature": 0.3}),
    "a limit": ({"max_tokens": 7}, {"max_tokens": 7}),
    "a session": ({"session_id": "s-1"}, {}),
}


@pytest.mark.parametrize(("asked", "sent"), CASES.values(), ids=CASES)
def test_nvidia_always_gets_a_limit(ask, asked, sent):
    """Some models answer nothing at all without a limit, so one is always sent."""
    assert ask("nvidia", MODEL, **asked).rest == {"max_tokens": 16384, **sent}


@pytest.mark.parametrize(
    ("base_url", "value"),
    [
        ("", "hermes_core"),
        ("https://integrate.api.nvidia.com/v1/", "hermes_core"),
        ("http://nim.local:8000/v1", None),
        ("https://integrate.api.nvidia.com.evil.test/v1", None),
    ],
    ids=["usual", "written out", "on one's own machines", "a look-alike"],
)
def test_nvidia_alone_is_told_who_asks(ask, base_url, value):
    """The hosted service gets an attribution header, a NIM elsewhere does not."""
    assert ask("nvidia", MODEL, base_url=base_url).headers.get("x-billing-invoke-origin") == value
