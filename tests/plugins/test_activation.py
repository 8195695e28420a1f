"""Who may load: every row of the activation table, and what is said to the others."""

import json

import pytest

LEAVES_A_TRACE = """
from pathlib import Path
Path(__file__).with_name("it-ran").touch()
def register(ctx): pass
"""


@pytest.fixture
def everything(home, site, tmp_path, monkeypatch):
    """A plugin of every tier, kind and group."""
    home.write("providers/legacy.py", "def register(ctx): pass")
    groups = ("hermes", "hermes_agent.plugins", "hermes_agent.model_providers", "hermes_agent.memory_providers")
    for group in groups:
        name = "pip-" + group.rpartition(".")[2].replace("_", "-")
        site.install(name, {group: {name: "pip_mod"}})
    site.write("pip_mod.py", "def register(ctx): pass")
    home.plugin("standalone", "def register(ctx): pass", name="standalone")
    home.plugin("backend", "def register(ctx): pass", name="backend", kind="backend")
    home.plugin("image_gen/openai", "def register(ctx): pass", name="pictures")
    home.plugin("model-providers/provider", "def register(ctx): pass")
    home.plugin("flat-provider", "def register(ctx): pass", name="flat-provider", kind="model-provider")
    home.plugin("data", name="data", profile={"base_url": "https://data.test"})
    home.plugin("memory/notes", "def register(ctx): pass", name="notes")
    type(home)(tmp_path / "project" / ".hermes").plugin("of-project", "def register(ctx): pass", name="of-project")
    monkeypatch.chdir(tmp_path / "project")
    monkeypatch.setenv("HERMES_ENABLE_PROJECT_PLUGINS", "1")


def states(host):
    """Key → state, of all but the bundled plugins."""
    return {row.key: row.state for row in host.plugins if row.tier != "bundled"}


def bundled_states(host):
    """The states of the bundled plugins that are on by default; a memory provider waits to be chosen."""
    rows = [row for row in host.plugins if row.tier == "bundled" and row.kind != "exclusive"]
    return {row.state for row in rows if row.manifest.default_on}


def test_some_bundled_plugins_wait_to_be_enabled(load_host):
    """A bundled plugin that is off by default says so, and how to enable it; named, it is ready."""
    row = load_host().plugin("otel")
    assert (row.state, row.reason, row.remedy) == (
        "off",
        "off by default",
        "hermes plugins enable observability/otel",
    )
    assert load_host(config={"plugins": {"enabled": ["otel"]}}).plugin("otel").state == "ready"


UNTOLD = {
    "providers/legacy": "ready",
    "pip-hermes": "ready",
    "pip-plugins": "off",
    "model-providers/pip-model-providers": "ready",
    "memory/pip-memory-providers": "off",
    "standalone": "off",
    "backend": "off",
    "image_gen/openai": "off",
    "model-providers/provider": "ready",
    "flat-provider": "ready",
    "data": "ready",
    "memory/notes": "off",
    "of-project": "off",
}


def test_what_may_load_when_nothing_is_configured(everything, load_host):
    """Bundled plugins but some, providers and native packages are on; everything else waits to be named."""
    host = load_host()
    assert (UNTOLD, {"ready"}) == (states(host), bundled_states(host))


def test_what_may_load_when_it_is_named(everything, load_host):
    """Naming a plugin in ``plugins.enabled`` lets it load, but for memory providers."""
    host = load_host(config={"plugins": {"enabled": [*UNTOLD]}})
    off = [key for key, state in states(host).items() if state != "ready"]
    assert sorted(off) == ["memory/notes", "memory/pip-memory-providers"]


def test_nothing_loads_that_is_named_in_disabled(everything, load_host):
    """Deny beats allow: a plugin in both lists is off, whatever its tier and kind."""
    keys = [row.key for row in load_host().plugins]
    lists = {"enabled": keys, "disabled": keys}
    host = load_host(config={"plugins": lists, "memory": {"provider": "notes"}})
    assert {("off", "disabled via config")} == {(row.state, row.reason) for row in host.plugins}


@pytest.mark.parametrize("word", ["image_gen/openai", "pictures"], ids=["its key", "its bare name"])
@pytest.mark.parametrize(("list_name", "state"), [("enabled", "ready"), ("disabled", "off")])
def test_key_and_bare_name_both_work(everything, load_host, word, list_name, state):
    """A list may name a plugin by its key or by its manifest's name."""
    config = {"plugins": {"enabled": ["pictures"] if list_name == "disabled" else [], list_name: [word]}}
    if list_name == "disabled":
        config["plugins"]["enabled"] = ["image_gen/openai"]
    assert load_host(config=config).plugin("image_gen/openai").state == state


@pytest.mark.parametrize("word", ["commands/tldr", "tldr"])
def test_a_bundled_plugin_can_be_disabled(load_host, word):
    """A bundled plugin is off when ``plugins.disabled`` names it, by key or by name."""
    host = load_host(config={"plugins": {"disabled": [word]}})
    row = host.plugin("commands/tldr")
    assert (
        row.state,
        row.reason,
        row.remedy,
        "tldr" in host.commands,
    ) == ("off", "disabled via config", "hermes plugins enable commands/tldr", False)


def test_a_disabled_provider_is_not_offered(load_host):
    """A disabled provider is unknown to the catalog, and ``explain`` says that it is off."""
    host = load_host(config={"plugins": {"disabled": ["model-providers/xiaomi"]}})
    assert host.providers.get("xiaomi") is None
    assert [(row.status, row.reason) for row in host.providers.explain("xiaomi")] == [("off", "disabled via config")]


@pytest.mark.parametrize(
    "value",
    [
        pytest.param("standalone", id="a string"),
        pytest.param({"standalone": True}, id="a mapping"),
        pytest.param(5, id="a number"),
        pytest.param(None, id="nothing"),
        pytest.param([None, 5, ["standalone"], {"standalone": 1}], id="a list of other things"),
    ],
)
def test_a_malformed_list_counts_as_empty(everything, load_host, value):
    """A list that is none allows nothing and denies nothing."""
    assert states(load_host(config={"plugins": {"enabled": value, "disabled": value}})) == UNTOLD


def test_a_malformed_list_is_warned_of(home, load_host, caplog):
    """An ``enabled`` that is no list is warned of by its key, for somebody meant something by it."""
    load_host(config={"plugins": {"enabled": "acme"}})
    assert ["plugins.enabled" in record.getMessage() for record in caplog.records] == [True]


def test_a_name_in_enabled_that_is_nowhere_is_warned_of_r04_09(home, load_host, caplog):
    """A name in ``plugins.enabled`` that no plugin has is warned of once, with where plugins are looked for."""
    home.plugin("acme", "", name="acme")
    load_host(config={"plugins": {"enabled": ["ghost", "acme"]}})
    (record,) = caplog.records
    assert ("ghost" in record.getMessage(), str(home.path / "plugins") in record.getMessage()) == (True, True)


@pytest.mark.parametrize("word", ["notes", "memory/notes"])
def test_memory_provider_chooses_one(everything, load_host, word):
    """``memory.provider`` names the one memory plugin that may load."""
    host = load_host(config={"memory": {"provider": word}})
    assert (host.plugin("memory/notes").state, host.plugin("memory/pip-memory-providers").state) == ("ready", "off")


@pytest.mark.parametrize(
    "group",
    ["hermes_agent.memory_providers", "hermes.memory_provider", "hermes.memory_providers", "hermes_agent.plugins"],
)
def test_memory_provider_chooses_an_entry_point_of_any_group(load_host, site, group):
    """``memory.provider`` lets the entry point of that name load, whatever its group."""
    site.install("hermes-honcho", {group: {"honcho": "honcho_mod"}})
    assert load_host(config={"memory": {"provider": "honcho"}}).plugin("honcho").state == "ready"


@pytest.mark.parametrize("kind", [{}, {"kind": "exclusive"}], ids=["without a kind", "of kind exclusive"])
def test_memory_provider_chooses_a_flat_directory_r04_05(home, load_host, kind):
    """``memory.provider`` lets the plugin in the folder of that name load, nested or flat."""
    home.plugin("honcho", "", name="honcho", **kind)
    assert load_host(config={"memory": {"provider": "honcho"}}).plugin("honcho").state == "ready"


def test_a_memory_provider_that_was_not_chosen_says_what_chooses_it(everything, load_host):
    """The remedy of an unchosen memory provider names ``memory.provider``, which enables it in place of a list."""
    row = load_host(config={"plugins": {"enabled": ["notes"]}}).plugin("memory/notes")
    assert (row.state, "memory.provider" in row.reason, row.remedy) == ("off", True, "hermes memory setup notes")


def test_safe_mode_loads_bundled_plugins_alone_r01_03(everything, home, load_host, monkeypatch):
    """HERMES_SAFE_MODE turns off every plugin that is not bundled, named, chosen or native ones too."""
    traces = [home.plugin(f"model-providers/{name}", LEAVES_A_TRACE) for name in ("p", "q")]
    monkeypatch.setenv("HERMES_SAFE_MODE", "1")
    host = load_host(config={"plugins": {"enabled": [*UNTOLD]}, "memory": {"provider": "notes"}})
    assert ({"off"}, {"ready"}) == ({*states(host).values()}, bundled_states(host))
    assert (host.providers.get("xiaomi").name, "tldr" in host.commands) == ("xiaomi", True)
    assert [folder for folder in traces if (folder / "it-ran").exists()] == []


def test_safe_mode_says_how_to_leave_it(home, load_host, monkeypatch):
    """A plugin that safe mode keeps out says so, and what ends it."""
    home.plugin("acme", "", name="acme")
    monkeypatch.setenv("HERMES_SAFE_MODE", "true")
    row = load_host().plugin("acme")
    assert ("safe mode" in row.reason, row.remedy) == (True, "unset HERMES_SAFE_MODE")


@pytest.mark.parametrize("variable", ["HERMES_SAFE_MODE", "HERMES_DISABLE_PLUGIN_AUTOLOAD"])
@pytest.mark.parametrize("value", ["0", "false", "off", "maybe", ""])
def test_a_switch_that_is_not_true_is_off(everything, load_host, monkeypatch, variable, value):
    """A switch counts when it is one of 1, true, yes, on; every other value leaves it off."""
    monkeypatch.setenv(variable, value)
    assert states(load_host()) == UNTOLD


def test_autoload_can_be_turned_off(everything, load_host, monkeypatch):
    """HERMES_DISABLE_PLUGIN_AUTOLOAD keeps native packages out that are not named, and changes nothing else."""
    monkeypatch.setenv("HERMES_DISABLE_PLUGIN_AUTOLOAD", "1")
    host = load_host()
    row = host.plugin("pip-hermes")
    assert states(host) == UNTOLD | {"pip-hermes": "off"}
    assert (row.reason, row.remedy) == ("HERMES_DISABLE_PLUGIN_AUTOLOAD is set", "hermes plugins enable pip-hermes")


def test_a_named_native_package_loads_without_autoload(everything, load_host, monkeypatch):
    """HERMES_DISABLE_PLUGIN_AUTOLOAD leaves a native package alone that ``plugins.enabled`` names."""
    monkeypatch.setenv("HERMES_DISABLE_PLUGIN_AUTOLOAD", "1")
    assert load_host(config={"plugins": {"enabled": ["pip-hermes"]}}).plugin("pip-hermes").state == "ready"


def test_a_native_package_that_declares_a_profile_is_native_all_the_same(load_host, site, monkeypatch):
    """HERMES_DISABLE_PLUGIN_AUTOLOAD keeps out a native package whose manifest declares a provider, too."""
    site.install("acme", {"hermes": {"acme": "acme_pkg"}})
    site.write("acme_pkg/plugin.yaml", "profile: {base_url: 'https://acme.test'}")
    site.write("acme_pkg/__init__.py", "")
    monkeypatch.setenv("HERMES_DISABLE_PLUGIN_AUTOLOAD", "1")
    assert load_host().plugin("acme").state == "off"


@pytest.mark.parametrize(("config", "state"), [({}, "off"), ({"plugins": {"enabled": ["shy"]}}, "ready")])
def test_a_bundled_plugin_may_be_off_by_default(site, load_host, config, state):
    """A bundled plugin whose manifest says ``default: off`` loads when ``plugins.enabled`` names it."""
    site.install("hermes-plugin-host", {"hermes": {"more": "more_bundled"}})
    site.write("more_bundled/index.json", json.dumps({"commands/shy": {"name": "shy", "default_on": False}}))
    site.write("more_bundled/__init__.py", "")
    row = load_host(config=config).plugin("shy")
    assert ("bundled", state, "" if config else "off by default") == (row.tier, row.state, row.reason)


@pytest.mark.parametrize("key", [key for key, state in UNTOLD.items() if state == "off" and "memory" not in key])
def test_the_remedy_is_the_command_that_changes_it(everything, load_host, home, key):
    """Running the command in an off row's remedy brings the plugin on."""
    from hermes_core.cli.main import main

    row = load_host().plugin(key)
    command, *words = row.remedy.split()
    assert (command, main(words)) == ("hermes", 0)
    assert load_host().plugin(key).state == "ready"


def test_a_plugin_that_is_off_is_never_imported(home, load_host):
    """No lookup, command or call imports a plugin that is off."""
    folder = home.plugin("acme", LEAVES_A_TRACE, name="acme")
    host = load_host()
    assert (host.providers.get("acme"), "tldr" in host.commands, "acme" in host.cli_commands) == (None, True, False)
    assert not (folder / "it-ran").exists()


def test_a_user_copy_that_is_off_leaves_the_bundled_one_on_r04_08(home, load_host):
    """A user's copy of a bundled plugin that is not enabled does not hide it."""
    home.plugin("commands/tldr", LEAVES_A_TRACE, name="tldr")
    host = load_host()
    assert [row.state for row in host.plugins if row.key == "commands/tldr"] == ["ready", "off"]
    assert host.commands["tldr"].plugin == "commands/tldr"


def test_an_enabled_user_copy_takes_the_bundled_ones_place(home, load_host):
    """An enabled plugin with a bundled one's key takes its place, and the list says so."""
    code = "def register(ctx): ctx.register_command('mine', handler=lambda raw: 'mine')"
    home.plugin("commands/tldr", code, name="tldr")
    host = load_host(config={"plugins": {"enabled": ["commands/tldr"]}})
    assert ("mine" in host.commands, "tldr" in host.commands) == (True, False)
    bundled = next(row for row in host.plugins if row.tier == "bundled" and row.key == "commands/tldr")
    assert (bundled.state, "user plugin" in bundled.reason) == ("off", True)


def test_a_user_copy_that_fails_gives_the_place_back(home, load_host):
    """When a plugin with a bundled one's key fails to load, the bundled one loads."""
    home.plugin("commands/tldr", "raise RuntimeError('boom')", name="tldr")
    host = load_host(config={"plugins": {"enabled": ["commands/tldr"]}})
    assert "tldr" in host.commands
    assert [row.state for row in host.plugins if row.key == "commands/tldr"] == ["loaded", "failed"]


def test_an_enabled_folder_without_code_is_a_failed_row(home, load_host):
    """An enabled plugin that is a manifest alone, and no provider, is failed with a reason once it is needed r04-04."""
    home.plugin("acme", name="acme", provides_commands=["acme"])
    host = load_host(config={"plugins": {"enabled": ["acme"]}})
    assert "acme" not in host.commands
    row = host.plugin("acme")
    assert (row.state, "__init__.py" in row.reason) == ("failed", True)


@pytest.mark.parametrize(
    ("clauses", "state"),
    [
        pytest.param(">=0.19", "ready", id="at least this one"),
        pytest.param("0.18", "ready", id="a bare version means at least"),
        pytest.param(">=0.18,<1", "ready", id="every clause holds"),
        pytest.param(">=0.18,<0.19", "off", id="one clause does not hold"),
        pytest.param("0.20", "off", id="a later one"),
        pytest.param("~=0.19.0", "ready", id="a compatible one"),
        pytest.param("the newest", "ready", id="no version at all refuses nothing"),
        pytest.param(">=0.19.dev,,", "ready", id="an empty clause says nothing"),
    ],
)
def test_a_plugin_for_another_host_is_off(home, load_host, clauses, state):
    """``requires_hermes`` is held against the version this host is compatible with; a mismatch imports nothing."""
    home.plugin("acme", LEAVES_A_TRACE, name="acme", kind="model-provider", requires_hermes=clauses)
    row = load_host().plugin("acme")
    assert (state, clauses in row.reason) == (row.state, state == "off")


@pytest.mark.parametrize(
    ("manifest", "env", "state"),
    [
        pytest.param({"strict_env": True}, "", "off", id="strict, and it is missing"),
        pytest.param({"strict_env": True}, "ACME_TOKEN=x", "ready", id="strict, and .env has it"),
        pytest.param({}, "", "ready", id="not strict"),
    ],
)
def test_a_missing_variable_keeps_a_strict_plugin_off(home, load_host, manifest, env, state):
    """``requires_env`` keeps a plugin from loading only where it says ``strict_env``; the reason names the variable."""
    home.plugin("acme", name="acme", kind="model-provider", requires_env=["ACME_TOKEN"], **manifest)
    home.write(".env", env)
    row = load_host().plugin("acme")
    assert (state, "ACME_TOKEN" in row.remedy) == (row.state, state == "off")


REQUIRES = """
from pathlib import Path
with open(Path(__file__).parents[1] / "order", "a") as file:
    file.write(__name__[-1])
def register(ctx):
    ctx.register_command("cmd" + __name__[-1], handler=str)
"""


@pytest.mark.parametrize(
    ("requires", "order"),
    [
        pytest.param({"a": ["c"]}, "cab", id="one plugin asks for another"),
        pytest.param({"a": ["b"], "b": ["c"]}, "cba", id="one asks for the next"),
        pytest.param({"a": ["b"], "b": ["a"]}, "bac", id="each asks for the other"),
        pytest.param({"a": ["a"]}, "abc", id="one asks for itself"),
        pytest.param({"a": ["nowhere"]}, "abc", id="one asks for what is not there"),
    ],
)
def test_required_plugins_load_first(home, load_host, requires, order):
    """A plugin loads after those it requires, as far as they are there; nobody waits for himself."""
    for name in "abc":
        home.plugin(name, REQUIRES, name=name, requires_plugins=requires.get(name, []))
    host = load_host(config={"plugins": {"enabled": [*"abc"]}})
    assert ("/cmda" in [f"/{name}" for name in host.commands], order) == (
        True,
        (home.path / "plugins" / "order").read_text(),
    )


@pytest.mark.parametrize(
    ("required", "words"),
    [
        pytest.param({"id": "nowhere-1"}, ["nowhere-1", "found nowhere"], id="it is not there"),
        pytest.param({"id": "off-1"}, ["off-1", "is off: not enabled"], id="it is off"),
        pytest.param({"id": "on-1", "version_range": ">=2"}, ["on-1", ">=2 is 1.0"], id="it is too old"),
    ],
)
def test_a_required_plugin_that_is_missing_is_said(home, load_host, caplog, required, words):
    """A plugin loads without those it requires, and a warning says which, and why."""
    home.plugin("off-1", "def register(ctx): pass", name="off-1")
    home.plugin("on-1", "def register(ctx): pass", name="on-1", version="1.0")
    home.plugin("acme", "def register(ctx): pass", name="acme", requires_plugins=[required])
    host = load_host(config={"plugins": {"enabled": ["acme", "on-1"]}})
    assert host.reload("acme").state == "loaded"
    said = [record.getMessage() for record in caplog.records if "requires plugin" in record.getMessage()]
    assert [all(word in line for word in words) for line in said] == [True]


@pytest.mark.parametrize(
    ("folder", "manifest", "state"),
    [
        pytest.param("cute-themes", {"name": "tldr"}, "failed", id="under another folder's name"),
        pytest.param("tldr", {"name": "tldr"}, "ready", id="under its own"),
        pytest.param("mine", {"name": "openrouter", "kind": "model-provider"}, "ready", id="a provider may"),
        pytest.param("tools/cute-themes", {"name": "tldr"}, "ready", id="a nested one goes by its folder"),
    ],
)
def test_nobody_passes_for_a_bundled_plugin(home, load_host, folder, manifest, state):
    """A flat folder that has a bundled plugin's name, but not as its own, is not enabled along with that one."""
    home.plugin(folder, "def register(ctx): pass", **manifest)
    host = load_host(config={"plugins": {"enabled": ["tldr"]}})
    (row,) = [row for row in host.plugins if row.tier == "user"]
    assert (state, folder in row.remedy) == (row.state, state == "failed")
