"""Anthropic's messages: what is written, and how its answers are read. Bodies as the public reference shows them."""

from __future__ import annotations

import pytest

from hermes_core.errors import ResponseFormatError
from hermes_core.llm.answer import settled
from hermes_core.llm.wire.anthropic_messages import decode, default_max_tokens
from hermes_core.types.call import LlmCall

WIRE = "anthropic_messages"
TEXT = {"type": "text", "text": "pong"}
THOUGHT = {"type": "thinking", "thinking": "hm", "signature": "EqQB"}
CALL = {"type": "tool_use", "id": "toolu_1", "name": "json_answer", "input": {"urgency": 1, "é": None}}


def answer(*content: dict, stop: object = "end_turn", **fields: object) -> dict:
    """A message; keywords replace its fields."""
    return {
        "id": "msg_01XFDUDYJgAACzvnptvVoYEL",
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-4-6",
        "content": [*content],
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": {"input_tokens": 12, "output_tokens": 6},
        **fields,
    }


@pytest.mark.parametrize(
    ("base_url", "url"),
    [
        pytest.param("https://api.anthropic.com", "https://api.anthropic.com/v1/messages", id="a-bare-host"),
        pytest.param("https://api.anthropic.com/v1/", "https://api.anthropic.com/v1/messages", id="v1-is-not-doubled"),
        pytest.param("https://api.minimax.io/anthropic", "https://api.minimax.io/anthropic/v1/messages", id="a-path"),
        pytest.param("https://a.test/anthropic/v1?x=1", "https://a.test/anthropic/v1/messages?x=1", id="a-query"),
        pytest.param("https://api.kimi.com/coding", "https://api.kimi.com/coding/v1/messages", id="another-path"),
        pytest.param(
            "https://r.services.ai.azure.com/anthropic",
            "https://r.services.ai.azure.com/anthropic/v1/messages?api-version=2025-04-15",
            id="azure-wants-a-version",
        ),
        pytest.param(
            "https://r.services.ai.azure.com/anthropic?api-version=2026-01-01",
            "https://r.services.ai.azure.com/anthropic/v1/messages?api-version=2026-01-01",
            id="azure-with-a-version",
        ),
    ],
)
def test_the_address_is_joined(write, base_url, url):
    """``/v1/messages`` follows the path, whose own ``/v1`` is dropped; a query stays behind it."""
    assert write(WIRE, base_url=base_url).url == url


@pytest.mark.parametrize(
    ("host", "key", "header"),
    [
        pytest.param("api.anthropic.com", "sk-ant-api03-abc", "x-api-key", id="a-console-key"),
        pytest.param("api.anthropic.com", "sk-ant-oat01-abc", "authorization", id="a-login-token"),
        pytest.param("api.anthropic.com", "eyJhbGciOi.x.y", "authorization", id="a-jwt"),
        pytest.param("api.anthropic.com", "cc-abcdef", "authorization", id="a-token-of-another-kind"),
        pytest.param("a.test", "eyJhbGciOi.x.y", "x-api-key", id="a-jwt-elsewhere-is-a-key"),
        pytest.param("api.anthropic.com.evil.test", "sk-ant-oat01-abc", "x-api-key", id="a-host-that-only-looks-so"),
        pytest.param("api.minimax.io", "sk-api-abc", "authorization", id="minimax"),
        pytest.param("api.minimaxi.com", "sk-api-abc", "authorization", id="minimax-china"),
        pytest.param("r.services.ai.azure.com", "abcdef", "authorization", id="azure"),
        pytest.param("x.palantirfoundry.com", "abcdef", "authorization", id="foundry"),
    ],
)
def test_the_key_goes_where_its_kind_belongs(write, host, key, header):
    """A key is ``x-api-key``; a login's token, and any key at some hosts, is a bearer token. Never both."""
    headers = write(WIRE, base_url=f"https://{host}/anthropic", api_key=key).headers
    sent = {"x-api-key": key, "authorization": f"Bearer {key}"}[header]
    assert {name: headers[name] for name in ("x-api-key", "authorization") if name in headers} == {header: sent}


def test_the_version_is_sent_and_a_beta_may_be_added(write):
    """The version header is always there; the operator's headers come on top."""
    headers = write(WIRE, headers={"anthropic-beta": "context-1m-2025-08-07"}).headers
    assert headers["anthropic-version"] == "2023-06-01"
    assert headers["anthropic-beta"] == "context-1m-2025-08-07"


def test_a_conversation_is_written(write, everything):
    """System text is its own field, turns alternate, tools in the history are declared and forbidden."""
    body = write(WIRE, everything, model="claude-sonnet-4-5", max_tokens=64).body
    assert body == {
        "model": "claude-sonnet-4-5",
        "max_tokens": 64,
        "system": "Be brief.\n\nBe kind.",
        "messages": [
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "What is it?"},
                    {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aVZCT1I="}},
                ],
            },
            {
                "role": "assistant",
                "content": [
                    {"type": "text", "text": "Let me look."},
                    {"type": "tool_use", "id": "call_1", "name": "look_up", "input": {"word": "iVBOR"}},
                    {"type": "tool_use", "id": "call_2", "name": "count", "input": {}},
                ],
            },
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "call_1", "content": "a picture"},
                    {"type": "tool_result", "tool_use_id": "call_2", "content": "3"},
                    {"type": "text", "text": "So?"},
                    {"type": "text", "text": "Well?"},
                ],
            },
        ],
        "tools": [
            {"name": "look_up", "input_schema": {"type": "object"}},
            {"name": "count", "input_schema": {"type": "object"}},
        ],
        "tool_choice": {"type": "none"},
    }


def test_an_image_elsewhere_is_sent_by_its_url(write):
    """The API fetches images itself."""
    part = {"type": "image_url", "image_url": {"url": "https://pictures.test/a.png", "detail": "high"}}
    (message,) = write(WIRE, [{"role": "user", "content": [part]}]).body["messages"]
    assert message["content"] == [{"type": "image", "source": {"type": "url", "url": "https://pictures.test/a.png"}}]


def test_a_tools_image_stays_in_its_result(write, png):
    """A tool's result may hold more than text."""
    call = {"id": "c", "type": "function", "function": {"name": "t", "arguments": "{}"}}
    messages = [
        {"role": "user", "content": "a"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": [{"type": "image_url", "image_url": {"url": png}}]},
    ]
    (result,) = write(WIRE, messages).body["messages"][-1]["content"]
    assert [part["type"] for part in result["content"]] == ["image"]


@pytest.mark.parametrize(
    ("model", "limit"),
    [
        ("claude-3-haiku-20240307", 4096),
        ("claude-3-5-sonnet-20241022", 8192),
        ("claude-3-7-sonnet-latest", 64_000),
        ("claude-opus-4-20250514", 32_000),
        ("anthropic/claude-opus-4.1", 32_000),
        ("claude-sonnet-4-20250514", 64_000),
        ("claude-opus-4.5", 64_000),
        ("claude-haiku-4-5-20251001", 64_000),
        ("claude-opus-4-6", 128_000),
        ("claude-opus-4-8", 128_000),
        ("claude-fable-5", 128_000),
        ("MiniMax-M2.7", 131_072),
        ("qwen3-coder-plus", 65_536),
        ("kimi-k2", 128_000),
    ],
)
def test_there_is_always_a_limit(write, model, limit):
    """The API demands a limit: the caller's, else the most that the model takes."""
    assert default_max_tokens(model) == limit
    assert write(WIRE, model=model).body["max_tokens"] == limit
    assert write(WIRE, model=model, max_tokens=5).body["max_tokens"] == 5


@pytest.mark.parametrize(
    ("model", "temperature", "sent"),
    [
        pytest.param("claude-sonnet-4-6", 0.0, 0.0, id="zero-is-sent"),
        pytest.param("claude-sonnet-4-6", None, None, id="nobodys-is-not-sent"),
        pytest.param("claude-sonnet-4-6", 1.5, 1, id="the-scale-ends-at-one"),
        pytest.param("claude-opus-4-7", 0.0, None, id="newer-claudes-take-none"),
        pytest.param("MiniMax-M2", 0.5, 0.5, id="other-models-take-one"),
    ],
)
def test_the_temperature_is_sent_to_those_that_take_it(write, model, temperature, sent):
    """Claudes after 4.6 refuse a temperature; for all others it goes up to 1."""
    assert write(WIRE, model=model, temperature=temperature).body.get("temperature") == sent


def test_newer_claudes_get_no_other_sampling_either(write):
    """``top_p`` and ``top_k`` of the operator's extra fields are dropped with the temperature."""
    body = write(WIRE, model="claude-opus-4-7", extra={"top_p": 1, "top_k": 5, "metadata": {"user_id": "u"}}).body
    assert (body.keys() & {"top_p", "top_k"}, body["metadata"]) == (set(), {"user_id": "u"})


@pytest.mark.parametrize(
    ("model", "effort", "sent"),
    [
        pytest.param(
            "claude-sonnet-4-5",
            "high",
            {"thinking": {"type": "enabled", "budget_tokens": 16000}, "max_tokens": 20096, "temperature": 1},
            id="a-budget-raises-the-limit-and-fixes-the-temperature",
        ),
        pytest.param(
            "claude-sonnet-4-6",
            "high",
            {"thinking": {"type": "adaptive"}, "output_config": {"effort": "high"}, "max_tokens": 5, "temperature": 0},
            id="an-effort-changes-neither",
        ),
        pytest.param("claude-haiku-4-5", "high", {"max_tokens": 5, "temperature": 0}, id="haiku-does-not-think"),
        pytest.param("MiniMax-M2", "high", {"max_tokens": 5, "temperature": 0}, id="nor-do-other-models"),
    ],
)
def test_thinking_is_asked_for_in_the_models_own_way(write, model, effort, sent):
    """A budget of tokens before 4.6, an effort from there on."""
    reasoning = {"enabled": True, "effort": effort}
    body = write(WIRE, model=model, max_tokens=5, temperature=0, reasoning=reasoning).body
    assert {name: value for name, value in body.items() if name not in ("model", "messages")} == sent


def test_a_schema_is_decoded_by_the_api_where_it_can(write, wanting):
    """From 4.5 on, the schema goes into ``output_config``, closed and without bounds, beside the effort."""
    reasoning = {"enabled": True, "effort": "low"}
    body = write(WIRE, model="claude-opus-4-6", response_format=wanting(), reasoning=reasoning).body
    schema = body["output_config"]["format"]["schema"]
    assert (body["output_config"]["effort"], body["output_config"]["format"]["type"]) == ("low", "json_schema")
    assert (schema["additionalProperties"], schema["properties"]["urgency"]) == (False, {"type": "number"})
    assert "tools" not in body


@pytest.mark.parametrize(
    ("model", "is_open", "reasoning", "forced"),
    [
        pytest.param("claude-3-5-sonnet-20241022", False, None, True, id="an-older-claude"),
        pytest.param("MiniMax-M2", False, None, True, id="another-model"),
        pytest.param("claude-opus-4-6", True, None, True, id="a-schema-that-cannot-be-closed"),
        pytest.param("claude-fable-5", True, None, False, id="a-claude-that-refuses-to-be-forced"),
        pytest.param(
            "claude-opus-4-1", False, {"enabled": True, "effort": "low"}, False, id="thinking-and-forcing-exclude"
        ),
    ],
)
def test_else_a_tool_is_forced(write, wanting, model, is_open, reasoning, forced):
    """A schema the API cannot decode becomes the arguments of a tool that must be called, where that is allowed."""
    schema = wanting.open_schema if is_open else wanting.schema
    body = write(WIRE, model=model, response_format=wanting(schema), reasoning=reasoning).body
    assert "format" not in body.get("output_config", {})
    assert body.get("tool_choice") == ({"type": "tool", "name": "json_answer"} if forced else None)
    assert [tool["input_schema"] for tool in body.get("tools", [])] == ([schema] if forced else [])


@pytest.mark.parametrize("schema", [True, {}, {"type": "array"}, {"type": "string"}])
@pytest.mark.parametrize("model", ["claude-3-5-sonnet-20241022", "claude-opus-4-6"])
def test_a_schema_that_is_no_object_is_left_to_the_prompt(write, wanting, model, schema):
    """Neither way takes it, so nothing is sent that the API would refuse."""
    assert write(WIRE, model=model, response_format=wanting(schema)).body.keys() == {"model", "max_tokens", "messages"}


def test_free_json_is_left_to_the_prompt(write):
    """The API has no mode for any JSON, and refuses OpenAI's field."""
    assert "response_format" not in write(WIRE, response_format={"type": "json_object"}).body


def test_a_forced_tool_stands_beside_those_of_the_history(write, wanting, everything):
    """All tools are declared, and the answer's is the one to call."""
    body = write(WIRE, everything, model="claude-3-7-sonnet", response_format=wanting()).body
    assert [tool["name"] for tool in body["tools"]] == ["look_up", "count", "json_answer"]
    assert body["tool_choice"]["name"] == "json_answer"


@pytest.mark.parametrize(
    ("model", "last"),
    [("claude-3-7-sonnet", "assistant"), ("MiniMax-M2", "assistant"), ("claude-opus-4-6", "user")],
    ids=["older-claudes-go-on", "so-do-other-models", "newer-claudes-are-asked-to"],
)
def test_a_conversation_that_ends_with_the_assistant(write, model, last):
    """Newer Claudes refuse to go on with given words, so the user asks them to."""
    messages = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b "}]
    sent = write(WIRE, messages, model=model).body["messages"]
    assert (sent[-1]["role"], sent[1]["content"][0]["text"].strip()) == (last, "b")


@pytest.mark.parametrize(
    ("body", "text", "finish"),
    [
        pytest.param(answer(TEXT), "pong", "stop", id="text"),
        pytest.param(
            answer(TEXT, {"type": "text", "text": "!"}), "pong!", "stop", id="blocks-are-joined-without-a-gap"
        ),
        pytest.param(answer(TEXT, stop="stop_sequence"), "pong", "stop", id="stop-sequence"),
        pytest.param(answer(TEXT, stop="max_tokens"), "pong", "length", id="cut-off"),
        pytest.param(answer(TEXT, stop="model_context_window_exceeded"), "pong", "length", id="context-full"),
        pytest.param(answer(TEXT, stop="refusal"), "pong", "content_filter", id="refusal"),
        pytest.param(answer(TEXT, stop="pause_turn"), "pong", "", id="a-reason-of-another-kind"),
        pytest.param(answer(TEXT, stop=None), "pong", "", id="no-reason"),
        pytest.param(answer(), "", "stop", id="nothing-to-say-is-an-answer"),
        pytest.param(answer(THOUGHT, TEXT), "pong", "stop", id="thinking-is-no-text"),
        pytest.param(
            answer(CALL, stop="tool_use"), '{"urgency": 1, "é": null}', "stop", id="the-forced-tools-arguments"
        ),
        pytest.param(answer(TEXT, CALL, stop="tool_use"), '{"urgency": 1, "é": null}', "stop", id="beside-some-words"),
        pytest.param(answer(TEXT, {**CALL, "name": "t"}, stop="tool_use"), "pong", "tool_calls", id="another-tool"),
        pytest.param(answer(TEXT, None, "x", {"type": "text"}), "pong", "stop", id="odd-blocks-are-skipped"),
    ],
)
def test_an_answer_is_read(body, text, finish):
    """Text blocks, or the arguments of the tool that was asked for, are the answer."""
    completion = decode(body)
    assert (completion.text, completion.finish_reason, completion.model) == (text, finish, "claude-sonnet-4-6")


def test_thinking_is_kept_apart():
    """What the model thought is on ``reasoning``."""
    assert decode(answer(THOUGHT, TEXT)).reasoning == "hm"


@pytest.mark.parametrize(
    ("reported", "usage"),
    [
        pytest.param({"input_tokens": 12, "output_tokens": 6}, (12, 6, 18, 0, 0), id="plain"),
        pytest.param(
            {
                "input_tokens": 3,
                "cache_read_input_tokens": 100,
                "cache_creation_input_tokens": 20,
                "cache_creation": {"ephemeral_5m_input_tokens": 20, "ephemeral_1h_input_tokens": 0},
                "output_tokens": 6,
                "service_tier": "standard",
            },
            (123, 6, 129, 100, 20),
            id="what-the-cache-read-and-wrote-is-input-too",
        ),
        pytest.param({"cache_read_input_tokens": None, "input_tokens": 1}, (1, 0, 1, 0, 0), id="null"),
        pytest.param(None, (0, 0, 0, 0, 0), id="nothing"),
        pytest.param({"input_tokens": "5", "output_tokens": -1}, (0, 0, 0, 0, 0), id="no-counts"),
    ],
)
def test_usage_is_counted(counts, reported, usage):
    """The API's input leaves out the cache; ours is the whole prompt."""
    assert decode(answer(TEXT, usage=reported)).usage == counts(*usage)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        pytest.param(
            {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}, "Overloaded", id="error"
        ),
        pytest.param(answer(THOUGHT, stop="max_tokens"), "no content .*'length'", id="thinking-until-the-limit"),
        pytest.param(answer(stop="refusal"), "no content .*'content_filter'", id="a-refusal-without-a-word"),
        pytest.param(answer({**CALL, "name": "t"}, stop="tool_use"), "no content .*'tool_calls'", id="only-a-tool"),
        pytest.param({"type": "message", "content": "pong"}, "no message .*'content', 'type'", id="content-is-text"),
        pytest.param({"choices": []}, "no message .*'choices'", id="another-apis-body"),
        pytest.param([answer(TEXT)], "no message .list", id="a-list"),
        pytest.param(None, "no message", id="null"),
    ],
)
def test_what_is_no_answer_is_an_error_of_the_format(body, said):
    """An error in a 200, no message or no text is never an empty success."""
    with pytest.raises(ResponseFormatError, match=said):
        settled(decode(body), LlmCall(plugin_id="p", messages=[]))
