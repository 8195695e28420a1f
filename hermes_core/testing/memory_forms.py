"""The form of what a memory provider declares: its tools and its settings."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from hermes_core.testing.memory_bench import require

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

FIELD_TYPES = {
    "key": str,
    "description": str,
    "label": str,
    "env_var": str,
    "url": str,
    "secret": bool,
    "required": bool,
    "choices": list | tuple,
    "when": dict,
    "default_from": dict,
}


def check_schemas(schemas: Sequence[Any]) -> None:
    """Tool schemas: names, descriptions, parameters.

    Raises:
        AssertionError: One is not well-formed; says which, and why.
    """
    names = []
    for schema in schemas:
        require(isinstance(schema, dict), f"a tool schema is a {type(schema).__name__}, and no mapping")
        name = schema.get("name")
        require(isinstance(name, str) and re.fullmatch(r"[A-Za-z0-9_-]{1,64}", name), f"{name!r} is no name of a tool")
        names.append(name)
        about = schema.get("description")
        require(isinstance(about, str) and about.strip(), f"tool {name}: the description is missing")
        _check_json(schema, f"tool {name}: JSON cannot hold its schema")
        _check_parameters(name, schema.get("parameters"))
    double = {name for name in names if names.count(name) > 1}
    require(not double, f"more than one tool is called {', '.join(sorted(double))}")


def check_fields(fields: Any) -> None:
    """The fields of the settings; None is as good as no field.

    Raises:
        AssertionError: One is not well-formed; says which, and why.
    """
    require(isinstance(fields, list | None), f"get_config_schema returned a {type(fields).__name__}, and no list")
    asked: dict[str, list[Any]] = {}
    for field in fields or []:
        require(isinstance(field, dict), f"a field is a {type(field).__name__}, and no mapping")
        _check_field(field, asked)
        _check_json(field, f"field {field['key']}: JSON cannot hold it")


def _check_parameters(name: object, parameters: Any) -> None:
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import SchemaError

    good = isinstance(parameters, dict) and parameters.get("type") == "object"
    require(good, f"tool {name}: parameters must be a schema of type object")
    try:
        Draft202012Validator.check_schema(parameters)
    except SchemaError as error:
        message = f"tool {name}: parameters are no JSON schema: {error.message}"
        raise AssertionError(message) from error
    unknown = [field for field in parameters.get("required", []) if field not in parameters.get("properties", {})]
    require(not unknown, f"tool {name}: required but no property: {', '.join(unknown)}")


def _check_field(field: Mapping[str, Any], asked: dict[str, list[Any]]) -> None:
    """One field of the settings; those before it are in ``asked``."""
    key = field.get("key")
    require(isinstance(key, str) and key.strip(), f"a field has no key: {field!r:.80}")
    for name, kind in FIELD_TYPES.items():
        value = field.get(name)
        require(value is None or isinstance(value, kind), f"field {key}: {name} is a {type(value).__name__}")
    variable = field.get("env_var")
    require(not variable or re.fullmatch(r"[A-Za-z_]\w*", variable), f"field {key}: {variable!r} is no variable's name")
    require(not field.get("secret") or variable, f"field {key}: a secret needs an env_var, or it cannot be kept")
    require(not field.get("secret") or not field.get("default"), f"field {key}: a secret has no default")
    url = field.get("url")
    require(not url or re.match(r"https?://\S+$", url), f"field {key}: {url!r} is no address")
    choices = field.get("choices")
    require(choices is None or len(choices), f"field {key}: no choices to choose from")
    default = field.get("default")
    require(not choices or default is None or default in choices, f"field {key}: {default!r} is none of its choices")
    earlier = [*(field.get("when") or {}), *filter(None, [(field.get("default_from") or {}).get("field")])]
    unknown = [name for name in earlier if name not in asked]
    require(not unknown, f"field {key} depends on {', '.join(unknown)}, which is not asked before it")
    require(field.get("when") not in asked.get(str(key), []), f"field {key} is asked twice")
    asked.setdefault(str(key), []).append(field.get("when"))


def _check_json(value: Any, problem: str) -> None:
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError) as error:
        message = f"{problem}: {error}"
        raise AssertionError(message) from error
