"""What Google is sent."""

from __future__ import annotations

import pytest

COMPATIBLE = "https://generativelanguage.googleapis.com/v1beta/openai"
PRO, FLASH, OLDER = "gemini-3-pro-preview", "gemini-3.5-flash", "gemini-2.5-pro"
CASES = {
    "nothing said": (PRO, None, {}),
    "off": (PRO, "none", {"includeThoughts": False}),
    "switched off": (PRO, {"enabled": False, "effort": "high"}, {"includeThoughts": False}),
    **{
        f"pro, {word}": (PRO, word, {"includeThoughts": True, "thinkingLevel": "low"})
        for word in ("minimal", "low", "medium")
    },
    **{
        f"pro, {word}": (PRO, word, {"includeThoughts": True, "thinkingLevel": "high"})
        for word in ("high", "xhigh", "ultra")
    },
    **{
        f"flash, {word}": (FLASH, word, {"includeThoughts": True, "thinkingLevel": "low"})
        for word in ("minimal", "low")
    },
    "flash, medium": (FLASH, "medium", {"includeThoughts": True, "thinkingLevel": "medium"}),
    "flash, high": (FLASH, "high", {"includeThoughts": True, "thinkingLevel": "high"}),
    "an older one has no levels": (OLDER, "high", {"includeThoughts": True}),
    "with its vendor": (f"google/{FLASH}", "high", {"includeThoughts": True, "thinkingLevel": "high"}),
    "another model": ("gemma-3", "high", {}),
}
SNAKES = {"includeThoughts": "include_thoughts", "thinkingLevel": "thinking_level"}


@pytest.mark.parametrize(("model", "reasoning", "config"), CASES.values(), ids=CASES)
def test_the_native_surface_is_told_how_to_think(ask, model, reasoning, config):
    """``generationConfig.thinkingConfig`` with a level by the kind of model, and the usual output limit."""
    request = ask("gemini", model, reasoning=reasoning)
    assert request.api_mode == "gemini"
    assert request.body["generationConfig"] == {
        "maxOutputTokens": 65535,
        **({"thinkingConfig": config} if config else {}),
    }


@pytest.mark.parametrize(("model", "reasoning", "config"), CASES.values(), ids=CASES)
def test_the_compatible_surface_is_told_in_snake_case(ask, model, reasoning, config):
    """The same below ``extra_body.google.thinking_config``, as that surface reads it."""
    snakes = {SNAKES[key]: value for key, value in config.items()}
    request = ask("gemini", model, reasoning=reasoning, base_url=COMPATIBLE)
    assert request.url == f"{COMPATIBLE}/chat/completions"
    assert request.rest == ({"extra_body": {"google": {"thinking_config": snakes}}} if config else {})


def test_elsewhere_it_is_told_in_camel_case(ask):
    """A proxy in OpenAI's format is sent ``thinking_config`` as the native surface calls its fields."""
    request = ask("gemini", FLASH, reasoning="high", base_url="https://proxy.acme.test/v1")
    assert request.rest == {"thinking_config": {"includeThoughts": True, "thinkingLevel": "high"}}


def test_the_rest_is_the_native_formats(ask):
    """Key, model, temperature, limit, tools and images are written as the native surface wants them."""
    request = ask("gemini", f"google/{FLASH}", temperature=0.3, max_tokens=7, session_id="s-1", schema=True)
    assert request.url == f"https://generativelanguage.googleapis.com/v1beta/models/{FLASH}:generateContent"
    assert (request.headers["x-goog-api-key"], "authorization" in request.headers) == ("k-test-1", False)
    config = request.body["generationConfig"]
    assert (config["temperature"], config["maxOutputTokens"]) == (0.3, 7)
    assert config["responseMimeType"] == "application/json"
    assert "inlineData" in str(ask("gemini", FLASH, image=True).body["contents"])
    assert "functionResponse" in str(ask("gemini", FLASH, tools=True).body["contents"])
