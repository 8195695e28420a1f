"""Taking a plugin out of a running host and putting it in again."""

import shutil
import sys

import pytest

from hermes_core.errors import PluginError

CODE = """
from hermes_core import Command, ProviderProfile, hookimpl
from . import helper
@hookimpl
def hermes_commands():
    yield Command(name="native", handler=lambda raw: helper.WORD)
def register(ctx):
    ctx.register_command(helper.WORD, handler=lambda raw: helper.WORD)
    ctx.register_provider(ProviderProfile(helper.WORD, base_url="https://x.test"))
    ctx.on_unload((ctx.home / "unloaded").touch)
"""
CONFIG = {"plugins": {"enabled": ["acme"]}}


@pytest.fixture
def host(home, load_host):
    """A host with a plugin that is loaded, its word ``old``."""
    home.plugin("acme", CODE, name="acme")
    home.write("plugins/acme/helper.py", "WORD = 'old'")
    host = load_host(config=CONFIG)
    assert host.run_command("native") == "old"
    return host


def test_an_edit_of_any_file_counts_after_reloading_r02_08(home, host):
    """A reloaded plugin runs its new code, helpers included; what it offered before is gone, and nothing is doubled."""
    home.write("plugins/acme/helper.py", "WORD = 'newer'")
    row = host.reload("acme")
    offered = {command.name for command in host.commands.values() if command.plugin == "acme"}
    assert (row.state, offered, host.run_command("native")) == ("loaded", {"native", "newer"}, "newer")
    assert (host.providers.get("old"), host.providers.get("newer").name) == (None, "newer")
    assert len(host.context("acme").registrations.commands) == 1


def test_what_was_loaded_is_unloaded_first(home, host):
    """Reloading runs ``on_unload``, and leaves one module of the plugin in ``sys.modules``."""
    before = [name for name in sys.modules if "acme" in name]
    host.reload("acme")
    assert ((home.path / "unloaded").exists(), [name for name in sys.modules if "acme" in name]) == (True, before)


def test_other_plugins_are_left_alone_r03_07(home, host):
    """Reloading one plugin takes nothing from the others, nor from the program."""
    host.program_context().register_command("mine", handler=lambda raw: "mine")
    host.reload("acme")
    assert ("tldr" in host.commands, host.run_command("mine")) == (True, "mine")


def test_a_plugin_that_fails_now_leaves_nothing(home, host):
    """A plugin that was fine and fails when it is reloaded is a failed row, and nothing of it stays."""
    home.write("plugins/acme/helper.py", "raise RuntimeError('boom')")
    row = host.reload("acme")
    assert (row.state, "RuntimeError: boom" in row.reason, "native" in host.commands) == ("failed", True, False)


def test_a_plugin_that_failed_can_be_mended(home, host):
    """A failed plugin that was mended is loaded by reloading it."""
    home.write("plugins/acme/helper.py", "raise RuntimeError('boom')")
    host.reload("acme")
    home.write("plugins/acme/helper.py", "WORD = 'mended'")
    assert (host.reload("acme").state, host.run_command("native")) == ("loaded", "mended")


def test_a_plugin_that_has_come_since_is_found(home, load_host):
    """A plugin that was put into the folder after the host was loaded is found by its name."""
    host = load_host(config=CONFIG)
    home.plugin("acme", CODE, name="acme")
    home.write("plugins/acme/helper.py", "WORD = 'new'")
    assert (host.reload("acme").state, host.run_command("native")) == ("loaded", "new")


def test_a_plugin_that_has_gone_is_dropped(home, host):
    """A plugin whose folder is gone is no longer there, and neither is what it offered."""
    for path in (home.path / "plugins" / "acme").glob("*.*"):
        path.unlink()
    with pytest.raises(PluginError, match="no plugin 'acme'"):
        host.reload("acme")
    assert ("native" in host.commands, [row for row in host.plugins if row.key == "acme"]) == (False, [])


def test_a_plugin_that_may_not_load_is_not_loaded(home, load_host):
    """Reloading a plugin that is off finds it anew, and leaves it off."""
    home.plugin("acme", CODE, name="acme", kind="standalone")
    host = load_host()
    assert (host.reload("acme").state, host.plugin("acme").reason) == ("off", "not enabled in config")


def test_a_plugin_that_was_never_there_is_an_error(load_host):
    """Reloading a name that nothing has is an error with a suggestion."""
    with pytest.raises(PluginError, match="no plugin 'tldrr'; did you mean 'tldr'"):
        load_host().reload("tldrr")


def test_its_place_among_the_others_stays(home, load_host):
    """A reloaded plugin has the place in the order it had."""
    for name in ("aa", "bb"):
        home.plugin(name, f"def register(ctx): ctx.register_command('x', handler=lambda raw: '{name}')", name=name)
    host = load_host(config={"plugins": {"enabled": ["aa", "bb"]}})
    before = host.run_command("x")
    host.reload("aa")
    assert (before, host.run_command("x")) == ("aa", "aa")


COPY = "def register(ctx): ctx.register_command('tldr', handler=lambda raw: 'copy')"
BOTH = {"plugins": {"enabled": ["commands/tldr"]}}


@pytest.fixture
def shadowed(home, load_host):
    """A host whose bundled ``commands/tldr`` is shadowed by a copy in the home."""
    home.config(BOTH)
    home.plugin("commands/tldr", COPY, name="tldr")
    host = load_host()
    assert host.run_command("tldr") == "copy"
    assert [(row.tier, row.state) for row in host.plugins if row.key == "commands/tldr"] == [
        ("bundled", "off"),
        ("user", "loaded"),
    ]
    return host


@pytest.mark.parametrize(
    ("change", "left"),
    [
        pytest.param(shutil.rmtree, "", id="deleted"),
        pytest.param(lambda folder: (folder / "__init__.py").write_text("1 / 0"), "failed", id="broken"),
        pytest.param(lambda folder: (folder / "plugin.yaml").write_text("name: ["), "failed", id="without a manifest"),
        pytest.param(
            lambda folder: (folder / "plugin.yaml").write_text("{name: tldr, requires_hermes: '>=999'}"),
            "off",
            id="for another host",
        ),
    ],
)
def test_a_copy_that_no_longer_counts_gives_its_place_back(home, shadowed, change, left):
    """When a copy that shadowed a plugin is reloaded, and is gone, fails, or is off, the plugin below works again."""
    change(home.path / "plugins" / "commands" / "tldr")
    row = shadowed.reload("commands/tldr")
    commands = {name: command.plugin for name, command in shadowed.commands.items()}
    states = {row.tier: row.state for row in shadowed.plugins if row.key == "commands/tldr"}
    assert (states.pop("bundled"), states.get("user", ""), commands["tldr"]) == ("loaded", left, "commands/tldr")
    assert (row.tier, row.state) == (("user", left) if left else ("bundled", "loaded"))


def test_a_copy_that_has_come_takes_the_place(home, load_host):
    """A copy put into the home after a plugin was loaded takes its place when that is reloaded."""
    host = load_host(config=BOTH)
    assert host.commands["tldr"].plugin == "commands/tldr"
    home.plugin("commands/tldr", COPY, name="tldr")
    assert (host.reload("tldr").tier, host.run_command("tldr")) == ("user", "copy")


def test_a_program_is_not_reloaded(load_host):
    """Reloading what the program registered itself is refused, and takes nothing from it."""
    host = load_host()
    host.program_context().register_command("mine", handler=lambda raw: "mine")
    with pytest.raises(PluginError, match="program offers itself"):
        host.reload("program")
    assert host.run_command("mine") == "mine"


def test_two_folders_of_one_name_stay_apart(home, load_host):
    """The first folder found keeps a name and what is allowed it; the other fails with both folders and a remedy."""
    for folder in ("aa", "zz"):
        home.plugin(folder, f"def register(ctx): ctx.register_command('x', lambda raw: '{folder}')", name="acme")
    host = load_host(config=CONFIG)
    for _ in range(2):
        assert host.run_command("x") == "aa"
        first, second = (row for row in host.plugins if row.key == "acme")
        assert (first.location, first.state) == (str(home.path / "plugins" / "aa"), "loaded")
        assert (second.location, second.state) == (str(home.path / "plugins" / "zz"), "failed")
        assert first.location in second.reason
        assert second.location in second.reason
        assert "name:" in second.remedy
        host.reload("acme")
    shutil.rmtree(first.location)
    assert (host.reload("acme").location, host.run_command("x")) == (second.location, "zz")


PACKAGE = """
from acme_pkg import helper
import acme_library
def register(ctx):
    ctx.register_command(ctx.plugin_id, handler=lambda raw: helper.WORD)
"""
POINTS = {"one": "acme_pkg.one", "two": "acme_pkg.two"}


def install(site, *names):
    """Install a package with these entry points, its word ``old``, and a library that it imports."""
    site.install("acme", {"hermes_agent.plugins": {name: POINTS[name] for name in names}}, acme_library="")
    site.write("acme_pkg/__init__.py", "")
    site.write("acme_pkg/helper.py", "WORD = 'old'")
    for name in POINTS:
        site.write(f"acme_pkg/{name}.py", PACKAGE)


def test_an_installed_package_is_imported_anew(home, site, load_host):
    """Reloading a plugin of an installed package runs its new code, helpers included; what it imports is left alone."""
    install(site, "one")
    host = load_host(config={"plugins": {"enabled": ["one"]}})
    before = host.run_command("one")
    library = sys.modules["acme_library"]
    site.write("acme_pkg/helper.py", "WORD = 'newer'")
    assert (before, host.reload("one").state, host.run_command("one")) == ("old", "loaded", "newer")
    assert sys.modules["acme_library"] is library


def test_what_another_plugin_uses_of_a_package_stays(home, site, load_host):
    """Where two plugins lie in one package, reloading one imports its own module anew, and no other."""
    install(site, "one", "two")
    host = load_host(config={"plugins": {"enabled": ["one", "two"]}})
    assert (host.run_command("one"), host.run_command("two")) == ("old", "old")
    before = {name: module for name, module in sys.modules.items() if name.startswith("acme_")}
    site.write("acme_pkg/one.py", PACKAGE.replace("helper.WORD", "'newer'"))
    host.reload("one")
    assert (host.run_command("one"), host.run_command("two")) == ("newer", "old")
    assert [name for name, module in before.items() if sys.modules[name] is not module] == ["acme_pkg.one"]


def test_a_namespace_that_packages_share_stays(home, site, load_host):
    """A plugin in a namespace package takes nothing else of that namespace with it."""
    install(site)
    site.install("deep", {"hermes_agent.plugins": {"deep": "space.deep.main"}})
    site.write("space/other.py", "")
    site.write("space/deep/__init__.py", "WORD = 'old'")
    code = "import space.other\nfrom space import deep\n"
    code += "def register(ctx): ctx.register_command('deep', handler=lambda raw: deep.WORD)"
    site.write("space/deep/main.py", code)
    host = load_host(config={"plugins": {"enabled": ["deep"]}})
    before = host.run_command("deep"), sys.modules["space.other"]
    site.write("space/deep/__init__.py", "WORD = 'newer'")
    host.reload("deep")
    assert (before, host.run_command("deep")) == (("old", sys.modules["space.other"]), "newer")
