"""Providers that the operator wrote into ``config.yaml``: one lookup for every use, above every plugin."""

import json

import pytest

from hermes_core import ProviderProfile

URL = "https://own.test/v1"
KIMI = {"providers": {"kimi": {"base_url": URL, "model": "own-1"}}}
CODEX = {"custom_providers": [{"name": "Moonshot", "base_url": URL}]}


def test_an_entry_is_a_provider(load_host):
    """An endpoint of one's own is looked up, listed and explained like any other provider."""
    providers = load_host(config={"providers": {"acme": {"base_url": URL, "models": ["m"]}}}).providers
    (row,) = [row for row in providers if row.name == "custom:acme"]
    (verdict,) = providers.explain("acme")
    assert (providers.get("acme").base_url, providers.get("acme").fallback_models) == (URL, ("m",))
    assert (row.tier, row.plugin, row.base_url) == ("config", "providers.acme", URL)
    assert (verdict.status, verdict.plugin, verdict.source) == ("wins", "providers.acme", "this program")


@pytest.mark.parametrize("word", ["acme", "ACME", "custom:acme", "My Server", "my-server", "custom:my-server"])
def test_an_entry_is_found_under_all_its_names(load_host, word):
    """Key, display name and slug lead to one provider, alone or behind ``custom:``."""
    providers = load_host(config={"providers": {"acme": {"name": "My Server", "base_url": URL}}}).providers
    assert (providers.resolve(word), providers.get(word).base_url) == ("custom:acme", URL)


@pytest.mark.parametrize(
    ("config", "word"), [pytest.param(KIMI, "kimi", id="keyed"), pytest.param(CODEX, "moonshot", id="listed")]
)
def test_an_entry_beats_an_alias_r06_06(load_host, config, word):
    """An entry named like an alias of a bundled provider is the one that word leads to."""
    assert load_host().providers.resolve(word) == "kimi-coding"
    providers = load_host(config=config).providers
    assert (f"custom:{word}", URL) == (providers.resolve(word), providers.get(word).base_url)
    assert providers.get("kimi-coding").base_url != URL


def test_a_plugins_alias_does_not_take_an_entrys_name_r06_06(load_host):
    """The operator's word beats the aliases of every plugin, those of the embedding program included."""
    host = load_host(config={"providers": {"acme": {"base_url": URL}}})
    host.program_context().register_provider(ProviderProfile("other", aliases=("acme",), base_url="https://x.test"))
    assert host.providers.get("acme").base_url == URL


def test_an_entry_named_like_a_provider_changes_it_r06_06(load_host):
    """An entry with a bundled provider's name gives it another address and key, and leaves the rest alone."""
    before = load_host().providers.get("openrouter")
    providers = load_host(config={"providers": {"openrouter": {"base_url": URL, "key_env": "MY_KEY"}}}).providers
    after = providers.get("openrouter")
    assert (after.base_url, after.env_vars, after.get_hostname()) == (URL, ("MY_KEY",), "own.test")
    assert (after.fallback_models, after.default_headers) == (before.fallback_models, before.default_headers)
    assert [(verdict.status, verdict.tier) for verdict in providers.explain("openrouter")] == [
        ("wins", "config"),
        ("shadowed", "bundled"),
    ]
    assert providers.resolve("or") == providers.resolve("custom:openrouter") == "openrouter"


def test_an_entry_that_only_switches_needs_no_address(load_host):
    """Without an address, an entry of a known provider changes what it mentions."""
    host = load_host(config={"providers": {"openai": {"model": "mine"}}})
    assert (host.providers.get("openai").fallback_models, host.providers.get("openai").base_url) == (
        ("mine",),
        "https://api.openai.com/v1",
    )


def test_an_entry_that_nobody_can_reach_is_none(load_host, caplog):
    """An entry without an address, and with a name nobody else has, is dropped with a warning."""
    providers = load_host(config={"providers": {"unreachable": {"model": "m"}}}).providers
    assert providers.get("unreachable") is None
    assert [record.getMessage() for record in caplog.records] == [
        "config.yaml: providers.unreachable has no base_url, and no provider is called so; it is not used"
    ]


def test_a_provider_that_is_switched_off_is_hidden(load_host):
    """``enabled: false`` takes a provider out of the lists and of the near matches; explain says why."""
    config = {"providers": {"openai": {"enabled": False}, "acme": {"base_url": URL, "enabled": "no"}}}
    providers = load_host(config=config).providers
    assert not {"openai", "custom:acme"} & {row.name for row in providers}
    assert not {"openai", "custom:acme", "acme", "openai-api"} & {*providers.words()}
    assert (providers.get("openai"), providers.get("acme")) == (None, None)
    verdict = providers.explain("openai")[0]
    assert (verdict.status, verdict.reason, verdict.remedy) == (
        "off",
        "providers.openai.enabled is false",
        "hermes config unset providers.openai.enabled",
    )


def test_an_edit_counts_at_once(home, load_host):
    """An entry that is added, changed or taken out counts from the next lookup."""
    host = load_host()
    seen = [host.providers.get("acme")]
    for written in ({"base_url": URL}, {"base_url": "https://new.test"}, None):
        home.config({"providers": {"acme": written}})
        profile = host.providers.get("acme")
        seen.append(profile and profile.base_url)
    assert seen == [None, URL, "https://new.test", None]


def test_a_broken_entry_costs_itself_alone(load_host):
    """One entry that makes no sense leaves the others, and the bundled providers, as they are."""
    config = {"providers": {"bad": 5, "worse": {"base_url": 7}, "acme": {"base_url": URL}}}
    providers = load_host(config=config).providers
    assert (providers.get("acme").base_url, providers.get("bad"), providers.get("openai").name) == (URL, None, "openai")


def test_an_entry_is_no_plugin(load_host):
    """What the configuration says of providers is not listed among the plugins."""
    host = load_host(config={"providers": {"acme": {"base_url": URL}}})
    assert host.providers.get("acme")
    assert [row.key for row in host.plugins if row.tier == "config"] == []


def test_the_administrators_entry_wins_under_every_spelling(home, load_host, tmp_path):
    """The administrator's file beats the user's also where the two spell a key differently."""
    home.config({"providers": {"acme": {"base_url": "https://user.test", "api_key": "k-user-1"}}})
    (tmp_path / "managed").mkdir()
    pinned = {"providers": {"acme": {"url": URL, "apiKey": "k-managed"}}}
    (tmp_path / "managed" / "config.yaml").write_text(json.dumps(pinned))
    host = load_host()
    entry = host.providers.entry("acme")
    assert (host.providers.get("acme").base_url, entry.base_url, entry.api_key) == (URL, URL, "k-managed")
    assert host.providers.explain("acme")[0].source == str(tmp_path / "managed" / "config.yaml")


def test_explain_names_the_file(home, load_host):
    """An entry of the home's file is explained with that file."""
    path = home.config({"custom_providers": [{"name": "Own", "base_url": URL}]})
    (verdict,) = load_host().providers.explain("own")
    assert (verdict.plugin, verdict.source) == ("custom_providers.0", str(path))
