"""Classes in place of a JSON schema: dataclasses, TypedDicts and pydantic models.

The first two are read here, so that they need nothing installed: their schema, and the way from a JSON value
that matches it to an instance. A pydantic model speaks for itself; pydantic is never imported before that.
"""

from __future__ import annotations

import json
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from hermes_core.errors import describe
from hermes_core.llm.fields import UnsupportedError, has_fields
from hermes_core.llm.forms import REFUSALS, Reader, RefusedError

if TYPE_CHECKING:
    from collections.abc import Callable


class Wanted(NamedTuple):
    """What a class as ``json_schema=`` asks for.

    Attributes:
        schema: Its JSON schema; None when there is none.
        convert: Turns a JSON value into ``(instance, [])``, or into itself and what is wrong with it.
        judges: Whether ``convert`` alone says what is accepted, and the schema only describes it.
        problem: Why there is no schema of the class; ``""`` when there is one.
    """

    schema: Any = None
    convert: Callable[[Any], tuple[Any, list[str]]] | None = None
    judges: bool = False
    problem: str = ""


def wanted(cls: type) -> Wanted:
    """What a class asks for; one that JSON cannot describe is no error, but told by ``problem``.

    Example:
        >>> from dataclasses import dataclass
        >>> @dataclass
        ... class Task:
        ...     action: str
        ...     owner: str | None = None
        >>> wanted(Task).convert({"action": "call Ann"})
        (Task(action='call Ann', owner=None), [])
        >>> wanted(dict).problem
        'class dict is no dataclass, TypedDict or pydantic model'
    """
    try:
        return _of_pydantic(cls) if hasattr(cls, "model_json_schema") else _of_class(cls)
    except UnsupportedError as error:
        return Wanted(problem=str(error))


@lru_cache(64)
def _of_class(cls: type) -> Wanted:
    if not has_fields(cls):
        raise UnsupportedError(f"class {cls.__name__} is no dataclass, TypedDict or pydantic model")
    schema, make = Reader().root(cls)

    def convert(value: Any) -> tuple[Any, list[str]]:
        try:
            return make(value), []
        except REFUSALS as error:
            shown = str(error) if isinstance(error, RefusedError) else f"{cls.__name__}: {describe(error)}"
            return value, [shown[:400]]

    return Wanted(schema, convert)


@lru_cache(64)
def _of_pydantic(model: Any) -> Wanted:
    try:
        schema = model.model_json_schema()
    except Exception as error:
        reason = describe(error).partition("\n")[0]
        raise UnsupportedError(f"{_culprit(model)} has no JSON schema: {reason}") from error

    def convert(value: Any) -> tuple[Any, list[str]]:
        try:  # as JSON: a strict model refuses a date that is a Python string
            return model.model_validate_json(json.dumps(value)), []
        except ValueError as error:
            found = error.errors() if hasattr(error, "errors") else []
            return value, [f"{_path(one['loc'])}: {one['msg'][:300]}" for one in found] or [describe(error)[:300]]

    return Wanted(schema, convert, judges=True)


def _culprit(model: Any) -> str:
    """The first field of a pydantic model that alone has no schema either; else the model."""
    from pydantic import TypeAdapter

    for name, field in getattr(model, "model_fields", {}).items():
        try:
            TypeAdapter(field.annotation).json_schema()
        except Exception:  # noqa: BLE001 - whatever pydantic raises: this is the field
            return f"{model.__name__}.{name}"
    return str(model.__name__)


def _path(location: tuple[str | int, ...]) -> str:
    return "$" + "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in location)
