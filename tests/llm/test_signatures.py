"""The published surface: four signatures, and the types that go in and come out."""

from __future__ import annotations

import dataclasses
import inspect

import pytest

import hermes_core
from hermes_core import (
    PluginLlm,
    PluginLlmCompleteResult,
    PluginLlmImageInput,
    PluginLlmStructuredResult,
    PluginLlmTextInput,
    PluginLlmUsage,
)

COMMON = ["provider", "model", "temperature", "max_tokens", "timeout", "agent_id", "profile", "purpose"]
STRUCTURED = ["instructions", "input", "json_schema", "json_mode", "schema_name", "system_prompt", *COMMON]
REQUIRED = {"messages", "instructions", "input"}
SURFACE = [
    ("complete", ["messages"], COMMON),
    ("acomplete", ["messages"], COMMON),
    ("complete_structured", [], STRUCTURED),
    ("acomplete_structured", [], STRUCTURED),
]
MISSING = dataclasses.MISSING
TYPES = [
    (
        PluginLlmUsage,
        {
            "input_tokens": 0,
            "output_tokens": 0,
            "total_tokens": 0,
            "cache_read_tokens": 0,
            "cache_write_tokens": 0,
            "cost_usd": None,
        },
    ),
    (
        PluginLlmCompleteResult,
        {
            "text": MISSING,
            "provider": MISSING,
            "model": MISSING,
            "agent_id": "default",
            "usage": PluginLlmUsage(),
            "audit": {},
        },
    ),
    (
        PluginLlmStructuredResult,
        {
            "text": MISSING,
            "provider": MISSING,
            "model": MISSING,
            "agent_id": "default",
            "usage": PluginLlmUsage(),
            "audit": {},
            "parsed": None,
            "content_type": "text",
        },
    ),
    (PluginLlmTextInput, {"text": MISSING}),
    (PluginLlmImageInput, {"data": None, "url": None, "mime_type": "image/png", "file_name": ""}),
]


@pytest.mark.parametrize(("method", "positional", "keywords"), SURFACE, ids=[row[0] for row in SURFACE])
def test_each_method_has_its_published_signature(method, positional, keywords):
    """Names, order, kinds and defaults of the arguments are those that plugins were written for."""
    _, *parameters = inspect.signature(getattr(PluginLlm, method)).parameters.values()
    expected = [(name, inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.empty) for name in positional]
    for name in keywords:
        default = inspect.Parameter.empty if name in REQUIRED else False if name == "json_mode" else None
        expected.append((name, inspect.Parameter.KEYWORD_ONLY, default))
    assert [(parameter.name, parameter.kind, parameter.default) for parameter in parameters] == expected


@pytest.mark.parametrize("method", ["complete", "complete_structured"])
def test_twins_have_one_signature(method):
    """An ``a…`` twin takes the same arguments and gives the same result, annotations included."""
    assert inspect.signature(getattr(PluginLlm, method)) == inspect.signature(getattr(PluginLlm, f"a{method}"))


@pytest.mark.parametrize(("method", "awaits"), [(row[0], row[0].startswith("a")) for row in SURFACE])
def test_only_the_twins_are_awaited(method, awaits):
    """The ``a…`` methods are coroutine functions, the other two are not."""
    assert inspect.iscoroutinefunction(getattr(PluginLlm, method)) is awaits


def test_there_are_no_other_methods():
    """Four methods are the whole surface: no streaming, no tools, no conversation, no way to the host."""
    assert [name for name in dir(PluginLlm) if not name.startswith("_")] == sorted(row[0] for row in SURFACE)


def test_results_are_of_the_published_types(call, lane):
    """Chat methods return a complete result, structured methods a structured one."""
    wanted = PluginLlmStructuredResult if call.is_structured else PluginLlmCompleteResult
    assert type(call(lane.llm())) is wanted


def test_a_structured_result_is_a_complete_result():
    """What handles a complete result handles a structured one."""
    assert issubclass(PluginLlmStructuredResult, PluginLlmCompleteResult)


@pytest.mark.parametrize(("cls", "expected"), TYPES, ids=[cls.__name__ for cls, _ in TYPES])
def test_fields_have_their_order_and_defaults(cls, expected):
    """Each public type has the published fields, in order, with the published defaults."""
    found = {
        field.name: field.default_factory() if field.default_factory is not MISSING else field.default
        for field in dataclasses.fields(cls)
    }
    assert [*found.items()] == [*expected.items()]


def test_input_blocks_are_made_by_position():
    """The two input types take their first field by position, as plugins write them."""
    assert (PluginLlmTextInput("hi").text, PluginLlmImageInput(b"png").data) == ("hi", b"png")


def test_an_image_is_no_part_of_its_repr():
    """An image block's repr leaves the image out."""
    assert "secret" not in repr(PluginLlmImageInput(data=b"secret"))


def test_the_originals_path_leads_to_the_same_types():
    """``agent.plugin_llm`` gives the very classes of the facade."""
    from agent import plugin_llm

    names = [name for name in hermes_core.__all__ if name.startswith("PluginLlm")]
    assert [name for name in names if getattr(plugin_llm, name) is not getattr(hermes_core, name)] == []


def test_results_say_whose_model_was_used(call, lane):
    """Without an override, provider and model are what the user has active, and the agent is ``default``."""
    answer = call(lane.llm())
    assert (answer.provider, answer.model, answer.agent_id) == ("custom", "fake-model", "default")


def test_the_model_is_the_one_that_the_provider_names(way, lane):
    """``result.model`` is what the provider says answered, not what was asked for."""
    lane.server.queue_response({"model": "fake-model-2026", "choices": [{"message": {"content": "hi"}}]})
    assert way.complete(lane.llm()).model == "fake-model-2026"


def test_a_provider_that_names_no_model_is_credited_with_the_one_asked(way, lane):
    """Where the answer names no model, the requested one stands in the result."""
    lane.server.queue_response({"choices": [{"message": {"content": "hi"}}]})
    assert way.complete(lane.llm()).model == "fake-model"


def test_the_repr_names_the_plugin_alone():
    """``repr(ctx.llm)`` shows whose it is, and nothing of the host."""
    assert repr(PluginLlm("tools/mine")) == "<PluginLlm 'tools/mine'>"
