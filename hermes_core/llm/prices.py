"""What a call cost, estimated from a price list, where the provider does not say."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import ModuleType

    from hermes_core.types.llm import PluginLlmUsage


def estimate(usage: PluginLlmUsage, model: str, base_url: str, provider: str) -> float | None:
    """What an answer cost, by the price list of the extra ``prices``; the network is not asked.

    Whoever is behind ``base_url`` sends the bill; an address that the list does not know is looked up by the
    provider's name.

    Returns:
        US dollars; None without the extra, for a model that is not in the list, and for counts that
        contradict each other.

    Example:
        >>> from hermes_core import PluginLlmUsage
        >>> estimate(PluginLlmUsage(), "my-own-model", "http://localhost:8080/v1", "custom") is None
        True
    """
    prices = _prices()
    if prices is None:
        return None
    counted = prices.Usage(
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cache_read_tokens=usage.cache_read_tokens,
        cache_write_tokens=usage.cache_write_tokens,
    )
    try:
        try:
            cost = prices.calc_price(counted, model, provider_api_url=base_url)
        except LookupError:
            cost = prices.calc_price(counted, model, provider_id=provider)
    except (LookupError, ValueError):
        return None
    return float(cost.total_price)


@cache
def _prices() -> ModuleType | None:
    try:
        import genai_prices
    except ImportError:
        return None
    return genai_prices
