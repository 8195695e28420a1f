"""What holds for every wire format of the host's own, and one call over each, to a real server and back."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes_core import ApiMode, Completion
from hermes_core.errors import (
    AuthenticationError,
    InvalidRequestError,
    RateLimitError,
    ResponseFormatError,
    ServerError,
    UnsupportedInputError,
)
from hermes_core.llm.wire import OWN, Wires
from hermes_core.types.wire import WireRequest

OTHERS = [name for name in OWN if name != "chat_completions"]
KEY_HEADERS = {
    "anthropic_messages": ("x-api-key", "k-123456"),
    "codex_responses": ("authorization", "Bearer k-123456"),
    "gemini": ("x-goog-api-key", "k-123456"),
    "bedrock_converse": ("authorization", "Bearer k-123456"),
}
WORDS = (
    "content type text role message output error choices candidates parts usage input_tokens stopReason stop_reason "
    "status incomplete_details toolUse tool_use json_answer name input thought promptFeedback response item"
)

every = pytest.mark.parametrize("wire", OTHERS)


@pytest.mark.parametrize("wire", OWN)
def test_a_format_goes_by_its_name(wire):
    """Each is offered under the name that a profile's ``api_mode`` gives."""
    assert Wires({})[wire].name == wire


def test_a_plugins_format_beats_the_hosts_own():
    """Offered formats come first, whatever name they have; the others are still there."""
    offered = {name: ApiMode(name=name, encode=lambda r: r, decode=lambda b: b) for name in ("gemini", "odd")}
    wires = Wires(offered)
    assert (wires["gemini"], wires["odd"], wires["codex_responses"].name) == (*offered.values(), "codex_responses")
    assert ([*wires], len(wires)) == ([*OWN, "odd"], 6)
    assert "none" not in wires


@every
def test_nothing_is_sent_for_a_missing_key(write, wire):
    """The key has one header; without a key there is none."""
    name, value = KEY_HEADERS[wire]
    with_key, without = write(wire, api_key="k-123456").headers, write(wire).headers
    assert (with_key.pop(name), with_key) == (value, without)
    assert "k-123456" not in str(with_key)


@every
def test_the_body_is_ascii_and_all_of_it(write, wire):
    """Any text, half a surrogate pair included, can be sent, and stays what it is."""
    written = write(wire, [{"role": "user", "content": "é\ud800"}])
    assert written.request.body.isascii()
    assert "é\ud800" in json.dumps(written.body, ensure_ascii=False)


@every
@pytest.mark.parametrize("name", ["Content-Type", "ACCEPT", "X-Own"])
def test_a_configured_header_replaces_the_usual_one(write, wire, name):
    """A header that the operator or the profile sets is sent once, in whatever case it is written."""
    request = write(wire, headers={name: "mine"}).request
    assert [value for key, value in request.headers.items() if key.lower() == name.lower()] == ["mine"]


@every
def test_the_request_is_not_changed(wire, everything, wanting):
    """Encoding changes nothing of what it is given."""
    fields = {"messages": everything, "response_format": wanting(), "extra": {"seed": 1}, "headers": {"X": "1"}}
    before = json.dumps(fields)
    Wires({})[wire].encode(WireRequest(base_url="https://a.test", model="claude-opus-4-6", **fields))
    assert json.dumps(fields) == before


@every
def test_what_cannot_be_carried_is_refused(write, wire):
    """A part of an unknown type is an error, never left out."""
    with pytest.raises(UnsupportedInputError, match="'input_audio'"):
        write(wire, [{"role": "user", "content": [{"type": "input_audio", "input_audio": {"data": "x"}}]}])


MESSAGES = st.lists(
    st.fixed_dictionaries(
        {
            "role": st.sampled_from(["system", "developer", "user", "assistant", "tool"]),
            "content": st.from_regex(r"[a-z]{6}", fullmatch=True),
            "tool_call_id": st.sampled_from(["c1", "c2"]),
            "tool_calls": st.lists(
                st.builds(
                    lambda id_, word: {"id": id_, "function": {"name": "t", "arguments": json.dumps({"a": word})}},
                    st.sampled_from(["c1", "c2"]),
                    st.from_regex(r"[a-z]{6}", fullmatch=True),
                ),
                max_size=2,
            ),
        }
    ),
    max_size=6,
)


@every
@settings(database=None, max_examples=100)
@given(messages=MESSAGES)
def test_no_word_is_lost(wire, messages):
    """Whatever roles, calls and results a conversation has, in whatever order, all that was said is sent."""
    sent = Wires({})[wire].encode(WireRequest(base_url="https://a.test", model="m", messages=messages)).body.decode()
    calls = [call for message in messages if message["role"] == "assistant" for call in message["tool_calls"]]
    words = [message["content"] for message in messages]
    words += [json.loads(call["function"]["arguments"])["a"] for call in calls]
    assert [word for word in words if word not in sent] == []


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.sampled_from(WORDS.split()),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(WORDS.split()) | st.text(), inner, max_size=4)
    ),
    max_leaves=20,
)


@every
@settings(database=None, max_examples=300)
@given(value=VALUES)
def test_any_body_is_read_or_refused(wire, value):
    """Whatever JSON comes back, it is a completion or a ResponseFormatError."""
    try:
        assert isinstance(Wires({})[wire].decode(value), Completion)
    except ResponseFormatError:
        pass


@every
def test_a_long_error_is_told_in_brief(wire):
    """An error text of any length makes a short message."""
    with pytest.raises(ResponseFormatError) as caught:
        Wires({})[wire].decode({"error": {"message": "x" * 100_000}})
    assert len(str(caught.value)) < 400


USAGE_12_6 = {
    "anthropic_messages": {"input_tokens": 12, "output_tokens": 6},
    "codex_responses": {"input_tokens": 12, "output_tokens": 6},
    "gemini": {"promptTokenCount": 12, "candidatesTokenCount": 6},
    "bedrock_converse": {"inputTokens": 12, "outputTokens": 6},
}
PATHS = {
    "anthropic_messages": "/v1/messages",
    "codex_responses": "/v1/responses",
    "gemini": "/v1/models/m-1:generateContent",
    "bedrock_converse": "/v1/model/m-1/converse",
}


def answering(wire: str, text: str) -> dict:
    """A body in which the model ``m-1`` says something."""
    usage = USAGE_12_6[wire]
    if wire == "anthropic_messages":
        return {"model": "m-1", "content": [{"type": "text", "text": text}], "stop_reason": "end_turn", "usage": usage}
    if wire == "codex_responses":
        content = [{"type": "output_text", "text": text}]
        output = [{"type": "message", "role": "assistant", "content": content}]
        return {"model": "m-1", "status": "completed", "output": output, "usage": usage}
    if wire == "gemini":
        candidate = {"content": {"role": "model", "parts": [{"text": text}]}, "finishReason": "STOP"}
        return {"candidates": [candidate], "modelVersion": "m-1", "usageMetadata": usage}
    message = {"role": "assistant", "content": [{"text": text}]}
    return {"output": {"message": message}, "stopReason": "end_turn", "usage": usage}


@pytest.fixture(params=OTHERS)
def spoken(request, lane):
    """A format, and a host that speaks it to the server with a key: the name and ``load(config)``."""

    def load(**more):
        model = {"api_mode": request.param, "default": "m-1", "api_key": "k-123456"}
        return lane.llm({"model": model, **more})

    return request.param, load


def test_a_call_over_each_format(way, lane, spoken):
    """One call goes out in the format's own way, and its answer comes back like any other's."""
    wire, load = spoken
    lane.server.queue_response(answering(wire, "pong"))
    result = way.complete(load(), max_tokens=64, temperature=0)
    assert (result.text, result.model, result.provider) == ("pong", "m-1", "custom")
    assert (result.usage.input_tokens, result.usage.output_tokens, result.usage.total_tokens) == (12, 6, 18)
    (request,) = lane.server.requests
    name, value = KEY_HEADERS[wire]
    assert (request.path, request.headers[name]) == (PATHS[wire], value)
    assert request.headers["user-agent"].startswith("hermes-cli/")


def test_a_typed_answer_over_each_format(way, lane, spoken, wanting):
    """A structured call is asked for, parsed and validated over each format."""
    wire, load = spoken
    lane.server.queue_response(answering(wire, '{"urgency": 0.9}'))
    assert way.structured(load(), json_schema=wanting.schema).parsed == {"urgency": 0.9}


def test_the_operators_effort_reaches_each_format(way, lane, spoken):
    """``auxiliary.plugin.reasoning_effort`` is asked for in the format's own way; no OpenAI field comes along."""
    wire, load = spoken
    lane.server.queue_response(answering(wire, "pong"))
    model = {"gemini": "gemini-3-flash", "anthropic_messages": "claude-opus-4-6"}.get(wire, "m-1")
    llm = load(
        auxiliary={"plugin": {"reasoning_effort": "high"}},
        plugins={"entries": {"p": {"llm": {"allow_model_override": True}}}},
    )
    way.complete(llm, model=model)
    (body,) = lane.server.bodies
    found = {
        "anthropic_messages": (body.get("output_config"), {"effort": "high"}),
        "codex_responses": (body.get("reasoning"), {"effort": "high", "summary": "auto"}),
        "gemini": (body.get("generationConfig", {}).get("thinkingConfig", {}).get("thinkingLevel"), "high"),
        "bedrock_converse": (None, None),
    }[wire]
    assert found[0] == found[1]
    assert not body.keys() & {"reasoning_effort", "think", "options"}


ERRORS = {
    "anthropic_messages": {"type": "error", "error": {"type": "some_error", "message": "So it is."}},
    "codex_responses": {"error": {"type": "some_error", "message": "So it is."}},
    "gemini": {"error": {"code": 1, "status": "SOME_ERROR", "message": "So it is."}},
    "bedrock_converse": {"message": "So it is."},
}
REQUEST_ID = {"anthropic_messages": "request-id", "bedrock_converse": "x-amzn-requestid"}


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, InvalidRequestError),
        (403, AuthenticationError),
        (429, RateLimitError),
        (503, ServerError),
        (529, ServerError),
    ],
    ids=["400", "403", "429", "503", "529"],
)
def test_an_error_of_each_format(way, lane, spoken, status, kind):
    """A status that is no success is a typed error with the provider's words and its id of the request."""
    wire, load = spoken
    headers = {REQUEST_ID.get(wire, "x-request-id"): "r-1"}
    lane.server.queue_response(ERRORS[wire], status=status, headers=headers)
    with pytest.raises(kind, match=rf"^custom answered {status} for model 'm-1': So it is\.$") as caught:
        way.complete(load())
    assert caught.value.request_id == "r-1"


def test_a_stream_is_read_over_the_wire(way, lane):
    """A provider that streams though nobody asked it to is understood."""
    event = {"type": "response.completed", "response": answering("codex_responses", "pong")}
    lane.server.queue_response(f"data: {json.dumps(event)}\n\n", headers={"Content-Type": "text/event-stream"})
    assert way.complete(lane.llm({"model": {"api_mode": "codex_responses"}})).text == "pong"


@pytest.mark.parametrize("body", ["data: {broken\n\n", "data: " + "[" * 100_000 + "\n\n"], ids=["broken", "too-deep"])
def test_a_broken_stream_is_an_error_of_the_format(way, lane, body):
    """An event that is no JSON is never an empty answer."""
    lane.server.queue_response(body, headers={"Content-Type": "text/event-stream"})
    with pytest.raises(ResponseFormatError, match="not JSON"):
        way.complete(lane.llm({"model": {"api_mode": "codex_responses"}}))


@pytest.fixture
def keys_of_aws(monkeypatch):
    """Credentials of Amazon in the environment."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret-of-amazon")
    monkeypatch.setenv("AWS_REGION", "eu-central-1")
    for name in ("AWS_SESSION_TOKEN", "AWS_PROFILE", "AWS_BEARER_TOKEN_BEDROCK"):
        monkeypatch.delenv(name, raising=False)


def test_a_signature_reaches_the_server_whole(way, lane, keys_of_aws):
    """What the server receives, byte by byte, is what was signed: signing it again gives the same signature."""
    from botocore.auth import SigV4Auth
    from botocore.awsrequest import AWSRequest
    from botocore.credentials import Credentials

    lane.server.queue_response(answering("bedrock_converse", "pong"))
    llm = lane.llm({"model": {"api_mode": "bedrock_converse", "default": "amazon.nova-lite-v1:0"}})
    assert way.complete(llm).text == "pong"
    (got,) = lane.server.requests
    assert got.path == "/v1/model/amazon.nova-lite-v1%3A0/converse"
    body = json.dumps(got.body, separators=(",", ":")).encode()
    again = AWSRequest("POST", f"http://{got.headers['host']}{got.path}", {"Content-Type": "application/json"}, body)
    again.context["timestamp"] = got.headers["x-amz-date"]
    signer = SigV4Auth(Credentials("AKIDEXAMPLE", "secret-of-amazon"), "bedrock", "eu-central-1")
    again.headers["X-Amz-Date"] = got.headers["x-amz-date"]
    canonical = signer.string_to_sign(again, signer.canonical_request(again))
    assert got.headers["authorization"].endswith(f"Signature={signer.signature(canonical, again)}")
    assert "/eu-central-1/bedrock/" in got.headers["authorization"]


def test_the_keys_of_a_homes_env_file_sign(way, lane, monkeypatch):
    """Credentials in the home's ``.env`` count, and are not exported to the process."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    lane.write(".env", "AWS_ACCESS_KEY_ID=AKIDHOME\nAWS_SECRET_ACCESS_KEY=secret-of-a-home\n")
    lane.server.queue_response(answering("bedrock_converse", "pong"))
    way.complete(lane.llm({"model": {"api_mode": "bedrock_converse"}}))
    (got,) = lane.server.requests
    assert "Credential=AKIDHOME/" in got.headers["authorization"]
    assert "secret-of-a-home" not in f"{got.headers}{got.body}{lane.log_text()}"


SIGNING = """
    from hermes_core import ApiMode, Completion, hookimpl
    from hermes_core.types.wire import HttpRequest

    def encode(request):
        return HttpRequest(url=request.base_url, headers={}, body=b"{}")

    def sign(request, variables):
        return request._replace(headers={"X-Signed": " ".join(f"{k}={v}" for k, v in variables.items())})

    @hookimpl
    def hermes_api_modes():
        yield ApiMode(
            name="signing", encode=encode, decode=lambda body: Completion(text=body["text"]), sign=sign,
            sign_variables=("OWN_TOKEN", "UNSET_TOKEN", "OPENROUTER_API_KEY"),
        )
    """


def test_a_plugins_format_may_sign(way, lane, monkeypatch):
    """A format that signs is given the variables it asked for, but for the keys of other providers."""
    monkeypatch.setenv("OWN_TOKEN", "t-123456")
    monkeypatch.setenv("OPENROUTER_API_KEY", "sk-or-654321")
    lane.write("plugins/signing/plugin.yaml", "name: signing")
    lane.write("plugins/signing/__init__.py", SIGNING)
    lane.server.queue_response({"text": "pong"})
    llm = lane.llm({"model": {"api_mode": "signing"}, "plugins": {"enabled": ["signing"]}})
    assert way.complete(llm).text == "pong"
    assert lane.server.requests[0].headers["x-signed"] == "OWN_TOKEN=t-123456"


def test_the_names_in_the_tables_are_those_of_the_formats():
    """These tests look at each format that there is."""
    assert {*KEY_HEADERS} == {*PATHS} == {*ERRORS} == {*USAGE_12_6} == {*OTHERS}
    assert all(re.fullmatch(r"[a-z_]+", name) for name in OWN)
