"""Types as JSON schemas, and the way back: from a JSON value that matches to one of the type."""

from __future__ import annotations

import datetime as dt
from collections import abc
from collections.abc import Callable, Mapping
from enum import Enum
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin
from uuid import UUID

from hermes_core.config.truth import is_number
from hermes_core.errors import describe
from hermes_core.llm.fields import QUALIFIERS, UnsupportedError, declared, documentation, has_fields
from hermes_core.llm.structured import violations


class RefusedError(ValueError):
    """A value that matches the schema, and yet its field does not take; the text begins with the place."""


REFUSALS = (ValueError, TypeError, ArithmeticError, AssertionError)
"""What a type raises for a value that it does not take; anything else is its own fault, and goes through."""


class _Form(NamedTuple):
    """A type's schema, and how its value is made of JSON; None when JSON's own value will do.

    ``cls`` is the class whose fields it has, if any.
    """

    schema: dict[str, Any]
    make: Callable[[Any], Any] | None = None
    cls: type | None = None


_NULL = _Form({"type": "null"})
_SCALARS: dict[Any, _Form] = {
    Any: _Form({}),
    object: _Form({}),
    None: _NULL,
    NoneType: _NULL,
    str: _Form({"type": "string"}),
    bool: _Form({"type": "boolean"}),
    int: _Form({"type": "integer"}, int),  # 1.0 is an integer in JSON
    float: _Form({"type": "number"}, float),
    dt.date: _Form({"type": "string", "format": "date"}, dt.date.fromisoformat),
    dt.datetime: _Form({"type": "string", "format": "date-time"}, dt.datetime.fromisoformat),
    dt.time: _Form({"type": "string", "format": "time"}, dt.time.fromisoformat),
    UUID: _Form({"type": "string", "format": "uuid"}, UUID),
}
_SEQUENCES: dict[Any, Callable[[Any], Any]] = {
    **dict.fromkeys((list, abc.Sequence, abc.MutableSequence, abc.Collection, abc.Iterable), list),
    **dict.fromkeys((set, abc.MutableSet), set),
    **dict.fromkeys((frozenset, abc.Set), frozenset),
}
_MAPPINGS = (dict, abc.Mapping, abc.MutableMapping)
_JSON_TYPES = {str: "string", bool: "boolean", int: "integer"}
_KNOWN = (
    "str, int, float, bool, None, Any, date, datetime, time, UUID, Literal, Enum, list, tuple, set, dict[str, …], "
    "dataclass, TypedDict, and unions of these"
)


DEEPEST = 50
"""How often types may be nested in one field; a schema deeper than a few hundred could not be checked."""


class Reader:
    """Reads one class, once, and those its fields mention: each of these is described once, under ``$defs``."""

    def __init__(self) -> None:
        self._names: dict[type, str] = {}
        self._makes: dict[type, Callable[[Any], Any]] = {}
        self._defs: dict[str, Any] = {}
        self._depth = 0

    def root(self, cls: type) -> tuple[dict[str, Any], Callable[[Any], Any]]:
        """The schema of the class, which is an object and no reference, as some servers demand; and the way back."""
        schema, make = self._fields(cls)
        while ahead := [other for other in self._names if other not in self._makes]:
            for other in ahead:
                self._defs[self._names[other]], self._makes[other] = self._fields(other)
        return {**schema, "$defs": self._defs} if self._defs else schema, make

    def _fields(self, cls: type) -> tuple[dict[str, Any], Callable[[Any], Any]]:
        """A class by its fields; others in a value are passed over."""
        makes: dict[str, Callable[[Any], Any] | None] = {}
        schema: dict[str, Any] = {"type": "object", "properties": {}, "required": []}
        if text := documentation(cls):
            schema["description"] = text
        for name, field in declared(cls).items():
            form = self._form(field.hint, f"{cls.__name__}.{name}")
            schema["properties"][name] = {**form.schema, **field.default}
            makes[name] = form.make
            if field.required:
                schema["required"].append(name)

        def make(value: Any) -> Any:
            made = {}
            for name in [name for name in makes if name in value]:
                try:
                    made[name] = _made(makes[name], value[name])
                except RefusedError:
                    raise
                except REFUSALS as error:
                    raise RefusedError(f"{cls.__name__}.{name}: {describe(error)}") from error
            return cls(**made)

        return schema, make

    def _form(self, hint: Any, place: str) -> _Form:
        if self._depth == DEEPEST:
            raise UnsupportedError(f"{place} has a type that is nested more than {DEEPEST} times")
        self._depth += 1
        form = self._read(hint, place)
        self._depth -= 1
        return form

    def _read(self, hint: Any, place: str) -> _Form:
        origin, args = get_origin(hint), get_args(hint)
        kind = origin or hint
        if origin is Annotated:
            return self._annotated(args[0], args[1:], place)
        if origin in QUALIFIERS:
            return self._form(args[0], place)
        if origin in (Union, UnionType):
            return self._union([self._form(arg, place) for arg in args])
        if origin is Literal:
            return _choice(place, [(arg.value if isinstance(arg, Enum) else arg, arg) for arg in args])
        if not isinstance(kind, abc.Hashable):
            raise _unsupported(place, hint)
        if kind is tuple:
            return self._tuple(args, place)
        if kind in _SEQUENCES:
            return self._sequence(_SEQUENCES[kind], args, place)
        if kind in _MAPPINGS:
            return self._mapping(args, place)
        if origin is None and hint in _SCALARS:
            return _SCALARS[hint]
        if isinstance(hint, type) and issubclass(hint, Enum):
            return _choice(place, [(member.value, member) for member in hint])
        if isinstance(hint, type) and has_fields(hint):
            return self._reference(hint)
        for alias in ("__supertype__", "__value__"):  # of a NewType, of a type statement
            if hasattr(hint, alias):
                return self._form(getattr(hint, alias), place)
        raise _unsupported(place, hint)

    def _annotated(self, hint: Any, notes: tuple[Any, ...], place: str) -> _Form:
        """Text describes the field, a mapping adds keywords; other notes are for somebody else."""
        form = self._form(hint, place)
        schema = dict(form.schema)
        for note in notes:
            if isinstance(note, str):
                schema["description"] = note
            elif isinstance(note, Mapping):
                schema.update(note)
        return form._replace(schema=schema)

    def _union(self, forms: list[_Form]) -> _Form:
        schema = {"anyOf": [form.schema for form in forms]}
        others = [form for form in forms if form is not _NULL]
        if all(form.make is None for form in others):
            return _Form(schema)
        if len(others) == 1:
            return _Form(schema, lambda value: None if value is None else _made(others[0].make, value))

        def make(value: Any) -> Any:
            matching = [form for form in forms if not violations(value, {**form.schema, "$defs": self._defs})]
            best = min(matching, key=lambda form: self._unknown(form, value))
            return _made(best.make, value)

        return _Form(schema, make)

    def _unknown(self, form: _Form, value: Any) -> int:
        """How many fields of a value a class would pass over: the fewer, the likelier it is meant."""
        if form.cls is None:
            return 0
        return len(value.keys() - self._defs[self._names[form.cls]]["properties"].keys())

    def _tuple(self, args: tuple[Any, ...], place: str) -> _Form:
        if not args or args[-1] is Ellipsis:
            return self._sequence(tuple, args[:1], place)
        forms = [self._form(arg, place) for arg in args]
        schema: dict[str, Any] = {"type": "array", "minItems": len(forms), "maxItems": len(forms)}
        if forms:
            schema["prefixItems"] = [form.schema for form in forms]
        return _Form(
            schema,
            lambda value: tuple(_made(form.make, item) for form, item in zip(forms, value, strict=True)),
        )

    def _sequence(self, kind: Callable[[Any], Any], args: tuple[Any, ...], place: str) -> _Form:
        items = self._form(args[0], place) if args else _Form({})
        schema = {"type": "array", **({"items": items.schema} if items.schema else {})}
        if kind is list and items.make is None:
            return _Form(schema)
        return _Form(schema, lambda value: kind([_made(items.make, item) for item in value]))

    def _mapping(self, args: tuple[Any, ...], place: str) -> _Form:
        keys, values = args or (str, Any)
        if keys is not str:
            raise UnsupportedError(f"{place} has keys of type {_spelled(keys)}; in JSON all keys are str")
        form = self._form(values, place)
        schema = {"type": "object", **({"additionalProperties": form.schema} if form.schema else {})}
        if form.make is None:
            return _Form(schema)
        return _Form(schema, lambda value: {key: _made(form.make, item) for key, item in value.items()})

    def _reference(self, cls: type) -> _Form:
        if cls not in self._names:
            same = [name for name in self._names.values() if name.partition("-")[0] == cls.__name__]
            self._names[cls] = f"{cls.__name__}-{len(same) + 1}" if same else cls.__name__

        def make(value: Any) -> Any:
            return self._makes[cls](value)  # known once every class has been read

        return _Form({"$ref": f"#/$defs/{self._names[cls]}"}, make, cls)


def _made(make: Callable[[Any], Any] | None, value: Any) -> Any:
    return value if make is None else make(value)


def _choice(place: str, members: list[tuple[Any, Any]]) -> _Form:
    """One of several constants, each beside the JSON value that stands for it."""
    for value, _ in members:
        if value is not None and not isinstance(value, str | bool) and not is_number(value):
            raise UnsupportedError(f"{place} may be {value!r:.100}, which JSON cannot say")
    kinds = {_JSON_TYPES.get(type(value)) for value, _ in members}
    named = {"type": kinds.pop()} if len(kinds) == 1 and None not in kinds else {}
    schema = {**named, "enum": [value for value, _ in members]}
    if all(value is member for value, member in members):
        return _Form(schema)

    def make(given: Any) -> Any:
        is_bool = isinstance(given, bool)  # which equals a number
        return next(member for value, member in members if value == given and isinstance(value, bool) is is_bool)

    return _Form(schema, make)


def _unsupported(place: str, hint: object) -> UnsupportedError:
    return UnsupportedError(f"{place} has type {_spelled(hint)}, which JSON cannot say; known are {_KNOWN}")


def _spelled(hint: object) -> str:
    return hint.__qualname__ if isinstance(hint, type) else f"{hint!r:.100}"
