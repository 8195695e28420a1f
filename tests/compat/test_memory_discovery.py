"""``plugins.memory``: finding memory providers under the original's names."""

import pytest

PROVIDER = """
from agent.memory_provider import MemoryProvider

class Notes(MemoryProvider):
    name = "{name}"
    def is_available(self): return {available}
    def initialize(self, session_id, **kwargs): pass
    def get_tool_schemas(self): return []

def register(ctx):
    ctx.register_memory_provider(Notes())
"""

CLI = """
import pathlib
from . import words
pathlib.Path(__file__).with_name("imported").touch()

def register_cli(subparser):
    subparser.add_argument("word")

def {handler}(args):
    print(words.PREFIX, args.word)
"""


@pytest.fixture
def notes(home):
    """Writes a memory plugin."""

    def write(name="notes", where="memory/notes", available=True, **manifest):
        code = PROVIDER.format(name=name, available=available)
        return home.plugin(where, code, **{"name": name, "description": f"Keeps {name}", **manifest})

    return write


def test_names_are_listed_without_an_import(home, notes):
    """Every provider's name is listed, sorted; no code of theirs runs."""
    from plugins.memory import list_memory_provider_names

    notes("zebra", "memory/zebra")
    home.plugin("memory/apple", "raise SystemExit(3)", name="apple")
    names = list_memory_provider_names()
    assert [name for name in names if name in {"apple", "zebra"}] == ["apple", "zebra"]
    assert names == sorted(names)


def test_every_provider_says_whether_it_is_available(home, notes):
    """Name, description and availability of each; one that cannot be loaded or asked is not available."""
    from plugins.memory import discover_memory_providers

    notes("ready", "memory/ready")
    notes("asleep", "memory/asleep", available=False)
    notes("asking", "memory/asking", available="1 / 0")
    home.plugin("memory/broken", "raise SystemExit(3)", name="broken", description="Keeps broken")
    found = {name: (about, available) for name, about, available in discover_memory_providers()}
    expected = {"asking": False, "asleep": False, "broken": False, "ready": True}
    assert {name: (f"Keeps {name}", available) for name, available in expected.items()} == {
        name: found[name] for name in expected
    }


@pytest.mark.parametrize("chosen", ["", "other"])
def test_a_provider_is_loaded_by_name_whatever_is_chosen(home, notes, chosen):
    """A provider can be had by its name, also when ``memory.provider`` names none or another one."""
    from plugins.memory import load_memory_provider

    notes()
    home.config({"memory": {"provider": chosen}})
    assert load_memory_provider("notes").name == "notes"


@pytest.mark.parametrize("name", ["nowhere", "broken", ""])
def test_a_provider_that_cannot_be_had_is_none(home, name, caplog):
    """None, and a warning with the reason; nothing is raised."""
    from plugins.memory import load_memory_provider

    home.plugin("memory/broken", "import nowhere_to_be_found", name="broken")
    assert load_memory_provider(name) is None
    assert f"memory provider not loaded name={name}" in caplog.text


def test_a_providers_folder_is_found_without_an_import(home, site):
    """The folder of a plugin in the home, and of an installed package; None for an unknown name."""
    from plugins.memory import find_provider_dir

    folder = home.plugin("memory/broken", "raise SystemExit(3)", name="broken")
    site.write("acme_memory/__init__.py", "raise SystemExit(3)")
    site.install("acme-memory", {"hermes_agent.memory_providers": {"acme": "acme_memory:register"}})
    found = [find_provider_dir(name) for name in ("broken", "acme", "nowhere")]
    assert found == [folder, site.path / "acme_memory", None]


@pytest.mark.parametrize("handler", ["my_notes_command", "command"])
def test_the_active_providers_commands_are_found_r10_12(home, notes, handler, capsys):
    """Of all ``cli.py`` files only the active provider's is imported, without its package; relative imports work."""
    from argparse import ArgumentParser

    from plugins.memory import discover_plugin_cli_commands

    folders = {}
    for name in ("my-notes", "idle"):
        folders[name] = notes(name, f"memory/{name}")
        (folders[name] / "__init__.py").write_text("raise SystemExit(3)")
        (folders[name] / "words.py").write_text("PREFIX = 'said'")
        (folders[name] / "cli.py").write_text(CLI.format(handler=handler))
    home.config({"memory": {"provider": "my-notes"}})
    (command,) = discover_plugin_cli_commands()
    parser = ArgumentParser()
    command["setup_fn"](parser)
    command["handler_fn"](parser.parse_args(["tea"]))
    assert (command["name"], command["help"], capsys.readouterr().out) == ("my-notes", "Keeps my-notes", "said tea\n")
    assert [name for name, folder in folders.items() if (folder / "imported").exists()] == ["my-notes"]


@pytest.mark.parametrize(
    ("chosen", "code"),
    [("", CLI), ("nowhere", CLI), ("notes", None), ("notes", "raise SystemExit(3)"), ("notes", "VALUE = 1")],
)
def test_no_commands_cost_nothing(home, notes, chosen, code):
    """No active provider, none of that name, no ``cli.py`` or a broken one: there are no commands, and no error."""
    from plugins.memory import discover_plugin_cli_commands

    folder = notes()
    if code:
        (folder / "cli.py").write_text(code)
    home.config({"memory": {"provider": chosen}})
    assert discover_plugin_cli_commands() == []
