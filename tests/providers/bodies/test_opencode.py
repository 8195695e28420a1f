"""What OpenCode's two services are sent."""

from __future__ import annotations

import pytest

ON, OFF = {"thinking": {"type": "enabled"}}, {"thinking": {"type": "disabled"}}


def effort(word):
    """An effort at the top of the body."""
    return {"reasoning_effort": word}


ZEN, GO = "https://opencode.ai/zen/v1", "https://opencode.ai/zen/go/v1"
WIRES = {
    ("opencode-zen", "claude-sonnet-4.6"): ("anthropic_messages", f"{ZEN}/messages"),
    ("opencode-zen", "qwen3-coder"): ("anthropic_messages", f"{ZEN}/messages"),
    ("opencode-zen", "gpt-5.4"): ("codex_responses", f"{ZEN}/responses"),
    ("opencode-zen", "openai/gpt-5.4"): ("codex_responses", f"{ZEN}/responses"),
    ("opencode-zen", "gemini-3-flash"): ("chat_completions", f"{ZEN}/chat/completions"),
    ("opencode-zen", "minimax-m3"): ("chat_completions", f"{ZEN}/chat/completions"),
    ("opencode-go", "minimax-m3"): ("anthropic_messages", f"{GO}/messages"),
    ("opencode-go", "qwen3-max"): ("anthropic_messages", f"{GO}/messages"),
    ("opencode-go", "glm-5"): ("chat_completions", f"{GO}/chat/completions"),
    ("opencode-go", "claude-sonnet-4.6"): ("chat_completions", f"{GO}/chat/completions"),
}


@pytest.mark.parametrize(("service", "model"), WIRES, ids=map(" ".join, WIRES))
@pytest.mark.parametrize("version", [True, False], ids=["with /v1", "without"])
def test_a_model_is_asked_in_its_vendors_format(ask, service, model, version):
    """The wire format goes by the model's bare name, and the address fits it however it was written."""
    base_url = "" if version else {"opencode-zen": ZEN, "opencode-go": GO}[service].removesuffix("/v1")
    asked = ask(service, model, base_url=base_url)
    assert (asked.api_mode, asked.url) == WIRES[service, model]
    assert asked.body["model"] == model.rpartition("/")[2]


def test_a_proxys_address_is_its_owners(ask):
    """Elsewhere nothing is put into the address."""
    assert ask("opencode-zen", "glm-5", base_url="https://proxy.test/z").url == "https://proxy.test/z/chat/completions"


def test_the_operators_format_beats_the_models(ask):
    """What the operator says of the wire format counts."""
    assert ask("opencode-zen", "claude-sonnet-4.6", api_mode="chat_completions").api_mode == "chat_completions"


CASES = {
    "glm-5.2": {None: {}, "none": {}, "minimal": effort("high"), "low": effort("high"), "high": effort("high"),
                "xhigh": effort("max"), "max": effort("max"), "ultra": effort("max")},
    "zai/GLM-5p2": {None: {}, "none": {}, "low": effort("high"), "ultra": effort("max")},
    "kimi-k2.5": {None: {}, "none": OFF, "minimal": ON, "low": effort("low"), "medium": effort("medium"),
                  "high": effort("high"), "xhigh": effort("high"), "max": effort("high"), "ultra": effort("high")},
    "deepseek-v4": {None: ON, "none": OFF, "minimal": ON, "low": effort("low"), "high": effort("high"),
                    "xhigh": effort("max"), "max": effort("max"), "ultra": effort("max")},
    "deepseek-reasoner": {None: ON, "none": OFF, "medium": effort("medium")},
    "deepseek-v3.2": {None: {}, "none": {}, "high": {}},
    "glm-5": {None: {}, "none": {}, "high": {}},
}  # fmt: skip
ROWS = [(model, word, sent) for model, words in CASES.items() for word, sent in words.items()]


@pytest.mark.parametrize(("model", "word", "sent"), ROWS, ids=[f"{model} {word}" for model, word, _ in ROWS])
@pytest.mark.parametrize("held", [{}, {"tools": True}, {"image": True}], ids=["text", "tools", "an image"])
def test_go_takes_a_switch_or_an_effort(ask, model, word, sent, held):
    """Each vendor's models take a switch, an effort, or nothing; never both."""
    assert ask("opencode-go", model, reasoning=word, **held).rest == sent


@pytest.mark.parametrize(
    ("model", "config", "sent"),
    [
        ("glm-5.2", {"enabled": True}, {}),
        ("glm-5.2", {"enabled": False, "effort": "high"}, {}),
        ("kimi-k2.5", {"enabled": True}, ON),
        ("kimi-k2.5", {"enabled": False, "effort": "high"}, OFF),
        ("deepseek-v4", {"enabled": True}, ON),
        ("deepseek-v4", {"enabled": False, "effort": "high"}, OFF),
    ],
)
def test_off_beats_an_effort(ask, model, config, sent):
    """A config that is off is off whatever its effort; one without an effort is a switch."""
    assert ask("opencode-go", model, reasoning=config).rest == sent


@pytest.mark.parametrize(
    ("model", "asked", "sent"),
    [
        ("mimo-v2.5-pro", {}, {"max_tokens": 131072}),
        ("xiaomi/MiMo-V2.5-Pro", {}, {"max_tokens": 131072}),
        ("mimo-v2.5-pro", {"max_tokens": 7, "temperature": 0.3}, {"max_tokens": 7, "temperature": 0.3}),
        ("mimo-v2.5", {"session_id": "s-1"}, {}),
    ],
)
def test_go_has_a_limit_for_one_model(ask, model, asked, sent):
    """One model has a usual limit of its own; the caller's beats it."""
    assert ask("opencode-go", model, **asked).rest == sent
