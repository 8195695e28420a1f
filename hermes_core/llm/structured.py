"""Getting JSON out of an answer, and holding it against a schema."""

from __future__ import annotations

import json
import re
from typing import Any, NoReturn, cast

from hermes_core.errors import HermesError

_FENCE = re.compile(r"^(?:```|~~~)[^\n]*\n(.*?)^(?:```|~~~)", re.DOTALL | re.MULTILINE)
_BLANK = "\ufeff\u200b\u00a0 \t\r\n"


class NotJsonError(HermesError, ValueError):
    """The text holds no JSON value."""


def parse_json(text: str) -> Any:
    r"""The JSON value a text is, or holds in a code fence.

    Raises:
        NotJsonError: It is, and holds, none. ``NaN`` and ``Infinity`` are not JSON.

    Example:
        >>> parse_json('Here it is:\n```json\n{"a": 1}\n```')
        {'a': 1}
    """
    for candidate in (text.strip(_BLANK), *(match[1].strip(_BLANK) for match in _FENCE.finditer(text))):
        if not candidate:
            continue
        try:
            return json.loads(candidate, parse_constant=_refuse)
        except (ValueError, RecursionError):
            continue
    message = "the answer is not JSON"
    raise NotJsonError(message)


def check_schema(method: str, schema: object) -> None:
    """Refuse a schema that is none, before a token is spent on it.

    A reference has to lead to a place inside the schema, or to a published dialect: nothing is fetched.

    Raises:
        ValueError: It is no JSON schema; says where.
    """
    from jsonschema.exceptions import SchemaError
    from jsonschema.validators import validator_for
    from referencing.exceptions import Unresolvable

    if not isinstance(schema, dict | bool):
        message = f"{method}: json_schema must be a mapping, got {type(schema).__name__}"
        raise ValueError(message)  # noqa: TRY004 - the published contract promises ValueError for bad arguments
    try:
        json.dumps(schema, allow_nan=False)
        validator_for(schema).check_schema(cast("dict[str, Any]", schema))
        _check_references(schema, _validator(schema)._resolver)  # noqa: SLF001 - knows the base of every reference
    except SchemaError as error:
        message = f"{method}: json_schema is no valid JSON schema at {error.json_path}: {error.message}"
        raise ValueError(message) from error
    except Unresolvable as error:
        message = f"{method}: json_schema refers to {error.ref!r}, which is not inside it"
        raise ValueError(message) from error
    except (TypeError, ValueError, RecursionError) as error:
        message = f"{method}: json_schema is no valid JSON schema: {error}"
        raise ValueError(message) from error


def violations(value: Any, schema: Any) -> list[str]:
    """How a value breaks a schema, one sentence each; empty when it does not.

    Example:
        >>> violations({"n": "x"}, {"properties": {"n": {"type": "number"}}})
        ["$.n: 'x' is not of type 'number'"]
    """
    try:
        errors = sorted(_validator(schema).iter_errors(value), key=lambda error: error.json_path)
    except RecursionError:
        return ["$: it is nested too deep to be checked"]
    return [f"{error.json_path[:100]}: {error.message[:300]}" for error in errors]


def _validator(schema: Any) -> Any:
    """A validator that looks references up in the schema and the published dialects alone."""
    from jsonschema.validators import validator_for
    from jsonschema_specifications import REGISTRY

    return validator_for(schema)(schema, registry=REGISTRY)


_DATA = frozenset({"const", "default", "enum", "examples"})
"""Keywords whose values are data, in which ``$ref`` is no reference."""


_NAMED = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})
"""Keywords whose values map names of any kind to schemas."""


def _check_references(node: Any, resolver: Any) -> None:
    if isinstance(node, list):
        for item in node:
            _check_references(item, resolver)
    if not isinstance(node, dict):
        return
    if isinstance(node.get("$id"), str):
        from referencing.jsonschema import DRAFT202012

        resolver = resolver.in_subresource(DRAFT202012.create_resource(node))
    for keyword in ("$ref", "$dynamicRef"):
        if isinstance(node.get(keyword), str):
            resolver.lookup(node[keyword])
    for key, value in node.items():
        if key in _NAMED and isinstance(value, dict):
            _check_references([*value.values()], resolver)
        elif key not in _DATA:
            _check_references(value, resolver)


def _refuse(constant: str) -> NoReturn:
    raise ValueError(constant)
