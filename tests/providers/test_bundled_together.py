"""What holds for the bundled providers together: who is chosen unasked, whose an address is, what is local."""

import pytest

from hermes_core.llm.plan import Planner
from hermes_core.llm.trust import Overrides
from hermes_core.providers.addresses import providers_at
from hermes_core.types.address import host_of, is_loopback


@pytest.fixture
def rows(load_host):
    """The bundled providers as a list shows them, by name; nothing is imported for it."""
    return {row.name: row for row in load_host().providers}


def test_every_provider_is_shown_with_words_for_people(rows):
    """At least fifty are bundled, each with a name and a line for people, and an identity of its own."""
    bundled = [row for row in rows.values() if row.tier == "bundled"]
    assert len(bundled) >= 50
    assert [row.name for row in bundled if not (row.display_name and row.description)] == []
    shown = [row.display_name for row in bundled]
    assert sorted({*shown}) == sorted(shown)


def test_a_server_of_ones_own_is_on_this_machine(rows):
    """A local preset is at a loopback address, needs no key, and is never chosen unasked; no other is like that."""
    local = {row.name for row in rows.values() if row.is_local}
    assert local == {row.name for row in rows.values() if is_loopback(host_of(row.base_url))}
    assert {rows[name].auto_rank for name in local} == {None}


@pytest.mark.parametrize(
    "name",
    ["copilot", "copilot-acp", "lmstudio", "openai-codex", "github-models-api", "custom", "xai-oauth", "qwen-oauth"],
)
def test_some_are_never_chosen_unasked(rows, name):
    """A provider of an account, of a server that may not run, or of a token that is set for other things."""
    assert rows[name].auto_rank is None


def test_one_without_a_usual_model_is_chosen_last(rows, load_host):
    """A provider that would still have to be told a model comes after each that would not."""
    catalog = load_host().providers
    ranks = {True: [], False: []}
    for row in rows.values():
        if row.auto_rank is not None and row.auth_type == "api_key":
            profile = catalog.get(row.name)
            ranks[bool(profile.fallback_models or profile.default_aux_model)].append(row.auto_rank)
    ranks[True] = [rank for rank in ranks[True] if rank != rows["huggingface"].auto_rank]  # its token is a general one
    assert max(ranks[True]) < min(ranks[False])


OWNERS = {
    "https://open.bigmodel.cn/api/paas/v4": "zai",
    "https://api.z.ai/api/coding/paas/v4": "zai",
    "https://api.stepfun.com/step_plan/v1": "stepfun",
    "https://api.siliconflow.cn/v1": "siliconflow",
    "https://eu.xiaomimimo.com/v1": "xiaomi",
    "https://opencode.ai/zen/v1": "opencode-zen",
    "https://opencode.ai/zen/go/v1": "opencode-go",
    "https://api.x.ai/v1": "xai",
    "http://localhost:11434/v1": None,
    "https://api.z.ai.evil.test/v4": None,
}


@pytest.mark.parametrize(("address", "owner"), OWNERS.items(), ids=OWNERS)
def test_an_address_is_its_owners(rows, address, owner):
    """Other hosts of a provider are known as its own, a shared host goes by path and then by rank, and no local one."""
    assert next(iter(providers_at(rows.values(), address)), None) == owner


AGGREGATORS = {"nous", "novita", "openrouter", "litellm", "vercel-ai-gateway", "opencode-zen", "opencode-go"}


def test_aggregators_say_so(rows):
    """A provider that passes calls on to many vendors is marked."""
    assert {name for name in AGGREGATORS if rows[name].is_aggregator} == AGGREGATORS


WORDS = {"ollama": "http://localhost:11434/v1", "vllm": "http://localhost:8000/v1", "LlamaCPP": "http://localhost:8080/v1",
         "llama.cpp": "http://localhost:8080/v1", "llama-cpp": "http://localhost:8080/v1"}  # fmt: skip


@pytest.mark.parametrize(("word", "address"), WORDS.items(), ids=WORDS)
def test_a_word_for_a_local_server_leads_to_its_usual_address(load_host, word, address):
    """``ollama`` and its like mean an endpoint of one's own, at the usual address while none is configured."""
    host = load_host(config={"model": {"provider": word, "default": "m"}})
    route = Planner.of(host).route(host.config(), Overrides())
    assert (route.provider, route.base_url, route.credential.value) == ("custom", address, "")
