"""What came back, made into what the model said, or into one clear error; the same for all four methods."""

from __future__ import annotations

import json

import pytest

from hermes_core.errors import (
    AuthenticationError,
    InvalidRequestError,
    RateLimitError,
    ResponseFormatError,
    ServerError,
)
from hermes_core.llm.reasoning import split_reasoning
from hermes_core.types.wire import HttpResponse

SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
N = '{"n": 1}'


def said(content: object, finish: object = "stop", **fields: object) -> dict:
    """A completion whose message has this content and these fields."""
    return {"choices": [{"finish_reason": finish, "message": {"content": content, **fields}}]}


def stream(*events: object, end: str = "data: [DONE]\n\n") -> str:
    """An event stream; a string is sent as it is."""
    return "".join(event if isinstance(event, str) else f"data: {json.dumps(event)}\n\n" for event in events) + end


def chunk(**delta: object) -> dict:
    """One piece of a streamed message; ``finish`` is the reason it ends."""
    return {"model": "m-1", "choices": [{"index": 0, "finish_reason": delta.pop("finish", None), "delta": delta}]}


@pytest.mark.parametrize("as_stream", [False, True], ids=["in a body", "in an event"])
@pytest.mark.parametrize("count", ["9" * 5000, "-" + "9" * 5000], ids=["large", "far below nothing"])
def test_a_count_of_too_many_digits_is_none(answered, count, as_stream):
    """A count that nobody can have counted is nonsense, and costs the answer nothing."""
    body = json.dumps({**said("hi"), "usage": {"prompt_tokens": 0, "completion_tokens": 7}}).replace(
        ": 0", f": {count}"
    )
    llm, _ = answered(stream(f"data: {body}\n\n") if as_stream else body, "text/event-stream" if as_stream else "json")
    answer = llm.complete([{"role": "user", "content": "ping"}])
    assert (answer.text, answer.usage.input_tokens, answer.usage.output_tokens) == ("hi", 0, 7)


@pytest.fixture
def answered(lane, wires_to):
    """A plugin's model surface whose provider answers 200 with this body, and how often it was asked."""

    def answer(body: object, kind: str = "application/json", config: dict | None = None, **headers: str):
        raw = body if isinstance(body, bytes) else (body if isinstance(body, str) else json.dumps(body)).encode()
        fields = {"content-type": kind, **{name.replace("_", "-"): value for name, value in headers.items()}}
        host = lane.host(config)
        sent = wires_to(host, lambda _request: HttpResponse(status=200, headers=fields, body=raw))
        return host.llm("p"), sent.requests

    return answer


TEXTS = {
    "string": (said("hi"), "hi"),
    "empty-string": (said(""), ""),
    "blank-string": (said(" \n"), " \n"),
    "list-of-parts": (said([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]), "ab"),
    "list-with-parts-that-are-no-text": (said([{"text": "a"}, {"type": "image"}, None, "x", {"text": 5}]), "a"),
    "list-with-thinking-parts": (
        said([{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}, {"type": "text", "text": "a"}]),
        "a",
    ),
    "list-with-reasoning-parts": (said([{"type": "reasoning", "text": "hm"}, {"type": "text", "text": "a"}]), "a"),
    "empty-list": (said([]), ""),
    "list-written-as-text-r15_06": (said('[{"type": "text", "text": "hi"}]'), '[{"type": "text", "text": "hi"}]'),
    "refusal": (said(None, refusal="I will not."), "I will not."),
    "refusal-beside-empty-content": (said("", refusal="No."), "No."),
    "refusal-among-the-parts": (said([{"type": "refusal", "refusal": "No."}]), "No."),
    "refusal-beside-content": (said("hi", refusal="No."), "hi"),
    "cut-off": (said("hal", "length"), "hal"),
    "reasoning-beside-content": (said("hi", reasoning="hm"), "hi"),
    "reasoning-beside-empty-content": (said("", reasoning="hm"), ""),
    "tool-calls-beside-content": (said("hi", tool_calls=[{"id": "1"}]), "hi"),
    "think-block": (said("<think>hm</think>\n\nhi"), "hi"),
    "think-block-behind-blanks": (said(" \n<think>hm</think>hi"), "hi"),
    "think-block-of-several-lines": (said("<think>\nhm\n</think>\nhi\nho"), "hi\nho"),
    "two-think-blocks": (said("<think>a</think> <think>b</think>hi"), "hi"),
    "empty-think-block": (said("<think></think>hi"), "hi"),
    "tag-thinking": (said("<thinking>hm</thinking>hi"), "hi"),
    "tag-reasoning": (said("<reasoning>hm</reasoning>hi"), "hi"),
    "tag-thought": (said("<thought>hm</thought>hi"), "hi"),
    "tag-reasoning-scratchpad": (said("<REASONING_SCRATCHPAD>hm</REASONING_SCRATCHPAD>hi"), "hi"),
    "tag-in-capitals": (said("<THINK>hm</THINK>hi"), "hi"),
    "closing-tag-alone": (said("hm\n</think>\n\nhi"), "hi"),
    "closing-tag-alone-on-one-line": (said("hm</think>hi"), "hi"),
    "closing-tag-first": (said("</think>hi"), "hi"),
    "all-in-a-think-block-r13_05": (said("<think>hi</think>"), "<think>hi</think>"),
    "all-in-a-think-block-and-blanks": (said("<think>hi</think>\n "), "<think>hi</think>\n "),
    "think-block-that-is-not-closed-r13_03": (said("<think>hm, hi"), "<think>hm, hi"),
    "think-block-amid-the-answer": (said("hi <think>hm</think>ho"), "hi <think>hm</think>ho"),
    "tag-that-is-only-spoken-of": (said("It ends with `</think>`."), "It ends with `</think>`."),
    "tag-in-a-string": (said('{"s": "</think>"}'), '{"s": "</think>"}'),
    "another-tag": (said("<b>hm</b>hi"), "<b>hm</b>hi"),
    "output-text": ({"output_text": "hi"}, "hi"),
    "output-items": (
        {
            "output": [
                {"type": "reasoning", "content": [{"type": "reasoning_text", "text": "hm"}]},
                {"type": "message", "content": [{"type": "output_text", "text": "h"}]},
                {"type": "message", "content": [{"type": "output_text", "text": "i"}]},
            ]
        },
        "hi",
    ),
    "output-items-beside-null-choices": (
        {"choices": None, "output": [{"type": "message", "content": [{"type": "output_text", "text": "hi"}]}]},
        "hi",
    ),
    "stream-r15_08": (stream(chunk(role="assistant", content=""), chunk(content="h"), chunk(content="i")), "hi"),
    "stream-with-reasoning": (stream(chunk(reasoning_content="hm"), chunk(content="hi", finish="stop")), "hi"),
    "stream-with-a-think-block": (
        stream(chunk(content="<think>h"), chunk(content="m</think>"), chunk(content="hi")),
        "hi",
    ),
    "stream-with-a-refusal": (stream(chunk(refusal="N"), chunk(refusal="o.")), "No."),
    "stream-with-usage-behind-it": (stream(chunk(content="hi"), {"choices": [], "usage": {"prompt_tokens": 1}}), "hi"),
    "stream-with-two-choices": (
        stream({"choices": [{"index": 1, "delta": {"content": "ho"}}, {"index": 0, "delta": {"content": "hi"}}]}),
        "hi",
    ),
    "stream-of-one-whole-message": (stream({"object": "chat.completion", **said("hi")}), "hi"),
    "stream-with-comments-and-names": (stream(": wait\n\n", "event: message\nid: 1\n", chunk(content="hi")), "hi"),
    "stream-with-windows-line-ends": (stream(chunk(content="hi")).replace("\n", "\r\n"), "hi"),
    "stream-without-an-end": (stream(chunk(content="hi"), end=""), "hi"),
    "stream-without-a-blank-line-at-its-end": (stream(chunk(content="hi"), end="").rstrip(), "hi"),
    "stream-with-data-of-two-lines": ('data: {"choices": [{"delta":\ndata: {"content": "hi"}}]}\n\n', "hi"),
}
HTML = "<!DOCTYPE html><html><body>Sign in</body></html>"
ERRORS = {
    "error-object-r15_01": ({"error": {"message": "overloaded"}}, "overloaded"),
    "error-text": ({"error": "overloaded"}, "overloaded"),
    "error-list": ({"error": ["overloaded"]}, "overloaded"),
    "error-without-a-message": ({"error": {"type": "quota"}}, "quota"),
    "error-beside-no-choices-r15_09": ({"choices": [], "error": {"message": "quota"}}, "quota"),
    "error-beside-null-choices-r15_09": ({"choices": None, "error": {"message": "quota"}}, "quota"),
    "error-beside-an-answer": ({**said("hi"), "error": {"message": "quota"}}, "quota"),
    "error-in-the-choice": ({"choices": [{"error": {"message": "quota"}, "message": {"content": ""}}]}, "quota"),
    "error-in-a-list": ([{"error": {"message": "quota"}}], "quota"),
    "error-as-the-body": ({"object": "error", "message": "quota"}, "quota"),
    "no-choices-r15_09": ({"choices": []}, "no message"),
    "null-choices-r15_09": ({"choices": None}, "no message"),
    "choices-is-no-list": ({"choices": {}}, "no message"),
    "null-choice": ({"choices": [None]}, "no message"),
    "choice-without-a-message": ({"choices": [{}]}, "no message"),
    "null-message": ({"choices": [{"message": None}]}, "no message"),
    "empty-object": ({}, "no message"),
    "body-of-something-else": ({"code": 1004, "status_msg": "log in"}, "log in"),
    "output-without-messages": ({"output": [{"type": "reasoning"}, None, "x"]}, "no message"),
    "a-list": ([], "list"),
    "null": ("null", "NoneType"),
    "text": ('"hi"', "str"),
    "html": (HTML, "Sign in"),
    "empty-body": ("", "is empty"),
    "blank-body": (" \n", "is empty"),
    "cut-off-body": ('{"choices": [', "not JSON"),
    "bytes-that-are-no-text": (b"\xff\xfe\x00", "not JSON"),
    "nested-too-deep-r13_21": ("[" * 100_000, "not JSON"),
    "number-of-10000-digits-r13_21": ('{"choices": ' + "9" * 10_000 + "}", "holds no message"),
    "null-content": (said(None), "no content"),
    "missing-content": ({"choices": [{"message": {}}]}, "no content"),
    "content-is-a-number": (said(5), "no content"),
    "content-is-a-mapping": (said({"text": "hi"}), "no content"),
    "content-is-a-list-of-thoughts": (said([{"type": "thinking", "thinking": "hm"}]), "no content"),
    "null-content-beside-tool-calls": (said(None, "tool_calls", tool_calls=[{}]), "tool_calls"),
    "null-content-beside-reasoning": (said(None, reasoning="hm"), "no content"),
    "empty-content-cut-off": (said("", "length"), "no content"),
    "stream-with-an-error-r15_08": (stream({"error": {"message": "quota"}}), "quota"),
    "stream-with-an-error-behind-a-piece-r15_08": (
        stream(chunk(content="h"), {"error": {"message": "quota"}}),
        "quota",
    ),
    "stream-with-an-error-beside-no-choices-r15_09": (stream({"choices": [], "error": {"message": "quota"}}), "quota"),
    "stream-with-an-event-named-error-r15_08": ('event: error\ndata: {"message": "quota"}\n\n', "quota"),
    "stream-of-nothing": (stream(), "no message"),
    "stream-of-empty-pieces": (stream(chunk(role="assistant", content=""), chunk(finish="stop")), "no content"),
    "stream-cut-off-in-a-piece": ('data: {"choices": [{"delta": {"content": "h', "not JSON"),
}


@pytest.mark.parametrize(("body", "text"), TEXTS.values(), ids=TEXTS)
def test_text_is_what_the_model_said(way, answered, body, text):
    """Content, its text parts or a refusal is the text; reasoning before it is not, unless nothing else is there."""
    llm, _ = answered(body, "text/event-stream" if isinstance(body, str) else "application/json")
    assert way.complete(llm).text == text


@pytest.mark.parametrize(("body", "text"), TEXTS.values(), ids=TEXTS)
def test_a_structured_answer_keeps_the_text(way, answered, body, text):
    """The text of a typed answer is that of a chat answer, whether JSON was found in it or not."""
    llm, _ = answered(body)
    assert way.structured(llm, json_mode=True).text == text


@pytest.mark.parametrize(("body", "told"), ERRORS.values(), ids=ERRORS)
def test_what_is_no_answer_is_one_clear_error(call, answered, body, told):
    """A 200 without an answer is an error that says what came and from whom; never an empty success, asked once."""
    llm, requests = answered(body, "text/html" if body is HTML else "application/json")
    with pytest.raises(ResponseFormatError, match=told) as caught:
        call(llm)
    assert (caught.value.provider, caught.value.model, len(requests)) == ("custom", "fake-model", 1)
    assert len(str(caught.value)) < 400


STATUSES = {400: InvalidRequestError, 401: AuthenticationError, 429: RateLimitError, 502: ServerError}


@pytest.mark.parametrize("place", ["body", "stream", "choice"])
@pytest.mark.parametrize("written", [lambda status: {"code": status}, lambda status: {"code": str(status)},
                                     lambda status: {"code": "x", "status": status}],
                         ids=["code", "code-as-text", "status"])  # fmt: skip
@pytest.mark.parametrize(("status", "kind"), STATUSES.items(), ids=map(str, STATUSES))
def test_an_error_with_a_status_is_the_error_of_that_status_r15_01(way, answered, status, kind, written, place):
    """An error in a 200 that names a status is what that status would have been, the server's wait included."""
    error = {"error": {"message": "m", **written(status)}}
    body = {"body": error, "stream": stream(chunk(content="h"), error), "choice": {"choices": [error]}}[place]
    llm, _ = answered(body, retry_after="7", x_request_id="r-1")
    with pytest.raises(kind) as caught:
        way.complete(llm)
    error = caught.value
    assert (error.status_code, error.retry_after, error.request_id) == (status, 7.0, "r-1")
    assert str(error) == f"custom answered {status} for model 'fake-model': m"


@pytest.mark.parametrize("code", ["rate_limit_exceeded", 1302, True, 200, 99999, None, [429]], ids=repr)
def test_an_error_with_another_code_keeps_it(way, answered, code):
    """A code that is no status of an error makes an error of the format, which holds it."""
    llm, _ = answered({"error": {"message": "m", "code": code}})
    with pytest.raises(ResponseFormatError) as caught:
        way.complete(llm)
    assert caught.value.code == (str(code) if isinstance(code, str | int) else "")


def test_an_error_without_a_code_has_the_type_of_it(way, answered):
    """What an error has no code for, its type says."""
    llm, _ = answered({"error": {"message": "m", "type": "insufficient_quota"}})
    with pytest.raises(ResponseFormatError) as caught:
        way.complete(llm)
    assert caught.value.code == "insufficient_quota"


@pytest.mark.parametrize("error", [None, {}, "", False, []], ids=repr)
def test_an_error_that_says_nothing_is_none(way, answered, error):
    """Servers that write an empty error beside each answer have answered."""
    llm, _ = answered({**said("hi"), "error": error})
    assert way.complete(llm).text == "hi"


@pytest.mark.parametrize("content", [None, ""], ids=["null", "empty"])
def test_an_answer_cut_off_before_it_began_hints_at_the_limit(call, answered, content):
    """When reasoning took all the tokens, the error says which argument helps."""
    llm, _ = answered(said(content, "length", reasoning="hm"))
    with pytest.raises(ResponseFormatError, match="no content") as caught:
        call(llm)
    assert "max_tokens" in caught.value.hint


def test_a_web_page_hints_at_the_address(way, answered):
    """A page in an answer's place usually means that base_url leads to the wrong place."""
    llm, _ = answered(HTML, "text/html")
    with pytest.raises(ResponseFormatError, match="text/html") as caught:
        way.complete(llm)
    assert "base_url" in caught.value.hint


def test_a_cut_off_answer_says_so(way, answered):
    """Why the model stopped is in ``result.audit``: a typed answer that broke off is text."""
    llm, _ = answered(said('{"n": ', "length"))
    answer = way.structured(llm, json_schema=SCHEMA)
    assert (answer.parsed, answer.content_type, answer.audit["finish_reason"]) == (None, "text", "length")


REASONED = {
    "reasoning": said(None, reasoning=N),
    "reasoning-content-r15_03": said(None, reasoning_content=N),
    "reasoning-details": said(None, reasoning_details=[{"type": "reasoning.text", "text": N}]),
    "reasoning-summary": said(None, reasoning_details=[{"type": "reasoning.summary", "summary": N}]),
    "thinking-part": said([{"type": "thinking", "thinking": [{"type": "text", "text": N}]}]),
    "stream": stream(chunk(content=""), chunk(reasoning_content='{"n"'), chunk(reasoning_content=": 1}")),
    "think-block-r13_05": said(f"<think>{N}</think>"),
    "think-block-and-blanks-r13_05": said(f"\n<think>\n{N}\n</think>\n"),
}


@pytest.mark.parametrize("asked", [{"json_schema": SCHEMA}, {"json_mode": True}], ids=["schema", "json-mode"])
@pytest.mark.parametrize("body", REASONED.values(), ids=REASONED)
def test_json_that_came_as_reasoning_counts_r15_03(way, answered, body, asked):
    """Some servers file the answer under reasoning; one that is JSON as a whole is taken, and marked in the audit."""
    llm, _ = answered(body)
    answer = way.structured(llm, **asked)
    assert (answer.parsed, answer.content_type, answer.audit["answer_from"]) == ({"n": 1}, "json", "reasoning")
    assert N in answer.text


def test_json_that_came_as_content_is_not_marked(way, answered):
    """The mark stands only where the answer was somewhere else."""
    llm, _ = answered(said(N, reasoning='{"n": 2}'))
    answer = way.structured(llm, json_schema=SCHEMA)
    assert (answer.parsed, "answer_from" in answer.audit) == ({"n": 1}, False)


UNREASONED = {
    "words-around-it": f"It is {N}",
    "a-fence-around-it": f"```json\n{N}\n```",
    "another-shape": '{"n": "one"}',
    "cut-off": '{"n": ',
}


@pytest.mark.parametrize("thoughts", UNREASONED.values(), ids=UNREASONED)
def test_reasoning_that_is_no_whole_answer_is_an_error(way, answered, thoughts):
    """Without content, reasoning is nothing but the wanted JSON, or there is no answer."""
    llm, _ = answered(said(None, reasoning=thoughts))
    with pytest.raises(ResponseFormatError, match="no content"):
        way.structured(llm, json_schema=SCHEMA)


@pytest.mark.parametrize("thoughts", UNREASONED.values(), ids=UNREASONED)
def test_a_think_block_that_is_no_whole_answer_is_text(way, answered, thoughts):
    """Nothing is looked for inside a block that is the whole answer."""
    llm, _ = answered(said(f"<think>{thoughts}</think>"))
    answer = way.structured(llm, json_schema=SCHEMA)
    assert (answer.parsed, answer.content_type, answer.text) == (None, "text", f"<think>{thoughts}</think>")


def test_reasoning_is_no_answer_when_content_is_there(way, answered):
    """Empty content is content: what the model thought is not looked at."""
    llm, _ = answered(said("", reasoning=N))
    answer = way.structured(llm, json_schema=SCHEMA)
    assert (answer.parsed, answer.text) == (None, "")


def test_json_as_reasoning_is_no_answer_to_a_question_for_text(way, answered):
    """A structured call that wants no JSON gets no JSON out of reasoning either."""
    llm, _ = answered(said(None, reasoning=N))
    with pytest.raises(ResponseFormatError, match="no content"):
        way.structured(llm)


ATTRIBUTION = {
    "model-the-server-names": ("m-1", "m-1"),
    "no-model": (None, "fake-model"),
    "empty-model": ("", "fake-model"),
    "blank-model": ("  ", "fake-model"),
    "model-that-is-no-text": (5, "fake-model"),
}


@pytest.mark.parametrize(("named", "model"), ATTRIBUTION.values(), ids=ATTRIBUTION)
def test_the_result_says_who_answered(call, lane, answered, named, model):
    """Provider and model are those that answered: the model the server names, else the one that was asked."""
    llm, _ = answered({**said("hi"), "model": named})
    answer = call(llm)
    (line,) = lane.log()
    assert (answer.provider, answer.model) == (line["provider"], line["model"]) == ("custom", model)


def test_an_alias_is_told_by_its_name(call, answered):
    """A provider that is configured by another of its names is called what it is called."""
    config = {"model": {"provider": "or", "api_key": "k-123456", "base_url": "http://127.0.0.1:1/v1"}}
    llm, _ = answered(said("hi"), config=config)
    assert call(llm).provider == "openrouter"


@pytest.mark.parametrize(
    ("text", "split"),
    [
        pytest.param("a", ("", "a"), id="no-reasoning"),
        pytest.param("<think>a</think>b", ("a", "b"), id="a-block"),
        pytest.param("<think>a</think><thought> b\n</thought>c", ("a\nb", "c"), id="two-blocks"),
        pytest.param("a</think>b", ("a", "b"), id="no-opening-tag"),
        pytest.param("a</think><think>b</think>c", ("a\nb", "c"), id="no-opening-tag-and-a-block"),
        pytest.param("<think>a</think>", ("a", ""), id="nothing-else"),
        pytest.param('{"a": "</think>"}', ("", '{"a": "</think>"}'), id="json"),
        pytest.param("a <think>b</think>", ("", "a <think>b</think>"), id="a-block-behind-words"),
    ],
)
def test_reasoning_is_split_from_what_follows(text, split):
    """Leading blocks are the reasoning, and what follows them is the answer."""
    assert split_reasoning(text) == split
