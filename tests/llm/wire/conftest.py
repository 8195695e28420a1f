"""What the tests of the wire formats share: a conversation that holds everything, and a way to encode it."""

from __future__ import annotations

import json

import pytest

from hermes_core import PluginLlmUsage
from hermes_core.llm.wire import Wires
from hermes_core.types.wire import WireRequest

PNG = "data:image/png;base64,aVZCT1I="
SCHEMA = {
    "type": "object",
    "properties": {"urgency": {"type": "number", "minimum": 0}, "tags": {"type": "array", "items": {"type": "string"}}},
    "required": ["urgency"],
}
OPEN_SCHEMA = {"type": "object", "additionalProperties": {"type": "string"}}

EVERYTHING = [
    {"role": "system", "content": "Be brief."},
    {"role": "developer", "content": [{"type": "text", "text": "Be kind."}]},
    {
        "role": "user",
        "content": [{"type": "text", "text": "What is it?"}, {"type": "image_url", "image_url": {"url": PNG}}],
    },
    {
        "role": "assistant",
        "content": "Let me look.",
        "tool_calls": [
            {"id": "call 1", "type": "function", "function": {"name": "look.up", "arguments": '{"word": "iVBOR"}'}},
            {"id": "call_2", "type": "function", "function": {"name": "count", "arguments": ""}},
        ],
    },
    {"role": "tool", "tool_call_id": "call 1", "content": "a picture"},
    {"role": "tool", "tool_call_id": "call_2", "content": "3"},
    {"role": "user", "content": "So?"},
    {"role": "user", "content": "  "},
    {"role": "user", "content": "Well?"},
]


@pytest.fixture
def everything():
    """Two system messages, an image, tools called and answered, and the user three times in a row."""
    return json.loads(json.dumps(EVERYTHING))


@pytest.fixture
def png():
    """A picture as a ``data:`` URL."""
    return PNG


@pytest.fixture
def wanting():
    """Make a response format: ``wanting(schema)``; of one that decoding can hold a model to when none is given."""

    def make(schema=SCHEMA, name="triage"):
        return {"type": "json_schema", "json_schema": {"name": name, "schema": schema, "strict": False}}

    make.schema, make.open_schema = SCHEMA, OPEN_SCHEMA
    return make


class Written:
    """An encoded request, its body read back."""

    def __init__(self, request) -> None:
        self.request = request
        self.url = request.url
        self.headers = {name.lower(): value for name, value in request.headers.items()}
        self.body = json.loads(request.body)


@pytest.fixture
def write():
    """Encode a request in a format: ``write("gemini", messages, temperature=0)``."""

    def encode(wire, messages=({"role": "user", "content": "ping"},), **fields) -> Written:
        usual = {"base_url": "https://api.acme.test/v1", "model": "m"}
        return Written(Wires({})[wire].encode(WireRequest(**{**usual, **fields, "messages": [*messages]})))

    return encode


@pytest.fixture
def counts():
    """Make a usage: input, output, total, cache read, cache write."""
    names = ("input_tokens", "output_tokens", "total_tokens", "cache_read_tokens", "cache_write_tokens")
    return lambda *found: PluginLlmUsage(**dict(zip(names, found, strict=True)))
