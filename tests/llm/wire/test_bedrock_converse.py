"""Bedrock's Converse: what is written, held against the API's own description, and how its answers are read."""

from __future__ import annotations

import base64
import json

import pytest
from botocore.loaders import Loader
from botocore.model import ServiceModel
from botocore.validate import ParamValidator

from hermes_core.errors import ResponseFormatError, UnsupportedInputError
from hermes_core.llm.answer import settled
from hermes_core.llm.wire.bedrock_converse import BEDROCK_CONVERSE, decode
from hermes_core.types.call import LlmCall

WIRE = "bedrock_converse"
CLAUDE = "us.anthropic.claude-sonnet-4-5-20250929-v1:0"
OLD_CLAUDE = "anthropic.claude-3-haiku-20240307-v1:0"
NEW_CLAUDE = "anthropic.claude-opus-4-7"
NOVA = "amazon.nova-lite-v1:0"
LLAMA = "meta.llama3-1-8b-instruct-v1:0"
CALLING = {"toolUse": {"toolUseId": "c", "name": "json_answer", "input": {"urgency": 1, "é": None}}}
THOUGHT = {"reasoningContent": {"reasoningText": {"text": "hm", "signature": "EqQB"}}}


@pytest.fixture(scope="module")
def operation():
    """What Amazon itself says of the operation; botocore brings it."""
    service = ServiceModel(Loader().load_service_model("bedrock-runtime", "service-2"), "bedrock-runtime")
    return service.operation_model("Converse")


@pytest.fixture
def check(operation, write):
    """Encode, hold the body against the API's description, and return it."""

    def written(messages=({"role": "user", "content": "ping"},), model=NOVA, **fields) -> dict:
        body = write(WIRE, messages, model=model, **fields).body
        report = ParamValidator().validate({"modelId": model, **with_bytes(body)}, operation.input_shape)
        assert report.generate_report() == ""
        assert body.keys() <= operation.input_shape.members.keys()
        return body

    return written


def with_bytes(node: object) -> object:
    """A body as a program gives it to the API's own library: images are bytes there, base64 on the wire."""
    if isinstance(node, dict):
        return {key: base64.b64decode(value) if key == "bytes" else with_bytes(value) for key, value in node.items()}
    return [*map(with_bytes, node)] if isinstance(node, list) else node


def answer(*content: dict, stop: object = "end_turn", **fields: object) -> dict:
    """A body; keywords replace its fields."""
    return {
        "metrics": {"latencyMs": 551},
        "output": {"message": {"role": "assistant", "content": [*content]}},
        "stopReason": stop,
        "usage": {"inputTokens": 12, "outputTokens": 6, "totalTokens": 18},
        **fields,
    }


@pytest.mark.parametrize(
    ("model", "path"),
    [
        pytest.param(NOVA, "/model/amazon.nova-lite-v1%3A0/converse", id="a-model"),
        pytest.param(
            "arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.x",
            "/model/arn%3Aaws%3Abedrock%3Aus-east-1%3A123456789012%3Ainference-profile%2Fus.x/converse",
            id="an-arn",
        ),
    ],
)
def test_the_model_is_in_the_address(write, model, path):
    """The whole id is one step of the path."""
    base_url = "https://bedrock-runtime.us-east-1.amazonaws.com/"
    assert write(WIRE, base_url=base_url, model=model).url == f"{base_url.rstrip('/')}{path}"


@pytest.mark.parametrize(("key", "sent"), [("ABSK-123456", "Bearer ABSK-123456"), ("", None)], ids=["key", "none"])
def test_a_key_is_a_bearer_token(write, key, sent):
    """An API key of Bedrock is a bearer token; without one the request is left to be signed."""
    assert write(WIRE, api_key=key).headers.get("authorization") == sent
    assert BEDROCK_CONVERSE.sign is not None


def test_a_conversation_is_written(check, everything):
    """System texts are a list, turns alternate, images are bytes, tools in the history are declared."""
    assert check(everything, temperature=0) == {
        "system": [{"text": "Be brief."}, {"text": "Be kind."}],
        "messages": [
            {
                "role": "user",
                "content": [
                    {"text": "What is it?"},
                    {"image": {"format": "png", "source": {"bytes": "aVZCT1I="}}},
                ],
            },
            {
                "role": "assistant",
                "content": [
                    {"text": "Let me look."},
                    {"toolUse": {"toolUseId": "call_1", "name": "look_up", "input": {"word": "iVBOR"}}},
                    {"toolUse": {"toolUseId": "call_2", "name": "count", "input": {}}},
                ],
            },
            {
                "role": "user",
                "content": [
                    {"toolResult": {"toolUseId": "call_1", "content": [{"text": "a picture"}]}},
                    {"toolResult": {"toolUseId": "call_2", "content": [{"text": "3"}]}},
                    {"text": "So?"},
                    {"text": "Well?"},
                ],
            },
        ],
        "inferenceConfig": {"maxTokens": 4096, "temperature": 0},
        "toolConfig": {
            "tools": [
                {"toolSpec": {"name": name, "inputSchema": {"json": {"type": "object"}}}}
                for name in ("look_up", "count")
            ]
        },
    }


@pytest.mark.parametrize(
    "messages",
    [
        pytest.param([{"role": "system", "content": "a"}], id="system-text-alone"),
        pytest.param([{"role": "assistant", "content": "a"}], id="the-assistant-alone"),
        pytest.param([{"role": "user", "content": " "}], id="blank-text"),
        pytest.param([{"role": "user", "content": []}], id="no-parts"),
        pytest.param(
            [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}], id="the-assistant-last"
        ),
    ],
)
def test_the_user_speaks_first_and_last(check, messages):
    """The API demands it, and refuses blank text."""
    sent = check(messages)["messages"]
    assert (sent[0]["role"], sent[-1]["role"]) == ("user", "user")
    assert all(block["text"].strip() for message in sent for block in message["content"])


@pytest.mark.parametrize("content", ["", [{"type": "text", "text": ""}], None])
def test_an_empty_result_holds_a_placeholder(check, content):
    """A tool that said nothing has answered all the same."""
    call = {"id": "c", "type": "function", "function": {"name": "t", "arguments": "{}"}}
    messages = [
        {"role": "user", "content": "a"},
        {"role": "assistant", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": content},
    ]
    (block,) = check(messages)["messages"][-1]["content"]
    assert block["toolResult"]["content"] == [{"text": "(no text)"}]


@pytest.mark.parametrize(
    ("mime", "kind"), [("png", "png"), ("jpg", "jpeg"), ("jpeg", "jpeg"), ("webp", "webp"), ("gif", "gif")]
)
def test_an_image_has_a_format(check, mime, kind):
    """The format is the MIME subtype, as the API calls it."""
    part = {"type": "image_url", "image_url": {"url": f"data:image/{mime};base64,AAAA"}}
    (message,) = check([{"role": "user", "content": [part]}])["messages"]
    assert message["content"][0]["image"]["format"] == kind


def test_an_image_elsewhere_is_never_dropped(write):
    """The host fetches images for this format; one that is still elsewhere is refused, not left out."""
    part = {"type": "image_url", "image_url": {"url": "https://pictures.test/a.png"}}
    with pytest.raises(UnsupportedInputError, match="an image"):
        write(WIRE, [{"role": "user", "content": [part]}])
    assert BEDROCK_CONVERSE.inlines_images


@pytest.mark.parametrize(
    ("model", "temperature", "sent"),
    [
        pytest.param(NOVA, 0.0, 0.0, id="zero-is-sent"),
        pytest.param(NOVA, None, None, id="nobodys-is-not-sent"),
        pytest.param(NOVA, 1.5, 1, id="the-scale-ends-at-one"),
        pytest.param(CLAUDE, 0.5, 0.5, id="an-older-claude"),
        pytest.param(NEW_CLAUDE, 0.5, None, id="a-newer-claude-takes-none"),
    ],
)
def test_the_temperature_is_sent_to_those_that_take_it(check, model, temperature, sent):
    """As on Anthropic's own wire."""
    assert check(model=model, temperature=temperature)["inferenceConfig"].get("temperature") == sent


@pytest.mark.parametrize(("asked", "sent"), [(None, 4096), (5, 5)], ids=["the-usual", "the-callers"])
def test_there_is_always_a_limit(check, asked, sent):
    """4096 tokens unless the caller says."""
    assert check(max_tokens=asked)["inferenceConfig"]["maxTokens"] == sent


def test_a_schema_is_decoded_by_the_api_where_it_can(check, wanting):
    """For newer Claudes the schema goes into ``outputConfig``, as text, closed and without bounds."""
    body = check(model=CLAUDE, response_format=wanting())
    wanted = body["outputConfig"]["textFormat"]["structure"]["jsonSchema"]
    assert (wanted["name"], json.loads(wanted["schema"])["additionalProperties"]) == ("triage", False)
    assert "toolConfig" not in body


@pytest.mark.parametrize(
    ("model", "is_open", "forced"),
    [
        pytest.param(OLD_CLAUDE, False, True, id="an-older-claude"),
        pytest.param(NOVA, False, True, id="nova"),
        pytest.param(CLAUDE, True, True, id="a-schema-that-cannot-be-closed"),
        pytest.param(NEW_CLAUDE, True, False, id="a-claude-that-refuses-to-be-forced"),
        pytest.param(LLAMA, False, False, id="a-model-that-cannot-be-forced"),
    ],
)
def test_else_a_tool_is_forced(check, wanting, model, is_open, forced):
    """A schema becomes the arguments of a tool that must be called, for models that can be made to."""
    schema = wanting.open_schema if is_open else wanting.schema
    config = check(model=model, response_format=wanting(schema)).get("toolConfig", {})
    assert config.get("toolChoice") == ({"tool": {"name": "json_answer"}} if forced else None)
    assert [tool["toolSpec"]["inputSchema"]["json"] for tool in config.get("tools", [])] == ([schema] if forced else [])


@pytest.mark.parametrize("schema", [True, {}, {"type": "array"}])
def test_a_schema_that_is_no_object_is_left_to_the_prompt(check, wanting, schema):
    """Neither way takes it."""
    assert check(response_format=wanting(schema)).keys() == {"messages", "inferenceConfig"}
    assert check(response_format={"type": "json_object"}).keys() == {"messages", "inferenceConfig"}


def test_extra_fields_are_added(check):
    """What a profile adds stands at the top level."""
    guardrail = {"guardrailIdentifier": "abcdefgh", "guardrailVersion": "1"}
    assert check(extra={"guardrailConfig": guardrail})["guardrailConfig"] == guardrail


@pytest.mark.parametrize(
    ("body", "text", "finish"),
    [
        pytest.param(answer({"text": "pong"}), "pong", "stop", id="text"),
        pytest.param(answer({"text": "po"}, {"text": "ng"}), "pong", "stop", id="blocks-are-joined"),
        pytest.param(answer(THOUGHT, {"text": "pong"}), "pong", "stop", id="thoughts-are-no-text"),
        pytest.param(answer({"text": "pong"}, stop="stop_sequence"), "pong", "stop", id="stop-sequence"),
        pytest.param(answer({"text": "pong"}, stop="max_tokens"), "pong", "length", id="cut-off"),
        pytest.param(
            answer({"text": "pong"}, stop="model_context_window_exceeded"), "pong", "length", id="context-full"
        ),
        pytest.param(answer({"text": "No."}, stop="guardrail_intervened"), "No.", "content_filter", id="guardrail"),
        pytest.param(answer({"text": "No."}, stop="content_filtered"), "No.", "content_filter", id="filtered"),
        pytest.param(
            answer({"text": "pong"}, stop="malformed_model_output"), "pong", "", id="a-reason-of-another-kind"
        ),
        pytest.param(answer(CALLING, stop="tool_use"), '{"urgency": 1, "é": null}', "stop", id="the-forced-tool"),
        pytest.param(answer(), "", "stop", id="nothing-to-say-is-an-answer"),
        pytest.param(answer({"text": "pong"}, None, "x", {"image": {}}), "pong", "stop", id="odd-blocks-are-skipped"),
    ],
)
def test_an_answer_is_read(body, text, finish):
    """Text blocks, or the arguments of the tool that was asked for, are the answer."""
    completion = decode(body)
    assert (completion.text, completion.finish_reason, completion.model) == (text, finish, "")


def test_every_reason_to_stop_is_known(operation):
    """Each reason that the API's description lists is read as one of ours, or as none on purpose."""
    reasons = operation.output_shape.members["stopReason"].enum
    unread = {reason for reason in reasons if decode(answer({"text": "a"}, stop=reason)).finish_reason == ""}
    assert unread == {"malformed_model_output"}


def test_thoughts_are_kept_apart():
    """What the model thought is on ``reasoning``."""
    assert decode(answer(THOUGHT, {"text": "pong"})).reasoning == "hm"


def test_a_router_says_which_model_answered():
    """A prompt router names the model it chose; other answers name none."""
    trace = {"promptRouter": {"invokedModelId": NOVA}}
    assert decode(answer({"text": "pong"}, trace=trace)).model == NOVA


@pytest.mark.parametrize(
    ("reported", "usage"),
    [
        pytest.param({"inputTokens": 12, "outputTokens": 6, "totalTokens": 18}, (12, 6, 18, 0, 0), id="plain"),
        pytest.param(
            {
                "inputTokens": 3,
                "outputTokens": 6,
                "totalTokens": 9,
                "cacheReadInputTokens": 100,
                "cacheWriteInputTokens": 20,
            },
            (123, 6, 129, 100, 20),
            id="what-the-cache-read-and-wrote-is-input-too",
        ),
        pytest.param(None, (0, 0, 0, 0, 0), id="nothing"),
    ],
)
def test_usage_is_counted(counts, reported, usage):
    """The API's input leaves out the cache; ours is the whole prompt, and the total is never less than its parts."""
    assert decode(answer({"text": "pong"}, usage=reported)).usage == counts(*usage)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        pytest.param(answer(THOUGHT, stop="max_tokens"), "no content .*'length'", id="thinking-until-the-limit"),
        pytest.param(
            answer({"toolUse": {"name": "t"}}, stop="tool_use"), "no content .*'tool_calls'", id="only-a-call"
        ),
        pytest.param({"Output": {"__type": "UnknownOperation"}}, "no message .*'Output'", id="another-operation"),
        pytest.param({"message": "Too many requests."}, "no message .*'message'", id="an-error-in-a-200"),
        pytest.param([answer()], "no message .list", id="a-list"),
        pytest.param(None, "no message", id="null"),
    ],
)
def test_what_is_no_answer_is_an_error_of_the_format(body, said):
    """No message or no text is never an empty success."""
    with pytest.raises(ResponseFormatError, match=said):
        settled(decode(body), LlmCall(plugin_id="p", messages=[]))
