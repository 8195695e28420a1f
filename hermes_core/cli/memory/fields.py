"""What a memory provider wants to know, as typed fields, and how an answer becomes a value."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from hermes_core.config.truth import as_bool, is_number
from hermes_core.errors import HermesError, MemoryProviderError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

NOTHING = object()
"""Stands where there is no value: ``None``, ``False``, ``0`` and ``""`` are values."""

_NAMES = {"boolean": "bool", "integer": "int", "number": "float", "string": "text", "str": "text", "password": "secret"}
_NAMES |= {name: name for name in ("bool", "int", "float", "text", "secret")}
_HANDS_OFF = re.compile(
    r"(LD_|DYLD_|PYTHON|GIT_|HERMES_(HOME|BUNDLED|ENABLE|SAFE|DISABLE|MANAGED)).*"
    r"|PATH|HOME|SHELL|ENV|IFS|BASH_ENV|EDITOR|VISUAL|PAGER|NODE_OPTIONS|PERL5(LIB|OPT)|RUBYOPT"
)
"""Variables by which a process is led astray; no provider may have one set."""


class Field(NamedTuple):
    """One thing to ask.

    Attributes:
        key: What it is called in the configuration.
        label: What people are asked.
        kind: ``text``, ``bool``, ``int``, ``float`` or ``secret``.
        env_var: The variable it is kept in; of a secret always, of another field as well.
        is_env_var_ours: Whether the provider did not name the variable, so that the configuration has to refer to it.
        is_required: Whether there has to be a value.
        default: What a blank answer stands for, or ``NOTHING``.
        default_from: The key of another field, and that field's value → the default.
        choices: The values it may have; any when empty.
        when: Keys of other fields → the values that they must have for this one to be asked.
        url: Where to get a secret.
        minimum: The lowest number, or None.
        maximum: The highest number, or None.
    """

    key: str
    label: str
    kind: str = "text"
    env_var: str = ""
    is_env_var_ours: bool = False
    is_required: bool = False
    default: Any = NOTHING
    default_from: tuple[str, Mapping[Any, Any]] = ("", {})
    choices: tuple[Any, ...] = ()
    when: Mapping[str, Any] = {}
    url: str = ""
    minimum: float | None = None
    maximum: float | None = None

    @property
    def is_secret(self) -> bool:
        """Whether it must not be shown, and lies in ``.env`` alone."""
        return self.kind == "secret"


def read_fields(provider: str, schema: Any) -> list[Field]:
    """The fields in what ``get_config_schema`` returned.

    Raises:
        MemoryProviderError: It is no list of mappings with a key; names the provider and the place.

    Example:
        >>> [field] = read_fields("acme", [{"key": "verbose", "default": False}])
        >>> field.kind, field.default
        ('bool', False)
    """
    if schema is None:
        return []
    if not isinstance(schema, list | tuple):
        raise _broken(provider, f"is a {type(schema).__name__}, and should be a list")
    return [_field(provider, number, row) for number, row in enumerate(schema, 1)]


def _field(provider: str, number: int, row: Any) -> Field:
    if not isinstance(row, Mapping) or not isinstance(row.get("key"), str) or not row["key"].strip():
        raise _broken(provider, f"has no key in field {number}")
    key = row["key"].strip()
    kind = "secret" if row.get("secret") else _kind(row)
    env_var = str(row.get("env_var") or "").strip()
    is_ours = kind == "secret" and not env_var
    if is_ours:
        env_var = re.sub(r"\W", "_", f"{provider}_{key}").upper()
    if env_var and (_HANDS_OFF.fullmatch(env_var.upper()) or not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", env_var)):
        raise _broken(provider, f"would set the variable {env_var!r}, which is not for it to set")
    source = row.get("default_from")
    linked = source if isinstance(source, Mapping) else {}
    when, choices = row.get("when"), row.get("choices")
    return Field(
        key=key,
        label=str(row.get("description") or key),
        kind=kind,
        env_var=env_var,
        is_env_var_ours=is_ours,
        is_required=bool(row.get("required")),
        default=NOTHING if row.get("default") is None else row["default"],
        default_from=(str(linked.get("field") or ""), dict(linked.get("map") or {})),
        choices=tuple(choices) if isinstance(choices, list | tuple) and kind != "secret" else (),
        when=dict(when) if isinstance(when, Mapping) else {},
        url=str(row.get("url") or ""),
        minimum=row["minimum"] if is_number(row.get("minimum")) else None,
        maximum=row["maximum"] if is_number(row.get("maximum")) else None,
    )


def _kind(row: Mapping[str, Any]) -> str:
    said = _NAMES.get(str(row.get("type") or "").strip().lower())
    if said is not None:
        return said
    default = row.get("default")
    kinds = ((bool, "bool"), (int, "int"), (float, "float"))
    return next((kind for of_type, kind in kinds if isinstance(default, of_type)), "text")


def _broken(provider: str, problem: str) -> MemoryProviderError:
    return MemoryProviderError(
        f"the configuration schema of memory provider {provider!r} {problem}", hint="tell its author"
    )


def applies(field: Field, values: Mapping[str, Any]) -> bool:
    """Whether a field is asked, given the values so far; a key without a value matches nothing."""
    return all(key in values and _same(values[key], wanted) for key, wanted in field.when.items())


def _same(value: Any, wanted: Any) -> bool:
    wishes = wanted if isinstance(wanted, list | tuple) else [wanted]
    return any(value == wish or str(value).lower() == str(wish).lower() for wish in wishes)


def default_of(field: Field, values: Mapping[str, Any]) -> Any:
    """What a blank answer stands for, given the values so far; ``NOTHING`` for nothing."""
    other, linked = field.default_from
    found = next((linked[key] for key in linked if other in values and _same(values[other], key)), field.default)
    return found if found is NOTHING or field.is_secret else read_value(field, found)


def read_value(field: Field, given: Any) -> Any:
    """A value as the field holds it: a number is a number, and a switch is on or off.

    Raises:
        HermesError: It is none that the field may have; says which it may.

    Example:
        >>> read_value(Field("k", "k", kind="bool"), "off"), read_value(Field("k", "k", kind="int"), " 5 ")
        (False, 5)
    """
    if field.choices:
        found = [
            choice for choice in field.choices if _same(choice, given.strip() if isinstance(given, str) else given)
        ]
        if not found:
            raise HermesError(f"{field.key} must be one of {', '.join(map(str, field.choices))}")
        return found[0] if field.kind == "text" else _typed(field, found[0])
    return _typed(field, given)


def _typed(field: Field, given: Any) -> Any:
    text = given.strip() if isinstance(given, str) else given
    if field.kind == "bool":
        switch = as_bool(text)
        if switch is None:
            raise HermesError(f"{field.key} must be yes or no")
        return switch
    if field.kind in ("int", "float"):
        return _number(field, text)
    if field.is_secret:
        if any(ord(letter) < 0x20 or ord(letter) == 0x7F for letter in str(text)):
            raise HermesError(f"{field.key} holds a control character: paste it again, alone")
        return str(text)
    return text


def _number(field: Field, given: Any) -> int | float:
    wanted = "a whole number" if field.kind == "int" else "a number"
    number = given
    if isinstance(given, str):
        with suppress(ValueError):
            number = float(given)
    if not is_number(number) or (field.kind == "int" and number != int(number)):
        raise HermesError(f"{field.key} must be {wanted}")
    for bound, word, is_beyond in ((field.minimum, "least", -1), (field.maximum, "most", 1)):
        if bound is not None and (number - bound) * is_beyond > 0:
            raise HermesError(f"{field.key} must be {wanted} of at {word} {bound:g}")
    return int(number) if field.kind == "int" else float(number)


def missing(fields: Iterable[Field], values: Mapping[str, Any]) -> list[Field]:
    """The required fields that are asked, and have no value."""
    return [
        field for field in fields if field.is_required and applies(field, values) and values.get(field.key, "") == ""
    ]


def variables(fields: Sequence[Field]) -> dict[str, Field]:
    """Variable → the field that is kept in it."""
    return {field.env_var: field for field in fields if field.env_var}
