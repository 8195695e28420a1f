"""Where a call goes: provider, model and address from configuration, environment and overrides."""

from __future__ import annotations

import pytest

from hermes_core import MissingCredentialError, ProviderProfile
from hermes_core.errors import ProviderError, UnknownProviderError
from hermes_core.llm.route import profile_address

URL = "http://127.0.0.1:9/v1"


@pytest.fixture
def plan(lane, route_of):
    """The one route that a configuration, and what a plugin overrides, leads to."""

    def routes(config=None, *profiles, host=None, **overrides):
        host = host or lane.bare_host(config)
        for profile in profiles:
            host.program_context().register_provider(profile)
        return route_of(host, **overrides)

    return routes


def acme(**fields: object) -> ProviderProfile:
    """A provider that needs no key."""
    return ProviderProfile("acme", **{"base_url": URL, "auth_type": "none", "fallback_models": ("acme-1",), **fields})


SPELLINGS = {
    "model-default": {"model": {"provider": "acme", "default": "m"}},
    "model-model": {"model": {"provider": "acme", "model": "m"}},
    "model-name": {"model": {"provider": "acme", "name": "m"}},
    "model-is-text": {"provider": "acme", "model": "m"},
    "provider-at-the-root": {"provider": "acme", "model": {"default": "m"}},
    "default-beats-model-and-name": {"model": {"provider": "acme", "default": "m", "model": "x", "name": "y"}},
    "model-beats-name": {"model": {"provider": "acme", "model": "m", "name": "y"}},
    "empty-default-falls-to-model": {"model": {"provider": "acme", "default": "", "model": "m"}},
    "section-beats-root": {"provider": "other", "model": {"provider": "acme", "default": "m"}},
    "provider-in-another-case": {"model": {"provider": " Acme ", "default": "m"}},
    "provider-by-its-alias": {"model": {"provider": "roadrunner", "default": "m"}},
    "alias-in-another-case": {"model": {"provider": "RoadRunner", "default": "m"}},
}
ADDRESSES = {
    "model-base_url": {"model": {"provider": "custom", "default": "m", "base_url": URL}},
    "model-api_base": {"model": {"provider": "custom", "default": "m", "api_base": URL}},
    "base_url-at-the-root": {"provider": "custom", "model": "m", "base_url": URL},
    "api_base-at-the-root": {"provider": "custom", "model": "m", "api_base": URL},
    "base_url-beats-api_base": {"model": {"provider": "custom", "default": "m", "base_url": URL, "api_base": "x"}},
    "section-beats-root": {"base_url": "http://x", "model": {"provider": "custom", "default": "m", "base_url": URL}},
    "address-alone-means-custom": {"model": {"default": "m", "base_url": URL}},
    "auto-with-an-address-means-custom": {"model": {"provider": "auto", "default": "m", "base_url": URL}},
    "alias-of-custom": {"model": {"provider": "ollama", "default": "m", "base_url": URL}},
}


@pytest.mark.parametrize("config", SPELLINGS.values(), ids=SPELLINGS)
def test_provider_and_model_are_read_in_every_spelling(plan, config):
    """However the model section is written, it names one provider and one model."""
    route = plan(config, acme(aliases=("roadrunner",)))
    assert (route.provider, route.model, route.base_url) == ("acme", "m", URL)


@pytest.mark.parametrize("config", ADDRESSES.values(), ids=ADDRESSES)
def test_the_address_is_read_in_every_spelling(plan, config):
    """However the endpoint is written, the call goes there, as provider ``custom``."""
    route = plan(config)
    assert (route.provider, route.model, route.base_url) == ("custom", "m", URL)


@pytest.mark.parametrize(
    ("configured", "expected"),
    [("acme", "acme"), ("", "beta"), ("auto", "auto-means-the-environment")],
    ids=["configuration-beats-environment", "environment-fills-a-blank", "auto-is-not-blank"],
)
def test_the_environment_names_a_provider_where_configuration_names_none(plan, monkeypatch, configured, expected):
    """HERMES_INFERENCE_PROVIDER counts only while ``model.provider`` is blank."""
    monkeypatch.setenv("HERMES_INFERENCE_PROVIDER", "Beta")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-0123456789")
    beta = ProviderProfile("beta", base_url=URL, auth_type="none", fallback_models=("b",))
    route = plan({"model": {"provider": configured}}, acme(), beta)
    assert route.provider == ("openai" if configured == "auto" else expected)


@pytest.mark.parametrize(
    ("fields", "model"),
    [
        ({"fallback_models": ("a", "b"), "default_aux_model": "c"}, "a"),
        ({"fallback_models": (), "default_aux_model": "c"}, "c"),
    ],
    ids=["first-fallback-model", "else-the-cheap-model"],
)
def test_a_provider_without_a_model_uses_its_own_default(plan, fields, model):
    """Where the operator names a provider and no model, the profile's default is asked."""
    assert plan({"model": {"provider": "acme"}}, acme(**fields)).model == model


def test_no_model_anywhere_is_a_clear_error(plan):
    """A provider without any default model asks the operator for one."""
    with pytest.raises(ProviderError, match="no model is chosen for provider 'acme'") as caught:
        plan({"model": {"provider": "acme"}}, acme(fallback_models=()))
    assert "model.default" in caught.value.hint


def test_model_alone_keeps_the_provider(plan):
    """``model=`` alone stays with the user's provider, its address and its key."""
    config = {"model": {"provider": "custom", "base_url": URL, "default": "m", "api_key": "k-123456"}}
    route = plan(config, model="other")
    assert (route.provider, route.model, route.base_url) == ("custom", "other", URL)
    assert route.credential.source == "config:model.api_key"


@pytest.mark.parametrize("model", ["vendor/model", "a/b/c", "vendor/Model:free", "m@2026"])
def test_a_model_is_sent_as_it_is_given(plan, model):
    """A model override with a slash or anything else in it is never dropped or rewritten."""
    assert plan({"model": {"provider": "custom", "base_url": URL, "default": "plain"}}, model=model).model == model


def test_provider_alone_switches_entirely(plan):
    """``provider=`` alone takes nothing of the main provider with it: not model, address, key, headers or limit."""
    main = {
        "provider": "custom", "base_url": "http://127.0.0.1:8/v1", "default": "main-model", "api_key": "k-main-1",
        "extra_headers": {"X-Main": "1"}, "max_tokens": 5,
    }  # fmt: skip
    route = plan({"model": main}, acme(), provider="acme")
    assert (route.provider, route.model, route.base_url) == ("acme", "acme-1", URL)
    assert (route.credential.value, dict(route.headers), route.max_tokens) == ("", {}, None)


def test_a_provider_override_without_a_model_takes_the_cheap_model(plan):
    """Side work on another provider goes to its cheap model, else to its first fallback model."""
    profile = acme(fallback_models=("dear",), default_aux_model="cheap")
    assert plan({"model": {"provider": "openai", "default": "x"}}, profile, provider="acme").model == "cheap"


def test_a_provider_override_without_any_model_asks_for_one(plan):
    """A provider override that leaves no model to ask is a ValueError that asks for ``model=``."""
    with pytest.raises(ValueError, match="model="):
        plan({"model": {"provider": "openai", "default": "x"}}, acme(fallback_models=()), provider="acme")


@pytest.mark.parametrize("name", ["custom", "ollama", "Custom"], ids=["name", "alias", "another-case"])
def test_the_active_provider_by_any_name_is_the_active_one(plan, name):
    """``provider=`` that names the main provider, or an alias of it, keeps its model, address and key."""
    main = {"provider": "custom", "base_url": URL, "default": "m", "api_key": "k-123456"}
    route = plan({"model": main}, provider=name)
    assert (route.model, route.base_url, route.credential.source) == ("m", URL, "config:model.api_key")


def test_both_overrides_are_taken_together(plan):
    """``provider=`` and ``model=`` together choose both."""
    route = plan({"model": {"provider": "openai", "default": "x"}}, acme(), provider="acme", model="own/model")
    assert (route.provider, route.model) == ("acme", "own/model")


def test_an_unknown_provider_with_an_address_is_a_generic_one(way, lane):
    """A provider nobody offers, with ``model.base_url``, is spoken to in chat completions under its own name."""
    answer = way.complete(lane.llm({"model": {"provider": "mystery"}}))
    assert (answer.provider, answer.text) == ("mystery", "pong")


@pytest.mark.parametrize(
    ("name", "near"),
    [("opnrouter", "'openrouter'"), ("openai-ap", "'openai-api'"), ("zzzzzz", None)],
    ids=["near-a-name", "near-an-alias", "near-nothing"],
)
def test_an_unknown_provider_without_an_address_is_an_error(way, lane, name, near):
    """The error quotes the name, and the nearest known one if there is any."""
    host = lane.bare_host({"model": {"provider": name, "default": "m"}})
    with pytest.raises(UnknownProviderError, match=f"unknown provider '{name}'") as caught:
        way.complete(host.llm("p"))
    assert (f"did you mean {near}" if near else "did you mean") in str(caught.value) or near is None
    assert ("did you mean" in str(caught.value)) is (near is not None)
    assert caught.value.hint


def test_no_address_at_all_is_a_clear_error(way, lane):
    """A custom provider without a base URL asks for one."""
    host = lane.bare_host({"model": {"provider": "custom", "default": "m"}})
    with pytest.raises(ProviderError, match="no address") as caught:
        way.complete(host.llm("p"))
    assert "model.base_url" in caught.value.hint


AUTOMATIC = {
    "no-key-means-embedded": ({}, "embedded"),
    "one-key": ({"OPENROUTER_API_KEY": "sk-or-123456"}, "openrouter"),
    "openai-key-alone-means-openai": ({"OPENAI_API_KEY": "sk-123456"}, "openai"),
    "key-of-a-provider-without-a-rank": ({"KIMI_API_KEY": "sk-kimi-1"}, "kimi-coding"),
    "second-variable-of-a-provider": ({"KIMI_CODING_API_KEY": "sk-kimi-1"}, "kimi-coding"),
    "several-keys-begin-with-openrouter": (
        {"OPENAI_API_KEY": "sk-123456", "OPENROUTER_API_KEY": "sk-or-123456", "KIMI_API_KEY": "sk-kimi-1"},
        "openrouter",
    ),
    "then-openai": ({"OPENAI_API_KEY": "sk-123456", "KIMI_API_KEY": "sk-kimi-1"}, "openai"),
    "placeholders-are-no-keys": ({"OPENROUTER_API_KEY": "your_api_key", "OPENAI_API_KEY": "sk-123456"}, "openai"),
    "short-values-are-no-keys": ({"OPENAI_API_KEY": "abc"}, "embedded"),
    "blank-values-are-no-keys": ({"OPENAI_API_KEY": "    "}, "embedded"),
    "addresses-are-no-keys": ({"OPENAI_BASE_URL": "https://proxy.test/v1"}, "embedded"),
    "a-plugins-key-is-not-asked-for": ({"ACME_API_KEY": "k-123456"}, "embedded"),
}


@pytest.mark.parametrize(("variables", "provider"), AUTOMATIC.values(), ids=AUTOMATIC)
def test_a_provider_is_found_by_its_key_when_none_is_configured(lane, plan, monkeypatch, variables, provider):
    """The bundled providers are gone through by rank; the first with a usable key answers, else the embedded model."""
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    host = lane.bare_host({})
    if provider not in host.providers.names():  # a build without the embedded provider
        with pytest.raises(MissingCredentialError):
            plan({})
        return
    route = plan({}, acme(auth_type="api_key", env_vars=("ACME_API_KEY",)))
    assert route.provider == provider


def test_a_found_provider_asks_its_first_fallback_model(plan, monkeypatch, lane):
    """The automatic choice asks the first fallback model, at the provider's own address."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-123456")
    route = plan({})
    profile = lane.bare_host({}).providers.get("openai")
    assert (route.model, route.base_url) == (profile.fallback_models[0], "https://api.openai.com/v1")


def test_a_key_in_the_homes_env_file_is_found_too(plan, lane):
    """The automatic choice sees the home's .env."""
    lane.write(".env", "OPENAI_API_KEY=sk-from-the-file\n")
    route = plan({})
    assert (route.provider, route.credential.value) == ("openai", "sk-from-the-file")


@pytest.mark.parametrize("variables", [{"OPENAI_API_KEY": "sk-123456"}, {}], ids=["by-key", "embedded"])
def test_the_automatic_choice_is_said_once(lane, plan, monkeypatch, variables):
    """The operator is told which provider was found, in one line, not at every call."""
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    said = []
    host = lane.bare_host({}, say=said.append)
    if not variables and "embedded" not in host.providers.names():
        pytest.skip("a build without the embedded provider")
    for _ in range(3):
        route = plan(host=host)
    (line,) = said
    assert route.provider in line
    assert "model.provider" in line
    assert "sk-123456" not in line


def test_a_configured_provider_is_not_spoken_of(way, lane):
    """Nothing is said when the operator has chosen."""
    said = []
    way.complete(lane.host(say=said.append).llm("p"))
    assert said == []


def test_nothing_to_choose_from_names_the_variables(plan):
    """Without any key and without the embedded model, the error names what to set."""
    with pytest.raises(MissingCredentialError, match="no provider is configured") as caught:
        plan({"plugins": {"disabled": ["embedded"]}})
    assert isinstance(caught.value, RuntimeError)
    wanted = ["model.provider", "OPENROUTER_API_KEY", "OPENAI_API_KEY"]
    assert [word for word in wanted if word not in caught.value.hint] == []
    assert "BASE_URL" not in caught.value.hint


def test_a_configured_model_is_asked_of_the_provider_found(plan, monkeypatch):
    """``model.default`` counts also where the provider is left to be found."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-123456")
    assert plan({"model": "gpt-x"}).model == "gpt-x"


URL_RULES = {
    "profile-alone": ({}, {}, "https://api.openai.com/v1"),
    "variable-beats-profile": ({"OPENAI_BASE_URL": URL}, {}, URL),
    "configuration-beats-variable": ({"OPENAI_BASE_URL": "http://x"}, {"base_url": URL}, URL),
    "blank-variable-is-none": ({"OPENAI_BASE_URL": "  "}, {}, "https://api.openai.com/v1"),
    "another-providers-variable-does-not-count": ({"OPENROUTER_BASE_URL": URL}, {}, "https://api.openai.com/v1"),
}


@pytest.mark.parametrize(("variables", "model", "expected"), URL_RULES.values(), ids=URL_RULES)
def test_a_url_variable_replaces_the_profiles_address(plan, monkeypatch, variables, model, expected):
    """Configuration beats the provider's ``…_URL`` variable, which beats the profile."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-123456")
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert plan({"model": {"provider": "openai", **model}}).base_url == expected


def test_a_url_variable_counts_for_an_override_too(plan, monkeypatch):
    """A provider override goes to where the provider's own variable says."""
    monkeypatch.setenv("ACME_BASE_URL", "http://127.0.0.1:7/v1")
    config = {"model": {"provider": "custom", "base_url": URL, "default": "m"}}
    assert plan(config, acme(env_vars=("ACME_BASE_URL",)), provider="acme").base_url == "http://127.0.0.1:7/v1"


class Elsewhere(ProviderProfile):
    """A profile whose requests go to another host than its base URL says."""

    def get_hostname(self) -> str:
        return self.where


HOSTNAMES = {
    "replaces-the-host": ("https://old.test/v1", "new.test", "https://new.test/v1"),
    "keeps-port-and-path": ("https://old.test:8443/api/v2", "new.test", "https://new.test:8443/api/v2"),
    "keeps-the-query": ("https://old.test/v1?a=1", "new.test", "https://new.test/v1?a=1"),
    "same-host-changes-nothing": ("https://old.test/v1", "old.test", "https://old.test/v1"),
    "supplies-the-address": ("", "new.test", "https://new.test/v1"),
    "nothing-changes-nothing": ("https://old.test/v1", "", "https://old.test/v1"),
    "nothing-at-all": ("", "", ""),
}


@pytest.mark.parametrize(("base_url", "where", "expected"), HOSTNAMES.values(), ids=HOSTNAMES)
def test_get_hostname_says_where_requests_go(base_url, where, expected):
    """``get_hostname()`` replaces the host of base_url, and supplies ``https://<host>/v1`` when that is empty."""
    assert profile_address(Elsewhere("acme", base_url=base_url, where=where)) == expected


def test_a_hostname_field_supplies_the_address():
    """A profile with a hostname and no base URL is at ``https://<hostname>/v1``."""
    assert profile_address(ProviderProfile("acme", hostname="api.acme.test")) == "https://api.acme.test/v1"


def test_the_operators_address_beats_get_hostname(plan):
    """``model.base_url`` is used as it is written."""
    profile = Elsewhere("acme", base_url="https://old.test/v1", where="new.test", auth_type="none")
    assert plan({"model": {"provider": "acme", "default": "m", "base_url": URL}}, profile).base_url == URL


def test_a_request_goes_to_the_host_that_the_hook_names(way, lane):
    """The hook's host is the one that is really asked."""
    port = lane.server.base_url.rpartition(":")[2].removesuffix("/v1")
    host = lane.bare_host({"model": {"provider": "acme", "default": "m"}})
    host.program_context().register_provider(
        Elsewhere("acme", base_url=f"http://elsewhere.test:{port}/v1", where="127.0.0.1", auth_type="none")
    )
    assert way.complete(host.llm("p")).text == "pong"


def test_a_random_name_is_served_like_a_bundled_one_r26_09(way, lane, monkeypatch):
    """Nothing goes by a provider's name: address, key, limit, temperature and model come from the profile."""
    monkeypatch.setenv("QZX_API_KEY", "k-123456")
    host = lane.bare_host({"model": {"provider": "qzx"}})
    host.program_context().register_provider(
        ProviderProfile(
            "qzx", base_url=lane.server.base_url, env_vars=("QZX_API_KEY",), fallback_models=("q-1",),
            fixed_temperature=0.9, default_max_tokens=77, max_tokens_field="max_completion_tokens",
            default_headers={"X-Qzx": "yes"},
        )
    )  # fmt: skip
    answer = way.complete(host.llm("p"), temperature=0.1)
    (request,) = lane.server.requests
    assert (answer.provider, request.headers["authorization"], request.headers["x-qzx"]) == (
        "qzx", "Bearer k-123456", "yes",
    )  # fmt: skip
    assert {name: request.body[name] for name in ("model", "temperature", "max_completion_tokens")} == {
        "model": "q-1", "temperature": 0.9, "max_completion_tokens": 77,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("asked", "configured", "profile", "sent"),
    [(5, 6, 7, 5), (None, 6, 7, 6), (None, None, 7, 7), (None, None, None, None), (None, 0, 7, 7), (None, "6", 7, 7)],
    ids=["call", "configuration", "profile", "nobody", "zero-is-no-limit", "text-is-no-limit"],
)
def test_the_output_limit_is_the_most_specific_one(way, lane, asked, configured, profile, sent):
    """The call's limit beats the operator's, which beats the profile's; without any, none is sent."""
    host = lane.bare_host({"model": {"provider": "acme", "max_tokens": configured}})
    host.program_context().register_provider(acme(base_url=lane.server.base_url, default_max_tokens=profile))
    way.complete(host.llm("p"), max_tokens=asked)
    assert lane.server.bodies[0].get("max_tokens") == sent


def test_configured_headers_are_sent(way, lane):
    """``default_headers`` and ``extra_headers`` go with each request; the latter win, nulls are left out."""
    headers = {
        "default_headers": {"X-A": "a-by-default", "X-B": "b-by-default", "X-C": None},
        "extra_headers": {"X-B": "b-by-extra", "X-N": 5},
    }
    way.complete(lane.llm({"model": headers}))
    (request,) = lane.server.requests
    found = [request.headers.get(name) for name in ("x-a", "x-b", "x-c", "x-n")]
    assert found == ["a-by-default", "b-by-extra", None, "5"]


def test_the_host_says_who_it_is(way, lane):
    """Requests carry the host's own user agent."""
    way.complete(lane.llm())
    assert lane.server.requests[0].headers["user-agent"].startswith("hermes-cli/")


def test_the_switch_of_provider_is_followed(way, lane, other_server):
    """A plugin follows what the user has active: an edit of the file counts from the next call."""
    lane.config_file(lane.server.config)
    llm = lane.bare_host().llm("p")
    assert way.complete(llm).provider == "custom"
    other_server.answer("other")
    lane.config_file({"model": {**other_server.config["model"], "provider": "mystery", "default": "another-model"}})
    answer = way.complete(llm)
    assert (answer.text, answer.provider, answer.model) == ("other", "mystery", "another-model")


def test_the_one_model_of_a_server_here_needs_no_name(way, lane):
    """A server on this machine that lists one model is asked for it, and for its list once."""
    config = {"model": {"provider": "custom", "base_url": lane.server.base_url}}
    llm = lane.bare_host(config).llm("p")
    assert [way.complete(llm).model for _ in range(2)] == ["fake-model", "fake-model"]
    assert [request.method for request in lane.server.requests] == ["GET", "POST", "POST"]


@pytest.mark.parametrize("answer", [{"data": [{"id": "a"}, {"id": "b"}]}, {"data": []}, "no list"])
def test_a_server_here_with_another_number_of_models_needs_one(way, lane, answer):
    """Where there are several models, or none, somebody has to choose; the server is asked again the next time."""
    config = {"model": {"provider": "custom", "base_url": lane.server.base_url}}
    llm = lane.bare_host(config).llm("p")
    lane.server.queue_response(answer)
    with pytest.raises(ValueError, match=r"model\.default"):
        way.complete(llm)
    assert way.complete(llm).model == "fake-model"
