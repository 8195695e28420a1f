"""Token counts out of a provider's usage object."""

from __future__ import annotations

from typing import Any

from hermes_core.config.truth import is_number
from hermes_core.types.llm import PluginLlmUsage

_FIELDS = {
    "input_tokens": ("prompt_tokens", "input_tokens"),
    "output_tokens": ("completion_tokens", "output_tokens"),
    "total_tokens": ("total_tokens",),
    "cache_read_tokens": (
        "prompt_tokens_details.cached_tokens",
        "input_tokens_details.cached_tokens",
        "cache_read_input_tokens",
        "cache_read_tokens",
        "prompt_cache_hit_tokens",
        "cached_tokens",
    ),
    "cache_write_tokens": (
        "prompt_tokens_details.cache_write_tokens",
        "input_tokens_details.cache_creation_tokens",
        "cache_creation_input_tokens",
        "cache_write_tokens",
    ),
}
"""Our field → where providers write it, one mapping deep at most; the first count is taken."""

_COST = ("cost", "cost.total_cost", "total_cost", "estimated_cost")
_CACHE_BESIDE_INPUT = ("cache_read_input_tokens", "cache_creation_input_tokens")

_MOST = 2**53
"""A number above this is none that anybody counted."""


def read_usage(reported: object) -> PluginLlmUsage:
    """Usage as one provider or another reports it; what is missing or no count is 0.

    Example:
        >>> read_usage({"prompt_tokens": 5, "completion_tokens": 1}).total_tokens
        6
    """
    if not isinstance(reported, dict):
        return PluginLlmUsage()
    usage = PluginLlmUsage(**{ours: int(_first(reported, *theirs) or 0) for ours, theirs in _FIELDS.items()})
    if _first(reported, "prompt_tokens") is None:  # this vendor's input leaves out what its cache read or wrote
        usage.input_tokens += sum(int(_first(reported, key) or 0) for key in _CACHE_BESIDE_INPUT)
    usage.total_tokens = usage.total_tokens or usage.input_tokens + usage.output_tokens
    cost = _first(reported, *_COST)
    usage.cost_usd = None if cost is None else float(cost)
    return usage


def _first(reported: dict[str, Any], *paths: str) -> float | None:
    """The first number, from 0 to as many as there may be, at one of the dotted paths."""
    for path in paths:
        key, dot, below = path.partition(".")
        value: Any = reported.get(key)
        if dot:
            value = value.get(below) if isinstance(value, dict) else None
        if value is not None and is_number(value) and 0 <= value <= _MOST:
            return value
    return None
