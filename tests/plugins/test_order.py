"""In which order plugins are asked: pluggy's, had all of them been registered in rising order of intent."""

import json
from pathlib import Path

import pluggy
import pytest
from hermes_hookspecs import PROJECT, SPECS, hookimpl
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes_core.plugins.index import Index
from hermes_core.plugins.manifest import Manifest
from hermes_core.plugins.plugin import TIERS, Plugin
from hermes_core.plugins.registry import PluginRegistry

BANDS = ({}, {"tryfirst": True}, {"trylast": True})
HOOKS = ("hermes_turn_end", "hermes_session_end", "hermes_llm_done")


class _Services:
    home = Path("/nowhere")

    def llm(self, plugin_id):
        raise NotImplementedError

    def offered_more(self, context):
        """Nothing more is offered here."""


def _plugin_object(bands):
    """An object with one implementation of each hook, in the bands given; None leaves the hook out."""

    class Native:
        pass

    for hook, band in zip(HOOKS, bands, strict=True):
        if band is not None:
            exec(f"def {hook}(self): return self", namespace := {})
            setattr(Native, hook, hookimpl(**BANDS[band])(namespace[hook]))
    return Native()


def _plain_order(objects, hook):
    """The order in which pluggy itself calls them."""
    manager = pluggy.PluginManager(PROJECT)
    for specs in SPECS:
        manager.add_hookspecs(specs)
    for number, target in enumerate(objects):
        manager.register(target, name=str(number))
    return [int(impl.plugin_name) for impl in reversed(getattr(manager.hook, hook).get_hookimpls())]


_bands = st.tuples(*[st.one_of(st.none(), st.integers(0, 2))] * len(HOOKS))


@settings(max_examples=60)
@given(st.data())
def test_the_order_is_pluggys(data):
    """For any mix of tiers and bands, loaded in any order, the order is that of pluggy registering by tier."""
    drawn = data.draw(st.lists(st.tuples(st.sampled_from(TIERS), _bands), min_size=1, max_size=8))
    drawn.sort(key=lambda item: TIERS.index(item[0]))
    objects = [_plugin_object(bands) for _, bands in drawn]
    registry = PluginRegistry([], _Services(), Index(Path("/nowhere/plugins.json")))
    for order in data.draw(st.permutations(range(len(drawn)))):
        row = Plugin(key=f"p{order}", tier=drawn[order][0], order=order, manifest=Manifest(name=f"p{order}"))
        registry.context(row).registrations.natives.append(objects[order])
        registry.adopt(row)
    for hook in HOOKS:
        assert _plain_order(objects, hook) == [impl.plugin.order for impl in registry.implementations(hook)]


PROVIDER = """
from hermes_core import Command, ProviderProfile, hookimpl
@hookimpl{options}
def hermes_provider_profiles():
    yield ProviderProfile("fought-for", base_url="https://{who}.test/v1", aliases=["{who}-alias"])
@hookimpl{options}
def hermes_commands():
    yield Command(name="fought-for", handler=lambda raw: "{who}")
"""
TIERED = ("legacy", "entrypoint", "user", "project")


@pytest.fixture
def offer_in(home, site, tmp_path, monkeypatch):
    """Have a tier's plugin offer the provider ``fought-for``, and but for the legacy one the command too."""
    project = type(home)(tmp_path / "project" / ".hermes")
    project.path.mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "project")
    monkeypatch.setenv("HERMES_ENABLE_PROJECT_PLUGINS", "1")
    site.write("bundled_pkg/__init__.py", "")

    def offer(tier, options=""):
        code = PROVIDER.format(who=tier, options=options)
        if tier == "bundled":
            site.install("hermes-plugin-host", {"hermes": {"more": "bundled_pkg"}})
            site.write("bundled_pkg/commands/acme/__init__.py", code)
            site.write("bundled_pkg/index.json", json.dumps({"commands/acme": {"name": "bundled"}}))
        elif tier == "legacy":
            home.write("providers/old.py", code)
        elif tier == "entrypoint":
            site.install("pip-acme", {"hermes": {"pip": "pip_mod"}}, pip_mod=code)
        else:
            (project if tier == "project" else home).plugin(f"of-{tier}", code, name=f"of-{tier}")

    return offer


CONFIG = {"plugins": {"enabled": ["of-user", "of-project", "pip"]}}


@pytest.mark.parametrize("above", range(1, 5), ids=TIERED)
def test_each_tier_overrides_those_below_it(offer_in, load_host, above):
    """The order is bundled, legacy files, pip packages, user folders, project folders: the last one wins."""
    tiers = ("bundled", *TIERED)[: above + 1]
    for tier in tiers:
        offer_in(tier)
    host = load_host(config=CONFIG)
    assert f"https://{tiers[-1]}.test/v1" == host.providers.get("fought-for").base_url
    verdicts = [(verdict.status, verdict.tier) for verdict in host.providers.explain("fought-for")]
    assert [("wins", tiers[-1]), *(("shadowed", tier) for tier in reversed(tiers[:-1]))] == verdicts


@pytest.mark.parametrize(
    ("options", "winner", "order"),
    [
        pytest.param({}, "user", ["user", "entrypoint", "bundled"], id="plain: the highest tier"),
        pytest.param({"bundled": "(tryfirst=True)"}, "bundled", ["bundled", "user", "entrypoint"], id="one first"),
        pytest.param({"user": "(trylast=True)"}, "entrypoint", ["entrypoint", "bundled", "user"], id="one last"),
        pytest.param(
            dict.fromkeys(("bundled", "entrypoint", "user"), "(tryfirst=True)"),
            "user",
            ["user", "entrypoint", "bundled"],
            id="all first: the highest tier",
        ),
        pytest.param(
            dict.fromkeys(("bundled", "entrypoint", "user"), "(trylast=True)"),
            "bundled",
            ["bundled", "entrypoint", "user"],
            id="all last: the lowest tier",
        ),
    ],
)
def test_bands_trump_tiers(offer_in, load_host, options, winner, order):
    """``tryfirst`` and ``trylast`` trump the tiers, for providers and for commands."""
    for tier in ("bundled", "entrypoint", "user"):
        offer_in(tier, options.get(tier, ""))
    host = load_host(config=CONFIG)
    assert (f"https://{winner}.test/v1", winner, order) == (
        host.providers.get("fought-for").base_url,
        host.run_command("fought-for"),
        [verdict.tier for verdict in host.providers.explain("fought-for")],
    )


def test_the_order_of_loading_does_not_count(offer_in, load_host):
    """A tier that is loaded late, because something else needed the others first, has its place all the same."""
    for tier in ("bundled", "entrypoint", "user"):
        offer_in(tier)
    host = load_host(config=CONFIG)
    for key in ("of-user", "commands/acme", "pip"):
        host._registry.load(host.plugin(key))
    assert (
        host.providers.get("fought-for").base_url,
        host.run_command("fought-for"),
    ) == ("https://user.test/v1", "user")


def test_what_the_program_offers_is_above_every_plugin(offer_in, load_host):
    """What the embedding program registers itself wins over every tier."""
    from hermes_core import ProviderProfile

    offer_in("project")
    host = load_host(config=CONFIG)
    ctx = host.program_context()
    ctx.register_provider(ProviderProfile("fought-for", base_url="https://program.test/v1"))
    ctx.register_command("fought-for", handler=lambda raw: "program")
    assert ("https://program.test/v1", "program", ctx) == (
        host.providers.get("fought-for").base_url,
        host.run_command("fought-for"),
        host.program_context(),
    )


@pytest.mark.parametrize(
    ("offer", "winner"),
    [
        pytest.param("register_command('x', handler=lambda raw: '{0}')", "aa", id="a command: the first"),
        pytest.param(
            "register_cli_command('x', help='', setup_fn=lambda parser: '{0}')",
            "aa",
            id="a command-line tree: the first",
        ),
        pytest.param("register_provider(ProviderProfile('x', base_url='{0}'))", "bb", id="a profile: the last"),
    ],
)
def test_within_a_tier(home, load_host, offer, winner):
    """Within a tier the first keeps the name of a command, and the last writer has the name of a profile."""
    for name in ("aa", "bb"):
        code = f"from hermes_core import ProviderProfile\ndef register(ctx): ctx.{offer.format(name)}"
        home.plugin(name, code, name=name)
    host = load_host(config={"plugins": {"enabled": ["aa", "bb"]}})
    if "cli" in offer:
        found = host.cli_commands["x"].plugin
    else:
        found = host.run_command("x") if "command" in offer else host.providers.get("x").base_url
    assert found == winner


def test_a_higher_tier_replaces_a_command_line_tree(home, load_host, site):
    """A user folder's command-line tree replaces a pip package's of the same name."""
    code = "def register(ctx): ctx.register_cli_command('x', help='', setup_fn=print)"
    site.install("pip-acme", {"hermes": {"pip": "pip_mod"}}, pip_mod=code)
    home.plugin("mine", code, name="mine")
    assert load_host(config={"plugins": {"enabled": ["mine"]}}).cli_commands["x"].plugin == "mine"


def test_within_a_plugin_the_last_profile_wins(home, load_host):
    """Of two profiles of one name that one plugin registers, the later replaces the earlier."""
    code = """
    from hermes_core import ProviderProfile
    def register(ctx):
        for number in (1, 2):
            ctx.register_provider(ProviderProfile("acme", base_url=f"https://{number}.test/v1"))
    """
    home.plugin("model-providers/acme", code)
    assert load_host().providers.get("acme").base_url == "https://2.test/v1"


def test_reserved_commands_are_the_hosts_own(home, load_host, caplog):
    """No plugin offers a command without a name, or by one of the host's own, by whatever shape; each is warned of."""
    code = """
    from hermes_core import Command, hookimpl
    @hookimpl
    def hermes_commands():
        yield Command(name="Reset", handler=str.upper)
    def register(ctx):
        ctx.register_command("/help", handler=str.upper)
        ctx.register_command("", handler=str.upper)
        ctx.register_command("mine", handler=str.upper)
    """
    home.plugin("acme", code, name="acme")
    host = load_host(config={"plugins": {"enabled": ["acme"]}})
    assert {"mine"} == {command.name for command in host.commands.values() if command.plugin == "acme"}
    warned = " ".join(record.getMessage() for record in caplog.records if "ignored" in record.getMessage())
    assert [warned.count(words) for words in ("'/help': the name is", "'': it has no name", "command=/reset")] == [
        1,
        1,
        1,
    ]


@pytest.mark.parametrize("offered", ["Fought_For", "/fought-for", "  FOUGHT   for "])
@pytest.mark.parametrize("asked", ["fought-for", "/Fought_for", "fought for"])
def test_a_command_has_one_spelling(home, load_host, offered, asked):
    """However a command is written by its plugin and by the user, it is one name."""
    code = f"def register(ctx): ctx.register_command({offered!r}, handler=lambda raw: raw)"
    home.plugin("acme", code, name="acme")
    assert load_host(config={"plugins": {"enabled": ["acme"]}}).run_command(asked, " yes ") == "yes"
