"""What Vertex AI is sent."""

from __future__ import annotations

import pytest


def thinks(shown=True, **more):
    """What Gemini is to think, where this surface looks for it."""
    return {"extra_body": {"google": {"thinking_config": {"include_thoughts": shown, **more}}}}


FLASH, PRO = "google/gemini-3-flash-preview", "google/gemini-3-pro"
CASES = {
    "nothing said": (FLASH, {}, {}),
    "off": (FLASH, {"reasoning": "none"}, thinks(shown=False)),
    "minimal": (FLASH, {"reasoning": "minimal"}, thinks(thinking_level="low")),
    "low": (FLASH, {"reasoning": "low"}, thinks(thinking_level="low")),
    "medium": (FLASH, {"reasoning": "medium"}, thinks(thinking_level="medium")),
    "high, with tools": (FLASH, {"reasoning": "high", "tools": True}, thinks(thinking_level="high")),
    "ultra": (FLASH, {"reasoning": "ultra"}, thinks(thinking_level="high")),
    "pro, low": (PRO, {"reasoning": "low"}, thinks(thinking_level="low")),
    "pro, medium": (PRO, {"reasoning": "medium"}, thinks(thinking_level="low")),
    "pro, high": (PRO, {"reasoning": "high"}, thinks(thinking_level="high")),
    "an older Gemini": ("google/gemini-2.5-flash", {"reasoning": "high"}, thinks()),
    "another vendor's": ("meta/llama-4", {"reasoning": "high"}, {}),
    "an image": (FLASH, {"image": True}, {}),
    "a temperature and a limit": (
        FLASH, {"temperature": 0.3, "max_tokens": 7}, {"temperature": 0.3, "max_tokens": 7},
    ),
    "a session": (FLASH, {"session_id": "s-1"}, {}),
}  # fmt: skip


@pytest.mark.parametrize(("model", "asked", "sent"), CASES.values(), ids=CASES)
def test_vertex_is_told_what_to_think(ask, model, asked, sent):
    """Gemini's thinking config, in the names and at the place of the OpenAI-compatible surface."""
    assert ask("vertex", model, **asked).rest == sent


def test_vertex_has_no_list_to_ask(bundled):
    """There is no list of models on this surface."""
    assert bundled.providers.get("vertex").fetch_models(api_key="k", base_url="http://127.0.0.1:1/v1") is None
