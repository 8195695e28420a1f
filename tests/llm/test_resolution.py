"""From a word or an address to the provider, its address and its key: one table for every spelling."""

import pytest

from hermes_core import ProviderProfile
from hermes_core.errors import UnknownProviderError
from hermes_core.llm.plan import Planner
from hermes_core.llm.trust import Overrides

OWN = "https://own.test/v1"
SERVER = "http://localhost:11999/v1"

PROFILES = [
    ProviderProfile(
        "acme", aliases=("roadrunner", "beta"), base_url="https://api.acme.test/v1", extra_hosts=("acme.example",),
        env_vars=("ACME_API_KEY", "ACME_BASE_URL"), fallback_models=("acme-1",),
    ),
    ProviderProfile(
        "acme-plan", base_url="https://api.acme.test/plan/v1", auth_type="oauth_device_code",
        fallback_models=("plan-1",),
    ),
    ProviderProfile(
        "beta", base_url="https://beta.test/v1", env_vars=("BETA_API_KEY",), fallback_models=("beta-1",)
    ),
    ProviderProfile(
        "beta-twin", base_url="https://beta.test/v1", env_vars=("TWIN_API_KEY",), fallback_models=("twin-1",)
    ),
    ProviderProfile(
        "tiny-local", base_url=SERVER, env_vars=("TINY_BASE_URL",), preset_for_word=("local",), auth_type="none",
        fallback_models=("tiny-1",),
    ),
]  # fmt: skip


@pytest.fixture
def plan(lane, monkeypatch):
    """The route that a configuration, and what a plugin overrides, leads to; every provider has a key."""

    def route(config, variables=("ACME_API_KEY", "BETA_API_KEY"), **overrides):
        for name in variables:
            monkeypatch.setenv(name, f"k-{name.lower()}")
        host = lane.bare_host({"model": {"default": "m"}, **config})
        for profile in PROFILES:
            host.program_context().register_provider(profile)
        planner = Planner.of(host)
        return planner.route(host.config(), Overrides(**overrides))

    return route


WORDS = {
    "a name": ("acme", "acme", "https://api.acme.test/v1", "k-acme_api_key"),
    "an alias": ("roadrunner", "acme", "https://api.acme.test/v1", "k-acme_api_key"),
    "another case and blanks": ("  RoadRunner ", "acme", "https://api.acme.test/v1", "k-acme_api_key"),
    "a name beats an alias": ("beta", "beta", "https://beta.test/v1", "k-beta_api_key"),
    "an entry": ("mine", "custom:mine", OWN, "k-mine-12"),
    "an entry after custom:": ("custom:mine", "custom:mine", OWN, "k-mine-12"),
    "an entry by its display name": ("My Own", "custom:mine", OWN, "k-mine-12"),
    "an entry named like an alias": ("roadrunner2", "custom:roadrunner2", OWN, ""),
}


@pytest.mark.parametrize("place", ["main", "override"])
@pytest.mark.parametrize(("word", "provider", "address", "key"), WORDS.values(), ids=WORDS)
def test_a_word_leads_to_a_provider(plan, lane, place, word, provider, address, key):
    """A name, an alias and an entry of the configuration lead to one place, whoever asks for them."""
    entries = {
        "providers": {"mine": {"name": "My Own", "base_url": OWN, "api_key": "k-mine-12"}},
        "custom_providers": [{"name": "Roadrunner2", "base_url": OWN}],
    }
    if place == "main":
        route = plan({**entries, "model": {"provider": word, "default": "m"}})
    else:
        route = plan(
            {**entries, "model": {"provider": "custom", "base_url": OWN, "default": "x"}}, provider=word, model="m"
        )
    assert (route.provider, route.base_url, route.credential.value, route.model) == (provider, address, key, "m")


@pytest.mark.parametrize("word", ["auto", "main", "AUTO", " auto ", ""])
@pytest.mark.parametrize("place", ["main", "override", "task", "fallback"])
def test_a_word_for_the_usual_provider(plan, lane, place, word):
    """``auto``, ``main`` and nothing mean the provider that every other call goes to, wherever they are written."""
    main = {"model": {"provider": "acme", "default": "m"}}
    if place == "main":
        route = plan({"model": {"provider": word, "default": "m", "base_url": "https://api.acme.test/v1"}})
    elif place == "task":
        route = plan({**main, "auxiliary": {"plugin": {"provider": word}}})
    elif place == "override":
        route = plan(main, provider=word)
    else:
        host = lane.bare_host({**main, "fallback_providers": [{"provider": word or "auto", "model": "m"}]})
        host.program_context().register_provider(PROFILES[0])
        lane.write(".env", "ACME_API_KEY=k-acme_api_key")
        (route,) = Planner.of(host).fallbacks(host.config(), None)
    assert (route.provider, route.base_url, route.model) == ("acme", "https://api.acme.test/v1", "m")


ADDRESSES = {
    "its own host": ("https://api.acme.test/v1", "acme"),
    "a host below": ("https://eu.api.acme.test/v1", "acme"),
    "another of its hosts": ("https://acme.example/v9", "acme"),
    "below another of its hosts": ("https://x.acme.example/v9", "acme"),
    "in capitals, with a port and a dot": ("https://API.Acme.Test.:8443/v1", "acme"),
    "with a query": ("https://api.acme.test/v1?version=1", "acme"),
    "a shared host, by its path": ("https://api.acme.test/plan/v1/", "acme-plan"),
    "not by half a part of the path": ("https://api.acme.test/planet/v1", "acme"),
    "a look-alike behind": ("https://api.acme.test.evil.test/v1", "custom"),
    "a look-alike before": ("https://xapi.acme.test/v1", "custom"),
    "a name in the path": ("https://evil.test/api.acme.test/v1", "custom"),
    "a name as a login": ("https://api.acme.test@evil.test/v1", "custom"),
    "this machine is nobody's": (SERVER, "custom"),
    "nobody's": ("https://nobody.test/v1", "custom"),
}


@pytest.mark.parametrize(("address", "provider"), ADDRESSES.values(), ids=ADDRESSES)
def test_an_address_alone_leads_to_whose_host_it_is(plan, address, provider):
    """Without ``model.provider``, the host of ``model.base_url`` says whose profile is used; it ends at a dot."""
    route = plan({"model": {"base_url": address, "default": "m", "api_key": "k-given-1"}})
    assert (route.provider, route.base_url, route.credential.value) == (provider, address, "k-given-1")


@pytest.mark.parametrize(("variable", "provider"), [("BETA_API_KEY", "beta"), ("TWIN_API_KEY", "beta-twin")])
def test_of_two_at_one_address_the_one_with_a_key_counts(plan, variable, provider):
    """Two providers that share an address are told apart by whose key there is."""
    assert plan({"model": {"base_url": "https://beta.test/v1", "default": "m"}}, [variable]).provider == provider


def test_an_address_gets_the_key_of_whose_host_it_is_alone(plan):
    """A host that two providers share, one of them without keys, still gets the other's key, and no third one does."""
    named = plan({"model": {"provider": "custom", "base_url": "https://api.acme.test/x", "default": "m"}})
    foreign = plan({"model": {"provider": "custom", "base_url": "https://acme.test/x", "default": "m"}})
    assert (named.provider, named.credential.value, foreign.credential.value) == ("custom", "k-acme_api_key", "")


PRESETS = {
    "the preset's address": ({"provider": "local"}, {}, SERVER),
    "its variable": ({"provider": "local"}, {"TINY_BASE_URL": "http://localhost:1/v1"}, "http://localhost:1/v1"),
    "the configured address": ({"provider": "local", "base_url": OWN}, {"TINY_BASE_URL": SERVER}, OWN),
    "the general variable": ({"provider": "local"}, {"CUSTOM_BASE_URL": OWN, "TINY_BASE_URL": SERVER}, OWN),
}


@pytest.mark.parametrize(("model", "variables", "address"), PRESETS.values(), ids=PRESETS)
def test_a_word_for_a_local_server(plan, monkeypatch, model, variables, address):
    """A preset's word is the custom provider, at the preset's address while the operator gives none."""
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    route = plan({"model": {"default": "m", **model}})
    assert (route.provider, route.base_url) == ("custom", address)


def test_a_word_no_preset_knows_still_asks_for_an_address(plan):
    """``custom`` itself has no address of its own."""
    assert plan({"model": {"provider": "custom", "default": "m"}}).base_url == ""


def test_an_entry_named_like_a_presets_word_beats_it(plan):
    """What the operator calls ``ollama`` is the operator's."""
    config = {"model": {"provider": "ollama", "default": "m"}, "providers": {"ollama": {"base_url": OWN}}}
    assert (plan(config).provider, plan(config).base_url) == ("custom:ollama", OWN)


@pytest.mark.parametrize("name", ["acmee", "custom:nobody", "road-runner"])
def test_an_unknown_word_without_an_address_is_an_error(plan, name):
    """A word that nobody answers to is not asked anywhere; with an address it is a provider of that name."""
    with pytest.raises(UnknownProviderError):
        plan({"model": {"provider": name, "default": "m"}})
    assert plan({"model": {"provider": name, "default": "m", "base_url": OWN}}).provider == name
