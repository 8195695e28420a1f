"""A plugin's schema, made into what constrained decoding takes, or left alone."""

from __future__ import annotations

import copy

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes_core.llm.wire.json_schema import closed, is_object, wanted

TEXT = {"type": "string"}


def thing(**properties: object) -> dict:
    """A schema of an object."""
    return {"type": "object", "properties": properties}


def shut(**properties: object) -> dict:
    """The same, with no other fields."""
    return {**thing(**properties), "additionalProperties": False}


@pytest.mark.parametrize(
    ("schema", "copied"),
    [
        pytest.param(thing(a=TEXT), shut(a=TEXT), id="an-object-is-closed"),
        pytest.param(shut(a=TEXT), shut(a=TEXT), id="a-closed-one-stays"),
        pytest.param(thing(a=thing(b=TEXT)), shut(a=shut(b=TEXT)), id="objects-inside-too"),
        pytest.param(
            thing(a={"type": "array", "items": thing(b=TEXT)}),
            shut(a={"type": "array", "items": shut(b=TEXT)}),
            id="objects-in-lists-too",
        ),
        pytest.param(
            {**thing(a={"type": "number", "minimum": 0, "maximum": 1}), "$schema": "s", "required": ["a"]},
            {**shut(a={"type": "number"}), "required": ["a"]},
            id="bounds-are-left-to-the-host",
        ),
        pytest.param(
            thing(a={"type": "string", "enum": ["x"], "description": "d", "pattern": "x"}),
            shut(a={"type": "string", "enum": ["x"], "description": "d"}),
            id="choices-and-words-stay",
        ),
        pytest.param(
            thing(a={"oneOf": [TEXT, {"type": "null"}]}), shut(a={"anyOf": [TEXT, {"type": "null"}]}), id="one-of"
        ),
        pytest.param(
            {**thing(a={"$ref": "#/$defs/b"}), "$defs": {"b": thing(c=TEXT)}},
            {**shut(a={"$ref": "#/$defs/b"}), "$defs": {"b": shut(c=TEXT)}},
            id="definitions-are-copied",
        ),
        pytest.param(thing(a={"type": ["string", "null"]}), shut(a={"type": ["string", "null"]}), id="two-types"),
    ],
)
def test_a_schema_is_copied_into_the_small_language(schema, copied):
    """Objects are closed, what only narrows is left out, and the plugin's own schema is not touched."""
    before = copy.deepcopy(schema)
    assert closed(schema) == copied
    assert schema == before


@pytest.mark.parametrize(
    "schema",
    [
        pytest.param(True, id="true"),
        pytest.param({}, id="anything"),
        pytest.param(TEXT, id="a-string"),
        pytest.param({"type": "array", "items": TEXT}, id="a-list"),
        pytest.param({"type": "object"}, id="any-object"),
        pytest.param(thing(a={"type": "object"}), id="any-object-inside"),
        pytest.param({**thing(a=TEXT), "additionalProperties": True}, id="an-open-object"),
        pytest.param({**thing(a=TEXT), "additionalProperties": TEXT}, id="a-map"),
        pytest.param({**thing(a=TEXT), "patternProperties": {"x": TEXT}}, id="patterns-of-names"),
        pytest.param(thing(a={"not": TEXT}), id="not"),
        pytest.param(thing(a={"type": "array", "prefixItems": [TEXT]}), id="tuples"),
        pytest.param(thing(a=True), id="anything-inside"),
        pytest.param(thing(a={"$ref": "#"}), id="the-whole-inside-itself"),
        pytest.param(thing(a={"$ref": "https://schemas.test/a"}), id="a-foreign-schema"),
        pytest.param(thing(a={"$ref": "#/$defs/b"}), id="a-definition-that-is-not-there"),
        pytest.param({**thing(a={"$ref": "#/$defs/b"}), "$defs": {"b": thing(c={"$ref": "#/$defs/b"})}}, id="a-tree"),
        pytest.param(
            {
                **thing(a={"$ref": "#/$defs/b"}),
                "$defs": {"b": thing(c={"$ref": "#/$defs/d"}), "d": thing(e={"$ref": "#/$defs/b"})},
            },
            id="two-definitions-in-a-circle",
        ),
        pytest.param({"type": "object", "properties": []}, id="malformed"),
    ],
)
def test_a_schema_that_cannot_be_copied_is_left_alone(schema):
    """Where the small language cannot say what the schema says, there is no copy."""
    assert closed(schema) is None


SCHEMAS = st.recursive(
    st.sampled_from([TEXT, {"type": "integer", "minimum": 0}, {"enum": ["x", 1]}, {"type": "boolean"}]),
    lambda inner: (
        st.builds(lambda names: thing(**names), st.dictionaries(st.sampled_from("abc"), inner, max_size=2))
        | st.builds(lambda item: {"type": "array", "items": item, "maxItems": 1}, inner)
        | st.builds(lambda options: {"anyOf": options}, st.lists(inner, min_size=1, max_size=2))
    ),
    max_leaves=6,
)
VALUES = st.recursive(
    st.sampled_from(["x", 1, True, -1]),
    lambda inner: st.lists(inner, max_size=1) | st.dictionaries(st.sampled_from("abc"), inner, max_size=2),
    max_leaves=6,
)
BOUNDS = ("minimum", "maxItems")


def unbounded(node: object) -> object:
    """A schema without its bounds."""
    if isinstance(node, dict):
        return {key: unbounded(value) for key, value in node.items() if key not in BOUNDS}
    return [*map(unbounded, node)] if isinstance(node, list) else node


@settings(database=None, max_examples=300)
@given(st.dictionaries(st.sampled_from("abc"), SCHEMAS, min_size=1, max_size=3), VALUES)
def test_what_fits_the_copy_fits_the_schema_but_for_bounds(properties, value):
    """A model that is held to the copy cannot say what the schema forbids, other than by a bound."""
    copied = closed(thing(**properties))
    if copied is not None and jsonschema.Draft202012Validator(copied).is_valid(value):
        assert jsonschema.Draft202012Validator(unbounded(thing(**properties))).is_valid(value)


@pytest.mark.parametrize(
    ("schema", "is_one"),
    [({"type": "object"}, True), ({"type": ["object"]}, False), ({}, False), (True, False), (None, False)],
    ids=["object", "list-of-types", "anything", "true", "none"],
)
def test_only_an_object_can_be_a_tools_arguments(schema, is_one):
    """A schema that a tool can have describes an object."""
    assert is_object(schema) is is_one


def test_the_wanted_schema_is_found():
    """Name and schema come out of OpenAI's field; free JSON and free text have none."""
    assert wanted({"type": "json_schema", "json_schema": {"name": "n", "schema": False}}) == ("n", False)
    assert (wanted({"type": "json_object"}), wanted(None)) == (None, None)
