"""The JSON Schema of ``config.yaml``, made of the table of known keys; editors complete and check by it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hermes_core.config.keys import FALLBACK, PROVIDER, ROOT, TASK

if TYPE_CHECKING:
    from hermes_core.config.kinds import Key, Kind

_SHARED = {"provider": PROVIDER, "fallback": FALLBACK, "task": TASK}
"""What stands in several places, and in the schema once."""


def schema() -> dict[str, Any]:
    """The schema, draft 7: the newest that every editor knows.

    Example:
        >>> schema()["properties"]["provider"]["type"]
        ['string', 'null']
    """
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "config.yaml of a Hermes home",
        **_kind(ROOT),
        "definitions": {name: _kind(kind, inline=True) for name, kind in _SHARED.items()},
    }


def _kind(kind: Kind, *, inline: bool = False) -> dict[str, Any]:
    needs = [{"anyOf": [_said(word) for word in _spelled(kind, name)]} for name in kind.needs]
    if not inline:
        for name, shared in _SHARED.items():
            if kind._replace(needs=shared.needs) == shared:
                extra = needs if kind.needs != shared.needs else []
                return {"allOf": [{"$ref": f"#/definitions/{name}"}, *extra]}
    made = _or_null(kind.schema)
    if kind.keys:
        made["properties"] = {word: _key(key, word) for key in kind.keys for word in (key.name, *key.aliases)}
    if kind.each is not None:
        made["additionalProperties"] = _kind(kind.each)
    elif kind.keys and not kind.is_open:
        made["additionalProperties"] = False
    if kind.items is not None:
        made["items"] = _kind(kind.items)
    if needs:
        made["allOf"] = [{"if": {"type": "object"}, "then": need} for need in needs]
    return made


def _key(key: Key, word: str) -> dict[str, Any]:
    made = _kind(key.kind)
    made["description"] = (key.help or "not read by this host") if word == key.name else f"the same as {key.name}"
    if key.default is not None and word == key.name:
        made["default"] = key.default
    return made


def _or_null(schema: Any) -> dict[str, Any]:
    """The same, and null: a key with nothing behind it is one that is missing."""
    made = dict(schema)
    if "type" in made:
        made["type"] = [*made["type"], "null"]
    elif "enum" in made:
        made["enum"] = [*made["enum"], None]
    else:
        made["anyOf"] = [*made["anyOf"], {"type": "null"}]
    return made


def _said(word: str) -> dict[str, Any]:
    """A key that is there, with more than nothing or blanks behind it."""
    blank = {"anyOf": [{"type": "null"}, {"type": "string", "pattern": r"^\s*$"}]}
    return {"required": [word], "properties": {word: {"not": blank}}}


def _spelled(kind: Kind, name: str) -> tuple[str, ...]:
    return next((key.name, *key.aliases) for key in kind.keys if key.name == name)
