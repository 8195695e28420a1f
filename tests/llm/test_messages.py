"""Arguments written as messages: what goes to the server."""

from __future__ import annotations

import copy
import json
import re
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes_core import PluginLlmTextInput, ProviderProfile, StructuredOutputError
from hermes_core.llm.messages import JSON_ONLY, response_format

WIRE_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
SCHEMA = {"type": "object", "properties": {"straße": {"type": "string"}, "age": {"type": "integer"}}}
DUMP = '{"properties": {"age": {"type": "integer"}, "straße": {"type": "string"}}, "type": "object"}'
IMAGE = {"type": "image", "url": "https://pictures.test/a.png"}
IMAGE_PART = {"type": "image_url", "image_url": {"url": "https://pictures.test/a.png"}}


def rows(table: dict) -> list:
    """A table's rows, by the words that are their id."""
    return [pytest.param(*row, id=name) for name, row in table.items()]


@pytest.mark.parametrize(
    ("argument", "value"),
    [
        pytest.param("temperature", 0, id="temperature-0-is-sent"),
        pytest.param("temperature", 2, id="temperature-2-is-sent"),
        pytest.param("temperature", 0.7, id="temperature-between-is-sent"),
        pytest.param("max_tokens", 1, id="max_tokens-1-is-sent"),
        pytest.param("max_tokens", 10**6, id="max_tokens-1000000-is-sent"),
    ],
)
def test_numbers_at_the_edge_are_sent_as_they_are(way, lane, argument, value):
    """What a provider could use is sent unchanged, zero included."""
    way.complete(lane.llm(), **{argument: value})
    assert lane.server.bodies[0][argument] == value


def test_chat_messages_are_sent_as_they_are(way, lane):
    """Roles, names, tool calls and every other field of a message reach the provider unchanged."""
    messages = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Grüße \ud83d\ude00 \u2028", "name": "ann"},
        {"role": "assistant", "content": None, "tool_calls": [{"id": "1", "type": "function"}]},
        {"role": "tool", "content": "12", "tool_call_id": "1"},
    ]
    way.complete(lane.llm(), messages=messages)
    assert lane.server.bodies[0]["messages"] == json.loads(json.dumps(messages))


@pytest.mark.parametrize(
    ("content", "sent"),
    [
        pytest.param("a", "a", id="string-stays-a-string"),
        pytest.param([{"type": "text", "text": "a"}], "a", id="one-text-becomes-a-string"),
        pytest.param(
            [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], "a\n\nb", id="texts-become-a-string"
        ),
        pytest.param(
            [{"type": "text", "text": "a"}, IMAGE_PART], [{"type": "text", "text": "a"}, IMAGE_PART], id="image-stays"
        ),
        pytest.param(
            [{"type": "input_audio", "input_audio": {}}], [{"type": "input_audio", "input_audio": {}}], id="other-stays"
        ),
        pytest.param('[{"type": "text", "text": "a"}]', '[{"type": "text", "text": "a"}]', id="string-of-a-list-stays"),
    ],
)
def test_content_of_text_alone_is_sent_as_a_string(way, lane, content, sent):
    """Some servers refuse lists, so a list of texts is joined; anything else stays what it is."""
    way.complete(lane.llm(), messages=[{"role": "user", "content": content}])
    assert lane.server.bodies[0]["messages"][0]["content"] == sent


STRUCTURED = {
    "no-json-wanted-no-system-message": ({}, None, ["Do it.", "one"]),
    "json-mode-adds-a-system-message": ({"json_mode": True}, JSON_ONLY, ["Do it.", "one"]),
    "schema-adds-both": ({"json_schema": SCHEMA}, JSON_ONLY, [f"Do it.\n\nJSON schema:\n{DUMP}", "one"]),
    "schema-name-comes-first": (
        {"json_schema": SCHEMA, "schema_name": "people.v1"},
        JSON_ONLY,
        [f"Do it.\n\nSchema name: people.v1\n\nJSON schema:\n{DUMP}", "one"],
    ),
    "schema-name-alone": ({"schema_name": "people"}, None, ["Do it.\n\nSchema name: people", "one"]),
    "false-is-a-schema": ({"json_schema": False}, JSON_ONLY, ["Do it.\n\nJSON schema:\nfalse", "one"]),
    "empty-schema-is-a-schema": ({"json_schema": {}}, JSON_ONLY, ["Do it.\n\nJSON schema:\n{}", "one"]),
    "system-prompt-alone": ({"system_prompt": " Be kind.\n"}, "Be kind.", ["Do it.", "one"]),
    "system-prompt-and-json": (
        {"system_prompt": "Be kind.", "json_mode": True}, f"Be kind.\n\n{JSON_ONLY}", ["Do it.", "one"],
    ),
    "blank-system-prompt-is-none": ({"system_prompt": "  "}, None, ["Do it.", "one"]),
    "instructions-are-trimmed": ({"instructions": "\n Do it. \n"}, None, ["Do it.", "one"]),
    "text-is-not-trimmed": ({"input": [{"type": "text", "text": " one\n"}]}, None, ["Do it.", " one\n"]),
    "empty-text-is-a-text": ({"input": [{"type": "text", "text": ""}]}, None, ["Do it.", ""]),
    "dataclasses-and-mappings-keep-their-order": (
        {"input": [PluginLlmTextInput("one"), {"type": "text", "text": "two"}, PluginLlmTextInput("three")]},
        None,
        ["Do it.", "one", "two", "three"],
    ),
    "tuples-are-lists-too": ({"input": ({"type": "text", "text": "one"},)}, None, ["Do it.", "one"]),
}  # fmt: skip


@pytest.mark.parametrize(("arguments", "system", "texts"), rows(STRUCTURED))
def test_structured_messages_of_text_are_two_strings(way, lane, arguments, system, texts):
    """A system message when there is something to say in it, then one user message: instructions, schema, input."""
    lane.server.answer("true")
    with suppress(StructuredOutputError):  # what comes back is not this test's business
        way.structured(lane.llm(), **{"input": [{"type": "text", "text": "one"}], **arguments})
    user = {"role": "user", "content": "\n\n".join(texts)}
    expected = [user] if system is None else [{"role": "system", "content": system}, user]
    assert lane.server.bodies[0]["messages"] == expected


def test_structured_messages_with_an_image_are_parts(way, lane):
    """With an image, the user message is a list: instructions with the schema, then each block in order."""
    lane.server.answer("{}")
    blocks = [{"type": "text", "text": "before"}, IMAGE, {"type": "text", "text": "after"}]
    way.structured(lane.llm(), input=blocks, json_schema=SCHEMA)
    assert lane.server.bodies[0]["messages"][-1] == {
        "role": "user",
        "content": [
            {"type": "text", "text": f"Do it.\n\nJSON schema:\n{DUMP}"},
            {"type": "text", "text": "before"},
            IMAGE_PART,
            {"type": "text", "text": "after"},
        ],
    }


def test_a_provider_that_reads_the_schema_itself_is_not_told_twice(way, lane):
    """``schema_in_prompt=False`` keeps the schema out of the prompt; ``response_format`` still holds it."""
    host = lane.bare_host({"model": {"provider": "acme"}})
    host.program_context().register_provider(
        ProviderProfile(
            "acme", base_url=lane.server.base_url, auth_type="none", fallback_models=("m",), schema_in_prompt=False
        )
    )
    lane.server.answer("{}")
    way.structured(host.llm("p"), json_schema=SCHEMA)
    (body,) = lane.server.bodies
    assert body["messages"][-1]["content"] == "Do it.\n\nping"
    assert body["response_format"]["json_schema"]["schema"] == SCHEMA


FORMATS = {
    "nothing-asked": ({}, None),
    "json-mode": ({"json_mode": True}, {"type": "json_object"}),
    "schema": ({"json_schema": SCHEMA}, SCHEMA),
    "schema-beats-json-mode": ({"json_schema": SCHEMA, "json_mode": True}, SCHEMA),
    "empty-schema": ({"json_schema": {}}, {}),
    "true-as-schema": ({"json_schema": True}, True),
    "schema-name-alone": ({"schema_name": "s"}, None),
}


@pytest.mark.parametrize(("arguments", "expected"), rows(FORMATS))
def test_response_format_is_sent_when_json_is_wanted_r14_09(way, lane, arguments, expected):
    """A schema, even an empty one, asks for ``json_schema``; json_mode alone for ``json_object``; else nothing."""
    lane.server.answer("{}")
    way.structured(lane.llm(), **arguments)
    if arguments.get("json_schema") is not None:
        schema = {"name": "plugin_structured_output", "schema": expected, "strict": False}
        expected = {"type": "json_schema", "json_schema": schema}
    assert lane.server.bodies[0].get("response_format") == expected


def test_a_chat_call_asks_for_no_format_r14_09(way, lane):
    """``complete()`` never sends a response_format."""
    way.complete(lane.llm())
    assert "response_format" not in lane.server.bodies[0]


@pytest.mark.parametrize(
    ("given", "sent"),
    [
        pytest.param("meeting.tasks", "meeting_tasks", id="dot-becomes-an-underscore"),
        pytest.param("Good-name_1", "Good-name_1", id="good-name-stays"),
        pytest.param("", "plugin_structured_output", id="empty-gets-the-usual-name"),
        pytest.param(None, "plugin_structured_output", id="none-gets-the-usual-name"),
        pytest.param("日本語", "plugin_structured_output", id="nothing-left-gets-the-usual-name"),
        pytest.param("x" * 80, "x" * 64, id="80-characters-are-cut-to-64"),
        pytest.param("a b\nc", "a_b_c", id="blanks-become-underscores"),
    ],
)
def test_the_wire_gets_a_name_that_strict_servers_take_r14_11(way, lane, given, sent):
    """The schema's name on the wire is cut and cleaned; the audit keeps what the plugin wrote."""
    lane.server.answer("{}")
    answer = way.structured(lane.llm(), json_schema={}, schema_name=given)
    assert lane.server.bodies[0]["response_format"]["json_schema"]["name"] == sent
    assert answer.audit["schema_name"] == (given or "")


@settings(database=None, deadline=None, max_examples=200)
@given(st.text())
def test_any_schema_name_makes_a_wire_name_r14_11(name):
    """Whatever a plugin calls its schema, the wire name matches ``[A-Za-z0-9_-]{1,64}``."""
    assert WIRE_NAME.fullmatch(response_format({}, name, json_mode=False)["json_schema"]["name"])


class Careless(ProviderProfile):
    """A profile that edits what it is given in place."""

    def prepare_messages(self, messages):
        for message in messages:
            message["extra"] = "added"
            if isinstance(message["content"], list):
                message["content"].append({"type": "text", "text": "added"})
                message["content"][0]["text"] = "changed"
        return messages

    def build_extra_body(self, *, response_format=None, **context):
        if response_format:
            response_format["json_schema"]["schema"]["type"] = ["object", "null"]
            response_format["json_schema"]["schema"]["properties"].clear()
        return {}


@pytest.fixture(params=[ProviderProfile, Careless], ids=["careful-profile", "careless-profile"])
def llm(request, lane):
    """The surface on a provider whose profile leaves alone, or edits in place, what it is given."""
    host = lane.bare_host({"model": {"provider": "acme"}})
    profile = request.param("acme", base_url=lane.server.base_url, auth_type="none", fallback_models=("m",))
    host.program_context().register_provider(profile)
    return host.llm("p")


def test_the_callers_messages_are_never_changed(way, llm):
    """Whatever a profile does, the plugin's own messages are afterwards what they were."""
    messages = [
        {"role": "system", "content": [{"type": "text", "text": "a"}]},
        {"role": "user", "content": [{"type": "text", "text": "b"}, copy.deepcopy(IMAGE_PART)]},
    ]
    before = copy.deepcopy(messages)
    way.complete(llm, messages=messages)
    assert messages == before


def test_the_callers_schema_and_input_are_never_changed_r14_10(way, lane, llm):
    """Whatever a profile does, the plugin's own schema and blocks are afterwards what they were."""
    lane.server.answer("{}")
    schema, blocks = copy.deepcopy(SCHEMA), [{"type": "text", "text": "a"}, dict(IMAGE)]
    before = copy.deepcopy((schema, blocks))
    way.structured(llm, json_schema=schema, input=blocks)
    assert (schema, blocks) == before


def test_an_answer_is_held_against_the_schema_the_plugin_gave(way, lane, llm):
    """What a profile sends in place of the schema does not change what the answer is validated by."""
    lane.server.answer("null")
    with pytest.raises(ValueError, match="did not match"):
        way.structured(llm, json_schema=copy.deepcopy(SCHEMA))


@pytest.mark.parametrize(
    ("purpose", "expected"),
    [(None, ""), ("", ""), ("hooks.error-rewrite", "hooks.error-rewrite"), ("two\nlines", "two\nlines")],
)
def test_the_purpose_comes_back_in_the_audit(call, lane, purpose, expected):
    """``result.audit`` holds the purpose as the plugin wrote it, or an empty string."""
    assert call(lane.llm(), purpose=purpose).audit["purpose"] == expected
