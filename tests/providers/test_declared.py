"""Providers that are data: a ``profile:`` block, alone or on top of another profile."""

import pytest

from hermes_core import OMIT_TEMPERATURE, ProviderProfile

CODE = """
from hermes_core import ProviderProfile
class Special(ProviderProfile):
    def build_extra_body(self, **context):
        return {"special": True}
def register(ctx):
    ctx.register_provider(Special("special", base_url="https://special.test/v1", aliases=["sp"], hostname="h.test"))
"""


def declare(home, folder, **profile):
    """A user's plugin that is a profile block and nothing else."""
    return home.plugin(folder, name=folder, profile=profile)


def test_a_block_alone_is_a_provider(home, load_host):
    """A manifest with a ``profile:`` block is a provider, without a line of Python."""
    block = {
        "base_url": "https://acme.test/v1",
        "aliases": ["ac"],
        "env_vars": ["ACME_API_KEY"],
        "fallback_models": ["acme-1"],
        "default_headers": {"X-From": "test"},
        "fixed_temperature": 0.5,
        "auto_rank": None,
    }
    declare(home, "acme", **block)
    host = load_host()
    profile = host.providers.get("ac")
    assert {**block, "aliases": ("ac",), "env_vars": ("ACME_API_KEY",), "fallback_models": ("acme-1",)} == {
        field: getattr(profile, field) for field in block
    }
    assert (profile.name, host.plugin("acme").state, host.plugin("acme").kind) == ("acme", "ready", "model-provider")


def test_a_manifest_may_declare_several(home, load_host):
    """``profile:`` may be a list; each block has its own name."""
    home.plugin("pair", name="pair", profile=[{"name": "one", "base_url": "u1"}, {"name": "two", "base_url": "u2"}])
    catalog = load_host().providers
    assert [catalog.get(name).base_url for name in ("one", "two")] == ["u1", "u2"]


def test_omit_is_the_sentinel(home, load_host):
    """``fixed_temperature: omit`` in a manifest is ``OMIT_TEMPERATURE``."""
    declare(home, "acme", base_url="u", fixed_temperature="omit")
    assert load_host().providers.get("acme").fixed_temperature is OMIT_TEMPERATURE


def test_omit_is_the_sentinel_beside_code_too(home, load_host):
    """A profile that code builds from its manifest's block has the sentinel for ``fixed_temperature: omit`` as well."""
    code = """
    from hermes_core import ProviderProfile, hookimpl
    @hookimpl
    def hermes_provider_profiles(ctx):
        yield ctx.declared_profile(ProviderProfile)
    """
    home.plugin("acme", code, name="acme", profile={"base_url": "u", "fixed_temperature": "omit"})
    assert load_host().providers.get("acme").fixed_temperature is OMIT_TEMPERATURE


def test_code_may_build_one_of_several_declared_profiles(home, load_host):
    """``ctx.declared_profile(cls, name)`` builds the block of that name; an undeclared name fails the plugin."""
    code = """
    from hermes_core import ProviderProfile
    def register(ctx):
        for name in ("one", "two"):
            ctx.register_provider(ctx.declared_profile(ProviderProfile, name))
        if {0}:
            ctx.declared_profile(ProviderProfile, "three")
    """
    profile = [{"name": "one", "base_url": "u1"}, {"name": "two", "base_url": "u2"}]
    home.plugin("good", code.replace("{0}", "False"), name="good", profile=profile)
    host = load_host()
    assert [host.providers.get(name).base_url for name in ("one", "two")] == ["u1", "u2"]
    home.plugin("good", code.replace("{0}", "True"), name="good", profile=profile)
    host = load_host()
    assert (host.providers.get("one"), "declares no profile 'three'" in host.plugin("good").reason) == (None, True)


def test_unknown_fields_are_kept(home, load_host):
    """A field of a block that this host does not know is an attribute of the profile."""
    declare(home, "acme", base_url="u", from_the_future=7)
    assert load_host().providers.get("acme").from_the_future == 7


def test_the_three_line_override(home, load_host):
    """``extends`` under the same name changes the named fields of what a lower tier offers, and keeps the rest."""
    declare(home, "mine", name="openrouter", extends="openrouter", base_url="https://proxy.test/v1")
    catalog = load_host().providers
    profile = catalog.get("or")
    assert (
        profile.name,
        profile.base_url,
        profile.aliases,
        profile.get_hostname(),
        type(profile).__name__,
    ) == ("openrouter", "https://proxy.test/v1", ("or",), "proxy.test", "OpenRouterProfile")


def test_the_overridden_profile_is_left_as_it_was(home, load_host):
    """Extending a profile changes a copy: the shadowed one keeps its fields."""
    home.plugin("special", CODE, name="special", kind="model-provider")
    declare(home, "tother", name="other", extends="special", base_url="https://other.test/v1", aliases=["ot"])
    catalog = load_host().providers
    other, special = catalog.get("other"), catalog.get("special")
    assert (special.base_url, special.aliases, special.hostname) == ("https://special.test/v1", ("sp",), "h.test")
    assert (other.base_url, other.aliases, other.get_hostname()) == ("https://other.test/v1", ("ot",), "other.test")


def test_another_name_inherits_all_but_name_and_aliases(home, load_host):
    """``extends`` under another name is a provider of its own: hooks and fields are the base's, aliases are not."""
    home.plugin("special", CODE, name="special", kind="model-provider")
    declare(home, "tother", name="other", extends="special")
    catalog = load_host().providers
    other = catalog.get("other")
    assert (
        other.name,
        other.aliases,
        other.build_extra_body(),
        other.base_url,
        catalog.get("sp").name,
    ) == ("other", (), {"special": True}, "https://special.test/v1", "special")


@pytest.mark.parametrize("base", ["or", " OpenRouter "], ids=["an alias", "other case"])
def test_the_base_may_be_written_as_any_name(home, load_host, base):
    """``extends`` takes an alias, and any case; row and profile agree on what is inherited."""
    declare(home, "mine", extends=base)
    catalog = load_host().providers
    (row,) = [row for row in catalog if row.name == "mine"]
    profile = catalog.get("mine")
    expected = "https://openrouter.ai/api/v1"
    assert (expected, expected, ("OPENROUTER_API_KEY", "OPENROUTER_BASE_URL")) == (
        profile.base_url,
        row.base_url,
        row.env_vars,
    )


def test_a_chain_of_overrides(home, load_host, tmp_path, monkeypatch):
    """Each tier may extend the one below it; a field comes from the highest tier that names it."""
    project = type(home)(tmp_path / "project" / ".hermes")
    declare(home, "mine", name="xiaomi", extends="xiaomi", base_url="https://user.test/v1", default_max_tokens=1)
    declare(project, "theirs", name="xiaomi", extends="xiaomi", default_max_tokens=2)
    monkeypatch.chdir(tmp_path / "project")
    monkeypatch.setenv("HERMES_ENABLE_PROJECT_PLUGINS", "1")
    catalog = load_host().providers
    profile = catalog.get("mimo")
    assert (profile.base_url, profile.default_max_tokens, profile.supports_vision) == ("https://user.test/v1", 2, True)
    (row,) = [row for row in catalog if row.name == "xiaomi"]
    assert (row.base_url, row.aliases) == ("https://user.test/v1", ("mimo", "xiaomi-mimo"))


def test_a_chain_of_names(home, load_host):
    """A provider may extend one that extends another."""
    declare(home, "a", extends="xiaomi", default_max_tokens=1)
    declare(home, "b", extends="a", base_url="https://b.test/v1")
    profile = load_host().providers.get("b")
    assert (
        profile.name,
        profile.base_url,
        profile.default_max_tokens,
        profile.fallback_models,
    ) == ("b", "https://b.test/v1", 1, ("mimo-v2.5",))


@pytest.mark.parametrize(
    ("profile", "words"),
    [
        pytest.param({"extends": "nowhere"}, ["'nowhere'", "profile.extends"], id="a base nobody offers"),
        pytest.param({"extends": "acme"}, ["'acme'", "profile.extends"], id="itself"),
    ],
)
def test_a_base_that_is_not_there_fails_the_plugin(home, load_host, profile, words):
    """A profile whose base is nowhere below it is refused with the base's name and the file."""
    folder = declare(home, "acme", **profile)
    host = load_host()
    assert host.providers.get("acme") is None
    row = host.plugin("acme")
    assert (row.state, [word for word in [*words, str(folder)] if word not in row.reason]) == ("failed", [])


def test_two_that_extend_each_other_both_fail(home, load_host):
    """Profiles that extend each other in a ring are refused, and no lookup hangs."""
    declare(home, "a", extends="b")
    declare(home, "b", extends="a")
    host = load_host()
    assert ([host.providers.get(name) for name in "ab"], host.providers.get("mimo").name) == ([None, None], "xiaomi")


def test_an_override_of_what_is_switched_off_fails(home, load_host):
    """Extending a provider that is disabled has no base, and says so."""
    declare(home, "mine", name="xiaomi", extends="xiaomi", base_url="u")
    host = load_host(config={"plugins": {"disabled": ["model-providers/xiaomi"]}})
    assert (host.providers.get("xiaomi"), host.plugin("mine").state) == (None, "failed")


def test_rows_of_declared_providers_need_no_import(home, load_host):
    """Listing shows a declared provider's inherited address although neither plugin was imported."""
    declare(home, "mine", extends="openrouter")
    host = load_host()
    (row,) = [row for row in host.providers if row.name == "mine"]
    assert (row.base_url, host.plugin("model-providers/openrouter").state) == ("https://openrouter.ai/api/v1", "ready")


def test_a_declared_profile_is_a_provider_profile(home, load_host):
    """A block becomes a ``ProviderProfile`` with the default hooks."""
    declare(home, "acme", base_url="https://acme.test/v1")
    profile = load_host().providers.get("acme")
    assert (ProviderProfile, {}, ({}, {})) == (
        type(profile),
        profile.build_extra_body(session_id="s"),
        profile.build_api_kwargs_extras(),
    )


BAD = [
    pytest.param({"name": "bad", "extends": "nosuch"}, "'nosuch'", id="extends what nobody offers"),
    pytest.param({"name": "bad", "extends": "bad"}, "'bad'", id="extends itself"),
]


@pytest.mark.parametrize(("bad", "reason"), BAD)
@pytest.mark.parametrize(
    "asked",
    [("one", "bad", "two"), ("bad", "one", "two"), ("one", "two", "bad")],
    ids=["between", "first", "last"],
)
@pytest.mark.parametrize("code", [None, "def register(ctx): pass"], ids=["without code", "with code"])
def test_one_bad_block_is_lost_alone(home, load_host, bad, reason, asked, code):
    """Of a manifest with several profiles only the bad one is lost, in whatever order they are asked for."""
    blocks = [{"name": name, "base_url": f"https://{name}.test/v1"} for name in ("one", "two")]
    home.plugin("model-providers/many", code, profile=[blocks[0], bad, blocks[1]])
    host = load_host()
    for _ in range(2):
        found = {name: bool(host.providers.get(name)) for name in asked}
        assert (found, "bad" in host.providers.names()) == ({"one": True, "two": True, "bad": False}, False)
    (verdict,) = host.providers.explain("bad")
    assert (verdict.status, verdict.plugin, reason in verdict.reason) == ("failed", "model-providers/many", True)
    row = host.plugin("model-providers/many")
    assert (row.state != "failed", reason in row.reason) == (True, True)


def test_a_plugin_whose_every_block_is_bad_has_failed(home, load_host):
    """A plugin that loses all of its profiles is a failed row."""
    home.plugin("model-providers/many", None, profile=[{"name": name, "extends": "nosuch"} for name in ("one", "two")])
    host = load_host()
    assert [host.providers.get(name) for name in ("one", "two")] == [None, None]
    assert host.plugin("model-providers/many").state == "failed"
    assert [host.providers.explain(name)[0].status for name in ("one", "two")] == ["failed", "failed"]


@pytest.mark.parametrize("written", ["", "  ", None])
def test_a_profile_without_a_name_bears_the_plugins(home, load_host, written):
    """An empty ``profile.name`` says nothing: the manifest's name counts."""
    home.plugin(
        "model-providers/acme", None, name="acme", profile={"name": written, "base_url": "https://acme.test/v1"}
    )
    assert load_host().providers.get("acme").base_url == "https://acme.test/v1"
