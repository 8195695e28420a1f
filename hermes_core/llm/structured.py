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

    Raises:
        ValueError: It is no JSON schema; says where.
    """
    from jsonschema.exceptions import SchemaError
    from jsonschema.validators import validator_for

    if not isinstance(schema, dict | bool):
        message = f"{method}: json_schema must be a mapping, got {type(schema).__name__}"
        raise ValueError(message)  # noqa: TRY004 - the published contract promises ValueError for bad arguments
    try:
        validator_for(schema).check_schema(cast("dict[str, Any]", schema))
    except SchemaError as error:
        message = f"{method}: json_schema is no valid JSON schema at {error.json_path}: {error.message}"
        raise ValueError(message) from error


def violations(value: Any, schema: Any) -> list[str]:
    """How a value breaks a schema, one sentence each; empty when it does not.

    Example:
        >>> violations({"n": "x"}, {"properties": {"n": {"type": "number"}}})
        ["$.n: 'x' is not of type 'number'"]
    """
    from jsonschema.validators import validator_for

    errors = validator_for(schema)(schema).iter_errors(value)
    return [f"{error.json_path}: {error.message}" for error in sorted(errors, key=lambda error: error.json_path)]


def _refuse(constant: str) -> NoReturn:
    raise ValueError(constant)
