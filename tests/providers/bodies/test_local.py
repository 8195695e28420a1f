"""What servers of one's own are sent."""

from __future__ import annotations

import pytest

OFF = {"think": False, "reasoning_effort": "none"}
CASES = {
    "nothing said": ({}, {}),
    "off": ({"reasoning": "none"}, OFF),
    "off, with an effort": ({"reasoning": {"enabled": False, "effort": "high"}}, OFF),
    "on, without an effort": ({"reasoning": {"enabled": True}}, {}),
    "minimal": ({"reasoning": "minimal"}, {"reasoning_effort": "minimal"}),
    "low": ({"reasoning": "low"}, {"reasoning_effort": "low"}),
    "high, with tools": ({"reasoning": "high", "tools": True}, {"reasoning_effort": "high"}),
    "an image": ({"image": True}, {}),
    "a temperature and a limit": ({"temperature": 0.3, "max_tokens": 7}, {"temperature": 0.3, "max_tokens": 7}),
    "a session": ({"session_id": "s-1"}, {}),
}
SERVERS = {
    "ollama-local": ({"max_tokens": 65536}, "http://localhost:11434/v1"),
    "vllm-local": ({}, "http://localhost:8000/v1"),
    "llamacpp-local": ({}, "http://localhost:8080/v1"),
}


@pytest.mark.parametrize("server", SERVERS)
@pytest.mark.parametrize(("asked", "sent"), CASES.values(), ids=CASES)
def test_servers_of_ones_own_are_told_alike(ask, server, asked, sent):
    """Thinking is switched off, or given an effort, and never switched on; Ollama always gets a limit."""
    usual, url = SERVERS[server]
    found = ask(server, "m", api_key="", **asked)
    assert (found.rest, found.url) == ({**usual, **sent}, f"{url}/chat/completions")
    assert "authorization" not in found.headers


@pytest.mark.parametrize("server", SERVERS)
def test_a_context_size_is_ollamas(bundled, server):
    """The context size that a host knows goes where Ollama looks for it."""
    body, _ = bundled.providers.get(server).build_api_kwargs_extras(ollama_num_ctx=8192)
    assert body == {"options": {"num_ctx": 8192}}


@pytest.mark.parametrize(
    ("name", "url"),
    [
        ("lmstudio", "http://127.0.0.1:1234/v1"),
        ("localai", "http://localhost:8080/v1"),
        ("sglang", "http://localhost:30000/v1"),
        ("litellm", "http://localhost:4000/v1"),
    ],
)
@pytest.mark.parametrize("word", [None, "none", "high"])
def test_others_are_told_nothing(ask, name, url, word):
    """A server without ways of its own gets a plain request, and none gets a key that is not there."""
    found = ask(name, "m", api_key="", reasoning=word, max_tokens=7)
    assert (found.rest, found.url, "authorization" in found.headers) == (
        {"max_tokens": 7},
        f"{url}/chat/completions",
        False,
    )
