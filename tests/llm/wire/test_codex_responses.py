"""The Responses API: what is written, and how its answers and events are read. Bodies as the public reference shows."""

from __future__ import annotations

import pytest

from hermes_core.errors import ResponseFormatError
from hermes_core.llm.answer import settled
from hermes_core.llm.wire.codex_responses import decode
from hermes_core.types.call import LlmCall

WIRE = "codex_responses"
CHATGPT = "https://chatgpt.com/backend-api/codex"


def said(*content: dict) -> dict:
    """A message item."""
    return {"type": "message", "id": "msg_1", "status": "completed", "role": "assistant", "content": [*content]}


def text(words: str) -> dict:
    """A part of a message."""
    return {"type": "output_text", "text": words, "annotations": [], "logprobs": []}


def answer(*output: dict, **fields: object) -> dict:
    """A response; keywords replace its fields."""
    return {
        "id": "resp_67cb32528d6881909eb2859a55e18a85",
        "object": "response",
        "created_at": 1741369938,
        "status": "completed",
        "error": None,
        "incomplete_details": None,
        "model": "gpt-5.4-2026-03-05",
        "output": [*output],
        "usage": {
            "input_tokens": 12,
            "input_tokens_details": {"cached_tokens": 4},
            "output_tokens": 6,
            "output_tokens_details": {"reasoning_tokens": 2},
            "total_tokens": 18,
        },
        **fields,
    }


PONG = said(text("pong"))
THOUGHT = {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "hm"}]}
RAW_THOUGHT = {"type": "reasoning", "summary": [], "content": [{"type": "reasoning_text", "text": "hm"}]}
CALL = {"type": "function_call", "call_id": "c", "name": "t", "arguments": "{}"}
NO = said({"type": "refusal", "refusal": "I will not."})


def test_a_conversation_is_written(write, everything, png):
    """System text becomes instructions, each message an item, each call and result an item of its own."""
    written = write(WIRE, everything, model="grok-4", api_key="k-123456", temperature=0, max_tokens=64)
    assert written.url == "https://api.acme.test/v1/responses"
    assert written.headers["authorization"] == "Bearer k-123456"
    assert written.body == {
        "model": "grok-4",
        "store": False,
        "instructions": "Be brief.\n\nBe kind.",
        "temperature": 0,
        "max_output_tokens": 64,
        "input": [
            {
                "type": "message",
                "role": "user",
                "content": [{"type": "input_text", "text": "What is it?"}, {"type": "input_image", "image_url": png}],
            },
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Let me look."}]},
            {"type": "function_call", "call_id": "call_1", "name": "look_up", "arguments": '{"word": "iVBOR"}'},
            {"type": "function_call", "call_id": "call_2", "name": "count", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "call_1", "output": "a picture"},
            {"type": "function_call_output", "call_id": "call_2", "output": "3"},
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "So?"}]},
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "  "}]},
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Well?"}]},
        ],
    }


def test_what_nobody_set_is_not_sent(write):
    """No temperature, no limit, no instructions, unless somebody says."""
    assert write(WIRE).body.keys() == {"model", "store", "input"}


@pytest.mark.parametrize(
    ("model", "is_sent"),
    [
        ("gpt-4.1", True),
        ("grok-4", True),
        ("gpt-5.4", False),
        ("openai/gpt-5-codex", False),
        ("o3-pro", False),
        ("codex-mini-latest", False),
    ],
)
def test_models_that_reason_get_no_temperature(write, model, is_sent):
    """They refuse one."""
    assert ("temperature" in write(WIRE, model=model, temperature=0.5).body) is is_sent


def test_there_is_always_something_to_answer(write):
    """System text alone is no input; a placeholder stands for the user."""
    body = write(WIRE, [{"role": "system", "content": "Greet."}]).body
    assert (body["instructions"], len(body["input"])) == ("Greet.", 1)


def test_an_image_elsewhere_is_sent_by_its_url(write):
    """The API fetches images itself, in the detail that was asked for."""
    part = {"type": "image_url", "image_url": {"url": "https://pictures.test/a.png", "detail": "low"}}
    (item,) = write(WIRE, [{"role": "user", "content": [part]}]).body["input"]
    assert item["content"] == [{"type": "input_image", "image_url": "https://pictures.test/a.png", "detail": "low"}]


def test_a_tools_image_stays_in_its_result(write, png):
    """A result may hold more than text."""
    call = {"id": "c", "type": "function", "function": {"name": "t", "arguments": "{}"}}
    messages = [
        {"role": "assistant", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": [{"type": "image_url", "image_url": {"url": png}}]},
    ]
    items = write(WIRE, messages).body["input"]
    assert [item["type"] for item in items] == ["function_call", "function_call_output"]
    assert items[1]["output"] == [{"type": "input_image", "image_url": png}]


@pytest.mark.parametrize(("asked", "sent"), [(5, 16), (16, 16), (500, 500)], ids=["too-low", "lowest", "enough"])
def test_a_limit_below_the_lowest_is_raised(write, asked, sent):
    """The API refuses limits below 16."""
    assert write(WIRE, max_tokens=asked).body["max_output_tokens"] == sent


@pytest.mark.parametrize(
    ("reasoning", "sent"),
    [
        pytest.param({"enabled": True, "effort": "high"}, {"effort": "high", "summary": "auto"}, id="an-effort"),
        pytest.param({"enabled": True, "effort": "minimal"}, {"effort": "low", "summary": "auto"}, id="minimal-is-low"),
        pytest.param({"enabled": True, "effort": "ultra"}, {"effort": "max", "summary": "auto"}, id="ultra-is-max"),
        pytest.param({"enabled": True, "effort": ""}, {"effort": "medium", "summary": "auto"}, id="no-word-is-medium"),
        pytest.param({"enabled": False, "effort": "none"}, None, id="off-is-not-mentioned"),
    ],
)
def test_an_effort_is_asked_for(write, reasoning, sent):
    """Effort goes with a summary of the thoughts."""
    assert write(WIRE, reasoning=reasoning).body.get("reasoning") == sent


def test_a_schema_is_asked_for_as_it_is(write, wanting):
    """The schema is the plugin's own, and not strict, so any schema is taken."""
    body = write(WIRE, response_format=wanting()).body
    assert body["text"] == {
        "format": {"type": "json_schema", "name": "triage", "schema": wanting.schema, "strict": False}
    }


@pytest.mark.parametrize("schema", [True, False], ids=["anything", "nothing"])
def test_a_schema_that_is_no_object_is_left_to_the_prompt(write, wanting, schema):
    """The API takes none but objects there."""
    assert "text" not in write(WIRE, response_format=wanting(schema)).body


def test_free_json_is_asked_for(write):
    """Any JSON has a format of its own."""
    assert write(WIRE, response_format={"type": "json_object"}).body["text"] == {"format": {"type": "json_object"}}


def test_a_host_that_only_streams(write):
    """It gets a stream, default instructions, and neither temperature nor limit."""
    written = write(WIRE, base_url=CHATGPT, temperature=0, max_tokens=64)
    assert written.headers["accept"] == "text/event-stream"
    assert written.body.keys() == {"model", "store", "input", "stream", "instructions"}
    own = write(WIRE, [{"role": "system", "content": "Be brief."}], base_url=CHATGPT)
    assert own.body["instructions"] == "Be brief."


@pytest.mark.parametrize(
    ("body", "words", "finish"),
    [
        pytest.param(answer(PONG), "pong", "stop", id="text"),
        pytest.param(answer(said(text("po"), text("ng"))), "pong", "stop", id="parts-are-joined"),
        pytest.param(answer(said(text("po")), said(text("ng"))), "pong", "stop", id="messages-are-joined"),
        pytest.param(answer(THOUGHT, PONG), "pong", "stop", id="thoughts-are-no-text"),
        pytest.param(answer(NO), "I will not.", "content_filter", id="a-refusal"),
        pytest.param(
            answer(PONG, status="incomplete", incomplete_details={"reason": "max_output_tokens"}),
            "pong",
            "length",
            id="cut-off",
        ),
        pytest.param(
            answer(PONG, status="incomplete", incomplete_details={"reason": "content_filter"}),
            "pong",
            "content_filter",
            id="filtered",
        ),
        pytest.param(answer(PONG, status=None), "pong", "stop", id="no-status"),
        pytest.param(answer(PONG, status="in_progress"), "pong", "", id="another-status"),
        pytest.param(answer(CALL, PONG), "pong", "stop", id="a-call-beside-text"),
        pytest.param(answer(said(text(""))), "", "stop", id="nothing-to-say-is-an-answer"),
        pytest.param(answer(), "", "stop", id="no-output-is-nothing-to-say"),
        pytest.param(
            answer(None, PONG, "x", said({"type": "output_text"})), "pong", "stop", id="odd-items-are-skipped"
        ),
    ],
)
def test_an_answer_is_read(body, words, finish):
    """The texts of all messages are the answer."""
    completion = decode(body)
    assert (completion.text, completion.finish_reason, completion.model) == (words, finish, "gpt-5.4-2026-03-05")


@pytest.mark.parametrize("thought", [THOUGHT, RAW_THOUGHT], ids=["a-summary", "the-thoughts-themselves"])
def test_reasoning_is_kept_apart(thought):
    """A summary of the thoughts, or the thoughts, are on ``reasoning``."""
    assert decode(answer(thought, PONG)).reasoning == "hm"


def test_usage_is_counted(counts):
    """Input and output as reported, cached input beside it."""
    assert decode(answer(PONG)).usage == counts(12, 6, 18, 4, 0)
    assert decode(answer(PONG, usage=None)).usage == counts(0, 0, 0, 0, 0)
    written = {"input_tokens": 12, "input_tokens_details": {"cached_tokens": 4, "cache_write_tokens": 2}}
    assert decode(answer(PONG, usage=written)).usage == counts(12, 0, 12, 4, 2)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        pytest.param(
            answer(status="failed", error={"code": "server_error", "message": "It broke."}), "It broke", id="failed"
        ),
        pytest.param(answer(CALL), "no content .*'tool_calls'", id="only-a-call"),
        pytest.param(
            answer(THOUGHT, status="incomplete", incomplete_details={"reason": "max_output_tokens"}),
            "no content .*'length'",
            id="thinking-until-the-limit",
        ),
        pytest.param(answer(output=None), "no message", id="null-output"),
        pytest.param({"choices": []}, "no message .*'choices'", id="another-apis-body"),
        pytest.param("pong", "no message .str", id="text"),
        pytest.param([], "no content", id="no-events"),
        pytest.param(
            [{"type": "response.created", "response": answer(status="in_progress")}],
            "no content",
            id="a-stream-that-breaks-off",
        ),
    ],
)
def test_what_is_no_answer_is_an_error_of_the_format(body, words):
    """An error in a 200, no output or no text is never an empty success."""
    with pytest.raises(ResponseFormatError, match=words):
        settled(decode(body), LlmCall(plugin_id="p", messages=[]))


CREATED = {"type": "response.created", "response": answer(status="in_progress", model=None)}
DELTA = {"type": "response.output_text.delta", "delta": "po"}
DONE = {"type": "response.output_item.done", "output_index": 0, "item": PONG}


@pytest.mark.parametrize(
    ("events", "words", "finish"),
    [
        pytest.param(
            [CREATED, DELTA, DONE, {"type": "response.completed", "response": answer(PONG)}],
            "pong",
            "stop",
            id="the-last-event-holds-all",
        ),
        pytest.param(
            [CREATED, DONE, {"type": "response.completed", "response": answer(output=None)}],
            "pong",
            "stop",
            id="the-last-event-leaves-the-output-out",
        ),
        pytest.param(
            [
                CREATED,
                DONE,
                {
                    "type": "response.incomplete",
                    "response": answer(status="incomplete", incomplete_details={"reason": "max_output_tokens"}),
                },
            ],
            "pong",
            "length",
            id="cut-off",
        ),
        pytest.param([DONE], "pong", "", id="a-stream-that-breaks-off-after-the-message"),
    ],
)
def test_events_are_put_together(events, words, finish):
    """A streamed answer is what its items say, with the status and usage of the last response."""
    completion = decode([*events])
    assert (completion.text, completion.finish_reason) == (words, finish)


@pytest.mark.parametrize(
    "event",
    [
        {"type": "error", "code": "rate_limit_exceeded", "message": "Slow down."},
        {"type": "error", "error": {"type": "too_many_requests", "message": "Slow down."}},
        {
            "type": "response.failed",
            "response": answer(status="failed", error={"code": "rate_limit_exceeded", "message": "Slow down."}),
        },
    ],
    ids=["a-bare-error", "an-error-inside", "a-response-that-failed"],
)
def test_an_error_among_the_events_is_told(event):
    """A stream that ends in an error is an error with the provider's words."""
    with pytest.raises(ResponseFormatError, match=r"Slow down\."):
        decode([CREATED, DELTA, event])
