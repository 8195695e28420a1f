"""Schemas made small enough for an answer to end."""

import copy

import jsonschema
import pytest

ROOM = 1500
SMALL_STRING = {"type": "string", "minLength": 0, "maxLength": 8}


@pytest.fixture
def bounded(part):
    """The function under test."""
    return lambda schema, room=ROOM: part("schema").bounded(schema, room)


@pytest.fixture
def smallest(bounded):
    """The form with the tightest limits."""
    return lambda schema: bounded(schema, room=0)


@pytest.fixture
def field(smallest):
    """The tightest form of a field's schema; None when the field is left out."""
    return lambda schema: smallest({"type": "object", "properties": {"x": schema}})["properties"].get("x")


def test_strings_and_lists_end(bounded):
    """A string and a list without a limit get one; limits shrink with the room."""
    schema = {"type": "array", "items": {"type": "string"}}
    wide, narrow = bounded(schema, 4000), bounded(schema, 200)
    assert wide["maxItems"] > narrow["maxItems"] > 0
    assert wide["items"]["maxLength"] > narrow["items"]["maxLength"] > 0


def test_own_limits_count(bounded):
    """A limit of the caller's that is tighter stays, one that is wider is narrowed."""
    schema = {"type": "array", "minItems": 1, "maxItems": 2, "items": {"type": "string", "maxLength": 5000}}
    assert bounded(schema)["maxItems"] == 2
    assert bounded(schema)["items"]["maxLength"] < 5000


def test_no_limits_that_contradict(field):
    """A lower limit raises the upper one: the server dies of a minimum above the maximum."""
    assert field({"type": "string", "minLength": 50, "maxLength": 20})["maxLength"] == 50
    assert field({"type": "array", "minItems": 4, "maxItems": 3, "items": {"type": "boolean"}})["maxItems"] == 4
    assert field({"type": "integer", "minimum": 5, "maximum": 1}) == {"type": "integer"}


def test_every_field_is_required(smallest):
    """All fields are required, and no others are there."""
    schema = {"type": "object", "properties": {"a": {"type": "null"}, "b": {"type": "boolean"}}, "required": ["c"]}
    assert smallest(schema) == {
        "type": "object",
        "properties": {"a": {"type": "null"}, "b": {"type": "boolean"}, "c": SMALL_STRING},
        "required": ["a", "b", "c"],
    }


def test_required_field_without_a_schema(smallest):
    """A required field that has no schema of its own takes that of additional properties."""
    schema = {"type": "object", "required": ["n"], "additionalProperties": {"type": "integer"}}
    assert smallest(schema)["properties"] == {"n": {"type": "integer"}}


def test_refs_are_followed(smallest):
    """A reference into the document is replaced by what it points to."""
    schema = {"$defs": {"a/b": {"type": "string"}}, "type": "array", "items": {"$ref": "#/$defs/a~1b"}}
    assert smallest(schema)["items"] == SMALL_STRING


def test_recursion_ends(smallest):
    """Where a schema leads back to itself, the list is empty, the choice falls away, the field is left out."""
    node = {
        "type": "object",
        "properties": {
            "kids": {"type": "array", "items": {"$ref": "#/$defs/n"}},
            "next": {"anyOf": [{"$ref": "#/$defs/n"}, {"type": "null"}]},
            "twin": {"$ref": "#/$defs/n"},
        },
        "required": ["kids", "next"],
    }
    found = smallest({"$defs": {"n": node}, "$ref": "#/$defs/n"})
    assert found["properties"]["kids"]["maxItems"] == 0
    assert found["properties"]["next"] == {"type": "null"}
    assert "twin" not in found["properties"]


def test_all_of_is_merged(smallest):
    """``allOf`` becomes one object with the fields of all."""
    schema = {
        "$defs": {"a": {"type": "object", "properties": {"x": {"type": "null"}}}},
        "allOf": [{"$ref": "#/$defs/a"}, {"properties": {"y": {"type": "boolean"}}}],
    }
    assert smallest(schema)["required"] == ["x", "y"]


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"type": ["string", "null"]}, {"anyOf": [SMALL_STRING, {"type": "null"}]}),
        ({"oneOf": [{"type": "boolean"}, {"type": "null"}]}, {"anyOf": [{"type": "boolean"}, {"type": "null"}]}),
        ({"enum": ["a", "b"], "type": "string"}, {"enum": ["a", "b"]}),
        ({"const": 7}, {"const": 7}),
        ({"type": "string", "format": "date"}, {"type": "string", "format": "date"}),
        ({"type": "string", "format": "email"}, SMALL_STRING),
        (
            {"type": "string", "pattern": "^[a-z+]+\\+\\d{2,}$"},
            {"type": "string", "pattern": "^[a-z+]{1,8}\\+\\d{2,8}$"},
        ),
        ({"type": "string", "pattern": "a+"}, SMALL_STRING),
        ({"type": "string", "pattern": "^(?!x)a+$"}, SMALL_STRING),
        ({"type": "number"}, {"type": "number"}),
        ({"type": "number", "minimum": 0.5}, {"type": "integer", "minimum": 1}),
        ({"type": "integer", "exclusiveMinimum": 0, "maximum": 9}, {"type": "integer", "minimum": 1, "maximum": 9}),
        ({"type": "object"}, {"type": "object", "properties": {}, "required": []}),
        ({"items": {"type": "null"}}, {"type": "array", "items": {"type": "null"}, "minItems": 0, "maxItems": 1}),
        (
            {"prefixItems": [{"type": "null"}, True]},
            {"type": "array", "prefixItems": [{"type": "null"}, SMALL_STRING]},
        ),
        ({"description": "anything"}, SMALL_STRING),
        (True, SMALL_STRING),
        (False, None),
    ],
    ids=str,
)
def test_kinds(field, schema, expected):
    """Each kind of schema in its bounded form."""
    assert field(schema) == expected


def test_range_of_numbers(field):
    """A number between two limits is one of some steps, all of them inside."""
    steps = field({"type": "number", "exclusiveMinimum": 0, "maximum": 1})["enum"]
    assert (min(steps), max(steps), len(steps)) == (0.05, 1, 20)


def test_caller_keeps_its_schema(bounded):
    """The caller's schema is not changed."""
    schema = {"$defs": {"a": {"type": "array"}}, "type": "object", "properties": {"x": {"$ref": "#/$defs/a"}}}
    before = copy.deepcopy(schema)
    bounded(schema)
    assert schema == before


@pytest.mark.parametrize("room", [200, 700, 1500, 6000])
def test_longest_answer_fits(bounded, part, room):
    """The estimate of the longest answer stays within the room."""
    item = {"type": "object", "properties": {"a": {"type": "string"}, "n": {"type": "integer"}}}
    found = bounded({"type": "object", "properties": {"items": {"type": "array", "items": item}}}, room)
    assert part("schema").longest(found) <= room


def test_answers_match_the_callers_schema(bounded):
    """The longest answer to the bounded form is valid under the caller's schema."""
    schema = {
        "type": "object",
        "properties": {
            "name": {"type": "string", "minLength": 1},
            "score": {"type": "number", "minimum": 0, "maximum": 1},
            "tags": {"type": "array", "items": {"enum": ["a", "b"]}, "uniqueItems": True},
        },
        "required": ["name"],
        "additionalProperties": False,
    }
    small = bounded(schema)["properties"]
    answer = {
        "name": "x" * small["name"]["maxLength"],
        "score": small["score"]["enum"][-1],
        "tags": ["a"] * small["tags"]["maxItems"],
    }
    jsonschema.validate(answer, schema)
