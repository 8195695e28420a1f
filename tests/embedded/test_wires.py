"""The three wire formats that the embedded server speaks, each to it and back: form and counts, never content."""

from __future__ import annotations

import asyncio

import httpx
import pytest

from hermes_core import Host
from hermes_core.errors import AuthenticationError, ResponseFormatError, StructuredOutputError
from hermes_core.llm.answer import read_body, settled
from hermes_core.llm.wire import Wires
from hermes_core.types.call import LlmCall
from hermes_core.types.wire import HttpResponse, WireRequest

pytestmark = pytest.mark.embedded

MODEL = "SmolLM2-135M-Instruct"
CALL = {"id": "call_1", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Oslo"}'}}
CONVERSATIONS = {
    "one question": [{"role": "user", "content": "Say hello."}],
    "a system text": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Say hello."}],
    "a system text alone": [{"role": "system", "content": "Say hello."}],
    "the user twice": [{"role": "user", "content": "Hello."}, {"role": "user", "content": "Say hello."}],
    "empty text": [{"role": "user", "content": ""}, {"role": "user", "content": "Say hello."}],
    "an exchange": [
        {"role": "user", "content": "Say hello."},
        {"role": "assistant", "content": "Hello."},
        {"role": "user", "content": "Again."},
    ],
    "tools in the history": [
        {"role": "user", "content": "What is the weather in Oslo?"},
        {"role": "assistant", "content": "Let me look.", "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "call_1", "content": "rain"},
        {"role": "user", "content": "So?"},
    ],
}


@pytest.fixture(params=["chat_completions", "anthropic_messages", "codex_responses"])
def wire(request) -> str:
    """A format that the server speaks."""
    return request.param


@pytest.fixture
def served(profile, host, model_home):
    """Address and key of the running server."""
    return profile.open_endpoint(host(model_home))


@pytest.fixture
def llm(wire, served, tmp_path):
    """A plugin's model surface on a host that speaks the format to the server."""
    base_url, key = served
    model = {"provider": "custom", "base_url": base_url, "api_key": key, "default": MODEL, "api_mode": wire}
    with Host.load(tmp_path, {"model": model}, say=print) as host:
        yield host.llm("p")


@pytest.fixture(params=["sync", "async"])
def complete(request, llm):
    """``complete``, and its twin run to its end."""

    async def awaited(*args, **keywords):
        return await llm.acomplete(*args, **keywords)

    return (
        llm.complete if request.param == "sync" else lambda *args, **keywords: asyncio.run(awaited(*args, **keywords))
    )


@pytest.mark.parametrize("messages", CONVERSATIONS.values(), ids=CONVERSATIONS)
def test_a_conversation_is_answered(complete, messages):
    """Each conversation is understood, and its answer has text, the model's name and counts that add up."""
    result = complete(messages, max_tokens=24, temperature=0)
    assert result.text.strip()
    assert (result.model, result.provider) == (MODEL, "custom")
    assert result.usage.input_tokens > result.usage.cache_read_tokens >= 0
    assert 1 <= result.usage.output_tokens <= 24
    assert result.usage.total_tokens == result.usage.input_tokens + result.usage.output_tokens


def test_every_format_counts_alike(served):
    """One prompt has one size, however it is written, and whatever of it the server had in its cache."""
    base_url, key = served
    request = WireRequest(
        base_url=base_url, model=MODEL, api_key=key, max_tokens=5, temperature=0,
        messages=[{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Count to ten."}],
    )  # fmt: skip
    sizes = set()
    for name in ("chat_completions", "anthropic_messages", "codex_responses") * 2:
        sent = Wires({})[name].encode(request)
        answer = httpx.post(sent.url, headers=dict(sent.headers), content=sent.body, timeout=60).json()
        sizes.add(Wires({})[name].decode(answer).usage.input_tokens)
    assert len(sizes) == 1


def test_the_limit_is_kept(wire, llm):
    """The output limit reaches the server under the format's own name."""
    result = llm.complete([{"role": "user", "content": "Tell a long story."}], max_tokens=20, temperature=0)
    assert result.usage.output_tokens == 20


def test_a_typed_call_is_taken(wire, llm):
    """A wanted schema is no obstacle, not where the server ignores it either; where it does not, it is kept."""
    schema = {"type": "object", "properties": {"greeting": {"type": "string"}}}
    words = {"instructions": "Greet.", "input": [{"type": "text", "text": "Ann"}]}
    try:
        result = llm.complete_structured(**words, json_schema=schema, max_tokens=48, temperature=0)
    except StructuredOutputError as error:  # the model says what it likes where nothing keeps it to the schema
        result = error.result
    assert result.text
    assert wire != "chat_completions" or result.content_type == "json"


def test_a_wrong_key_is_a_typed_error(wire, served, tmp_path):
    """The server's refusal arrives as one of the key."""
    model = {"provider": "custom", "base_url": served[0], "api_key": "k-wrong-1", "default": MODEL, "api_mode": wire}
    with Host.load(tmp_path, {"model": model}, say=print) as host, pytest.raises(AuthenticationError, match="401"):
        host.llm("p").complete(CONVERSATIONS["one question"], max_tokens=5)


def test_a_stream_says_what_an_answer_says(served):
    """The events of a streamed response, put together, are the response."""
    base_url, key = served
    request = WireRequest(
        base_url=base_url, model=MODEL, api_key=key, max_tokens=20, temperature=0,
        messages=CONVERSATIONS["tools in the history"],
    )  # fmt: skip
    mode = Wires({})["codex_responses"]
    found = []
    for extra in ({}, {"stream": True}):
        sent = mode.encode(request._replace(extra=extra))
        answer = httpx.post(sent.url, headers=dict(sent.headers), content=sent.body, timeout=60)
        found.append(mode.decode(read_body(HttpResponse(200, dict(answer.headers), answer.content))))
    whole, streamed = found
    assert (whole.text, whole.model, whole.finish_reason) == (streamed.text, streamed.model, streamed.finish_reason)
    assert whole.usage.output_tokens == streamed.usage.output_tokens


def test_a_stream_that_breaks_off_is_no_answer(served):
    """Half of the events of a streamed response hold no answer, and are not taken for an empty one."""
    base_url, key = served
    request = WireRequest(
        base_url=base_url, model=MODEL, api_key=key, max_tokens=20, messages=CONVERSATIONS["one question"],
        extra={"stream": True},
    )  # fmt: skip
    mode = Wires({})["codex_responses"]
    sent = mode.encode(request)
    answer = httpx.post(sent.url, headers=dict(sent.headers), content=sent.body, timeout=60)
    events = read_body(HttpResponse(200, dict(answer.headers), answer.content))
    done = next(n for n, event in enumerate(events) if event["type"] == "response.output_item.done")
    with pytest.raises(ResponseFormatError):
        settled(mode.decode(events[:done]), LlmCall(plugin_id="p", messages=[]))
