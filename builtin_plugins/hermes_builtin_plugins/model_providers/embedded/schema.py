"""A caller's JSON schema made so small that the answer ends before the token limit.

Decoding follows the schema, but a tiny model that may write one more item or one more letter often
never stops. So every string and list gets an end, every field is required, and what the server's
decoder cannot follow (``if``, ``not``, a number's range …) is left out or said in another way. An
answer that matches the bounded schema matches the caller's, but for those few keywords.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any

Schema = dict[str, Any]

STEPS = (
    *((8, 800), (8, 400), (8, 200), (8, 120), (6, 80), (6, 60), (5, 60)),
    *((5, 40), (4, 40), (3, 32), (2, 24), (1, 16), (1, 8)),
)
"""Most items of a list and most characters of a string; the first pair that fits is taken."""

_SHAPING = frozenset(
    "properties required $ref anyOf oneOf allOf enum const items prefixItems pattern minLength maxLength".split()
)
_LAYOUT = 6  # characters of white space the model may put before an item or field
_SIZES = {"integer": 17, "number": 34, "boolean": 5, "null": 4}
_FORMAT_SIZES = {"date": 10, "time": 14, "date-time": 30, "uuid": 36}  # the formats the decoder knows
_KNOWN_PATTERN = re.compile(r"\^(?!.*\(\?).*\$", re.DOTALL)  # others the decoder drops, and any limit with them
_UNENDING = re.compile(r"(\\.|\[(?:\\.|[^\]\\])*\])|([*+])|\{(\d+),\}")


def bounded(schema: object, room: float) -> Schema:
    """The largest bounded form of ``schema`` whose longest answer takes at most ``room`` characters.

    ``schema`` itself is not changed. Where even the smallest form is longer, that one is returned.
    """
    for items, length in STEPS:
        small = _Bounds(schema, items, length).apply(schema) or {"type": "null"}
        if longest(small) <= room:
            break
    return small


def free_values(schema: object) -> str | None:
    """The type of a field's value where ``schema`` allows an object with any fields, ``any`` for all types.

    None when there are fields to follow, or values that are not simple.
    """
    if schema is True:
        return "any"
    if not isinstance(schema, dict) or schema.get("type", "object") != "object" or schema.keys() & _SHAPING:
        return None
    values = schema.get("additionalProperties", True)
    kind = values.get("type", "any" if not values else None) if isinstance(values, dict) else values and "any"
    return kind if kind in ("any", "string", "number", "integer", "boolean") else None


def longest(schema: Schema) -> int:
    """About how many characters the longest answer to a bounded schema has."""
    if "const" in schema or "enum" in schema:
        return max(len(json.dumps(value, ensure_ascii=False)) for value in schema.get("enum", [schema.get("const")]))
    if "anyOf" in schema:
        return max(map(longest, schema["anyOf"]))
    kind = schema["type"]
    if kind == "object":
        fields = sum(len(name) + 6 + _LAYOUT + longest(field) for name, field in schema["properties"].items())
        return int(fields) + 2
    if kind == "array":
        rows, count = (schema["prefixItems"], 1) if "prefixItems" in schema else ([schema["items"]], schema["maxItems"])
        return sum(longest(row) + 2 + _LAYOUT for row in rows) * int(count) + 2
    if kind == "string":
        return int(schema.get("maxLength", _FORMAT_SIZES.get(schema.get("format", ""), 100))) + 2
    return _SIZES[kind]


class _Bounds:
    """One pass over a schema with one pair of limits."""

    def __init__(self, root: object, items: int, length: int) -> None:
        self.root = root
        self.items = items
        self.length = length

    def apply(self, schema: object, open_refs: tuple[str, ...] = ()) -> Schema | None:
        """The bounded form, or None when an answer to it would never end or does not exist."""
        if not isinstance(schema, dict):
            return None if schema is False else self.string({})
        if "$ref" in schema:
            ref = str(schema["$ref"])
            if ref in open_refs:
                return None
            rest = {key: value for key, value in schema.items() if key != "$ref"}
            return self.apply({**rest, **self.resolve(ref)}, (*open_refs, ref))
        if "const" in schema:
            return {"const": schema["const"]}
        if schema.get("enum"):
            return {"enum": list(schema["enum"])}
        if schema.get("allOf"):
            return self.apply(self.merged(schema), open_refs)
        choices = schema.get("anyOf") or schema.get("oneOf")
        if choices and "properties" not in schema:
            return self.any_of(choices, open_refs)
        kind = schema.get("type") or _implied_type(schema)
        if isinstance(kind, list):
            return self.any_of([{**schema, "type": name} for name in kind], open_refs)
        if kind == "object":
            return self.object(schema, open_refs)
        if kind == "array":
            return self.array(schema, open_refs)
        if kind in ("integer", "number"):
            return _number(schema, whole=kind == "integer")
        return self.string(schema) if kind == "string" else {"type": kind}

    def resolve(self, ref: str) -> Schema:
        """What a reference into the same document points to; any string when it leads elsewhere."""
        found = self.root
        for step in ref.removeprefix("#").split("/")[1:] if ref.startswith("#") else ["?"]:
            key = step.replace("~1", "/").replace("~0", "~")
            found = found.get(key) if isinstance(found, dict) else None
        return found if isinstance(found, dict) else {"type": "string"}

    def merged(self, schema: Schema) -> Schema:
        """``allOf`` as one schema: fields and requirements together, otherwise the last one counts."""
        result = {key: value for key, value in schema.items() if key != "allOf"}
        for part in schema["allOf"]:
            if not isinstance(part, dict):
                continue
            full = {**part, **self.resolve(part["$ref"])} if "$ref" in part else part
            full = self.merged(full) if full.get("allOf") else full
            properties = {**result.get("properties", {}), **full.get("properties", {})}
            required = [*result.get("required", ()), *full.get("required", ())]
            result |= {key: value for key, value in full.items() if key != "$ref"}
            result |= {"properties": properties, "required": required} if properties or required else {}
        return result

    def any_of(self, choices: list[object], open_refs: tuple[str, ...]) -> Schema | None:
        """The choices that end; None when none does."""
        ending = [small for choice in choices if (small := self.apply(choice, open_refs)) is not None]
        return {"anyOf": ending} if len(ending) > 1 else next(iter(ending), None)

    def object(self, schema: Schema, open_refs: tuple[str, ...]) -> Schema | None:
        """Every field required; no others, for the decoder cannot count them."""
        required = [*schema.get("required", ())]
        wanted = {**schema.get("properties", {})}
        wanted |= {name: schema.get("additionalProperties", True) for name in required if name not in wanted}
        fields = {name: self.apply(field, open_refs) for name, field in wanted.items()}
        if any(fields[name] is None for name in required):
            return None
        ending = {name: field for name, field in fields.items() if field is not None}
        return {"type": "object", "properties": ending, "required": [*ending]}

    def array(self, schema: Schema, open_refs: tuple[str, ...]) -> Schema | None:
        """A list with an end; empty when its items never end."""
        items = schema.get("items", True)
        rows = items if isinstance(items, list) else schema.get("prefixItems")
        if rows:
            fixed = [self.apply(row, open_refs) for row in rows]
            return None if None in fixed else {"type": "array", "prefixItems": fixed}
        least = int(schema.get("minItems", 0))
        item = self.apply(items, open_refs)
        if item is None:
            return None if least else {"type": "array", "items": {"type": "null"}, "maxItems": 0}
        # the decoder cannot hold items apart, and this model repeats itself
        most = 1 if schema.get("uniqueItems") else self.items
        most = max(least, min(most, int(schema.get("maxItems", most))))
        return {"type": "array", "items": item, "minItems": least, "maxItems": most}

    def string(self, schema: Schema) -> Schema:
        """A string with an end."""
        if schema.get("format") in _FORMAT_SIZES:
            return {"type": "string", "format": schema["format"]}
        if _KNOWN_PATTERN.fullmatch(schema.get("pattern", "")):
            return {"type": "string", "pattern": _UNENDING.sub(self.ending, schema["pattern"])}
        least = int(schema.get("minLength", 0))
        most = min(self.length, int(schema.get("maxLength", self.length)))
        return {"type": "string", "minLength": least, "maxLength": max(least, most)}

    def ending(self, found: re.Match[str]) -> str:
        """A repetition of a pattern without an end, given one."""
        if found[1]:
            return found[1]
        least = {"*": 0, "+": 1}.get(found[2]) if found[2] else int(found[3])
        return f"{{{least},{max(least or 0, min(self.length, 32))}}}"


def _implied_type(schema: Schema) -> str:
    if schema.keys() & {"properties", "required", "additionalProperties"}:
        return "object"
    return "array" if schema.keys() & {"items", "prefixItems"} else "string"


def _number(schema: Schema, *, whole: bool) -> Schema:
    """A number in its range; the decoder knows ranges of integers alone."""
    low, high = _limit(schema, "inimum"), _limit(schema, "aximum")
    if not whole and low is not None and high is not None and low < high:
        steps = [round(low + (high - low) * step / 20, 6) for step in range(21)]
        ends = {schema.get("exclusiveMinimum"), schema.get("exclusiveMaximum")}
        return {"enum": [int(step) if step == int(step) else step for step in steps if step not in ends]}
    if not whole and low is None and high is None:
        return {"type": "number"}
    result: Schema = {"type": "integer"}
    if low is not None:
        result["minimum"] = math.floor(low) + 1 if "exclusiveMinimum" in schema else math.ceil(low)
    if high is not None:
        result["maximum"] = math.ceil(high) - 1 if "exclusiveMaximum" in schema else math.floor(high)
    return result if result.get("minimum", -math.inf) <= result.get("maximum", math.inf) else {"type": "integer"}


def _limit(schema: Schema, name: str) -> float | None:
    values = [schema.get(f"m{name}"), schema.get(f"exclusiveM{name}")]
    numbers = [value for value in values if isinstance(value, int | float) and not isinstance(value, bool)]
    return numbers[-1] if numbers else None
