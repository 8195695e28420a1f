"""A wanted JSON schema, as formats other than OpenAI's can ask for it."""

from __future__ import annotations

from collections.abc import Mapping
from graphlib import CycleError, TopologicalSorter
from typing import Any

ANSWER_TOOL = "json_answer"
"""The tool that a model is made to call with its answer, where a format has no field for a schema."""

TELLS = "Give the answer."
"""That tool's description."""

_KEPT = frozenset({"type", "title", "description", "enum", "const", "default", "required"})
_NARROWING = frozenset(
    "minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength pattern format minItems maxItems "
    "uniqueItems minProperties maxProperties examples $schema $id $comment readOnly writeOnly deprecated".split()
)
"""Keywords that only forbid or explain: without them a schema allows more, and the host checks the answer anyway."""

_DEFINITIONS = ("$defs", "definitions")


class _NotClosedError(Exception):
    """The schema says something that constrained decoding cannot."""


def wanted(response_format: Mapping[str, Any] | None) -> tuple[str, Any] | None:
    """Name and schema that OpenAI's ``response_format`` holds; None when it holds none."""
    found = (response_format or {}).get("json_schema")
    return (found["name"], found["schema"]) if found else None


def is_object(schema: object) -> bool:
    """Whether it describes an object, as a tool's arguments must be."""
    return isinstance(schema, Mapping) and schema.get("type") == "object"


def closed(schema: object) -> dict[str, Any] | None:
    """A copy in the small language of constrained decoding: objects with just the fields they name.

    Any object that fits the copy fits the schema, but for bounds, patterns and formats, which the copy
    leaves out. None when there is no such copy: the schema describes no object, or an open one, refers to
    itself, or has keywords that decoding does not know.

    Example:
        >>> closed({"type": "object", "properties": {"n": {"type": "number", "minimum": 0}}})
        {'type': 'object', 'properties': {'n': {'type': 'number'}}, 'additionalProperties': False}
    """
    if not is_object(schema):
        return None
    references: dict[str, set[str]] = {"#": set()}
    try:
        copied = _copy(schema, references["#"])
        for place in _DEFINITIONS:
            for name, part in _mapping(schema.get(place, {})).items():  # type: ignore[attr-defined]
                found = references[f"#/{place}/{name}"] = set()
                copied.setdefault(place, {})[name] = _copy(part, found)
        if not set().union(*references.values()) <= references.keys():
            return None
        TopologicalSorter(references).prepare()
    except (_NotClosedError, CycleError):
        return None
    return copied


def _copy(node: object, references: set[str]) -> dict[str, Any]:
    """One place of the schema; what it refers to is added to ``references``."""
    copied: dict[str, Any] = {}
    for key, value in _mapping(node).items():
        if key in _KEPT:
            copied[key] = value
        elif key == "properties":
            copied[key] = {name: _copy(part, references) for name, part in _mapping(value).items()}
        elif key == "items":
            copied[key] = _copy(value, references)
        elif key in ("anyOf", "oneOf") and isinstance(value, list):
            copied["anyOf"] = [_copy(part, references) for part in value]
        elif key == "$ref" and isinstance(value, str):
            references.add(value)
            copied[key] = value
        elif key not in (*_DEFINITIONS, "additionalProperties") and key not in _NARROWING:
            raise _NotClosedError
    kinds = copied.get("type")
    if kinds == "object" or (isinstance(kinds, list) and "object" in kinds):
        if not copied.get("properties") or _mapping(node).get("additionalProperties"):
            raise _NotClosedError
        copied["additionalProperties"] = False
    return copied


def _mapping(value: object) -> Mapping[str, Any]:
    if isinstance(value, Mapping):
        return value
    raise _NotClosedError
