"""What a call cost, where its provider does not say."""

import asyncio

import pytest

from hermes_core import PluginLlmUsage
from hermes_core.llm.prices import estimate
from hermes_core.testing import FakeProvider

OPENAI = "https://api.openai.com/v1"


def used(sent=1_000_000, said=100_000, cached=0):
    """Tokens of one answer."""
    return PluginLlmUsage(input_tokens=sent, output_tokens=said, total_tokens=sent + said, cache_read_tokens=cached)


@pytest.fixture(params=["complete", "acomplete"])
def ask(request, load_host):
    """Ask a server that calls itself a provider of the price list; what it reports as usage is given."""

    def run(usage, model="gpt-4o"):
        with FakeProvider() as server:
            server.queue_response({"choices": [{"message": {"content": "pong"}}], "usage": usage})
            entry = {"base_url": server.base_url, "api_key": "k"}
            host = load_host(config={"model": {"provider": "openai", "default": model}, "providers": {"openai": entry}})
            method = getattr(host.llm("acme"), request.param)
            answer = method([{"role": "user", "content": "ping"}])
            return (asyncio.run(answer) if request.param == "acomplete" else answer).usage.cost_usd

    return run


def test_a_call_is_priced(ask):
    """A provider that does not say what an answer cost is looked up in the price list."""
    assert ask({"prompt_tokens": 1000, "completion_tokens": 100}) == pytest.approx(0.0035)


def test_what_a_provider_says_counts(ask):
    """A reported cost is taken as it is, 0 too."""
    assert ask({"prompt_tokens": 1000, "completion_tokens": 100, "cost": 0}) == 0


def test_an_unknown_model_has_no_price(ask):
    """What is not in the list is not guessed."""
    assert ask({"prompt_tokens": 1000, "completion_tokens": 100}, model="my-own-model") is None


def test_no_tokens_cost_nothing_that_is_known(ask):
    """An answer without counts has an unknown cost, not none."""
    assert ask({}) is None


def test_the_address_tells_who_bills():
    """A provider of any name is priced by where its calls go."""
    assert estimate(used(), "gpt-4o", OPENAI, "custom:cellar") == estimate(
        used(), "gpt-4o", "http://127.0.0.1/v1", "openai"
    )


def test_a_cached_prompt_costs_less():
    """Tokens that a cache read are priced as such."""
    cached = estimate(used(cached=900_000), "gpt-4o", OPENAI, "openai")
    assert cached < estimate(used(), "gpt-4o", OPENAI, "openai")


def test_counts_that_contradict_each_other_have_no_price():
    """More tokens read from a cache than were sent cost an unknown sum."""
    assert estimate(used(10, 1, cached=500), "gpt-4o", OPENAI, "openai") is None


def test_without_the_extra_nothing_is_priced(run_python):
    """Where the price list is not installed, a cost is unknown and no call fails."""
    code = (
        "import sys; sys.modules['genai_prices'] = None\n"
        "from hermes_core import PluginLlmUsage\n"
        "from hermes_core.llm.prices import estimate\n"
        f"print(estimate(PluginLlmUsage(input_tokens=10, total_tokens=10), 'gpt-4o', {OPENAI!r}, 'openai'))"
    )
    assert run_python(code).stdout == "None\n"
