"""The provider's double that is shipped for other people's tests."""

from __future__ import annotations

import asyncio
import socket
import threading
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from hermes_core import Host
from hermes_core.testing import FakeProvider, ReceivedRequest

MESSAGES = [{"role": "user", "content": "ping"}]


@pytest.fixture
def server():
    """A server of the test's own."""
    with FakeProvider() as one:
        yield one


@pytest.fixture
def client(server):
    """A plain HTTP client on the server."""
    with httpx.Client(base_url=f"{server.base_url}/", trust_env=False, timeout=20) as one:
        yield one


@pytest.fixture
def ask(client):
    """Ask for a completion; returns its text."""

    def post(**body: object) -> str:
        answer = client.post("chat/completions", json={"model": "m", "messages": MESSAGES, **body})
        return answer.json()["choices"][0]["message"]["content"]

    return post


def test_it_answers_pong(ask):
    """A server that was told nothing answers ``pong``."""
    assert [ask(), ask()] == ["pong", "pong"]


@pytest.mark.parametrize(
    "wire", ["chat_completions", "anthropic_messages", "codex_responses", "bedrock_converse", "gemini"]
)
def test_it_answers_in_the_format_it_is_asked_in(server, tmp_path, wire):
    """A call in any wire format of the host's own is answered in it, with text and usage."""
    server.answer("tree")
    config = {"model": {**server.config["model"], "api_mode": wire, "api_key": "k-12345"}}
    with Host.load(tmp_path, config) as host:
        result = host.llm("p").complete(MESSAGES)
    assert (result.text, result.usage.input_tokens, result.usage.output_tokens) == ("tree", 5, 1)
    assert len(server.requests) == 1


def test_it_answers_what_it_is_told(server, ask):
    """``answer`` holds for every later request, until it is told otherwise."""
    server.answer("one")
    first = [ask(), ask()]
    server.answer("two")
    assert [*first, ask()] == ["one", "one", "two"]


def test_queued_answers_come_first(server, ask):
    """``queue`` answers the next requests in order, then the usual answer is back."""
    server.queue("one", "two")
    server.queue("three")
    assert [ask() for _ in range(4)] == ["one", "two", "three", "pong"]


def test_a_completion_is_whole(server, client):
    """The body is a chat completion as the API has it: model asked, finish reason, usage that adds up."""
    body = client.post("chat/completions", json={"model": "m-1", "messages": MESSAGES}).json()
    (choice,) = body["choices"]
    usage = body["usage"]
    assert (body["object"], body["model"], choice["finish_reason"]) == ("chat.completion", "m-1", "stop")
    assert choice["message"] == {"role": "assistant", "content": "pong"}
    assert usage["prompt_tokens"] + usage["completion_tokens"] == usage["total_tokens"] > 0


@pytest.mark.parametrize(
    ("body", "content"),
    [({"a": [1]}, b'{"a": [1]}'), ("<html>", b"<html>"), ("", b""), (None, b"null"), ([], b"[]"), ("é", "é".encode())],
    ids=["mapping", "text", "nothing", "null", "list", "non-ascii-text"],
)
def test_a_queued_response_is_sent_as_it_is(server, client, body, content):
    """A string goes out as it stands, all else as JSON, with the status and headers given."""
    server.queue_response(body, status=418, headers={"Retry-After": "7", "Content-Type": "text/x-test"})
    answer = client.post("chat/completions", json={})
    assert (answer.status_code, answer.content, answer.headers["retry-after"], answer.headers["content-type"]) == (
        418, content, "7", "text/x-test",
    )  # fmt: skip


@pytest.mark.parametrize("name", ["content-type", "CONTENT-TYPE"])
def test_a_header_replaces_the_usual_one_in_any_case(server, client, name):
    """A content type of the test's own stands alone, however it is written."""
    server.queue_response("x", headers={name: "text/html"})
    answer = client.post("chat/completions", json={})
    assert answer.headers.get_list("content-type") == ["text/html"]


def test_it_remembers_what_it_was_sent(server, client):
    """Method, path with query, headers by lower-case name and the parsed body of each request are kept, in order."""
    client.post("chat/completions?x=1", json={"n": 1}, headers={"X-Mine": "yes"})
    client.get("models")
    client.post("chat/completions", content=b"not json")
    first, second, third = server.requests
    assert isinstance(first, ReceivedRequest)
    assert (first.method, first.path, first.headers["x-mine"], first.body) == (
        "POST", "/v1/chat/completions?x=1", "yes", {"n": 1},
    )  # fmt: skip
    assert (second.method, second.path, second.body) == ("GET", "/v1/models", None)
    assert third.body is None


def test_it_lists_its_models(server, client):
    """GET answers with the list of models, which a test may change."""
    server.models = ["a", "b"]
    assert [model["id"] for model in client.get("models").json()["data"]] == ["a", "b"]


def test_a_subclass_answers_by_what_was_asked():
    """``next_response`` is the seam for a server that thinks."""

    class Parrot(FakeProvider):
        def next_response(self, request):
            self.answer(request.body["messages"][-1]["content"])
            return super().next_response(request)

    with Parrot() as server, Host.load(config=server.config) as host:
        assert host.llm("p").complete([{"role": "user", "content": "polly"}]).text == "polly"


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        pytest.param({"status": 0}, "RemoteProtocolError|ReadError", id="no answer at all"),
        pytest.param({"cut": 0}, "RemoteProtocolError|ReadError", id="a status, and no body"),
        pytest.param({"cut": 5}, "RemoteProtocolError|ReadError", id="half a body"),
        pytest.param({"drip": 0.2}, "ReadTimeout|TimeoutError", id="a body that drips"),
        pytest.param({"delay": 2.0}, "ReadTimeout", id="an answer that is late"),
    ],
)
def test_it_fails_when_told_to(server, client, fault, error):
    """One request fails in the way that was queued; the next one is answered as usual."""
    server.queue_response({"some": "body"}, **fault)
    with pytest.raises(httpx.HTTPError) as caught:
        client.post("chat/completions", json={}, timeout=0.1)
    assert type(caught.value).__name__ in error.split("|")
    assert client.post("chat/completions", json={}).status_code == 200


def test_a_body_may_be_bytes(server, client):
    """Bytes are sent as they are, under whatever content type they are given."""
    server.queue_response(b"\xff\xfe", headers={"Content-Type": "application/octet-stream"})
    answer = client.post("chat/completions", json={})
    assert (answer.content, answer.headers["content-type"]) == (b"\xff\xfe", "application/octet-stream")


def test_its_config_makes_a_host_use_it(server):
    """``Host.load(config=server.config)`` is all that a test needs, in both ways."""
    with Host.load(config=server.config) as host:
        llm = host.llm("p")
        assert llm.complete(MESSAGES).model == asyncio.run(llm.acomplete(MESSAGES)).model == "fake-model"


def test_two_servers_do_not_meet():
    """Each server has its own address, answers and memory."""
    with FakeProvider() as one, FakeProvider() as two:
        two.answer("two")
        with Host.load(config=two.config) as host:
            assert host.llm("p").complete(MESSAGES).text == "two"
        assert (one.base_url != two.base_url, len(one.requests), len(two.requests)) == (True, 0, 1)


def test_it_listens_on_this_machine_alone(server):
    """The address is a loopback one with a port of its own."""
    assert httpx.URL(server.base_url).host == "127.0.0.1"


def test_nobody_is_answered_after_the_end():
    """When the ``with`` is over, the port is closed."""
    with FakeProvider() as server:
        port = httpx.URL(server.base_url).port
    with pytest.raises(ConnectionRefusedError), socket.create_connection(("127.0.0.1", port), 5):
        pass


def test_many_ask_at_once(server, ask):
    """A hundred requests at once are all answered and remembered."""
    with ThreadPoolExecutor(32) as threads:
        assert {*threads.map(lambda _: ask(), range(100))} == {"pong"}
    assert len(server.requests) == 100


def test_each_queued_answer_is_given_once(server):
    """However many ask at once, a queued answer goes to one of them, and the others get the usual one."""
    found: list[str] = []
    request = ReceivedRequest(method="POST", path="/v1/chat/completions", headers={}, body={"model": "m"})
    server.queue(*(f"n{number}" for number in range(2000)))
    together = threading.Barrier(8)

    def take() -> None:
        together.wait(10)
        bodies = [server.next_response(request)[2] for _ in range(300)]
        found.extend(body["choices"][0]["message"]["content"] for body in bodies)

    with ThreadPoolExecutor(8) as threads:
        for future in [threads.submit(take) for _ in range(8)]:
            future.result(30)
    assert sorted(found) == sorted([*(f"n{number}" for number in range(2000)), *["pong"] * 400])


def test_a_connection_is_kept_for_several_requests(server):
    """Keep-alive works, so a client's pooling is tested too."""
    with socket.create_connection(("127.0.0.1", httpx.URL(server.base_url).port), 5) as connection:
        for _ in range(3):
            connection.sendall(b"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}")
            answer = b""
            while not answer.endswith(b"}"):
                answer += connection.recv(65536)
            assert b'"pong"' in answer
    assert len(server.requests) == 3
