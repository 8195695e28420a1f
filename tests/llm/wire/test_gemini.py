"""Google's generateContent: what is written, and how answers are read. Bodies as the public reference shows them."""

from __future__ import annotations

import pytest

from hermes_core import gemini_thinking
from hermes_core.errors import ResponseFormatError, UnsupportedInputError
from hermes_core.llm.answer import settled
from hermes_core.llm.wire.gemini import GEMINI, decode
from hermes_core.types.call import LlmCall

WIRE = "gemini"
CALLING = {"functionCall": {"name": "t", "args": {}}}


def answer(*parts: dict, finish: object = "STOP", **fields: object) -> dict:
    """A body with one candidate; keywords replace its fields."""
    candidate = {"content": {"role": "model", "parts": [*parts]}, "finishReason": finish, "index": 0}
    return {
        "candidates": [candidate],
        "usageMetadata": {"promptTokenCount": 12, "candidatesTokenCount": 6, "totalTokenCount": 18},
        "modelVersion": "gemini-3-flash-preview",
        "responseId": "mAitaLmkHPPlz7IPvtfUqQ4",
        **fields,
    }


@pytest.mark.parametrize(
    ("base_url", "model", "url"),
    [
        pytest.param(
            "https://g.test/v1beta", "gemini-3-flash", "https://g.test/v1beta/models/gemini-3-flash", id="plain"
        ),
        pytest.param(
            "https://g.test/v1beta/",
            "models/gemini-3-flash",
            "https://g.test/v1beta/models/gemini-3-flash",
            id="with-models",
        ),
        pytest.param(
            "https://g.test/v1beta",
            "google/gemini-3-flash",
            "https://g.test/v1beta/models/gemini-3-flash",
            id="with-the-vendor",
        ),
        pytest.param(
            "https://g.test/v1beta",
            "gemini/gemini-3-flash",
            "https://g.test/v1beta/models/gemini-3-flash",
            id="with-the-family",
        ),
        pytest.param(
            "https://g.test/v1beta/openai/",
            "gemini-3-flash",
            "https://g.test/v1beta/models/gemini-3-flash",
            id="the-other-surface",
        ),
        pytest.param(
            "https://g.test/v1beta", "a/../b", "https://g.test/v1beta/models/a%2F..%2Fb", id="no-way-out-of-the-path"
        ),
    ],
)
def test_the_model_is_in_the_address(write, base_url, model, url):
    """The model's bare name is in the path."""
    assert write(WIRE, base_url=base_url, model=model).url == f"{url}:generateContent"


def test_the_key_has_a_header_of_its_own(write):
    """The key is no bearer token, and never in the address."""
    written = write(WIRE, api_key="AIza-123456")
    assert written.headers["x-goog-api-key"] == "AIza-123456"
    assert "authorization" not in written.headers
    assert "AIza" not in written.url
    assert written.headers["x-goog-api-client"].startswith("hermes-cli/")


def test_a_conversation_is_written(write, everything):
    """System text is an instruction, the assistant is the model, results are the user's, empty text is left out."""
    body = write(WIRE, everything, model="gemini-2.5-flash", temperature=0).body
    assert body == {
        "systemInstruction": {"parts": [{"text": "Be brief.\nBe kind."}]},
        "contents": [
            {
                "role": "user",
                "parts": [{"text": "What is it?"}, {"inlineData": {"mimeType": "image/png", "data": "aVZCT1I="}}],
            },
            {
                "role": "model",
                "parts": [
                    {"text": "Let me look."},
                    {"functionCall": {"name": "look_up", "args": {"word": "iVBOR"}}},
                    {"functionCall": {"name": "count", "args": {}}},
                ],
            },
            {
                "role": "user",
                "parts": [
                    {"functionResponse": {"name": "look_up", "response": {"output": "a picture"}}},
                    {"functionResponse": {"name": "count", "response": {"output": "3"}}},
                    {"text": "So?"},
                    {"text": "Well?"},
                ],
            },
        ],
        "generationConfig": {"maxOutputTokens": 65535, "temperature": 0},
    }


@pytest.mark.parametrize(
    ("model", "carried", "sent"),
    [
        pytest.param("gemini-3-pro-preview", "s1", "s1", id="its-own"),
        pytest.param("gemini-3-pro-preview", "", "skip_thought_signature_validator", id="none-of-its-own"),
        pytest.param("gemini-2.5-pro", "", None, id="an-older-model-needs-none"),
    ],
)
def test_a_call_comes_with_a_signature(write, model, carried, sent):
    """Gemini 3 wants its own signature back; a call that it did not make says so."""
    extra = {"extra_content": {"google": {"thought_signature": carried}}} if carried else {}
    call = {"id": "c", "type": "function", "function": {"name": "t", "arguments": "{}"}, **extra}
    messages = [
        {"role": "user", "content": "a"},
        {"role": "assistant", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": "r"},
    ]
    (part,) = write(WIRE, messages, model=model).body["contents"][1]["parts"]
    assert part.get("thoughtSignature") == sent


def test_a_tools_image_follows_its_result(write, png):
    """A response holds text alone; pictures come right behind it."""
    call = {"id": "c", "type": "function", "function": {"name": "t", "arguments": "{}"}}
    content = [{"type": "text", "text": "see"}, {"type": "image_url", "image_url": {"url": png}}]
    messages = [
        {"role": "user", "content": "a"},
        {"role": "assistant", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": content},
    ]
    parts = write(WIRE, messages).body["contents"][-1]["parts"]
    assert [[*part] for part in parts] == [["functionResponse"], ["inlineData"]]
    assert parts[0]["functionResponse"]["response"] == {"output": "see"}


def test_an_image_elsewhere_is_never_dropped(write):
    """The host fetches images for this format; one that is still elsewhere is refused, not left out."""
    part = {"type": "image_url", "image_url": {"url": "https://pictures.test/a.png"}}
    with pytest.raises(UnsupportedInputError, match="an image"):
        write(WIRE, [{"role": "user", "content": [part]}])
    assert GEMINI.inlines_images


def test_a_conversation_of_nothing_holds_a_placeholder(write):
    """There is always something to answer."""
    assert len(write(WIRE, [{"role": "user", "content": ""}]).body["contents"]) == 1


@pytest.mark.parametrize(
    ("is_given", "schema", "sent"),
    [
        pytest.param(True, None, "own", id="the-schema-as-it-is"),
        pytest.param(True, True, None, id="anything-goes"),
        pytest.param(True, {}, None, id="an-empty-schema"),
        pytest.param(False, None, None, id="free-json"),
    ],
)
def test_json_is_asked_for(write, wanting, is_given, schema, sent):
    """JSON is a MIME type here, and a schema a field beside it."""
    wanted = wanting(wanting.schema if schema is None else schema) if is_given else {"type": "json_object"}
    config = write(WIRE, response_format=wanted).body["generationConfig"]
    assert config["responseMimeType"] == "application/json"
    assert config.get("responseJsonSchema") == (wanting.schema if sent else None)


def test_only_what_the_api_knows_is_added(write):
    """The API refuses unknown fields: of a profile's, those it knows are sent, and its thinking has its place."""
    extra = {
        "thinking_config": {"thinkingBudget": 0},
        "safetySettings": [],
        "generationConfig": {"topK": 1},
        "usage": {"include": True},
    }
    body = write(WIRE, extra=extra, max_tokens=5).body
    assert body.keys() == {"contents", "generationConfig", "safetySettings"}
    assert body["generationConfig"] == {"maxOutputTokens": 5, "thinkingConfig": {"thinkingBudget": 0}, "topK": 1}


THINKING = {
    "gemini-2.5-pro": {effort: {"includeThoughts": True} for effort in ("minimal", "high")},
    "gemini-3-flash-preview": {
        "minimal": {"includeThoughts": True, "thinkingLevel": "low"},
        "low": {"includeThoughts": True, "thinkingLevel": "low"},
        "medium": {"includeThoughts": True, "thinkingLevel": "medium"},
        "high": {"includeThoughts": True, "thinkingLevel": "high"},
        "ultra": {"includeThoughts": True, "thinkingLevel": "high"},
    },
    "gemini-3.1-pro": {
        "minimal": {"includeThoughts": True, "thinkingLevel": "low"},
        "medium": {"includeThoughts": True, "thinkingLevel": "low"},
        "high": {"includeThoughts": True, "thinkingLevel": "high"},
        "xhigh": {"includeThoughts": True, "thinkingLevel": "high"},
    },
    "gemma-3-27b-it": {"high": {}},
}


@pytest.mark.parametrize(
    ("model", "effort", "config"),
    [(model, effort, config) for model, efforts in THINKING.items() for effort, config in efforts.items()],
    ids=[f"{model}-{effort}" for model, efforts in THINKING.items() for effort in efforts],
)
def test_an_effort_becomes_a_level(write, model, effort, config):
    """Gemini 2.5 shows its thoughts, Gemini 3 has levels, other models get nothing."""
    reasoning = {"enabled": True, "effort": effort}
    assert (
        write(WIRE, model=f"google/{model}", reasoning=reasoning).body["generationConfig"].get("thinkingConfig", {})
        == config
    )


def test_thinking_that_is_off_is_not_shown():
    """Off means that no thoughts are sent back; nothing written leaves the model its way."""
    assert gemini_thinking("gemini-3-flash", {"enabled": False, "effort": "none"}) == {"includeThoughts": False}
    assert gemini_thinking("gemini-3-flash", None) == {}


@pytest.mark.parametrize(
    ("body", "text", "finish"),
    [
        pytest.param(answer({"text": "pong"}), "pong", "stop", id="text"),
        pytest.param(answer({"text": "po"}, {"text": "ng"}), "pong", "stop", id="parts-are-joined"),
        pytest.param(
            answer({"text": "hm", "thought": True}, {"text": "pong"}), "pong", "stop", id="thoughts-are-no-text"
        ),
        pytest.param(answer({"text": "pong"}, finish="MAX_TOKENS"), "pong", "length", id="cut-off"),
        pytest.param(answer({"text": "pong"}, finish="SAFETY"), "pong", "content_filter", id="safety"),
        pytest.param(answer({"text": "pong"}, finish="RECITATION"), "pong", "content_filter", id="recitation"),
        pytest.param(answer({"text": "pong"}, finish="OTHER"), "pong", "", id="a-reason-of-another-kind"),
        pytest.param(answer({"text": "pong"}, CALLING), "pong", "stop", id="a-call-beside-text"),
        pytest.param(answer(), "", "stop", id="nothing-to-say-is-an-answer"),
        pytest.param(
            answer(candidates=[{"content": {"role": "model"}, "finishReason": "STOP"}]),
            "",
            "stop",
            id="no-parts-at-all",
        ),
        pytest.param(
            answer({"text": "pong"}, None, "x", {"inlineData": {}}), "pong", "stop", id="odd-parts-are-skipped"
        ),
    ],
)
def test_an_answer_is_read(body, text, finish):
    """The first candidate's text, without its thoughts, is the answer."""
    completion = decode(body)
    assert (completion.text, completion.finish_reason, completion.model) == (text, finish, "gemini-3-flash-preview")


def test_thoughts_are_kept_apart():
    """What the model thought is on ``reasoning``."""
    assert decode(answer({"text": "hm", "thought": True}, {"text": "pong"})).reasoning == "hm"


@pytest.mark.parametrize(
    ("reported", "usage"),
    [
        pytest.param(
            {"promptTokenCount": 12, "candidatesTokenCount": 6, "totalTokenCount": 18}, (12, 6, 18, 0, 0), id="plain"
        ),
        pytest.param(
            {
                "promptTokenCount": 12,
                "candidatesTokenCount": 6,
                "thoughtsTokenCount": 30,
                "totalTokenCount": 48,
                "cachedContentTokenCount": 8,
                "promptTokensDetails": [{"modality": "TEXT", "tokenCount": 12}],
            },
            (12, 36, 48, 8, 0),
            id="thoughts-are-output-and-the-cache-is-input",
        ),
        pytest.param({"promptTokenCount": 12}, (12, 0, 12, 0, 0), id="no-total"),
        pytest.param(None, (0, 0, 0, 0, 0), id="nothing"),
    ],
)
def test_usage_is_counted(counts, reported, usage):
    """Thoughts count as output."""
    assert decode(answer({"text": "pong"}, usageMetadata=reported)).usage == counts(*usage)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        pytest.param(
            {"error": {"code": 503, "message": "Overloaded.", "status": "UNAVAILABLE"}}, "Overloaded", id="error"
        ),
        pytest.param(
            {"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {}},
            "no content .*'content_filter'",
            id="a-blocked-prompt",
        ),
        pytest.param(answer(finish="SAFETY"), "no content .*'content_filter'", id="a-blocked-answer"),
        pytest.param(answer(finish="MAX_TOKENS"), "no content .*'length'", id="thinking-until-the-limit"),
        pytest.param(answer(CALLING), "no content .*'tool_calls'", id="only-a-call"),
        pytest.param({"candidates": []}, "no message .*'candidates'", id="no-candidates"),
        pytest.param({"choices": []}, "no message .*'choices'", id="another-apis-body"),
        pytest.param([answer()], "no message .list", id="a-list"),
        pytest.param(None, "no message", id="null"),
    ],
)
def test_what_is_no_answer_is_an_error_of_the_format(body, said):
    """An error in a 200, no candidate or no text is never an empty success."""
    with pytest.raises(ResponseFormatError, match=said):
        settled(decode(body), LlmCall(plugin_id="p", messages=[]))
