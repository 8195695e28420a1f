"""Token counts, wherever a provider writes them."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes_core import PluginLlmUsage
from hermes_core.llm.usage import read_usage

NUMBERS = st.integers() | st.floats() | st.none() | st.text() | st.booleans()
HUGE = 10**400


def usage(*counts: int, cost: float | None = None) -> PluginLlmUsage:
    """Input, output, total, cache read, cache write."""
    names = [field.name for field in dataclasses.fields(PluginLlmUsage)]
    return PluginLlmUsage(**dict(zip(names, counts, strict=False)), cost_usd=cost)


ROWS = {
    "openai": ({"prompt_tokens": 10, "completion_tokens": 4, "total_tokens": 14}, usage(10, 4, 14)),
    "openai-cache-r28_03": (
        {"prompt_tokens": 10, "completion_tokens": 4, "prompt_tokens_details": {"cached_tokens": 6}},
        usage(10, 4, 14, 6),
    ),
    "openai-cache-write-r28_03": (
        {"prompt_tokens": 10, "prompt_tokens_details": {"cached_tokens": 6, "cache_write_tokens": 2}},
        usage(10, 0, 10, 6, 2),
    ),
    "responses-r28_03": (
        {"input_tokens": 10, "output_tokens": 4, "total_tokens": 14, "input_tokens_details": {"cached_tokens": 6}},
        usage(10, 4, 14, 6),
    ),
    "deepseek-cache": (
        {"prompt_tokens": 10, "completion_tokens": 4, "prompt_cache_hit_tokens": 8}, usage(10, 4, 14, 8),
    ),
    "moonshot-cache": ({"prompt_tokens": 10, "completion_tokens": 4, "cached_tokens": 8}, usage(10, 4, 14, 8)),
    "anthropic-cache-beside-a-null-prompt": (
        {"prompt_tokens": None, "input_tokens": 3, "cache_read_input_tokens": 5}, usage(8, 0, 8, 5),
    ),
    "gateway-that-counts-the-cache-into-the-prompt": (
        {"prompt_tokens": 8, "cache_read_input_tokens": 5}, usage(8, 0, 8, 5),
    ),
    "reported-total-counts": ({"prompt_tokens": 10, "completion_tokens": 4, "total_tokens": 20}, usage(10, 4, 20)),
    "missing-total-is-the-sum": ({"prompt_tokens": 10, "completion_tokens": 4}, usage(10, 4, 14)),
    "zero-total-is-the-sum": ({"prompt_tokens": 10, "completion_tokens": 4, "total_tokens": 0}, usage(10, 4, 14)),
    "null-falls-through-to-the-next-name": ({"prompt_tokens": None, "input_tokens": 3}, usage(3, 0, 3)),
    "zero-is-a-count": ({"prompt_tokens": 0, "input_tokens": 3}, usage(0, 0, 0)),
    "null-details": ({"prompt_tokens": 1, "prompt_tokens_details": None}, usage(1, 0, 1)),
    "details-that-are-no-mapping": ({"prompt_tokens": 1, "prompt_tokens_details": [5]}, usage(1, 0, 1)),
    "whole-floats-count": ({"prompt_tokens": 10.0, "completion_tokens": 4.0}, usage(10, 4, 14)),
    "text-is-no-count": ({"prompt_tokens": "10", "completion_tokens": 4}, usage(0, 4, 4)),
    "true-is-no-count": ({"prompt_tokens": True, "completion_tokens": 4}, usage(0, 4, 4)),
    "negative-is-0": ({"prompt_tokens": -10, "completion_tokens": 4}, usage(0, 4, 4)),
    "not-a-number-is-no-count": ({"prompt_tokens": float("nan"), "completion_tokens": 4}, usage(0, 4, 4)),
    "infinity-is-no-count": ({"prompt_tokens": float("inf"), "completion_tokens": 4}, usage(0, 4, 4)),
    "negative-falls-through-to-the-next-name": ({"prompt_tokens": -1, "input_tokens": 3}, usage(3, 0, 3)),
    "more-than-anybody-counts-is-no-count": ({"prompt_tokens": 10**30, "completion_tokens": 4}, usage(0, 4, 4)),
    "number-beyond-floats-is-no-count": ({"prompt_tokens": HUGE, "completion_tokens": 4}, usage(0, 4, 4)),
    "list-is-no-count": ({"prompt_tokens": [10], "completion_tokens": {"n": 4}}, usage()),
    "cost": ({"prompt_tokens": 1, "cost": 0.25}, usage(1, 0, 1, cost=0.25)),
    "perplexity-cost": ({"cost": {"input_tokens_cost": 0.1, "total_cost": 0.25}}, usage(cost=0.25)),
    "deepinfra-cost": ({"estimated_cost": 0.25}, usage(cost=0.25)),
    "total-cost": ({"total_cost": 0.25}, usage(cost=0.25)),
    "null-cost": ({"cost": None}, usage()),
    "huge-cost-is-unknown": ({"cost": 1e300}, usage()),
    "not-a-number-is-no-cost": ({"cost": float("nan")}, usage()),
    "cost-0-is-a-cost": ({"cost": 0}, usage(cost=0.0)),
    "negative-cost-is-unknown": ({"cost": -1}, usage()),
    "infinite-cost-is-unknown": ({"cost": float("inf")}, usage()),
    "cost-as-text-is-unknown": ({"cost": "0.25"}, usage()),
    "true-is-no-cost": ({"cost": True}, usage()),
    "empty": ({}, usage()),
    "null": (None, usage()),
    "list": ([], usage()),
    "text": ("10", usage()),
}  # fmt: skip


@pytest.mark.parametrize(("reported", "expected"), ROWS.values(), ids=ROWS)
def test_usage_is_read_from_where_the_provider_writes_it(reported, expected):
    """The first number under a known name counts; what is missing or no count is 0, and an unknown cost None."""
    assert read_usage(reported) == expected


@pytest.mark.parametrize("style", ["openai", "anthropic"])
def test_both_vendors_cache_counts_are_read_alike_r28_03(style):
    """OpenAI's and Anthropic's fields make the same counts: the input is the whole prompt, cached parts included."""
    reported = {
        "openai": {
            "prompt_tokens": 100,
            "completion_tokens": 5,
            "prompt_tokens_details": {"cached_tokens": 60, "cache_write_tokens": 30},
        },
        "anthropic": {
            "input_tokens": 10,
            "output_tokens": 5,
            "cache_read_input_tokens": 60,
            "cache_creation_input_tokens": 30,
        },
    }
    assert read_usage(reported[style]) == usage(100, 5, 105, 60, 30)


@pytest.mark.parametrize("field", ["prompt_tokens", "completion_tokens", "total_tokens", "cost"])
def test_a_number_beyond_floats_is_no_crash(field):
    """A count of four hundred digits is read as some number or none."""
    assert isinstance(read_usage({field: HUGE}), PluginLlmUsage)


@settings(database=None, deadline=None, max_examples=200)
@given(
    st.dictionaries(
        st.sampled_from(["prompt_tokens", "completion_tokens", "total_tokens", "cost", "cache_read_input_tokens"]),
        NUMBERS,
    )
)
def test_counts_are_always_whole_and_never_negative(reported):
    """Whatever a provider reports, counts are whole numbers from 0, and a cost is a number from 0 or None."""
    found = read_usage(reported)
    counts = [value for name, value in dataclasses.asdict(found).items() if name != "cost_usd"]
    assert all(type(count) is int and 0 <= count < 2**63 for count in counts)
    assert found.cost_usd is None or found.cost_usd >= 0


def test_usage_reaches_result_and_audit_r28_01(call, lane):
    """What a call used is on the result and on its line."""
    text = "{}"
    body = {"choices": [{"message": {"content": text}}], "usage": {**ROWS["openai"][0], "cost": 0.00125}}
    lane.server.queue_response(body)
    answer = call(lane.llm())
    (line,) = lane.log()
    assert answer.usage == usage(10, 4, 14, cost=0.00125)
    assert (line["tokens"], line["input"], line["output"], line["cost"]) == ("14", "10", "4", "0.001250")


@pytest.mark.parametrize("reported", [HUGE, "many", [1], -1, {"prompt_tokens": HUGE, "cost": HUGE}, True], ids=type)
def test_nonsense_for_usage_costs_no_answer(call, lane, reported):
    """Whatever stands where usage should, the call is answered, and its line is whole."""
    lane.server.queue_response({"choices": [{"message": {"content": "{}"}}], "usage": reported})
    assert call(lane.llm()).usage == PluginLlmUsage()
    (line,) = lane.log()
    assert (line["tokens"], line["cost"], line["status"]) == ("0", "", "ok")


def test_an_answer_without_usage_is_an_answer(way, lane):
    """A provider that reports nothing leaves zeros and an unknown cost."""
    lane.server.queue_response({"choices": [{"message": {"content": "hi"}}]})
    assert way.complete(lane.llm()).usage == PluginLlmUsage()
