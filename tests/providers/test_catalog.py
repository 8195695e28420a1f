"""Names and aliases lead to profiles; who claims a name, and who wins it."""

import json
import sys

import pytest

from hermes_core.testing import FakeProvider

PROFILE = """
from hermes_core import ProviderProfile
def register(ctx):
    ctx.register_provider(ProviderProfile({arguments}))
"""
LEAVES_A_TRACE = """
from pathlib import Path
with open(Path(__file__).with_name("it-ran"), "a") as file:
    file.write("x")
"""


def code(arguments):
    """A plugin's code that registers one profile."""
    return PROFILE.format(arguments=arguments)


@pytest.mark.parametrize(
    ("name", "canonical"),
    [
        ("openrouter", "openrouter"),
        ("  OpenRouter ", "openrouter"),
        ("or", "openrouter"),
        (" OR\n", "openrouter"),
        ("moonshot", "kimi-coding"),
        ("Ollama", "custom"),
        ("llama.cpp", "custom"),
    ],
)
def test_a_name_is_found_in_any_case_and_trimmed_r26_11(load_host, name, canonical):
    """A name or an alias is found whatever its case and outer blanks; an alias gives its name's one profile."""
    catalog = load_host().providers
    assert (canonical, canonical) == (catalog.get(name).name, catalog.resolve(name))
    assert catalog.get(name) is catalog.get(canonical)


@pytest.mark.parametrize("name", [None, "", "   ", 5, 5.0, [], ["openrouter"], b"openrouter", object(), "nope"])
def test_what_is_no_name_is_not_found_r26_11(load_host, name):
    """An unknown name, an empty one, and what is no text at all lead to None, and raise nothing."""
    catalog = load_host().providers
    assert (catalog.get(name), catalog.resolve(name)) == (None, "")


def test_a_profile_is_one_object(load_host):
    """A lookup gives the same object each time."""
    catalog = load_host().providers
    assert catalog.get("xiaomi") is catalog.get("MIMO")


def test_iterating_lists_each_name_once_r26_16(home, load_host):
    """Rows are sorted by name, each name once, with the winner's plugin and tier."""
    home.plugin("model-providers/xiaomi", name="xiaomi", profile={"base_url": "https://mine.test/v1"})
    rows = list(load_host().providers)
    names = [row.name for row in rows]
    assert (sorted({*names}), ("https://mine.test/v1", "user")) == (
        names,
        next((row.base_url, row.tier) for row in rows if row.name == "xiaomi"),
    )


def test_a_lookup_imports_its_own_plugin_alone(home, load_host):
    """Looking up a declared provider imports its plugin, and no other declared one."""
    folders = [
        home.plugin(name, LEAVES_A_TRACE + code(f"'{name}', base_url='u'"), name=name, profile={"base_url": "u"})
        for name in ("one", "two")
    ]
    profile = load_host().providers.get("two")
    assert (profile.name, [(folder / "it-ran").exists() for folder in folders]) == ("two", [False, True])


def test_a_plugin_that_declares_nothing_is_asked_once(home, load_host):
    """A provider plugin without a ``profile:`` block is imported at the first lookup of any name, and once."""
    folder = home.plugin("model-providers/acme", LEAVES_A_TRACE + code("'hidden', base_url='u'"))
    host = load_host()
    assert [host.providers.get(name).name for name in ("xiaomi", "hidden", "xiaomi")] == ["xiaomi", "hidden", "xiaomi"]
    assert (folder / "it-ran").read_text() == "x"


def test_what_a_plugin_offers_is_remembered(home, load_host):
    """A plugin that declares nothing is imported for its names once, not at every start."""
    folder = home.plugin("model-providers/acme", LEAVES_A_TRACE + code("'hidden', base_url='u', aliases=['hi']"))
    for _ in range(3):
        with load_host() as host:
            assert ("hidden" in host.providers.names(), host.providers.get("xiaomi").name) == (True, "xiaomi")
    with load_host() as host:
        assert host.providers.get("hi").base_url == "u"
    assert (folder / "it-ran").read_text() == "xx"


def test_what_it_was_remembered_to_offer_keeps_its_band(home, load_host):
    """A plugin that was found to offer with ``tryfirst`` wins at the next start too, before it is imported."""
    hookimpl = """
    from hermes_core import ProviderProfile, hookimpl
    @hookimpl(tryfirst=True)
    def hermes_provider_profiles():
        yield ProviderProfile("fought-for", base_url="https://first.test/v1")
    """
    home.write("providers/first.py", hookimpl)
    home.plugin("mine", name="mine", profile={"name": "fought-for", "base_url": "https://mine.test/v1"})
    found = []
    for _ in range(2):
        with load_host() as host:
            listed = [row.base_url for row in host.providers if row.name == "fought-for"]
            found.append((listed, host.providers.get("fought-for").base_url))
    assert found == [(["https://first.test/v1"], "https://first.test/v1")] * 2


@pytest.mark.parametrize("file", ["__init__.py", "names.py", "inner/names.py"])
def test_what_is_remembered_is_forgotten_when_the_code_changes(home, load_host, file):
    """After an edit of a plugin, of any file of it, its new names are found and its old ones are gone."""
    module = file.removesuffix(".py").replace("/", ".")
    home.plugin("model-providers/acme", code("'old', base_url='u'"))
    if "names" in module:
        home.plugin("model-providers/acme", f"from .{module} import NAME\n" + code("NAME, base_url='u'"))
        home.write(f"plugins/model-providers/acme/{file}", "NAME = 'old'")
    with load_host() as host:
        assert host.providers.get("old").name == "old"
    if "names" in module:
        home.write(f"plugins/model-providers/acme/{file}", "NAME = 'newer'")
    else:
        home.plugin("model-providers/acme", code("'newer', base_url='u'"))
    catalog = load_host().providers
    assert (catalog.get("newer") and catalog.get("newer").name, catalog.get("old")) == ("newer", None)


def test_a_pip_package_that_changes_is_asked_again(home, load_host, site):
    """After an edit of a module of a pip package, beside the one its entry point names, its new names are found."""
    home.path.mkdir()
    site.install("acme", {"hermes": {"acme": "names_pkg"}})
    site.write("names_pkg/__init__.py", "from .names import NAME\n" + code("NAME, base_url='u'"))
    site.write("names_pkg/names.py", "NAME = 'old'")
    with load_host() as host:
        assert host.providers.get("old").name == "old"
    for name in [name for name in sys.modules if name.startswith("names_pkg")]:
        del sys.modules[name]
    site.write("names_pkg/names.py", "NAME = 'newer'")
    assert load_host().providers.get("newer") is not None


def test_standalone_plugins_are_asked_too(home, load_host):
    """An enabled plugin that declares nothing may offer a provider as well as anything else."""
    home.plugin("acme", code("'acme', base_url='https://acme.test/v1'"), name="acme")
    host = load_host(config={"plugins": {"enabled": ["acme"]}})
    assert host.providers.get("acme").base_url == "https://acme.test/v1"


def test_a_plugin_that_declares_commands_is_not_asked_for_providers(home, load_host):
    """A plugin that says what it offers is not imported for what it does not."""
    folder = home.plugin("acme", LEAVES_A_TRACE + "def register(ctx): pass", name="acme", provides_commands=["acme"])
    host = load_host(config={"plugins": {"enabled": ["acme"]}})
    assert (host.providers.get("xiaomi").name, (folder / "it-ran").exists()) == ("xiaomi", False)


@pytest.mark.parametrize("shape", ["declared", "in code"])
def test_a_name_beats_an_alias(home, load_host, shape):
    """A provider named like another's alias is found by its name, in whatever tier either is."""
    if shape == "declared":
        home.plugin("kimi", name="kimi", profile={"base_url": "https://kimi.test/v1"})
    else:
        home.write("providers/kimi.py", code("'kimi', base_url='https://kimi.test/v1'"))
    host = load_host()
    assert (host.providers.get("kimi").base_url, host.providers.get("moonshot").name) == (
        "https://kimi.test/v1",
        "kimi-coding",
    )


def test_an_alias_never_takes_a_name(home, load_host):
    """A user's profile with a bundled provider's name among its aliases does not answer to it."""
    home.plugin("mine", name="mine", profile={"base_url": "u", "aliases": ["xiaomi", "mimo"]})
    host = load_host()
    assert (host.providers.get("xiaomi").name, host.providers.get("mimo").name) == ("xiaomi", "mine")


def test_of_two_claims_on_an_alias_the_higher_tier_wins(home, load_host):
    """An alias that two providers claim leads to the one asked first."""
    home.write("providers/low.py", code("'low', base_url='u', aliases=['both']"))
    home.plugin("high", name="high", profile={"base_url": "u", "aliases": ["both"]})
    assert load_host().providers.get("both").name == "high"


def test_an_alias_of_a_shadowed_profile_leads_to_the_name_r26_16(home, load_host):
    """An alias that only the shadowed profile had goes on leading to the name, and to its winner."""
    home.plugin("model-providers/xiaomi", name="xiaomi", profile={"base_url": "https://mine.test/v1"})
    assert load_host().providers.get("mimo").base_url == "https://mine.test/v1"


@pytest.mark.parametrize(
    ("config", "state"),
    [
        pytest.param({"plugins": {"disabled": ["acme-xiaomi"]}}, "off", id="one that is disabled"),
        pytest.param({}, "failed", id="one that fails to load"),
    ],
)
@pytest.mark.parametrize("declared", [True, False], ids=["declared", "in code"])
def test_a_shadower_that_falls_away_gives_the_name_back_r26_16(home, load_host, config, state, declared):
    """A shadowing plugin that is disabled or fails gives the name back to the next one down, aliases too."""
    manifest = {"profile": {"name": "xiaomi", "base_url": "u"}} if declared else {}
    home.plugin("acme-xiaomi", "raise RuntimeError('boom')", name="acme-xiaomi", kind="model-provider", **manifest)
    host = load_host(config=config)
    found = [host.providers.get(name).base_url for name in ("xiaomi", "mimo")]
    assert (["https://api.xiaomimimo.com/v1"] * 2, state) == (found, host.plugin("acme-xiaomi").state)


def test_a_declared_plugin_whose_code_does_not_offer_it_fails(home, load_host):
    """A plugin that declares a profile which its code does not offer fails by name, and gives the name back."""
    home.plugin(
        "acme-xiaomi", code("'other', base_url='u'"), name="x", kind="model-provider", profile={"name": "xiaomi"}
    )
    host = load_host()
    assert host.providers.get("xiaomi").base_url == "https://api.xiaomimimo.com/v1"
    row = host.plugin("x")
    assert (row.state, "xiaomi" in row.reason and "does not offer it" in row.reason) == ("failed", True)


@pytest.mark.parametrize("option", ["tryfirst=True", "trylast=True", ""])
@pytest.mark.parametrize("first", ["get", "explain"])
def test_get_and_explain_agree(home, load_host, option, first):
    """The profile that ``get`` returns is the one ``explain`` says wins, whatever band the code turns out to be in."""
    hookimpl = f"""
    from hermes_core import ProviderProfile, hookimpl
    @hookimpl({option})
    def hermes_provider_profiles():
        yield ProviderProfile("xiaomi", base_url="https://mine.test/v1")
    """
    home.plugin("mine", hookimpl, name="mine", profile={"name": "xiaomi", "base_url": "https://mine.test/v1"})
    host = load_host()
    if first == "explain":
        host.providers.explain("xiaomi")
    profile = host.providers.get("xiaomi")
    (winner,) = [verdict.tier for verdict in host.providers.explain("xiaomi") if verdict.status == "wins"]
    expected = "bundled" if option == "trylast=True" else "user"
    assert (expected, expected) == (winner, "user" if "mine" in profile.base_url else "bundled")


def test_explain_says_who_and_why_r04_07(home, load_host, site):
    """``explain`` gives the chain in call order: winner, shadowed ones with by whom, those off or failed with why."""
    folder = home.plugin("acme", name="acme", profile={"name": "xiaomi", "base_url": "https://mine.test/v1"})
    home.plugin("broken", "1 / 0", name="broken", profile={"name": "xiaomi"})
    home.plugin("denied", name="denied", profile={"name": "xiaomi"})
    site.install("pip-acme", {"hermes": {"pip": "pip_mod"}}, pip_mod=code("'xiaomi', base_url='u'"))
    chain = load_host(config={"plugins": {"disabled": ["denied"]}}).providers.explain(" Xiaomi ")
    assert [
        ("wins", "user", "acme", str(folder), "", ""),
        ("shadowed", "entrypoint", "pip", "pip-acme 1.0", "by user plugin acme", ""),
        ("shadowed", "bundled", "model-providers/xiaomi", None, "by user plugin acme", ""),
        ("off", "user", "denied", None, "disabled via config", "hermes plugins enable denied"),
        ("failed", "user", "broken", None, "ZeroDivisionError: division by zero", "hermes plugins disable broken"),
    ] == [
        (v.status, v.tier, v.plugin, v.source if v.plugin in {"acme", "pip"} else None, v.reason, v.remedy)
        for v in chain
    ]


@pytest.mark.parametrize(("name", "expected"), [("mimo", ["wins"]), ("nope", [])])
def test_explain_takes_aliases_and_unknown_names(load_host, name, expected):
    """``explain`` follows an alias; nobody claims an unknown name."""
    assert [verdict.status for verdict in load_host().providers.explain(name)] == expected


def test_a_shadowing_is_shown_on_the_command_line_r04_07(home, capsys):
    """``hermes providers explain`` says that a user's plugin overrides the bundled one, with its path."""
    from hermes_core.cli.main import main

    folder = home.plugin("acme", name="acme", profile={"name": "xiaomi", "base_url": "https://mine.test/v1"})
    assert main(["providers", "explain", "xiaomi", "--json"]) == 0
    chain = json.loads(capsys.readouterr().out)
    assert [("wins", str(folder)), ("shadowed", "bundled")] == [
        (verdict["status"], verdict["source"] if verdict["status"] == "wins" else verdict["tier"]) for verdict in chain
    ]


def test_registering_twice_replaces(home, load_host):
    """A profile registered later under the same name replaces the earlier one, at once and with its aliases."""
    home.plugin("model-providers/acme", code("'acme', base_url='https://one.test/v1', aliases=['a1']"))
    host = load_host()
    first = host.providers.get("acme").base_url
    from hermes_core import ProviderProfile

    host.context("model-providers/acme").register_provider(
        ProviderProfile("acme", base_url="https://two.test/v1", aliases=["a2"])
    )
    found = [host.providers.get(name).base_url for name in ("acme", "a1", "a2")]
    assert (first, found) == ("https://one.test/v1", ["https://two.test/v1"] * 3)


def test_names_in_any_case_are_one_name(home, load_host):
    """A profile named in capitals is found in lower case, and shadows the one in lower case."""
    home.plugin("mine", name="mine", profile={"name": "XiaoMi", "base_url": "https://mine.test/v1"})
    assert load_host().providers.get("xiaomi").base_url == "https://mine.test/v1"


def test_words_are_names_and_aliases(load_host):
    """``words`` has every name and every alias, for suggestions."""
    words = load_host().providers.words()
    assert {"xiaomi", "mimo", "openrouter", "or"} <= {*words}


@pytest.mark.parametrize("where", ["name", "aliases"])
def test_a_profile_object_with_odd_fields_disturbs_nobody(home, load_host, where):
    """A profile object whose name or aliases are no text costs its own plugin, not the catalog."""
    arguments = {"name": "5, base_url='u'", "aliases": "'acme', base_url='u', aliases=[None, 5]"}[where]
    home.plugin("model-providers/acme", code(arguments))
    assert load_host().providers.get("mimo").name == "xiaomi"


def test_a_foreign_profile_class_will_do(home, load_host):
    """A profile is known by its members: a package's own base class with fewer fields is listed and found."""
    text = """
    class Foreign:
        name = "acme"
        base_url = "https://acme.test/v1"
        aliases = ("ac",)
        def build_api_kwargs_extras(self, **context): return {}, {}
    def register(ctx):
        ctx.register_provider(Foreign())
    """
    home.plugin("model-providers/acme", text)
    host = load_host()
    rows = [(row.name, row.aliases, row.api_mode) for row in host.providers if row.name == "acme"]
    assert (host.providers.get("ac").base_url, rows) == (
        "https://acme.test/v1",
        [("acme", ("ac",), "chat_completions")],
    )


def test_a_foreign_profile_class_answers_calls(load_host):
    """What such a class lacks is as usual, its own hooks count, and a call through it is answered."""

    class Foreign:
        name = "acme"
        auth_type = "none"
        fallback_models = ("m",)

        def __init__(self, base_url):
            self.base_url = base_url

        def build_api_kwargs_extras(self, **context):
            return {"own": 1}, {}

    with FakeProvider() as server:
        host = load_host(config={"model": {"provider": "acme"}})
        host.program_context().register_provider(Foreign(server.base_url))
        answer = host.llm("p").complete([{"role": "user", "content": "ping"}], max_tokens=7)
    assert (answer.text, answer.provider) == ("pong", "acme")
    body = server.requests[0].body
    assert (body["model"], body["own"], body["max_tokens"]) == ("m", 1, 7)


def test_the_tiers_of_a_name_are_those_of_all_who_claim_it(home, load_host):
    """``tiers`` has the tier of each claim on a name, shadowed ones too; nobody claims an unknown name."""
    home.plugin("mine", name="mine", profile={"name": "xiaomi", "base_url": "u"})
    catalog = load_host().providers
    assert (catalog.tiers("xiaomi"), catalog.tiers("nope")) == ({"user", "bundled"}, set())
