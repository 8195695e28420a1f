"""Typed answers: the schema they must match, and what becomes of one that does, or does not."""

from __future__ import annotations

import json
import logging
import re
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Any

from hermes_core.errors import StructuredOutputError
from hermes_core.llm.json_text import NotJsonError, parse_json, parse_whole

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from hermes_core.types.call import Completion
    from hermes_core.types.llm import PluginLlmStructuredResult

log = logging.getLogger(__name__)

MAX_VIOLATIONS = 100
"""How many violations of a schema are listed."""


def take_json(
    result: PluginLlmStructuredResult[Any],
    answer: Completion,
    *,
    method: str,
    schema: Any,
    convert: Callable[[Any], tuple[Any, list[str]]] | None,
    softly: Callable[[], bool],
) -> None:
    """Put the JSON value of an answer on its result; one that holds none stays text.

    Args:
        result: Gets ``parsed`` and ``content_type``, and ``audit["answer_from"]`` for a value out of the reasoning.
        answer: What the model said.
        method: The method that was called, for the error.
        schema: What the value must match, or None.
        convert: Makes of a value that matches what the plugin wants instead, or says what is wrong with it; or None.
        softly: Asked when it does not: whether the answer then counts as text.

    Raises:
        StructuredOutputError: The value does not match the schema.
    """
    try:
        if answer.has_content:
            result.parsed = parse_json(answer.text, lambda value: fits(value, schema))
        else:
            result.parsed = parse_whole(answer.reasoning)
            result.audit["answer_from"] = "reasoning"
    except NotJsonError:
        return
    found = violations(result.parsed, schema) if schema is not None else []
    if convert is not None and not found:
        result.parsed, found = convert(result.parsed)
    if found and softly():
        result.parsed = None
    elif found:
        shown = "; ".join(found[:3]) + (f"; and {len(found) - 3} more" if len(found) > 3 else "")
        message = f"{method}: the answer did not match the schema: {shown}"
        raise StructuredOutputError(message, result=result, errors=found)
    else:
        result.content_type = "json"


def fails_softly(plugin_id: str, settings: Mapping[str, Any]) -> bool:
    """Whether ``plugins.entries.<id>.llm.on_schema_failure`` is ``text``; anything but that raises.

    Example:
        >>> fails_softly("p", {"on_schema_failure": "text"})
        True
    """
    wanted = settings.get("on_schema_failure", "raise")
    word = wanted.strip().lower() if isinstance(wanted, str) else ""
    if word not in ("raise", "text"):
        place = f"plugins.entries.{plugin_id}.llm.on_schema_failure"
        log.warning("setting ignored, the call raises key=%s got=%r wanted=raise or text", place, wanted)
    return word == "text"


def check_schema(method: str, schema: object) -> None:
    """Refuse a schema that is none, before a token is spent on it.

    A reference has to lead to a place inside the schema, or to a published dialect: nothing is fetched.

    Raises:
        ValueError: It is no JSON schema; says where.
    """
    from jsonschema.exceptions import SchemaError
    from referencing.exceptions import Unresolvable

    if not isinstance(schema, dict | bool):
        message = f"{method}: json_schema must be a dict or a bool, got {type(schema).__name__}"
        raise ValueError(message)  # noqa: TRY004 - the published contract promises ValueError for bad arguments
    try:
        _compiled(schema)
    except SchemaError as error:
        message = f"{method}: json_schema is no valid JSON schema at {error.json_path}: {error.message[:300]}"
        raise ValueError(message) from error
    except Unresolvable as error:
        message = f"{method}: json_schema refers to {error.ref!r}, which is not inside it"
        raise ValueError(message) from error
    except (TypeError, ValueError, AttributeError, RecursionError, re.error) as error:
        message = f"{method}: json_schema is no valid JSON schema: {error}"
        raise ValueError(message) from error


def violations(value: Any, schema: Any, limit: int = MAX_VIOLATIONS) -> list[str]:
    """How a value breaks a schema, one sentence each, at most ``limit``; empty when it does not.

    Example:
        >>> violations({"n": "x"}, {"properties": {"n": {"type": "number"}}})
        ["$.n: 'x' is not of type 'number'"]
    """
    try:
        errors = [*islice(_compiled(schema).iter_errors(value), limit)]
    except RecursionError:
        return ["$: it is nested too deep to be checked"]
    except ArithmeticError:
        return ["$: it holds a number too large to be checked"]
    errors.sort(key=lambda error: error.json_path)
    return [f"{error.json_path[:100]}: {error.message[:300]}" for error in errors]


def fits(value: Any, schema: Any) -> bool:
    """Whether a value matches a schema; None stands for no schema, which nothing is known to match."""
    return schema is not None and not violations(value, schema, limit=1)


def _compiled(schema: Any) -> Any:
    """A validator for what a schema says now; one that is used again is not checked again."""
    return _validator(json.dumps(schema, allow_nan=False))


@lru_cache(128)
def _validator(written: str) -> Any:
    """A validator that looks references up in the schema and the published dialects alone."""
    from jsonschema import validators
    from jsonschema_specifications import REGISTRY
    from referencing.jsonschema import specification_with

    schema = json.loads(written)
    dialect: Any = validators.validator_for(schema, default=validators.Draft202012Validator)
    dialect.check_schema(schema)
    root = specification_with(dialect.META_SCHEMA["$schema"]).create_resource(schema)
    _check(schema, dialect, REGISTRY.resolver_with_root(root), set())
    return _with_quick_uniqueness(dialect)(schema, registry=REGISTRY)


@lru_cache
def _with_quick_uniqueness(dialect: Any) -> Any:
    from jsonschema import validators

    extend: Callable[..., Any] = validators.extend
    return extend(dialect, {"uniqueItems": _unique_items})


_REFERENCES = frozenset({"$ref", "$dynamicRef", "$recursiveRef"})

_DATA = frozenset({"const", "enum", "dependentRequired"})
"""Keywords whose values are data, in which ``$ref`` is no reference."""

_OF_IF = frozenset({"then", "else"})
"""Keywords that the library reads where it reads ``if``."""

_NAMED = frozenset({"properties", "patternProperties", "dependentSchemas", "dependencies"})
"""Keywords whose values map names of any kind to schemas."""


def _check(node: Any, dialect: Any, resolver: Any, seen: set[int]) -> None:
    """Follow every reference, and read every pattern, that validating may come to."""
    from jsonschema.validators import validator_for
    from referencing.jsonschema import specification_with

    if not isinstance(node, dict) or id(node) in seen:
        return
    seen.add(id(node))
    own: Any = validator_for(node, default=dialect)
    if own is not dialect:
        own.check_schema(node)
    specification: Any = specification_with(own.META_SCHEMA["$schema"])
    for keyword, value in node.items():
        if (keyword not in own.VALIDATORS and keyword not in _OF_IF) or keyword in _DATA:
            continue
        if keyword in _REFERENCES:
            target = resolver.lookup(value)
            if id(target.contents) not in seen:
                own.check_schema(target.contents)  # it may stand where no schema is expected
            _check(target.contents, own, target.resolver, seen)
        else:
            for pattern in value if keyword == "patternProperties" else ():
                re.compile(pattern)
            inside = value.values() if keyword in _NAMED else value if isinstance(value, list) else [value]
            for child in filter(_is_mapping, inside):
                _check(child, own, resolver.in_subresource(specification.create_resource(child)), seen)


def _is_mapping(value: object) -> bool:
    return isinstance(value, dict)


def _unique_items(validator: Any, wanted: object, value: Any, _schema: object) -> Iterator[Any]:
    """The keyword ``uniqueItems``, without comparing each item with every other one."""
    from jsonschema.exceptions import ValidationError

    if wanted and validator.is_type(value, "array") and len({*map(_comparable, value)}) < len(value):
        yield ValidationError(f"{value!r} has non-unique elements")


def _comparable(value: Any) -> Any:
    """A value that can be hashed, and equals another one when JSON Schema says so: 1 equals 1.0, but not true."""
    if isinstance(value, dict):
        return "object", frozenset((key, _comparable(item)) for key, item in value.items())
    if isinstance(value, list):
        return "array", tuple(map(_comparable, value))
    if isinstance(value, int | float) and not isinstance(value, bool):  # as text: numbers can be chosen to collide
        return "number", repr(int(value) if value == int(value) else value)
    return type(value), value
