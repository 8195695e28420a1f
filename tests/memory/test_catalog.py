"""Which memory providers there are, and how one is made."""

import logging
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from hermes_core.errors import MemoryProviderError

CLASS = """
from hermes_core import MemoryProvider
class Notes(MemoryProvider):
    name = "{name}"
    origin = "{origin}"
    def is_available(self): return True
    def initialize(self, session_id, **kwargs): pass
    def get_tool_schemas(self): return []
"""


def notes(name="notes", origin=""):
    """The code of a provider without any registration: a bare subclass."""
    return CLASS.format(name=name, origin=origin)


REGISTERS = "\ndef register(ctx):\n    ctx.register_memory_provider(Notes())\n"
MARKS = "import pathlib, os\npathlib.Path(__file__).with_name('imported').touch()\n"
SHAPES = {
    "register(ctx) for something else": notes() + "\ndef register(ctx):\n    ctx.on_unload(print)\n",
    "register(ctx)": notes() + REGISTERS,
    "a bare subclass": notes(),
    "a subclass below the package": "from .inner import Notes\n",
    "a base and a subclass": "from hermes_core import MemoryProvider\nclass Base(MemoryProvider): pass\n"
    + notes().replace("(MemoryProvider)", "(Base)"),
    "a hook": notes() + "from hermes_core import hookimpl\n@hookimpl\ndef hermes_memory_providers():\n"
    "    return {'notes': Notes}\n",
    "a hook that yields": notes() + "from hermes_core import hookimpl\n@hookimpl\ndef hermes_memory_providers():\n"
    "    yield Notes()\n",
}


@pytest.mark.parametrize("where", ["notes", "memory/notes"])
@pytest.mark.parametrize("shape", SHAPES)
def test_a_folder_of_any_shape_gives_its_provider_r04_05(home, load_host, where, shape):
    """A folder gives its provider however it registers it, flat or in the category, with no manifest in the latter."""
    manifest = {} if "/" in where else {"name": "notes"}
    home.plugin(where, SHAPES[shape], **manifest)
    home.write(f"plugins/{where}/inner.py", notes())
    assert load_host(config={"memory": {"provider": "notes"}}).memory_provider("notes").name == "notes"


@pytest.mark.parametrize("group", ["hermes", "hermes_agent.plugins", "hermes_agent.memory_providers",
                                   "hermes.memory_provider", "hermes.memory_providers"])  # fmt: skip
@pytest.mark.parametrize("value", ["acme_mod", "acme_mod:Notes", "acme_mod:made", "acme_mod:make"])
def test_an_entry_point_of_any_group_gives_its_provider(load_host, site, group, value):
    """A package gives its provider from every group, as a module, a class, an instance or a callable."""
    site.install("acme", {group: {"notes": value}}, acme_mod=notes() + "made = Notes()\ndef make(): return Notes()\n")
    assert load_host(config={"memory": {"provider": "notes"}}).memory_provider("notes").name == "notes"


def test_an_enabled_plugin_gives_a_provider_of_any_name(home, load_host):
    """A provider that an enabled plugin registered is found by the provider's own name."""
    home.plugin("acme", notes() + REGISTERS, name="acme", kind="standalone")
    assert load_host(config={"plugins": {"enabled": ["acme"]}}).memory_provider("notes").name == "notes"


def test_nothing_but_the_named_plugin_is_imported(home, load_host):
    """Listing imports nothing, and asking for one provider imports its plugin alone."""
    folders = [home.plugin(f"memory/{name}", MARKS + notes(name)) for name in ("one", "two")]
    host = load_host()
    assert {"one", "two"} <= {*host.memory_plugins}
    assert [(folder / "imported").exists() for folder in folders] == [False, False]
    host.memory_provider("two")
    assert [(folder / "imported").exists() for folder in folders] == [False, True]


def test_the_higher_tier_wins_and_gives_the_name_back_when_it_fails_r04_06(home, load_host, site):
    """A user's folder replaces a package of its name; one that fails, or is switched off, leaves it the name."""
    site.install("acme", {"hermes_agent.memory_providers": {"notes": "acme_mod"}}, acme_mod=notes(origin="package"))
    home.plugin("memory/notes", notes(origin="folder"))
    assert load_host().memory_provider("notes").origin == "folder"
    home.plugin("memory/notes", "raise RuntimeError('broken')")
    assert load_host().memory_provider("notes").origin == "package"


@pytest.mark.parametrize(
    ("code", "config", "reason", "hint"),
    [
        pytest.param("import sys; sys.exit(3)", {}, "which is failed: SystemExit: 3", "hermes plugins disable",
                     id="exits"),
        pytest.param(notes() + "Notes.__init__ = lambda self: 1 / 0", {}, "cannot be made: ZeroDivisionError",
                     "look into", id="cannot be made"),
        pytest.param(notes(), {"plugins": {"disabled": ["memory/notes"]}}, "which is off: disabled via config",
                     "hermes plugins enable memory/notes", id="disabled"),
        pytest.param("from hermes_core import hookimpl\n@hookimpl\ndef hermes_memory_providers(ctx): return 1 / 0",
                     {}, "offers no memory provider: hermes_memory_providers raised ZeroDivisionError", "look into",
                     id="its hook raises"),
        pytest.param("def register(ctx): pass", {}, "offers no memory provider", "register_memory_provider",
                     id="offers none"),
        pytest.param("from hermes_core import hookimpl\n@hookimpl\ndef hermes_memory_providers():\n"
                     "    return {'notes': lambda: 5}\n", {}, "is a int, which is none", "look into", id="rubbish"),
    ],
)  # fmt: skip
def test_an_error_says_why_there_is_no_provider(home, load_host, code, config, reason, hint):
    """The error for a provider that cannot be had names its plugin, why, and what would help."""
    home.plugin("memory/notes", code)
    with pytest.raises(MemoryProviderError, match="notes") as caught:
        load_host(config=config).memory_provider("notes")
    assert (reason in str(caught.value), hint in caught.value.hint) == (True, True)


def test_an_unknown_name_is_answered_with_a_close_one(home, load_host):
    """The error for an unknown name names one that is close."""
    home.plugin("memory/notes", notes())
    with pytest.raises(MemoryProviderError, match=r"no memory provider 'note'; did you mean 'notes'\?"):
        load_host().memory_provider("note")


def test_one_broken_provider_leaves_the_others(home, load_host, caplog):
    """Asking for all gives those that work; one warning says why another does not."""
    home.plugin("memory/broken-one", "import sys; sys.exit(3)")
    home.plugin("memory/notes", notes())
    with caplog.at_level(logging.WARNING):
        found = load_host().memory_providers()
    assert ("notes" in found, "broken-one" in found) == (True, False)
    assert "broken-one" in caplog.text


LATE = (
    notes()
    + """
from hermes_core import Tool
def register(ctx):
    ctx.register_tool("note_roll", schema={"name": "note_roll"}, handler=print)
    ctx.register_hook("on_session_end", print)
    ctx.register_memory_provider(Notes())
    Notes.origin = "the captured one"
    raise RuntimeError("late")
"""
)


def test_a_late_error_keeps_the_captured_provider_and_nothing_else(home, load_host, caplog):
    """A ``register`` that fails after it registered its provider keeps that very one, and nothing else."""
    home.plugin("memory/notes", LATE)
    host = load_host(config={"memory": {"provider": "notes"}})
    with caplog.at_level(logging.WARNING):
        assert host.memory_provider("notes") is host.memory_provider("notes")
    assert host.context("memory/notes").registrations.names() == {"memory": ["notes"]}
    assert "late" in caplog.text


@pytest.mark.parametrize(("chosen", "kept"), [("notes", ["memory", "tools"]), ("", ["memory"])])
def test_only_the_chosen_plugin_has_its_tools(home, load_host, chosen, kept):
    """Hooks and tools of the plugin that ``memory.provider`` names count; one that is merely looked at has none."""
    tool = "    ctx.register_tool('note_roll', schema={'name': 'note_roll'}, handler=print)\n"
    home.plugin("memory/notes", notes() + REGISTERS + tool)
    host = load_host(config={"memory": {"provider": chosen}})
    host.memory_provider("notes")
    assert sorted(host.context("memory/notes").registrations.names()) == kept


def test_a_name_that_does_not_fit_is_warned_of(home, load_host, caplog):
    """A provider whose own name is not the one it is chosen by is used, with a warning that has both."""
    home.plugin("memory/jotter", notes("other-notes"))
    with caplog.at_level(logging.WARNING):
        assert load_host().memory_provider("jotter").name == "other-notes"
    assert "'jotter'" in caplog.text
    assert "'other-notes'" in caplog.text


def test_two_threads_that_load_one_provider_both_have_it_r03_03(home, load_host):
    """Threads that ask for a provider at the same time, while it is first imported, each get one."""
    home.plugin("memory/notes", "import time; time.sleep(0.01)\n" + notes() + REGISTERS)
    for _ in range(20):
        with ThreadPoolExecutor(2) as pool:
            found = [*pool.map(load_host().memory_provider, ["notes", "notes"])]
        assert [provider.name for provider in found] == ["notes", "notes"]


def test_a_plugin_that_lacks_a_variable_is_not_loaded(home, load_host):
    """A provider whose manifest cannot do without a variable is refused, and the variable is named."""
    home.plugin("memory/notes", notes(), name="notes", requires_env=["NOTES_KEY"], strict_env=True)
    with pytest.raises(MemoryProviderError, match="not set: NOTES_KEY"):
        load_host().memory_provider("notes")


def test_two_hosts_have_a_provider_each(home, load_host, tmp_path):
    """Each host makes a provider of its own, from its own home's code."""
    first = home.plugin("memory/notes", notes(origin="one"))
    other = tmp_path / "other" / "plugins" / "memory" / "notes"
    other.mkdir(parents=True)
    (other / "__init__.py").write_text((first / "__init__.py").read_text().replace("one", "two"))
    hosts = load_host(), load_host(tmp_path / "other")
    assert [host.memory_provider("notes").origin for host in hosts] == ["one", "two"]
    assert not any("NOTES" in name for name in sys.modules)


def test_a_package_below_folders_without_code_is_found(load_host, site):
    """An entry point may lead into folders without ``__init__.py``, as wheels with ``plugins/memory/<name>`` do."""
    site.install("acme", {"hermes_agent.plugins": {"jotter": "acme_tree.memory.jotter"}})
    site.write("acme_tree/memory/jotter/__init__.py", notes("jotter") + REGISTERS)
    site.write("acme_tree/memory/jotter/plugin.yaml", "name: jotter\n")
    host = load_host()
    assert (host.memory_plugins["jotter"].tier, host.memory_provider("jotter").name) == ("entrypoint", "jotter")


@pytest.mark.parametrize(("group", "listed"), [("hermes_agent.plugins", True), ("hermes", False)])
def test_a_package_that_says_no_kind_is_told_by_its_code(load_host, site, group, listed):
    """What a package of the original's group is, its code tells, as a folder's does; one of our own is on as it is."""
    site.install("acme", {group: {"jotter": "acme_box"}})
    site.write("acme_box/__init__.py", notes("jotter") + REGISTERS)
    site.write("acme_box/plugin.yaml", "name: jotter\n")
    host = load_host()
    assert ("jotter" in host.memory_plugins, host.plugin("jotter").state) == (listed, "off" if listed else "ready")
