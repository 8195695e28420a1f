"""Schemas: which are refused before they cost a token, and how an answer is held against the rest."""

from __future__ import annotations

import copy
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema.validators import Draft202012Validator

from hermes_core import StructuredOutputError
from hermes_core.llm.structured import MAX_VIOLATIONS, check_schema, violations

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


@pytest.mark.parametrize("schema", BAD_SCHEMAS.values(), ids=BAD_SCHEMAS)
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


DRAFTS = {
    "draft-03": "http://json-schema.org/draft-03/schema#",
    "draft-04": "http://json-schema.org/draft-04/schema#",
    "draft-06": "http://json-schema.org/draft-06/schema#",
    "draft-07": "http://json-schema.org/draft-07/schema#",
    "2019-09": "https://json-schema.org/draft/2019-09/schema",
    "2020-12": "https://json-schema.org/draft/2020-12/schema",
}
IN_DRAFT = {
    "required-as-a-flag": (["draft-03"], {"properties": {"n": {"required": True}}}, {"n": 1}, {}),
    "type-as-a-schema": (["draft-03"], {"type": [{"type": "null"}, {"$ref": "#/x"}], "x": {"enum": [1]}}, 1, 2),
    "extends": (["draft-03"], {"extends": [{"type": "integer"}]}, 1, "x"),
    "exclusive-maximum-as-a-flag": (["draft-03", "draft-04"], {"maximum": 5, "exclusiveMaximum": True}, 4, 5),
    "exclusive-maximum": (["draft-06", "draft-07", "2019-09", "2020-12"], {"exclusiveMaximum": 5}, 4, 5),
    "required": ([*DRAFTS][1:], {"required": ["n"]}, {"n": 1}, {}),
    "if-and-then": (["draft-07", "2019-09", "2020-12"], {"if": {"const": 1}, "then": False}, 2, 1),
    "items-as-a-list": ([*DRAFTS][:-1], {"items": [{"type": "string"}]}, ["a", 1], [1]),
    "prefix-items": (["2020-12"], {"prefixItems": [{"type": "string"}]}, ["a", 1], [1]),
    "definitions": (
        [*DRAFTS],
        {"properties": {"n": {"$ref": "#/definitions/n"}}, "definitions": {"n": {"type": "integer"}}},
        {"n": 1},
        {"n": "x"},
    ),
    "pointer-with-escapes": (
        [*DRAFTS],
        {"items": {"$ref": "#/definitions/a~1b%25"}, "definitions": {"a/b%": {"type": "integer"}}},
        [1],
        ["x"],
    ),
    "recursion": ([*DRAFTS], {"type": ["array", "integer"], "items": {"$ref": "#"}}, [[1]], [["x"]]),
    "id-in-a-definition": (
        ["draft-06", "draft-07", "2019-09", "2020-12"],
        {
            "$id": "https://acme.test/",
            "items": {"$ref": "n.json"},
            "definitions": {"n": {"$id": "n.json", "type": "integer"}},
        },
        [1],
        ["x"],
    ),
    "id-of-old-in-a-definition": (
        ["draft-04"],
        {
            "id": "https://acme.test/",
            "items": {"$ref": "n.json"},
            "definitions": {"n": {"id": "n.json", "type": "integer"}},
        },
        [1],
        ["x"],
    ),
    "relative-id-with-a-folder": (
        ["draft-07", "2020-12"],
        {"$id": "a/s.json", "items": {"$ref": "s.json#/definitions/n"}, "definitions": {"n": {"type": "integer"}}},
        [1],
        ["x"],
    ),
    "anchor": (
        ["2019-09", "2020-12"],
        {"items": {"$ref": "#n"}, "$defs": {"n": {"$anchor": "n", "type": "integer"}}},
        [1],
        ["x"],
    ),
    "dynamic-reference": (
        ["2020-12"],
        {"$dynamicAnchor": "node", "type": ["array", "integer"], "items": {"$dynamicRef": "#node"}},
        [[1]],
        [["x"]],
    ),
    "recursive-reference": (
        ["2019-09"],
        {"$recursiveAnchor": True, "type": ["array", "integer"], "items": {"$recursiveRef": "#"}},
        [[1]],
        [["x"]],
    ),
    "reference-to-its-own-dialect": (
        [*DRAFTS][1:],
        {"items": {"$ref": "{dialect}"}},
        [{"type": "string"}],
        [{"type": "nope"}],
    ),
}
DIALECT_ROWS = [
    pytest.param(draft, *row[1:], id=f"{draft}-{name}") for name, row in IN_DRAFT.items() for draft in row[0]
]


@pytest.mark.parametrize(("draft", "schema", "good", "bad"), DIALECT_ROWS)
def test_each_dialect_is_read_as_it_says(draft, schema, good, bad):
    """What ``$schema`` names decides what keywords mean and where references lead; they stay inside."""
    dialect = DRAFTS[draft]
    schema = {"$schema": dialect, **json.loads(json.dumps(schema).replace("{dialect}", dialect))}
    check_schema("m", schema)
    assert (violations(good, schema), bool(violations(bad, schema))) == ([], True)


@pytest.mark.parametrize("dialect", ["https://acme.test/dialect", "http://json-schema.org/schema#", ""])
def test_an_unknown_dialect_is_read_as_the_newest(dialect):
    """A ``$schema`` that nobody knows changes nothing."""
    schema = {"$schema": dialect, "prefixItems": [{"type": "string"}]}
    check_schema("m", schema)
    assert violations([1], schema) == ["$[0]: 1 is not of type 'string'"]


REFUSED = {
    "id-that-leads-elsewhere": {"$id": "https://acme.test/s.json", "$ref": "other.json"},
    "anchor-that-is-not-there": {"$ref": "#nowhere"},
    "dynamic-reference-to-nothing": {"$dynamicRef": "#nowhere"},
    "reference-in-a-list": {"allOf": [{"$ref": "#/nothing"}]},
    "reference-behind-then": {"if": {}, "then": {"$ref": "#/nothing"}},
    "reference-behind-else": {"if": {}, "else": {"$ref": "#/nothing"}},
    "reference-in-dependencies": {"$schema": DRAFTS["draft-07"], "dependencies": {"a": {"$ref": "#/nothing"}}},
    "reference-in-what-is-referred-to": {"$ref": "#/x/y", "x": {"y": {"$ref": "#/nothing"}}},
    "no-schema-where-a-reference-leads": {"$ref": "#/x/y", "x": {"y": {"type": "nope"}}},
    "reference-to-what-is-no-schema": {"$ref": "#/required", "required": ["a"]},
    "pointer-into-a-list-by-a-word": {"$ref": "#/allOf/x", "allOf": [{}]},
    "reference-that-is-a-number": {"$schema": DRAFTS["draft-04"], "$ref": 5},
    "dialect-that-is-a-number": {"$schema": 5},
    "dialect-that-a-part-breaks": {"items": {"$schema": DRAFTS["draft-04"], "exclusiveMaximum": 5}},
    "old-dialect-with-a-bad-pattern": {"$schema": DRAFTS["draft-04"], "patternProperties": {"(": {}}},
    "reference-to-another-protocol": {"$ref": "ftp://127.0.0.1/s.json"},
    "reference-to-a-relative-file": {"$ref": "pyproject.toml"},
    "not-a-number": {"const": float("nan")},
    "nested-too-deep": json.loads('{"not":' * 400 + "{}" + "}" * 400) | {"allOf": [{"$ref": "#/not/nothing"}]},
}


@pytest.mark.parametrize("schema", REFUSED.values(), ids=REFUSED)
def test_what_would_fail_later_is_refused_at_once_r14_03(schema):
    """A schema with which validating could fail, or would have to leave the schema, is a ValueError that says why."""
    with pytest.raises(ValueError, match="m: json_schema"):
        check_schema("m", schema)


ALLOWED = {
    "property-called-ref": {"properties": {"$ref": {"type": "string"}}},
    "reference-in-an-example": {"examples": [{"$ref": "#/nothing"}]},
    "reference-in-a-default": {"default": {"$ref": "#/nothing"}},
    "reference-in-an-unknown-keyword": {"x-form": {"$ref": "https://acme.test/form.json"}},
    "reference-in-a-definition-that-nothing-needs": {"$defs": {"a": {"$ref": "#/nothing"}}},
    "names-in-dependent-required": {"dependentRequired": {"$ref": ["a"]}},
    "tuple-for-a-list": {"required": ("a", "b")},
}


@pytest.mark.parametrize("schema", ALLOWED.values(), ids=ALLOWED)
def test_what_is_no_reference_is_left_alone(schema):
    """Data, unknown keywords and unused definitions may hold what looks like a reference."""
    check_schema("m", schema)
    assert violations({"a": 1, "b": 2}, schema) == []


def test_a_schema_is_read_as_it_is_now():
    """A schema that was changed since its last use is the changed one."""
    schema = {"type": "integer"}
    assert violations(1, schema) == []
    schema["type"] = "string"
    assert violations(1, schema) == ["$: 1 is not of type 'string'"]


def test_the_callers_schema_is_never_changed_r14_10(way, lane):
    """Whatever happens to a call, the schema is what it was."""
    schema = {"$id": "https://acme.test/s", "$ref": "#/$defs/a", "$defs": {"a": {"required": ["n"]}}}
    before = copy.deepcopy(schema)
    lane.server.queue('{"n": 1}', "{}", "no")
    llm = lane.llm()
    way.structured(llm, json_schema=schema)
    with pytest.raises(StructuredOutputError):
        way.structured(llm, json_schema=schema)
    way.structured(llm, json_schema=schema)
    assert (schema, len(lane.server.requests)) == (before, 3)
    assert lane.server.bodies[0]["response_format"]["json_schema"]["schema"] == before


@pytest.mark.parametrize(
    ("value", "is_unique"),
    [
        ([1, 2], True),
        ([1, 1], False),
        ([1, 1.0], False),
        ([1, True], True),
        ([0, False], True),
        ([[1], [True]], True),
        ([{"a": 1, "b": 2}, {"b": 2, "a": 1.0}], False),
        ([{"a": 1}, {"a": True}], True),
        ([["a", 1], "a", 1, None, {}], True),
        ([[], {}], True),
        ([None, None], False),
        ([], True),
    ],
    ids=json.dumps,
)
def test_items_are_unique_as_json_schema_means_it(value, is_unique):
    """Numbers are equal by value, true is no number, and the order of keys does not count."""
    assert (violations(value, {"uniqueItems": True}) == []) is is_unique


@settings(max_examples=150, database=None, deadline=None)
@given(
    st.lists(
        st.recursive(
            st.sampled_from([0, 0.0, 1, 1.0, True, False, None, "", "a"]),
            lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
            max_leaves=4,
        ),
        max_size=6,
    )
)
def test_items_are_unique_as_the_library_finds_them(value):
    """The quick way to compare gives what comparing each item with every other one gives."""
    slowly = Draft202012Validator({"uniqueItems": True}).is_valid(value)
    assert (violations(value, {"uniqueItems": True}) == []) is slowly


def test_many_items_are_compared_at_once():
    """Tens of thousands of objects are told apart without comparing each with every other one."""
    schema = {"$schema": DRAFTS["draft-07"], "properties": {"a": {"uniqueItems": True}}}
    assert violations({"a": [{"n": n} for n in range(50_000)]}, schema) == []


@pytest.mark.parametrize(
    ("value", "schema", "told"),
    [
        pytest.param(10**400, {"multipleOf": 0.5}, "too large", id="number-beyond-floats"),
        pytest.param(json.loads("[" * 400 + "]" * 400), {"items": {"$ref": "#"}}, "too deep", id="nested-too-deep"),
    ],
)
def test_what_cannot_be_checked_does_not_match(value, schema, told):
    """A value that the validator chokes on is a breach, not a crash."""
    (sentence,) = violations(value, schema)
    assert told in sentence


def test_only_so_many_violations_are_listed():
    """A long answer with an error in each item makes no endless list."""
    assert len(violations(["x"] * 100_000, {"items": {"type": "integer"}})) == MAX_VIOLATIONS
