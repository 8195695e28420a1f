"""Which wire format is spoken where."""

from __future__ import annotations

import pytest

from hermes_core import ProviderProfile
from hermes_core.llm.route import destination
from hermes_core.llm.wire.select import mandated, usual


@pytest.mark.parametrize(
    ("base_url", "mode"),
    [
        ("https://api.anthropic.com", "anthropic_messages"),
        ("https://API.Anthropic.com.:443/v1/", "anthropic_messages"),
        ("https://api.anthropic.com.evil.test", ""),
        ("https://evil.test/api.anthropic.com", ""),
        ("https://notapi.anthropic.com", ""),
        ("https://api.kimi.com/coding", "anthropic_messages"),
        ("https://api.kimi.com/coding/v1", "anthropic_messages"),
        ("https://api.kimi.com/v1", ""),
        ("https://bedrock-runtime.us-east-1.amazonaws.com", "bedrock_converse"),
        ("https://bedrock-runtime-fips.us-gov-west-1.amazonaws.com/", "bedrock_converse"),
        ("https://bedrock-runtime.cn-north-1.amazonaws.com.cn", "bedrock_converse"),
        ("https://vpce-1a2b.bedrock-runtime.eu-west-1.vpce.amazonaws.com", "bedrock_converse"),
        ("https://bedrock-runtime.eu-west-1.amazonaws.com.evil.test", ""),
        ("https://bedrock.eu-west-1.amazonaws.com", ""),
        ("http://127.0.0.1:8000/v1", ""),
        ("http://[broken", ""),
        ("", ""),
    ],
)
def test_some_hosts_demand_a_format(base_url, mode):
    """A host, whole labels of it, may speak one format alone."""
    assert mandated(base_url) == mode


@pytest.mark.parametrize(
    ("base_url", "model", "mode"),
    [
        ("https://api.minimax.io/anthropic", "MiniMax-M2", "anthropic_messages"),
        ("https://proxy.test/a/anthropic/v1/", "m", "anthropic_messages"),
        ("https://proxy.test/anthropic/other", "m", ""),
        ("https://api.x.ai/v1", "grok-4", "codex_responses"),
        ("https://api.openai.com/v1", "gpt-5.4", ""),
        ("https://api.openai.com/v1", "gpt-5.2-codex", "codex_responses"),
        ("https://api.openai.com/v1", "codex-mini-latest", "codex_responses"),
        ("https://api.openai.com/v1", "gpt-5-pro", "codex_responses"),
        ("https://api.openai.com/v1", "o1-pro", "codex_responses"),
        ("https://api.openai.com/v1", "gpt-5-pro-mini", ""),
        ("https://generativelanguage.googleapis.com/v1beta", "gemini-3-flash", "gemini"),
        ("https://generativelanguage.googleapis.com/v1beta/openai/", "gemini-3-flash", ""),
        ("http://127.0.0.1:8000/v1", "gpt-5.2-codex", ""),
    ],
)
def test_some_addresses_have_a_usual_format(base_url, model, mode):
    """Host, path and model tell what is spoken when nobody says."""
    assert usual(base_url, model) == mode


@pytest.mark.parametrize(
    ("config", "profile", "mode"),
    [
        pytest.param({}, {}, "chat_completions", id="chat-completions-is-the-usual"),
        pytest.param({}, {"api_mode": "gemini"}, "gemini", id="the-profile-says"),
        pytest.param(
            {"api_mode": "codex_responses"}, {"api_mode": "gemini"}, "codex_responses", id="the-operator-says"
        ),
        pytest.param(
            {}, {"base_url": "https://a.test/anthropic"}, "anthropic_messages", id="the-path-beats-the-profile"
        ),
        pytest.param(
            {"api_mode": "chat_completions"},
            {"base_url": "https://a.test/anthropic"},
            "chat_completions",
            id="the-operator-beats-the-path",
        ),
        pytest.param(
            {"api_mode": "chat_completions"},
            {"base_url": "https://api.anthropic.com"},
            "anthropic_messages",
            id="the-host-beats-the-operator",
        ),
    ],
)
def test_the_first_that_has_a_say_decides(lane, route_of, config, profile, mode):
    """What the host demands, then the operator, then what is usual at the address, then the profile."""
    host = lane.bare_host({"model": {"provider": "acme", "default": "m", **config}})
    fields = {"base_url": "https://api.acme.test/v1", "auth_type": "none", **profile}
    host.program_context().register_provider(ProviderProfile("acme", **fields))
    route = route_of(host)
    assert destination(route, route.base_url, route.credential.value) == (route.base_url, mode)
