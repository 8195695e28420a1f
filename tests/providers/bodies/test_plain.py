"""What providers are sent that want nothing of their own: OpenAI's format, and nothing beside what was asked."""

from __future__ import annotations

import pytest

NAMES = {
    "alibaba": "qwen3-max",
    "alibaba-coding-plan": "qwen3-coder-plus",
    "arcee": "trinity-mini",
    "deepinfra": "deepseek-ai/DeepSeek-V4-Flash",
    "fireworks": "accounts/fireworks/models/glm-5p2",
    "gmi": "zai-org/GLM-5.1-FP8",
    "huggingface": "Qwen/Qwen3.5-72B-Instruct",
    "kilocode": "google/gemini-3-flash-preview",
    "novita": "zai-org/glm-5",
    "stepfun": "step-3.5-flash",
    "groq": "openai/gpt-oss-120b",
    "mistral": "mistral-large-latest",
    "cerebras": "llama-3.3-70b",
    "sambanova": "DeepSeek-V3.1",
    "vercel-ai-gateway": "Anthropic/claude-sonnet-4.6",
    **dict.fromkeys(("togetherai", "perplexity", "cohere", "nebius", "hyperbolic", "siliconflow", "baseten"), "Some/m"),
    "github-models-api": "meta/Llama-4",
}
CASES = {
    "nothing said": ({}, {}),
    **{effort: ({"reasoning": effort}, {}) for effort in ("none", "minimal", "low", "high", "xhigh")},
    "tools": ({"tools": True}, {}),
    "an image": ({"image": True}, {}),
    "a temperature": ({"temperature": 0.3}, {"temperature": 0.3}),
    "a limit": ({"max_tokens": 7}, {"max_tokens": 7}),
    "a session": ({"session_id": "s-1"}, {}),
}


@pytest.mark.parametrize(("name", "model"), NAMES.items(), ids=NAMES)
@pytest.mark.parametrize(("asked", "sent"), CASES.values(), ids=CASES)
def test_what_was_asked_is_sent_and_nothing_else(ask, name, model, asked, sent):
    """The model's id as it is, case included, and the fields that were asked for."""
    request = ask(name, model, **asked)
    assert (request.body["model"], request.rest, request.api_mode) == (model, sent, "chat_completions")
    assert request.headers["authorization"] == "Bearer k-test-1"


def test_huggingface_and_the_gateway_are_asked_where_they_are(ask):
    """The address is the profile's own and the path of the format."""
    assert ask("hf", "m").url == "https://router.huggingface.co/v1/chat/completions"
    assert ask("kilo", "m").url == "https://api.kilo.ai/api/gateway/chat/completions"


KNOWN = {"role", "content", "tool_calls", "tool_call_id"}


@pytest.mark.parametrize("name", ["fireworks", "groq", "mistral", "cerebras", "sambanova"])
def test_a_strict_provider_gets_no_field_it_does_not_know(ask, name):
    """It is sent OpenAI's own fields of a message, and of a tool call; another provider gets all there are."""
    strict, usual = (ask(word, "m", tools=True).body["messages"] for word in (name, "gmi"))
    assert {key for message in strict for key in message} == KNOWN
    assert {*strict[1]["tool_calls"][0]} == {"id", "type", "function"}
    assert usual[1]["reasoning_content"] == "hm"
    assert usual[1]["tool_calls"][0]["call_id"] == "c1"


def test_a_user_agent_names_the_program_and_its_version(ask):
    """Where a vendor wants to know who asks, it learns the host's own name."""
    assert ask("gmi", "m").headers["user-agent"].startswith("hermes-cli/")


@pytest.mark.parametrize("model", ["trinity-large-thinking", "arcee-ai/Trinity-Large-Thinking"])
@pytest.mark.parametrize("name", ["arcee", "openrouter", "custom"])
def test_a_thinking_trinity_has_its_own_temperature(ask, name, model):
    """Whoever serves it, and whatever is asked, it is sent 0.5."""
    base_url = "" if name != "custom" else "http://127.0.0.1:1/v1"
    assert [ask(name, model, base_url=base_url, temperature=asked).body["temperature"] for asked in (None, 0.9)] == [
        0.5,
        0.5,
    ]


@pytest.mark.parametrize("model", ["kimi-k2.5", "moonshotai/Kimi-K2.5", "kimi"])
def test_a_kimi_is_sent_no_temperature_wherever_it_is(ask, model):
    """Kimi models choose their own."""
    assert "temperature" not in ask("gmi", model, temperature=0.9).body
