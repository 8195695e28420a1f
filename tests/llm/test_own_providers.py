"""Calls to providers that the operator wrote into ``config.yaml``."""

import pytest

from hermes_core.errors import MissingCredentialError, PluginLlmTrustError, ProviderDisabledError, UnknownProviderError

URL = "https://own.test/v1"


@pytest.fixture
def plan(lane, route_of):
    """The one route that a configuration, and what a plugin overrides, leads to."""
    return lambda config, **overrides: route_of(lane.bare_host(config), **overrides)


def own(entry, model=None):
    """A configuration whose model section, ``m`` by default, leads to an entry."""
    section = {"default": "m"} if model is None else model
    return {"model": {"provider": "acme", **section}, "providers": {"acme": {"base_url": URL, **entry}}}


@pytest.mark.parametrize("word", ["acme", "Acme", "custom:acme", "My Server", "custom:my-server"])
def test_model_provider_may_be_an_entry_under_any_of_its_names(plan, word):
    """Address, model, key, headers, limit and wire come from the entry, and it is named in the answer."""
    entry = {
        "name": "My Server", "default_model": "e-1", "api_key": "k-entry-1", "api_mode": "gemini",
        "max_output_tokens": 7, "extra_headers": {"X-Own": "1"},
    }  # fmt: skip
    route = plan(own(entry, {"provider": word}))
    assert (route.provider, route.base_url, route.model) == ("custom:acme", URL, "e-1")
    assert (route.credential.value, route.credential.source) == ("k-entry-1", "config:providers.acme.api_key")
    assert (route.api_mode, route.max_tokens, dict(route.headers)) == ("gemini", 7, {"X-Own": "1"})


@pytest.mark.parametrize("form", ["main", "override", "after the name of an alias"])
def test_one_name_leads_to_one_endpoint_r06_07(way, lane, form):
    """A name that is also an alias of a bundled provider leads to the entry, as main provider and as override."""
    entry = {"providers": {"kimi": {"base_url": lane.server.base_url, "model": "own-1", "api_key": "k-own-12"}}}
    if form == "main":
        host, arguments = lane.bare_host({"model": {"provider": "kimi"}, **entry}), {}
    else:
        trusted = lane.granting(allow_provider_override=True, allowed_providers=["kimi"])
        host = lane.bare_host({"model": {"provider": "openai"}, **entry, **trusted})
        arguments = {"provider": "kimi" if form == "override" else "custom:kimi"}
    answer = way.complete(host.llm("p"), **arguments)
    (request,) = lane.server.requests
    assert (answer.provider, answer.text, request.body["model"]) == ("custom:kimi", "pong", "own-1")
    assert request.headers["authorization"] == "Bearer k-own-12"
    assert host.providers.get("kimi").base_url == lane.server.base_url


def test_a_grant_for_the_bundled_provider_is_none_for_the_entry_r06_07(lane):
    """A plugin that may use a bundled provider may not use an entry that is called like the provider's alias."""
    config = {"providers": {"kimi": {"base_url": URL}}, "model": {"provider": "openai"}}
    trusted = lane.granting(allow_provider_override=True, allowed_providers=["kimi-coding"])
    with pytest.raises(PluginLlmTrustError):
        lane.bare_host({**config, **trusted}).llm("p").complete([{"role": "user", "content": "x"}], provider="kimi")


MODELS = {
    "the section's": ({"default": "a"}, {"model": "b"}, {}, "a"),
    "else the entry's": ({}, {"model": "b", "models": ["c"]}, {}, "b"),
    "else its first": ({}, {"models": {"c": {}, "d": {}}}, {}, "c"),
    "the plugin's before all": ({"default": "a"}, {"model": "b"}, {"model": "x/y"}, "x/y"),
}


@pytest.mark.parametrize(("model", "entry", "overrides", "expected"), MODELS.values(), ids=MODELS)
def test_the_model_is_the_most_specific_one(plan, model, entry, overrides, expected):
    """The call's model beats the model section's, which beats the entry's."""
    assert plan(own(entry, model), **overrides).model == expected


KEYS = {
    "the entry's own": ({}, {"api_key": "k-entry-1"}, "k-entry-1"),
    "the variable it names": ({}, {"key_env": "NAMED_KEY"}, "k-named-1"),
    "written out beats named": ({}, {"api_key": "k-entry-1", "key_env": "NAMED_KEY"}, "k-entry-1"),
    "the section's, which is nearer": ({"api_key": "k-model-1"}, {"api_key": "k-entry-1"}, "k-model-1"),
    "none": ({}, {}, ""),
    "not for another address": ({"base_url": "https://else.test/v1"}, {"api_key": "k-entry-1"}, ""),
}


@pytest.mark.parametrize(("model", "entry", "expected"), KEYS.values(), ids=KEYS)
def test_a_key_goes_where_it_was_meant_to(plan, monkeypatch, model, entry, expected):
    """A key goes to the address it stands beside; that of the model section goes to whatever it leads to."""
    monkeypatch.setenv("NAMED_KEY", "k-named-1")
    monkeypatch.setenv("OPENAI_API_KEY", "k-openai-1")
    assert plan(own(entry, {"default": "m", **model})).credential.value == expected


def test_a_key_that_is_named_and_not_set_is_missing(plan):
    """An entry whose variable is not set raises an error that names the variable; no call is tried without."""
    with pytest.raises(MissingCredentialError, match="UNSET_KEY"):
        plan(own({"key_env": "UNSET_KEY"}))


@pytest.mark.parametrize("key", ["base_url", "api_key"])
def test_a_reference_that_is_not_set_is_missing(plan, key):
    """An entry that still refers to a variable raises an error that names place and variable."""
    with pytest.raises(MissingCredentialError, match=rf"providers\.acme\.{key} refers to \$\{{UNSET\}}"):
        plan(own({key: "${UNSET}"}))


def test_an_address_in_the_model_section_that_is_not_set_is_missing(plan):
    """So does the model section itself."""
    with pytest.raises(MissingCredentialError, match=r"model\.base_url refers to \$\{UNSET\}"):
        plan({"model": {"provider": "custom", "base_url": "${UNSET}/v1", "default": "m"}})


def test_the_key_of_a_bundled_provider_may_stand_in_its_entry(plan):
    """An entry of a bundled provider may hold the key for the provider's own address."""
    config = {"model": {"provider": "openai", "default": "m"}, "providers": {"openai": {"api_key": "k-entry-1"}}}
    route = plan(config)
    assert (route.base_url, route.credential.value) == ("https://api.openai.com/v1", "k-entry-1")


def test_an_entrys_address_beats_the_providers_variable(plan, monkeypatch):
    """What is configured beats ``OPENAI_BASE_URL``, which beats the profile."""
    monkeypatch.setenv("OPENAI_BASE_URL", "https://variable.test/v1")
    config = {"model": {"provider": "openai", "default": "m"}}
    entry = {"providers": {"openai": {"base_url": URL, "api_key": "k-entry-1"}}}
    monkeypatch.setenv("OPENAI_API_KEY", "k-openai-1")
    assert (plan(config).base_url, plan({**config, **entry}).base_url) == ("https://variable.test/v1", URL)


@pytest.mark.parametrize("word", ["acme", "custom:acme", "openai", "openai-api"])
@pytest.mark.parametrize("form", ["main", "override"])
def test_a_provider_that_is_switched_off_is_refused(plan, word, form):
    """A call to a provider with ``enabled: false`` is an error that names the key; under an alias too."""
    config = {"providers": {"acme": {"base_url": URL, "enabled": False}, "openai": {"enabled": "off"}}}
    model = {"provider": word, "default": "m"} if form == "main" else {"base_url": URL, "default": "m"}
    overrides = {} if form == "main" else {"provider": word}
    with pytest.raises(ProviderDisabledError, match=r"providers\.(acme|openai)\.enabled is false") as caught:
        plan({"model": model, **config}, **overrides)
    assert isinstance(caught.value, ValueError)
    assert caught.value.hint.startswith("hermes config unset providers.")


def test_a_provider_that_is_switched_off_is_not_found_by_its_key(plan, monkeypatch):
    """The automatic choice passes over a provider with ``enabled: false``, key or not."""
    monkeypatch.setenv("OPENROUTER_API_KEY", "sk-or-123456")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-123456")
    config = {"providers": {"openrouter": {"enabled": False}}}
    assert (plan({}).provider, plan(config).provider) == ("openrouter", "openai")


def test_an_unknown_entry_is_an_error_with_near_matches(plan):
    """``custom:<name>`` of no entry is an unknown provider, and names the nearest."""
    with pytest.raises(UnknownProviderError, match="did you mean 'custom:acme'"):
        plan(own({}, {"provider": "custom:acmee"}))


VISION = {
    "nothing is said": ({}, {}, True),
    "the entry says no": ({}, {"models": {"m": {"supports_vision": "no"}}}, False),
    "the entry says it of another model": ({}, {"models": {"n": {"supports_vision": False}}}, True),
    "the section before the entry": ({"supports_vision": "on"}, {"models": {"m": {"supports_vision": 0}}}, True),
    "a word that says nothing": ({"supports_vision": "maybe"}, {"models": {"m": {"supports_vision": "0"}}}, False),
    "no, in the section": ({"supports_vision": "Off"}, {}, False),
}


@pytest.mark.parametrize(("model", "entry", "expected"), VISION.values(), ids=VISION)
def test_the_operator_says_whether_a_model_takes_images(plan, model, entry, expected):
    """The model section's word counts first, then the entry's of that model, then the profile's."""
    assert plan(own(entry, {"default": "m", **model})).accepts_images is expected


LIMITS = {
    "nothing": ({}, {}, None, None),
    "the entry": ({}, {"max_output_tokens": 5}, None, 5),
    "the section before the entry": ({"max_tokens": 6}, {"max_output_tokens": 5}, None, 6),
    "the variable before all": ({"max_tokens": 6}, {"max_output_tokens": 5}, "7", 7),
    "a variable that is no number": ({"max_tokens": 6}, {}, "many", 6),
    "a variable that is zero": ({"max_tokens": 6}, {}, "0", 6),
}


@pytest.mark.parametrize(("model", "entry", "variable", "expected"), LIMITS.values(), ids=LIMITS)
def test_the_output_limit_has_an_order(plan, monkeypatch, model, entry, variable, expected):
    """HERMES_MAX_TOKENS beats the model section, which beats the entry."""
    if variable is not None:
        monkeypatch.setenv("HERMES_MAX_TOKENS", variable)
    assert plan(own(entry, {"default": "m", **model})).max_tokens == expected


def test_the_variable_is_for_the_main_provider_alone(plan, monkeypatch):
    """HERMES_MAX_TOKENS does not limit a provider that a plugin chose."""
    monkeypatch.setenv("HERMES_MAX_TOKENS", "7")
    config = {**own({}), "model": {"base_url": URL, "default": "m"}}
    assert plan(config, provider="acme", model="m").max_tokens is None


def test_an_entrys_headers_are_the_most_specific(plan):
    """The entry's headers beat those of the model section; the others are sent beside them."""
    section = {"default": "m", "default_headers": {"X-A": "d", "X-B": "d"}, "extra_headers": {"X-B": "e", "X-C": "e"}}
    route = plan(own({"extra_headers": {"X-C": "entry"}}, section))
    assert dict(route.headers) == {"X-A": "d", "X-B": "e", "X-C": "entry"}


def test_an_older_name_of_a_wire_is_understood(plan):
    """``openai_chat`` in the model section is chat completions."""
    assert plan(own({"api_mode": "gemini"}, {"default": "m", "api_mode": "openai_chat"})).api_mode == "chat_completions"
