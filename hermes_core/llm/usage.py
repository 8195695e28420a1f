"""Token counts out of a provider's usage object."""

from __future__ import annotations

from collections.abc import Mapping
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
    ),
    "cache_write_tokens": (
        "prompt_tokens_details.cache_write_tokens",
        "input_tokens_details.cache_creation_tokens",
        "cache_creation_input_tokens",
        "cache_write_tokens",
    ),
}
"""Our field → where providers write it, the first number counts."""


_CACHE_BESIDE_INPUT = ("cache_read_input_tokens", "cache_creation_input_tokens")


def read_usage(reported: object) -> PluginLlmUsage:
    """Usage as one provider or another reports it; what is missing or no count is 0.

    Example:
        >>> read_usage({"prompt_tokens": 5, "completion_tokens": 1}).total_tokens
        6
    """
    if not isinstance(reported, Mapping):
        return PluginLlmUsage()
    usage = PluginLlmUsage(**{ours: _first(reported, theirs) for ours, theirs in _FIELDS.items()})
    if "prompt_tokens" not in reported:  # this vendor's input leaves out what came from, or went into, its cache
        usage.input_tokens += sum(_first(reported, (key,)) for key in _CACHE_BESIDE_INPUT)
    usage.total_tokens = usage.total_tokens or usage.input_tokens + usage.output_tokens
    cost = reported.get("cost")
    if is_number(cost) and cost >= 0:
        usage.cost_usd = float(cost)
    return usage


def _first(reported: Mapping[str, Any], paths: tuple[str, ...]) -> int:
    for path in paths:
        value: Any = reported
        for key in path.split("."):
            value = value.get(key) if isinstance(value, Mapping) else None
        if is_number(value):
            return max(int(value), 0)
    return 0
