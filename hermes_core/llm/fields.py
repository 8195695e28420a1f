"""The fields of a class as they are declared: a dataclass's or a TypedDict's."""

from __future__ import annotations

import dataclasses
import inspect
import sys
import typing
from enum import Enum
from typing import Annotated, Any, Final, NamedTuple, NotRequired, Required, get_args, get_origin

from hermes_core.config.truth import is_number
from hermes_core.errors import describe

QUALIFIERS = (Required, NotRequired, Final, getattr(typing, "ReadOnly", Final))
"""What may stand around a field's type without changing what its value is."""


_GATHERING = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


class UnsupportedError(Exception):
    """A type that JSON cannot say; the text begins with the place."""


class Field(NamedTuple):
    """A field as it is declared: its type, ``{"default": …}`` where that is short, whether it has to be there."""

    hint: Any
    default: dict[str, Any]
    required: bool


def has_fields(cls: type) -> bool:
    """Whether it is a dataclass or a TypedDict."""
    return dataclasses.is_dataclass(cls) or _is_typed_dict(cls)


def _is_typed_dict(cls: type) -> bool:
    return issubclass(cls, dict) and hasattr(cls, "__required_keys__")


def declared(cls: Any) -> dict[str, Field]:
    """The fields of a dataclass or a TypedDict, inherited ones included."""
    annotations = {
        name: (annotation, base)
        for base in reversed(cls.__mro__)
        for name, annotation in inspect.get_annotations(base).items()
    }
    if _is_typed_dict(cls):
        hints = {name: _resolved(f"{cls.__name__}.{name}", *found) for name, found in annotations.items()}
        return {
            name: Field(hint, {}, _is_required(hint, name in cls.__required_keys__)) for name, hint in hints.items()
        }
    fields = {field.name: field for field in dataclasses.fields(cls) if field.init}
    for name, parameter in inspect.signature(cls).parameters.items():
        optional = parameter.default is not parameter.empty or parameter.kind in _GATHERING
        if name not in fields and not optional:
            raise UnsupportedError(f"{cls.__name__}.{name} has to be given, but is no field")
    return {
        name: Field(
            hint=_resolved(f"{cls.__name__}.{name}", *annotations[name]),
            default=_default(field.default),
            required=field.default is field.default_factory,  # both are missing
        )
        for name, field in fields.items()
    }


def _resolved(place: str, annotation: object, owner: type) -> Any:
    """An annotation as a type, whenever it was written; names are looked up where the class stands."""
    holder = type("holder", (), {"__annotations__": {"it": annotation}, "__module__": owner.__module__})
    module = vars(sys.modules[owner.__module__]) if owner.__module__ in sys.modules else {}
    names = {**module, owner.__name__: owner}  # a class inside a function may still mention itself
    try:
        return typing.get_type_hints(holder, dict(vars(owner)), names, include_extras=True)["it"]
    except Exception as error:
        hint = "define what it mentions at the top of the module"
        raise UnsupportedError(f"{place} has a type that cannot be looked up ({describe(error)}); {hint}") from error


def _is_required(hint: Any, otherwise: bool) -> bool:
    """Whether a TypedDict's key has to be there: its own word, wherever it stands, else its class's."""
    while get_origin(hint) is Annotated or get_origin(hint) in QUALIFIERS:
        if get_origin(hint) in (Required, NotRequired):
            return get_origin(hint) is Required
        hint = get_args(hint)[0]
    return otherwise


def _default(value: object) -> dict[str, Any]:
    """``{"default": …}`` where the default is a short JSON value."""
    value = value.value if isinstance(value, Enum) else value
    return {"default": value} if value is None or isinstance(value, str | bool) or is_number(value) else {}


def documentation(cls: type) -> str:
    """The first paragraph that a class's author wrote about it; dataclasses write one of their own."""
    text = cls.__dict__.get("__doc__") or ""
    written = "" if text.startswith(f"{cls.__name__}(") else inspect.cleandoc(text).partition("\n\n")[0]
    return " ".join(written.split())
