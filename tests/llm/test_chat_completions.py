"""The chat completions wire: what is written, and how every odd body is read."""

from __future__ import annotations

import json

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from hermes_core.errors import HermesError, ResponseFormatError
from hermes_core.llm.wire.chat_completions import CHAT_COMPLETIONS, decode, encode
from hermes_core.types.call import Completion
from hermes_core.types.wire import WireRequest

REQUEST = WireRequest(base_url="https://api.acme.test/v1", model="m", messages=[{"role": "user", "content": "é\ud800"}])
KEYS = "choices message delta content error type text output refusal reasoning_details usage model cost".split()
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(KEYS) | st.text(),
            inner,
            max_size=4,
        )
    ),
    max_leaves=20,
)


def body(content: object = "hi", **fields: object) -> dict:
    """A completion's body; keywords replace its fields."""
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": content}}
    return {"model": "m-1", "choices": [choice], **fields}


def message(finish: object = "stop", **fields: object) -> dict:
    """A completion's body whose message has just these fields."""
    return {"choices": [{"finish_reason": finish, "message": fields}]}


@pytest.mark.parametrize(
    ("base_url", "url"),
    [
        ("https://api.acme.test/v1", "https://api.acme.test/v1/chat/completions"),
        ("https://api.acme.test/v1/", "https://api.acme.test/v1/chat/completions"),
        ("https://api.acme.test/v1//", "https://api.acme.test/v1/chat/completions"),
        ("https://api.acme.test", "https://api.acme.test/chat/completions"),
        ("https://api.acme.test/v1?api-version=2", "https://api.acme.test/v1/chat/completions?api-version=2"),
        ("https://api.acme.test/v1/?a=1&b=2", "https://api.acme.test/v1/chat/completions?a=1&b=2"),
        ("http://[::1]:8080/v1", "http://[::1]:8080/v1/chat/completions"),
    ],
    ids=["plain", "trailing-slash", "two-slashes", "no-path", "query", "slash-and-query", "ipv6-and-port"],
)
def test_the_path_is_joined_to_the_base_url_r26_15(base_url, url):
    """``/chat/completions`` follows the path, whatever ends it, and a query stays behind it."""
    assert encode(REQUEST._replace(base_url=base_url)).url == url


def test_a_plain_request_holds_model_and_messages_alone_r16_04():
    """What the caller did not set is not on the wire, not even as null."""
    assert json.loads(encode(REQUEST).body) == {"model": "m", "messages": REQUEST.messages}


@pytest.mark.parametrize(
    ("fields", "sent"),
    [
        pytest.param({"temperature": 0.0}, {"temperature": 0.0}, id="temperature-0-is-sent"),
        pytest.param({"temperature": 1}, {"temperature": 1}, id="temperature-is-sent"),
        pytest.param({"max_tokens": 5}, {"max_tokens": 5}, id="limit-under-its-usual-name"),
        pytest.param(
            {"max_tokens": 5, "max_tokens_field": "max_completion_tokens"},
            {"max_completion_tokens": 5},
            id="limit-under-another-name",
        ),
        pytest.param({"max_tokens_field": "max_completion_tokens"}, {}, id="no-limit-under-any-name"),
        pytest.param(
            {"response_format": {"type": "json_object"}}, {"response_format": {"type": "json_object"}}, id="format"
        ),
        pytest.param({"extra": {"seed": 1}}, {"seed": 1}, id="extra-fields-are-added"),
        pytest.param(
            {"extra": {"temperature": 1}, "temperature": 0}, {"temperature": 1}, id="extra-fields-replace-the-usual"
        ),
    ],
)
def test_each_field_has_its_place(fields, sent):
    """Temperature, limit, format and extra fields stand where the API wants them."""
    written = json.loads(encode(REQUEST._replace(**fields)).body)
    assert written == {"model": "m", "messages": REQUEST.messages, **sent}


def test_the_body_is_ascii():
    """Any text, half a surrogate pair included, can be sent."""
    assert encode(REQUEST).body.isascii()


@pytest.mark.parametrize(("key", "sent"), [("k-123456", "Bearer k-123456"), ("", None)], ids=["key", "no-key"])
def test_the_key_is_a_bearer_token(key, sent):
    """A key goes into Authorization; without one there is no such header."""
    assert encode(REQUEST._replace(api_key=key)).headers.get("Authorization") == sent


@pytest.mark.parametrize("name", ["Authorization", "authorization", "CONTENT-TYPE", "accept"])
def test_a_configured_header_replaces_the_usual_one(name):
    """A header that the operator or the profile sets is sent once, in whatever case it is written."""
    headers = encode(REQUEST._replace(api_key="k-123456", headers={name: "mine"})).headers
    assert [value for key, value in headers.items() if key.lower() == name.lower()] == ["mine"]


def test_the_request_is_not_changed():
    """Encoding changes nothing of what it is given."""
    extra = {"seed": 1}
    request = REQUEST._replace(extra=extra, headers={"X": "1"})
    encode(request)
    assert (request.extra, request.messages) == ({"seed": 1}, [{"role": "user", "content": "é\ud800"}])


class Part:
    """A part of content as a library's object."""

    def __init__(self, **fields: object) -> None:
        self.__dict__.update(fields)


@pytest.mark.parametrize(
    ("answer", "text", "finish"),
    [
        pytest.param(body(), "hi", "stop", id="string"),
        pytest.param(message(content=None, refusal="No."), "No.", "content_filter", id="refusal"),
        pytest.param(message(content="hi", refusal=""), "hi", "stop", id="empty-refusal-is-none"),
        pytest.param(message(content="hi", refusal=None), "hi", "stop", id="null-refusal-is-none"),
        pytest.param(message("length", content="hal"), "hal", "length", id="cut-off-answer"),
        pytest.param(message(None, content="hi"), "hi", "", id="no-finish-reason"),
        pytest.param(message(5, content="hi"), "hi", "", id="finish-reason-that-is-no-text"),
        pytest.param(
            body([{"type": "text", "text": "a"}, Part(type="text", text="b"), Part(type="image"), Part(text=5)]),
            "ab",
            "stop",
            id="objects-among-the-parts",
        ),
        pytest.param(
            {"choices": [body("a")["choices"][0], body("b")["choices"][0]]}, "a", "stop", id="first-choice-counts"
        ),
        pytest.param({"output_text": "hi", "status": "completed"}, "hi", "stop", id="output-text"),
        pytest.param({"output_text": "hal", "status": "incomplete"}, "hal", "length", id="output-text-cut-off"),
        pytest.param([message(content="hi")], "hi", "stop", id="event-with-a-message"),
        pytest.param([{"output_text": "hi"}], "hi", "stop", id="event-with-another-body"),
    ],
)
def test_an_answer_is_read(answer, text, finish):
    """Text and finish reason come from where servers put them."""
    completion = decode(answer)
    assert (completion.text, completion.finish_reason, completion.has_content) == (text, finish, True)


@pytest.mark.parametrize("content", [None, 5, {"text": "hi"}, [{"type": "image"}], True], ids=repr)
def test_content_that_is_none_is_told_from_empty_content(content):
    """No content is not the same as an empty one: the flow decides what the reasoning is worth then."""
    assert decode(message(content=content, reasoning="hm")) == Completion(
        text="", reasoning="hm", finish_reason="stop", has_content=False
    )
    assert decode(message(content="")).has_content
    assert decode(message(content=[])).has_content


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        pytest.param({"choices": []}, "no message", id="no-choices"),
        pytest.param({"choices": ["hi"]}, "no message", id="choice-is-text"),
        pytest.param({"choices": [{"message": "hi"}]}, "no message", id="message-is-text"),
        pytest.param({"choices": [{"text": "hi"}]}, "no message", id="old-completions-body"),
        pytest.param({"detail": "not here", "path": "/x"}, "'detail': 'not here'", id="another-api-s-body"),
        pytest.param({"output_text": "", "output": 5}, "no message", id="empty-output-text"),
        pytest.param([], "list", id="no-events"),
        pytest.param([5, None], "list", id="events-that-are-none"),
        pytest.param(None, "NoneType", id="null"),
    ],
)
def test_what_is_no_completion_is_an_error_of_the_format(answer, said):
    """A body without a message is never an empty success; the error says what came."""
    with pytest.raises(ResponseFormatError, match=said):
        decode(answer)


@pytest.mark.parametrize("field", ["reasoning", "reasoning_content"])
def test_reasoning_is_kept_apart(field):
    """What the model thought is on ``reasoning``, not in the text."""
    completion = decode(message(content="hi", **{field: "hm"}))
    assert (completion.text, completion.reasoning) == ("hi", "hm")


@pytest.mark.parametrize(("model", "read"), [("m-1", "m-1"), (None, ""), (5, ""), ("", "")])
def test_the_model_is_read_where_it_is_text(model, read):
    """The model's name is what the body says, or nothing."""
    assert decode(body(model=model)).model == read


@pytest.mark.parametrize(
    "fields",
    [
        {"reasoning_content": "hm", "reasoning": "ha"},
        {"reasoning_details": [{"type": "reasoning.text", "text": "hm"}, {"type": "reasoning.encrypted", "data": "x"}]},
        {"reasoning_details": [{"type": "reasoning.summary", "summary": "hm"}]},
        {"content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "hi"}]},
        {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}, {"text": "hi"}]},
        {"reasoning": "", "content": [{"type": "reasoning", "text": "hm"}, {"text": "hi"}]},
    ],
    ids=["content-before-reasoning", "details", "summary", "thinking-part", "thinking-part-of-parts", "reasoning-part"],
)
def test_reasoning_is_found_where_servers_put_it(fields):
    """Fields, details and parts of the content may hold what the model thought."""
    completion = decode(message(**{"content": "hi", **fields}))
    assert (completion.text, completion.reasoning) == ("hi", "hm")


def test_chunks_make_up_one_answer():
    """Text, reasoning, finish reason, model and usage are gathered from all pieces of a stream."""
    pieces = [
        {"model": "m-1", "choices": [{"delta": {"role": "assistant", "content": ""}}]},
        {"choices": [{"index": 0, "delta": {"reasoning": "hm"}}]},
        {"choices": [{"index": 0, "delta": {"content": "h"}}]},
        {"choices": [{"index": 0, "delta": {"content": [{"type": "text", "text": "i"}]}, "finish_reason": "stop"}]},
        {"choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 1}},
    ]
    completion = decode(pieces)
    assert (completion.text, completion.reasoning, completion.finish_reason) == ("hi", "hm", "stop")
    assert (completion.model, completion.usage.total_tokens) == ("m-1", 6)


def test_a_long_body_is_told_in_brief():
    """A body of any size makes a short message."""
    with pytest.raises(ResponseFormatError) as caught:
        decode({"detail": "x" * 100_000})
    assert len(str(caught.value)) < 400


@settings(database=None, deadline=None, max_examples=300)
@given(JSON_VALUES)
@example([{"choices": [{"delta": [], "index": None}]}])
def test_any_body_is_read_or_refused(value):
    """Whatever JSON comes back, it is a completion or a ResponseFormatError."""
    try:
        assert isinstance(decode(value), Completion)
    except ResponseFormatError:
        pass


def test_the_pair_goes_by_its_name():
    """The wire format is offered as ``chat_completions``."""
    assert (CHAT_COMPLETIONS.name, CHAT_COMPLETIONS.encode, CHAT_COMPLETIONS.decode) == (
        "chat_completions", encode, decode,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("ending", "path"),
    [
        pytest.param("/v1/", "/v1/chat/completions", id="trailing-slash"),
        pytest.param("/v1?api-version=2", "/v1/chat/completions?api-version=2", id="query"),
        pytest.param("/a/b%20c/v1", "/a/b%20c/v1/chat/completions", id="escaped-path"),
        pytest.param("", "/chat/completions", id="no-path"),
    ],
)
def test_the_request_reaches_the_configured_path_r26_15(way, lane, ending, path):
    """A base URL with slash, query, escapes or no path leads to the path that was meant."""
    base_url = lane.server.base_url.removesuffix("/v1") + ending
    way.complete(lane.llm({"model": {"base_url": base_url}}))
    assert [request.path for request in lane.server.requests] == [path]


@pytest.mark.parametrize(
    "base_url",
    ["127.0.0.1:8000/v1", "localhost/v1", "ftp://127.0.0.1/v1", "http://127.0.0.1:port/v1", "http:///v1", "/v1"],
)
def test_a_base_url_that_is_none_is_a_clear_error_r26_15(way, lane, base_url):
    """An address without a scheme, host or usable port is refused with a hint at base_url, not retried."""
    with pytest.raises(HermesError) as caught:
        way.complete(lane.llm({"model": {"base_url": base_url}}), timeout=5)
    assert "base_url" in caught.value.hint
    assert not caught.value.retryable


def test_a_base_url_that_holds_a_login_gets_no_key_r26_15(way, lane):
    """A keyed request is not sent to an address with a user and password in it; the password stays out of the error."""
    base_url = lane.server.base_url.replace("//", "//ann:pass-word-1@")
    llm = lane.llm({"model": {"base_url": base_url, "api_key": "k-123456"}})
    with pytest.raises(HermesError) as caught:
        way.complete(llm)
    assert "pass-word-1" not in f"{caught.value}{caught.value.hint}"
    assert lane.server.requests == []
