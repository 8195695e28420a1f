"""``agent.auxiliary_client`` and ``hermes_cli.urllib_security``: calls under the original's names."""

import asyncio
import threading
import urllib.request
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from types import SimpleNamespace

import pytest
from agent.auxiliary_client import async_call_llm, call_llm, extract_content_or_reasoning
from hermes_cli.urllib_security import open_credentialed_url

from hermes_core import HermesError, PluginLlmTrustError
from hermes_core.testing import FakeProvider

PING = [{"role": "user", "content": "ping"}]


@pytest.fixture
def server(home):
    """A provider on this machine, which the configuration leads to."""
    with FakeProvider() as found:
        home.config(found.config)
        yield found


def test_a_call_goes_to_the_users_provider(server):
    """Without anything said, the answer is that of the user's provider, in the shape of OpenAI's client."""
    answer = call_llm("compression", messages=PING, temperature=0.0, max_tokens=9, timeout=20, a_newer_option=1)
    assert (answer.choices[0].message.content, extract_content_or_reasoning(answer)) == ("pong", "pong")
    assert answer.usage.total_tokens == answer.usage.prompt_tokens + answer.usage.completion_tokens
    assert (server.requests[-1].body["temperature"], server.requests[-1].body["max_tokens"]) == (0.0, 9)


def test_a_call_may_be_awaited(server):
    """The async twin gives the same."""
    assert asyncio.run(async_call_llm(messages=PING)).choices[0].message.content == "pong"


@pytest.mark.parametrize("chosen", [{"provider": "openrouter"}, {"model": "gpt-x"}])
def test_another_model_needs_leave(server, chosen):
    """Provider and model go through the trust gate."""
    with pytest.raises(PluginLlmTrustError):
        call_llm(messages=PING, **chosen)
    assert server.requests == []


def test_a_caller_may_bring_an_address_and_a_key(server, home):
    """A call to an address of the caller's own carries the caller's key and none of the host's."""
    home.write(".env", "OPENAI_API_KEY=sk-host-0123456789\n")
    model = {**server.config["model"], "extra_headers": {"X-Org": "sk-host-org-0123"}, "api_key": "sk-host-model-0123"}
    home.config({"model": model, "auxiliary": {"plugin": {"provider": "openai", "model": "gpt-x"}}})
    with FakeProvider() as other:
        answer = call_llm(
            provider="openai", model="m-own", base_url=other.config["model"]["base_url"], api_key="k-own", messages=PING
        )
    sent = other.requests[-1]
    assert (answer.choices[0].message.content, sent.body["model"], server.requests) == ("pong", "m-own", [])
    assert "k-own" in str(sent.headers)
    assert "sk-host" not in str(sent.headers)


def test_a_call_to_an_own_address_falls_back_on_nobody(server, home):
    """When the caller's address fails, the call fails: it does not go on to the user's provider."""
    address = server.config["model"]["base_url"]
    backup = {"providers": {"backup": {"base_url": address, "api_key": "k-backup-01234"}}}
    home.config({**server.config, **backup, "fallback_providers": [{"provider": "backup", "model": "m"}]})
    with pytest.raises(HermesError):
        call_llm(model="m", base_url="http://127.0.0.1:9/v1", api_key="k", messages=PING, timeout=3)
    assert server.requests == []


def test_a_call_with_tools_is_refused(server):
    """Tools are the agent's own."""
    with pytest.raises(NotImplementedError, match="register_tool"):
        call_llm(messages=PING, tools=[{}])


@pytest.mark.parametrize(
    ("content", "reasoning", "expected"),
    [
        ("<think>hm</think> Four.", None, "Four."),
        (None, "Four, I think.", "Four, I think."),
        ("<think>only this</think>", None, "only this"),
        (None, None, ""),
    ],
)
def test_the_words_of_an_answer_are_found(content, reasoning, expected):
    """Words without reasoning; the reasoning where there are none."""
    message = SimpleNamespace(content=content, reasoning_content=reasoning)
    assert expected == extract_content_or_reasoning(SimpleNamespace(choices=[SimpleNamespace(message=message)]))


@contextmanager
def web(location=""):
    """A server that notes what it is sent, and sends on to another."""
    seen = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            seen.append({name.lower(): value for name, value in self.headers.items()})
            self.send_response(302 if location else 200)
            self.send_header("Location", location)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *args):
            """Say nothing."""

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/", seen
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_no_key_follows_a_redirect_elsewhere():
    """The first address gets the key; where it leads gets the harmless headers alone."""
    with web() as (target, seen_there), web(target) as (url, seen_here):
        request = urllib.request.Request(url, headers={"Authorization": "Bearer k", "X-Api-Key": "k", "Accept": "a/b"})
        with open_credentialed_url(request, timeout=20) as answer:
            assert answer.status == 200
    assert (seen_here[0]["authorization"], seen_here[0]["x-api-key"]) == ("Bearer k", "k")
    assert ({"authorization", "x-api-key"} & {*seen_there[0]}, seen_there[0]["accept"]) == (set(), "a/b")


def test_a_key_goes_by_http_alone():
    """A file is no place to send a key to."""
    with pytest.raises(ValueError, match="'file' is no scheme"):
        open_credentialed_url("file:///etc/passwd", timeout=1)


def test_setting_up_is_the_commands_own(home, monkeypatch):
    """``cmd_setup_provider`` does what ``hermes memory setup NAME`` does, and says how it ended."""
    from hermes_cli.memory_setup import cmd_setup_provider

    assert cmd_setup_provider("nowhere") == 1
