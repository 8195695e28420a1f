"""What a value in the configuration may be: how the host reads it, how people say it, how JSON Schema says it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from hermes_core.config.truth import as_bool, is_number


class Kind(NamedTuple):
    """What a value may be.

    Attributes:
        wanted: In words: ``a whole number above 0``.
        schema: As JSON Schema, what stands below it left out.
        read: Gives the value as the host uses it; None when it cannot be used.
        keys: The keys of a mapping.
        each: What stands under any other key of a mapping.
        items: What a list holds.
        is_open: Whether a mapping may have keys beside its own, which belong to somebody else.
        needs: Keys that must be there.
        text_key: The key that a bare text in the mapping's place stands for.
        is_secret: Whether it must not be shown.
    """

    wanted: str
    schema: Mapping[str, Any]
    read: Callable[[Any], Any]
    keys: tuple[Key, ...] = ()
    each: Kind | None = None
    items: Kind | None = None
    is_open: bool = False
    needs: tuple[str, ...] = ()
    text_key: str = ""
    is_secret: bool = False

    def child(self, word: str) -> Key | None:
        """What stands under one key of a mapping, or at one place of a list; None where anything may."""
        if word.isdecimal() and self.items is not None:
            return Key(word, self.items)
        for key in self.keys:
            if word == key.name or word in key.aliases:
                return key
        return Key(word, self.each) if self.each is not None else None

    @property
    def words(self) -> list[str]:
        """Every key of a mapping that has a meaning of its own, aliases included."""
        return [word for key in self.keys for word in (key.name, *key.aliases)]


class Key(NamedTuple):
    """One key of a mapping.

    Attributes:
        name: As it is written.
        kind: What its value may be.
        help: What it is for, in one line; ``""`` for a key that this host does not read.
        default: What counts when it is missing.
        aliases: Other spellings; the first one that is there counts.
    """

    name: str
    kind: Kind
    help: str = ""
    default: Any = None
    aliases: tuple[str, ...] = ()


def section(
    *keys: Key,
    each: Kind | None = None,
    is_open: bool = False,
    needs: tuple[str, ...] = (),
    text_key: str = "",
) -> Kind:
    """A mapping."""
    wanted, types, accepted = "a mapping", ["object"], (Mapping, str) if text_key else (Mapping,)
    if text_key:
        wanted, types = f"a mapping, or text (which stands for its {text_key})", ["object", "string"]
    return Kind(wanted, {"type": types}, _only(accepted), keys, each, None, is_open, needs, text_key)


def list_of(items: Kind, *, or_one: bool = False, each: Kind | None = None) -> Kind:
    """A list; with ``or_one``, one item may stand alone; with ``each``, a mapping of name to item may stand there."""
    if or_one:
        wanted = "a list of mappings, or one mapping"
        return items._replace(
            wanted=wanted, schema={"type": ["array", "object"]}, read=_only((list, Mapping)), items=items
        )
    if each is not None:
        kind = Kind("a mapping, or a list", {"type": ["array", "object"]}, _only((list, Mapping)))
        return kind._replace(items=items, each=each)
    wanted = "a list of mappings" if items.keys else f"a list, each item {items.wanted}"
    return Kind(wanted, {"type": ["array"]}, _only((list,)), items=items)


def matching(wanted: str, pattern: str) -> Kind:
    """Text that a regular expression finds; one that JSON Schema understands too."""

    def read(value: Any) -> Any:
        return value.strip() if isinstance(value, str) and re.search(pattern, value) else None

    return Kind(wanted, {"type": ["string"], "pattern": pattern}, read)


def one_of(*words: str) -> Kind:
    """One of a few words."""
    return Kind(f"one of {', '.join(words)}", {"enum": [*words]}, lambda value: value if value in words else None)


def whole(lowest: int, highest: int | None = None) -> Kind:
    """A whole number of a range, both ends included."""
    wanted = f"a whole number of at least {lowest}" if highest is None else f"a whole number from {lowest} to {highest}"

    def read(value: Any) -> Any:
        fits = is_number(value) and value == int(value) and value >= lowest and (highest is None or value <= highest)
        return int(value) if fits else None

    bounds = {"minimum": lowest} if highest is None else {"minimum": lowest, "maximum": highest}
    return Kind(wanted, {"type": ["integer"], **bounds}, read)


def called(value: object) -> str:
    """What kind of value it is, as people say; the value itself may be a secret.

    Example:
        >>> called(None), called(True), called({})
        ('nothing', 'true or false', 'a mapping')
    """
    words = (words for types, words in _CALLED if isinstance(value, types))
    return next(words, f"a {type(value).__name__}")


_CALLED: tuple[tuple[Any, str], ...] = (
    (type(None), "nothing"),
    (bool, "true or false"),
    (int | float, "a number"),
    (str, "text"),
    (Mapping, "a mapping"),
    (list | tuple, "a list"),
)


def _only(types: tuple[type, ...]) -> Callable[[Any], Any]:
    return lambda value: value if isinstance(value, types) else None


def _text(value: Any) -> Any:
    return value.strip() if isinstance(value, str) else None


def _number(value: Any) -> Any:
    return value if is_number(value) and value >= 0 else None


def _seconds(value: Any) -> Any:
    if isinstance(value, str) and re.search(_NUMBER_ABOVE_0, value):
        return float(value)
    return float(value) if is_number(value) and value > 0 else None


def _headers(value: Any) -> Any:
    if not isinstance(value, Mapping):
        return None
    fits = all(isinstance(item, str | bool | None) or is_number(item) for item in value.values())
    return {str(name): str(item) for name, item in value.items() if item is not None} if fits else None


def _api_mode(value: Any) -> Any:
    word = value.strip() if isinstance(value, str) else None
    return "chat_completions" if word == "openai_chat" else word


def _any_case(words: tuple[str, ...]) -> str:
    spelled = (
        "".join(f"[{letter.upper()}{letter}]" if letter.isalpha() else letter for letter in word) for word in words
    )
    return rf"^\s*({'|'.join(spelled)})\s*$"


_NUMBER_ABOVE_0 = r"^\s*(?=[0-9.]*[1-9])[0-9]{1,9}(\.[0-9]{1,9})?\s*$"
_REFERENCE = {"type": "string", "pattern": r"\$\{"}
_WORDS = ("true", "false", "yes", "no", "on", "off", "1", "0")

TEXT = Kind("text", {"type": ["string"]}, _text)
SECRET = TEXT._replace(is_secret=True)
WHO = TEXT._replace(wanted="a provider's name")
VARIABLE = matching("the name of a variable", r"^\s*([A-Za-z_][A-Za-z0-9_]*)?\s*$")
ADDRESS = matching(
    "an http or https address without user name and password",
    r"^\s*([Hh][Tt][Tt][Pp][Ss]?://[^\s/?#@]+([/?#]\S*)?|\S*\{\S*)?\s*$",
)
SWITCH = Kind(
    "true or false",
    {"anyOf": [{"type": ["boolean"]}, {"enum": [0, 1]}, {"type": "string", "pattern": _any_case(_WORDS)}, _REFERENCE]},
    as_bool,
)
COUNT = whole(1)
NUMBER = Kind("a number of at least 0", {"type": ["number"], "minimum": 0}, _number)
SECONDS = Kind(
    "a number of seconds above 0",
    {
        "anyOf": [
            {"type": ["number"], "exclusiveMinimum": 0},
            {"type": "string", "pattern": _NUMBER_ABOVE_0},
            _REFERENCE,
        ]
    },
    _seconds,
)
NAMES = Kind("a list of names", {"type": ["array"]}, _only((list,)), items=TEXT)
ALLOWLIST = Kind("a list of names, or one name", {"type": ["array", "string"]}, _only((list, str)), items=TEXT)
HEADERS = Kind(
    "a mapping of header to text",
    {"type": ["object"], "additionalProperties": {"type": ["string", "number", "boolean", "null"]}},
    _headers,
    is_secret=True,
)
MAPPING = section(is_open=True)
API_MODE = Kind(
    "text",
    {"anyOf": [{"enum": ["chat_completions", "anthropic_messages", "codex_responses", "bedrock_converse", "gemini"]},
               {"type": ["string"]}]},
    _api_mode,
)  # fmt: skip
