"""Structured answers: parsed, validated, or handed over as text."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes_core import PluginLlmStructuredResult, StructuredOutputError
from hermes_core.llm.structured import NotJsonError, parse_json, violations

ONE = {"a": 1}
SCHEMA = {"type": "object", "properties": {"n": {"type": "integer", "minimum": 0}}, "required": ["n"]}
ANSWERS = {
    "object": ('{"a": 1}', ONE),
    "array": ("[1, 2]", [1, 2]),
    "number": ("5", 5),
    "string": ('"x"', "x"),
    "true": ("true", True),
    "empty-object": ("{}", {}),
    "blanks-around": (' \n{"a": 1}\t\n', ONE),
    "byte-order-mark-r13_22": ('\ufeff{"a": 1}', ONE),
    "zero-width-space-r13_22": ('\u200b{"a": 1}\u200b', ONE),
    "no-break-space-r13_22": ('\u00a0{"a": 1}', ONE),
    "fence-with-json-tag": ('```json\n{"a": 1}\n```', ONE),
    "fence-without-tag": ('```\n{"a": 1}\n```', ONE),
    "fence-with-tildes-r13_13": ('~~~\n{"a": 1}\n~~~', ONE),
    "fence-tag-jsonc-r13_13": ('```jsonc\n{"a": 1}\n```', ONE),
    "fence-tag-json5-r13_13": ('```json5\n{"a": 1}\n```', ONE),
    "fence-tag-with-a-blank-r13_13": ('```JSON \n{"a": 1}\n```', ONE),
    "fence-tag-javascript-r13_13": ('```javascript\n{"a": 1}\n```', ONE),
    "fence-with-windows-newlines": ('```json\r\n{"a": 1}\r\n```', ONE),
    "fence-behind-prose": ('Here it is:\n```json\n{"a": 1}\n```', ONE),
    "fence-amid-prose": ('Here:\n\n```json\n{"a": 1}\n```\n\nAnything else?', ONE),
    "fence-of-several-lines": ('```json\n{\n  "a": 1\n}\n```', ONE),
    "second-fence-is-the-json-r13_11": ('```bash\nls -l\n```\n\n```json\n{"a": 1}\n```', ONE),
    "fence-inside-a-string-r13_07": ('{"snippet": "```python\\nx=1\\n```"}', {"snippet": "```python\nx=1\n```"}),
    "fence-inside-a-fenced-string": ('```json\n{"s": "```"}\n```', {"s": "```"}),
    "escapes": ('{"a": "\\u00e9\\ud83d\\ude00"}', {"a": "é😀"}),
    "large-integer": ("123456789012345678901234567890", 123456789012345678901234567890),
    "repeated-key-the-last-counts": ('{"a": 0, "a": 1}', ONE),
}
TEXTS = {
    "prose": "I cannot do that.",
    "empty": "",
    "blank": " \n",
    "nan-r13_20": '{"a": NaN}',
    "bare-nan-r13_20": "NaN",
    "infinity-r13_20": "Infinity",
    "minus-infinity-r13_20": '{"a": -Infinity}',
    "fenced-nan-r13_20": '```json\n{"a": NaN}\n```',
    "single-quotes": "{'a': 1}",
    "trailing-comma": '{"a": 1,}',
    "comment": '{"a": 1} // done',
    "cut-off": '{"a": [1, 2',
    "empty-fence-r13_12": "```json\n```",
    "bare-fence-r13_12": "```",
    "fence-of-prose": "```\nhello\n```",
    "nested-too-deep-r13_21": "[" * 100_000,
    "closed-but-too-deep-r13_21": "[" * 100_000 + "]" * 100_000,
    "objects-too-deep-r13_21": '{"a":' * 100_000,
    "fence-too-deep-r13_21": "```json\n" + "[" * 100_000 + "\n```",
    "number-of-10000-digits-r13_21": '{"a": ' + "9" * 10_000 + "}",
    "many-fences": "```\n" * 20_000,
    "five-megabytes-of-prose-r13_21": "word " * 1_000_000,
}
BAD_SCHEMAS = {
    "unknown-type": {"type": "nope"},
    "properties-is-a-list": {"properties": ["a"]},
    "bad-pattern": {"pattern": "("},
    "required-is-text": {"required": "a"},
    "minimum-is-text": {"minimum": "0"},
    "enum-is-no-list": {"enum": 5},
    "schema-is-text": "object",
    "schema-is-a-list": [{"type": "object"}],
    "schema-is-a-number": 5,
    "schema-is-empty-text": "",
    "schema-is-a-class": dict,
    "reference-to-nothing": {"$ref": "#/$defs/nothing"},
    "reference-deep-inside-to-nothing": {"properties": {"a": {"items": {"$ref": "#/nothing"}}}},
    "reference-to-a-file": {"$ref": "file:///etc/hostname"},
    "reference-of-a-property-called-default": {"properties": {"default": {"$ref": "#/nothing"}}},
    "reference-of-a-property-called-enum": {"properties": {"enum": {"$ref": "https://acme.test/x.json"}}},
    "constant-that-is-no-json": {"const": object()},
    "default-that-is-no-json": {"properties": {"a": {"default": {1, 2}}}},
}


def rows(table: dict) -> list:
    """A table's rows, by the words that are their id."""
    return [pytest.param(*(row if isinstance(row, tuple) else (row,)), id=name) for name, row in table.items()]


@pytest.mark.parametrize(("text", "parsed"), rows(ANSWERS))
def test_an_answer_that_is_json_is_parsed(way, lane, text, parsed):
    """A JSON value, plain or in a code fence, is on ``parsed``, and the text stays what the model said."""
    lane.server.answer(text)
    answer = way.structured(lane.llm(), json_mode=True)
    assert (answer.parsed, answer.content_type, answer.text) == (parsed, "json", text)


@pytest.mark.parametrize("text", rows(TEXTS))
@pytest.mark.parametrize("asked", [{"json_mode": True}, {"json_schema": SCHEMA}], ids=["json-mode", "schema"])
def test_an_answer_that_is_no_json_is_text(way, lane, text, asked):
    """What does not parse is no error: ``parsed`` is None, the type ``text``, and the text is all there."""
    lane.server.answer(text)
    answer = way.structured(lane.llm(), **asked)
    assert (answer.parsed, answer.content_type) == (None, "text")
    assert answer.text == text


def test_a_null_is_json_too(way, lane):
    """``null`` is a JSON value: ``content_type`` tells it from an answer that is none."""
    lane.server.answer("null")
    answer = way.structured(lane.llm(), json_schema={"type": "null"})
    assert (answer.parsed, answer.content_type) == (None, "json")


def test_five_megabytes_of_json_are_parsed_r13_21(way, lane):
    """A very long answer is parsed like a short one."""
    lane.server.answer('["' + "x" * 5_000_000 + '"]')
    answer = way.structured(lane.llm(), json_schema={"type": "array"})
    assert (answer.content_type, len(answer.parsed[0])) == ("json", 5_000_000)


def test_json_that_nobody_asked_for_is_text(way, lane):
    """Without schema and json_mode nothing is parsed."""
    lane.server.answer('{"a": 1}')
    answer = way.structured(lane.llm())
    assert (type(answer), answer.parsed, answer.content_type) == (PluginLlmStructuredResult, None, "text")


@settings(database=None, deadline=None, max_examples=200)
@given(st.text() | st.text(alphabet='`~{}[]":,\n 1an', max_size=60))
def test_parsing_never_fails_in_another_way(text):
    """Whatever a model says, it is JSON or a NotJsonError."""
    try:
        parse_json(text)
    except NotJsonError:
        assert True


@settings(database=None, deadline=None, max_examples=100)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
        max_leaves=10,
    )
)
def test_every_json_value_survives_plain_and_fenced(value):
    """What was written as JSON is read as the same value, whether a fence surrounds it or not."""
    import json

    written = json.dumps(value)
    assert (parse_json(written), parse_json(f"So:\n```json\n{written}\n```\n")) == (value, value)


def test_a_matching_answer_is_returned(way, lane):
    """JSON that the schema allows is returned on ``parsed``."""
    lane.server.answer('{"n": 3}')
    answer = way.structured(lane.llm(), json_schema=SCHEMA)
    assert (answer.parsed, answer.content_type) == ({"n": 3}, "json")


@pytest.mark.parametrize(
    ("schema", "text", "matches"),
    [
        pytest.param({}, '{"anything": 1}', True, id="empty-schema-allows-anything"),
        pytest.param(True, "[1]", True, id="true-allows-anything"),
        pytest.param(False, "[1]", False, id="false-allows-nothing"),
        pytest.param({"type": "object"}, "null", False, id="null-is-no-object"),
        pytest.param({"type": "integer"}, "1.0", True, id="1.0-is-an-integer"),
        pytest.param({"type": "integer"}, "true", False, id="true-is-no-integer"),
        pytest.param({"$ref": "#/$defs/n", "$defs": {"n": {"type": "integer"}}}, "1", True, id="local-reference-holds"),
        pytest.param(
            {"$ref": "#/$defs/n", "$defs": {"n": {"type": "integer"}}}, '"1"', False, id="local-reference-breaks"
        ),
        pytest.param({"items": {"$ref": "#"}, "maxItems": 1}, "[[[1]]]", True, id="recursive-schema-holds"),
        pytest.param({"items": {"$ref": "#"}, "maxItems": 1}, "[[[1, 2]]]", False, id="recursive-schema-breaks"),
        pytest.param(
            {
                "$id": "https://acme.test/s.json",
                "properties": {"n": {"$ref": "s.json#/$defs/n"}},
                "$defs": {"n": {"type": "integer"}},
            },
            '{"n": "1"}',
            False,
            id="reference-to-its-own-id-breaks",
        ),
        pytest.param({"const": {"$ref": "#/nothing"}}, '{"$ref": "#/nothing"}', True, id="reference-in-data-is-none"),
        pytest.param(
            {"$ref": "https://json-schema.org/draft/2020-12/schema"},
            '{"type": "nope"}',
            False,
            id="reference-to-a-published-dialect-breaks",
        ),
        pytest.param(
            {"$schema": "http://json-schema.org/draft-07/schema#", "items": [{"type": "string"}]},
            '["a", 1]',
            True,
            id="older-draft-is-read-as-it-says",
        ),
    ],
)
def test_any_json_schema_is_held_against_the_answer(way, lane, schema, text, matches):
    """Booleans, the empty schema, references and older drafts validate as JSON Schema says."""
    lane.server.answer(text)
    if matches:
        assert way.structured(lane.llm(), json_schema=schema).content_type == "json"
        return
    with pytest.raises(StructuredOutputError):
        way.structured(lane.llm(), json_schema=schema)


def test_a_breach_of_the_schema_raises_with_everything_r14_08(way, lane):
    """JSON that breaks the schema raises a ValueError that carries the whole result and every violation."""
    text = '```json\n{"n": -1, "x": 0}\n```'
    lane.server.answer(text)
    with pytest.raises(StructuredOutputError) as caught:
        way.structured(
            lane.llm(),
            json_schema={**SCHEMA, "additionalProperties": False},
            schema_name="count",
            purpose="counting",
        )
    error = caught.value
    assert isinstance(error, ValueError)
    assert str(error).startswith(f"{way.structured_name}: the answer did not match the schema: ")
    assert all(sentence in str(error) for sentence in error.errors)
    assert sorted(error.errors) == [
        "$.n: -1 is less than the minimum of 0",
        "$: Additional properties are not allowed ('x' was unexpected)",
    ]
    result = error.result
    assert (result.text, result.parsed, result.provider, result.model) == (
        text,
        {"n": -1, "x": 0},
        "custom",
        "fake-model",
    )
    assert (result.usage.total_tokens, result.audit["purpose"], result.audit["schema_name"]) == (6, "counting", "count")


def test_many_violations_are_all_listed_but_not_all_told(way, lane):
    """The error lists every violation; its text stays short."""
    lane.server.answer('["a", "b", "c", "d", "e"]')
    with pytest.raises(StructuredOutputError, match="and 2 more") as caught:
        way.structured(lane.llm(), json_schema={"items": {"type": "integer"}})
    assert len(caught.value.errors) == 5


def test_a_huge_answer_makes_no_huge_error(way, lane):
    """The error's text stays short, however long the value is that does not match; the result holds it whole."""
    lane.server.answer('["' + "x" * 1_000_000 + '"]')
    with pytest.raises(StructuredOutputError) as caught:
        way.structured(lane.llm(), json_schema={"items": {"type": "integer"}})
    assert len(str(caught.value)) < 2000
    assert len(caught.value.result.parsed[0]) == 1_000_000


def test_a_breach_of_the_schema_has_its_tokens_in_the_audit(way, lane):
    """The line of a call whose answer broke the schema tells the tokens that it cost."""
    lane.server.answer("[]")
    with pytest.raises(StructuredOutputError):
        way.structured(lane.llm(), json_schema=SCHEMA)
    (line,) = lane.log()
    assert (line["status"], line["tokens"], line["input"], line["output"]) == (
        "error:StructuredOutputError", "6", "5", "1",
    )  # fmt: skip


@pytest.mark.parametrize("text", ["no json", "[]"], ids=["no-json", "wrong-shape"])
def test_the_model_is_asked_once_r13_17(way, lane, text):
    """An answer that does not fit is not asked for again behind the plugin's back."""
    lane.server.answer(text)
    try:
        way.structured(lane.llm(), json_schema=SCHEMA)
    except StructuredOutputError:
        pass
    assert len(lane.server.requests) == 1


@pytest.mark.parametrize("schema", rows(BAD_SCHEMAS))
def test_an_invalid_schema_costs_nothing_r14_03(way, lane, schema):
    """What is no usable JSON schema is a ValueError of the method's before anything is sent."""
    with pytest.raises(ValueError, match=f"{way.structured_name}: json_schema"):
        way.structured(lane.llm(), json_schema=schema)
    assert lane.server.requests == []


def test_a_schema_that_holds_itself_costs_nothing_r14_03(way, lane):
    """A cyclic Python object is a ValueError before anything is sent."""
    schema: dict = {}
    schema["not"] = schema
    with pytest.raises(ValueError, match="json_schema"):
        way.structured(lane.llm(), json_schema=schema)
    assert lane.server.requests == []


def test_a_reference_is_never_fetched_r14_01(way, lane):
    """A schema that refers to an address is a ValueError; nobody asks that address."""
    lane.server.answer("{}")
    with pytest.raises(ValueError, match="json_schema"):
        way.structured(lane.llm(), json_schema={"$ref": f"{lane.server.base_url}/schema.json"})
    assert lane.server.requests == []


def test_a_deep_answer_does_not_exhaust_a_recursive_schema_r13_21(way, lane):
    """An answer nested deeper than a validator can follow is no crash: it is a breach, or it is text."""
    lane.server.answer("[" * 400 + "]" * 400)
    try:
        answer = way.structured(lane.llm(), json_schema={"type": "array", "items": {"$ref": "#"}})
    except StructuredOutputError as error:
        answer = error.result
    assert answer.text.startswith("[[[[")


def test_violations_are_sentences_with_their_place():
    """Each violation says where in the answer it is, and what is wrong there."""
    schema = {"properties": {"list": {"items": {"type": "integer"}}}}
    assert violations({"list": [1, "x"]}, schema) == ["$.list[1]: 'x' is not of type 'integer'"]
