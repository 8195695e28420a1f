"""Keys: whose they are, which one is sent, and where it never goes."""

from __future__ import annotations

import pytest

from hermes_core import MissingCredentialError, ProviderProfile
from hermes_core.auth.keys import for_address
from hermes_core.config.environment import Environment

KEYS = {"OPENAI_API_KEY": "sk-openai-1", "OPENROUTER_API_KEY": "sk-or-1", "ACME_API_KEY": "k-acme-1"}


@pytest.fixture
def credential(lane, route_of):
    """The credential of the one route that a configuration leads to."""

    def find(config, *profiles, **overrides):
        host = lane.bare_host(config)
        for profile in profiles:
            host.program_context().register_provider(profile)
        return route_of(host, **overrides).credential

    return find


def custom(base_url: str, **model: object) -> dict:
    """Configuration of an endpoint of the user's own."""
    return {"model": {"provider": "custom", "base_url": base_url, "default": "m", **model}}


GATED = {
    "its-own-host": ("https://api.openai.com/v1", "OPENAI_API_KEY"),
    "another-of-them": ("https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"),
    "host-in-another-case": ("https://API.OpenAI.COM/v1", "OPENAI_API_KEY"),
    "trailing-dot": ("https://api.openai.com./v1", "OPENAI_API_KEY"),
    "port-does-not-count": ("https://api.openai.com:8443/v1", "OPENAI_API_KEY"),
    "sub-domain": ("https://eu.api.openai.com/v1", "OPENAI_API_KEY"),
    "derived-from-the-host": ("https://api.acme.test/v1", "ACME_API_KEY"),
    "derived-from-a-longer-host": ("https://eu.acme.test/v1", "ACME_API_KEY"),
    "foreign-host": ("https://proxy.example/v1", None),
    "known-host-as-a-sub-domain": ("https://api.openai.com.evil.test/v1", None),
    "known-host-as-an-ending": ("https://notapi.openai.com.test/v1", None),
    "known-host-glued-on": ("https://evilapi.openai.company/v1", None),
    "known-host-as-a-login": ("https://api.openai.com@evil.test/v1", None),
    "known-host-in-the-path": ("https://evil.test/api.openai.com/v1", None),
    "known-host-in-the-query": ("https://evil.test/v1?host=api.openai.com", None),
    "known-label-of-another-domain": ("https://api.openai.evil/v1", None),
    "another-known-label": ("https://openrouter.evil/v1", None),
    "loopback": ("http://127.0.0.1:11434/v1", None),
    "localhost": ("http://localhost:11434/v1", None),
    "address": ("http://10.0.0.7/v1", None),
    "ipv6": ("http://[::1]:8080/v1", None),
    "single-label": ("http://acme/v1", None),
}


@pytest.mark.parametrize(("base_url", "variable"), GATED.values(), ids=GATED)
def test_a_key_goes_to_its_own_host_alone(credential, monkeypatch, base_url, variable):
    """An address nobody gave a key for gets the key that belongs to its host, and no other."""
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    found = credential(custom(base_url))
    assert (found.value, found.source) == ((KEYS[variable], f"env:{variable}") if variable else ("", "none"))


def test_no_key_reaches_a_foreign_server(call, lane, monkeypatch):
    """With every well-known key set, a custom endpoint is asked without any Authorization."""
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    call(lane.llm())
    (request,) = lane.server.requests
    assert "authorization" not in request.headers
    assert not any(value in str(request) for value in KEYS.values())


def test_a_hostname_gates_like_a_base_url(credential, monkeypatch, lane):
    """The host that ``get_hostname`` gives owns the provider's variables, as one in a base URL does."""
    monkeypatch.setenv("MERIDIAN_TOKEN", "k-meridian")
    manifest = "profile: {name: meridian, hostname: api.meridian.test, env_vars: [MERIDIAN_TOKEN]}\n"
    lane.write("plugins/model-providers/meridian/plugin.yaml", manifest)
    assert credential(custom("https://api.meridian.test/v1")).source == "env:MERIDIAN_TOKEN"


def test_a_configured_key_goes_to_the_configured_address(way, lane):
    """``model.api_key`` is sent to ``model.base_url``."""
    way.complete(lane.llm({"model": {"api_key": "k-configured"}}))
    assert lane.server.requests[0].headers["authorization"] == "Bearer k-configured"


def test_a_configured_key_stays_with_its_address(credential, monkeypatch):
    """``model.api_key`` without ``model.base_url`` is not sent to a provider's own address."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-openai-1")
    found = credential({"model": {"provider": "openai", "default": "m", "api_key": "k-of-somewhere-else"}})
    assert found.source == "env:OPENAI_API_KEY"


def test_a_configured_key_does_not_follow_a_provider_override(way, lane, other_server):
    """``model.api_key`` is the main provider's: another provider, though granted, never sees it."""
    config = {"model": {"api_key": "k-configured"}, **lane.granting(allow_provider_override=True)}
    host = lane.host(config)
    host.program_context().register_provider(
        ProviderProfile("acme", base_url=other_server.base_url, fallback_models=("m",))
    )
    way.complete(host.llm("p"), provider="acme")
    assert "authorization" not in other_server.requests[0].headers


def test_a_provider_without_keys_is_sent_none(credential, monkeypatch):
    """``auth_type: none`` sends no key, whatever is set."""
    monkeypatch.setenv("ACME_API_KEY", "k-acme-1")
    profile = ProviderProfile(
        "acme",
        base_url="https://api.acme.test/v1",
        auth_type="none",
        env_vars=("ACME_API_KEY",),
        fallback_models=("m",),
    )
    assert credential({"model": {"provider": "acme"}}, profile).value == ""


PRECEDENCE = {
    "api_key-beats-all": ({"api_key": "k-inline", "api": "k-older", "key_env": "NAMED_KEY"}, "config:model.api_key"),
    "api-is-an-older-name": ({"api": "k-older", "key_env": "NAMED_KEY"}, "config:model.api_key"),
    "key_env-beats-the-usual-variable-r19_15": ({"key_env": "NAMED_KEY"}, "env:NAMED_KEY"),
    "api_key_env-is-another-name": ({"api_key_env": "NAMED_KEY"}, "env:NAMED_KEY"),
    "blank-key-is-none": ({"api_key": "  ", "key_env": "NAMED_KEY"}, "env:NAMED_KEY"),
    "else-the-hosts-own-variable": ({}, "env:ACME_API_KEY"),
}


@pytest.mark.parametrize(("model", "source"), PRECEDENCE.values(), ids=PRECEDENCE)
def test_the_most_explicit_key_wins_r19_15(credential, monkeypatch, model, source):
    """A key written out beats one named, which beats the variable that belongs to the host."""
    monkeypatch.setenv("NAMED_KEY", "k-named-1")
    monkeypatch.setenv("ACME_API_KEY", "k-acme-1")
    assert credential(custom("https://api.acme.test/v1", **model)).source == source


def test_the_first_usable_variable_of_a_provider_wins(credential, monkeypatch):
    """A provider's variables are tried in order; placeholders are passed over."""
    monkeypatch.setenv("FIRST_KEY", "changeme")
    monkeypatch.setenv("SECOND_KEY", "k-second")
    monkeypatch.setenv("THIRD_KEY", "k-third")
    profile = ProviderProfile(
        "acme",
        base_url="https://api.acme.test/v1",
        env_vars=("FIRST_KEY", "SECOND_KEY", "THIRD_KEY"),
        fallback_models=("m",),
    )
    assert credential({"model": {"provider": "acme"}}, profile).source == "env:SECOND_KEY"


@pytest.mark.parametrize(
    "value", ["", "   ", "abc", "***", "changeme", "YOUR_API_KEY", "your-api-key", "placeholder", "None", "${OTHER}"]
)
def test_a_placeholder_is_no_key(credential, monkeypatch, value):
    """Values that somebody forgot to replace do not count as keys."""
    monkeypatch.setenv("KIMI_API_KEY", value)
    with pytest.raises(MissingCredentialError):
        credential({"model": {"provider": "kimi-coding"}})


def test_a_missing_key_is_named(way, lane):
    """The error names provider and variables, says where to set them, and is a RuntimeError; nothing is sent."""
    host = lane.bare_host({"model": {"provider": "openrouter"}})
    with pytest.raises(MissingCredentialError, match=r"'openrouter'.*OPENROUTER_API_KEY") as caught:
        way.complete(host.llm("p"))
    error = caught.value
    assert isinstance(error, RuntimeError)
    assert error.provider == "openrouter"
    wanted = ["OPENROUTER_API_KEY", ".env", "embedded"]
    assert [word for word in wanted if word not in error.hint] == []
    assert "BASE_URL" not in f"{error}{error.hint}"


@pytest.mark.parametrize("key", ["api_key", "api"])
def test_a_key_that_refers_to_nothing_names_the_variable(credential, key):
    """``${NAME}`` that is not set is a missing credential, never sent as it stands."""
    with pytest.raises(MissingCredentialError, match=rf"model\.{key}.*\$\{{NO_SUCH_KEY\}}"):
        credential(custom("http://127.0.0.1:9/v1", **{key: "${NO_SUCH_KEY}"}))


def test_a_key_is_read_from_the_variable_it_refers_to(way, lane, monkeypatch):
    """``${NAME}`` in the configuration is the variable's value."""
    monkeypatch.setenv("MY_KEY", "k-from-a-variable")
    way.complete(lane.llm({"model": {"api_key": "${MY_KEY}"}}))
    assert lane.server.requests[0].headers["authorization"] == "Bearer k-from-a-variable"


def test_the_homes_env_file_beats_the_process(way, lane, monkeypatch):
    """A credential in the home's .env is taken before the process's own, which is left alone."""
    monkeypatch.setenv("MY_KEY", "k-of-the-process")
    lane.write(".env", "MY_KEY=k-of-the-home\n")
    way.complete(lane.llm({"model": {"key_env": "MY_KEY"}}))
    assert lane.server.requests[0].headers["authorization"] == "Bearer k-of-the-home"


def test_a_key_changed_on_disk_counts_from_the_next_call(way, lane):
    """Rotating a key in .env needs no restart."""
    lane.write(".env", "MY_KEY=k-old-1\n")
    llm = lane.llm({"model": {"key_env": "MY_KEY"}})
    way.complete(llm)
    lane.write(".env", "MY_KEY=k-newer-2\n")
    way.complete(llm)
    sent = [request.headers["authorization"] for request in lane.server.requests]
    assert sent == ["Bearer k-old-1", "Bearer k-newer-2"]


def test_one_homes_key_never_serves_another(way, lane, tmp_path):
    """What one home's .env sets is unknown to the host of another."""
    lane.write(".env", "MY_KEY=k-of-the-home\n")
    config = {"model": {**lane.server.config["model"], "key_env": "MY_KEY"}}
    way.complete(lane.bare_host(config, home=tmp_path / "elsewhere").llm("p"))
    assert "authorization" not in lane.server.requests[0].headers


@pytest.mark.parametrize(
    "key",
    [
        "sk-\u028becret-1",
        "sk-se\u200bcret-1",
        "sk-se\u00a0cret-1",
        "sk-secret-1\r\nX-Evil: 1",
        "sk-se\x00cret-1",
        "sk\tsecret-1",
    ],
    ids=["look-alike-letter", "zero-width-space", "no-break-space", "newline-and-header", "nul", "tab"],
)
def test_a_key_that_fits_no_header_is_named_not_sent_r19_11(way, lane, key):
    """A key with a character that no header takes is a missing credential that names the character's code point."""
    with pytest.raises(MissingCredentialError, match=r"U\+00|U\+02|U\+20") as caught:
        way.complete(lane.llm({"model": {"api_key": key}}))
    assert "cret-1" not in f"{caught.value}{caught.value.hint}"
    assert lane.server.requests == []


def test_the_gate_goes_by_whole_labels(tmp_path):
    """``for_address`` matches hosts at dots, so that a look-alike gets nothing."""
    environment = Environment(tmp_path, {"ACME_API_KEY": "k-acme-1", "EVIL_API_KEY": "k-evil-1"})
    hosts = {"api.acme.test": ["ACME_API_KEY"]}
    found = [
        for_address(url, hosts, environment)
        for url in ("https://x.api.acme.test/v1", "https://xapi.acme.test/v1", "https://api.acme.test.evil.example/v1")
    ]
    assert [credential and credential.source for credential in found] == ["env:ACME_API_KEY", None, "env:EVIL_API_KEY"]


@pytest.mark.parametrize("key", ["x", "none", "dummy", "lm-studio", "EMPTY"])
def test_a_key_that_is_written_out_is_sent_whatever_it_is(way, lane, key):
    """A local server takes any key: what stands in ``config.yaml`` is meant, and is no placeholder."""
    way.complete(lane.llm({"model": {"api_key": key}}))
    assert lane.server.requests[0].headers["authorization"] == f"Bearer {key}"
