"""A memory provider of one's own, driven as the documents of the original show it, in a process of its own."""

import json

import pytest

PROVIDER = """
import json
import sqlite3
import threading
from pathlib import Path

from agent.memory_provider import MemoryProvider
from tools.registry import tool_error, tool_result

SCHEMA = {
    "name": "my_tool",
    "description": "Add a note, or list them.",
    "parameters": {
        "type": "object",
        "properties": {"action": {"type": "string", "enum": ["add", "list"]}, "content": {"type": "string"}},
        "required": ["action"],
    },
}


class MyProvider(MemoryProvider):
    def __init__(self):
        self.thread = None

    @property
    def name(self):
        return "my-provider"

    def is_available(self):
        return True

    def initialize(self, session_id, **kwargs):
        self.path = Path(kwargs["hermes_home"]) / "my-provider.db"
        self.run("CREATE TABLE IF NOT EXISTS notes (session TEXT, text TEXT)")
        self.session = session_id

    def run(self, sql, *values):
        with sqlite3.connect(self.path) as connection:
            return connection.execute(sql, values).fetchall()

    def get_tool_schemas(self):
        return [SCHEMA]

    def handle_tool_call(self, name, args, **kwargs):
        if args.get("action") == "add":
            self.run("INSERT INTO notes VALUES (?, ?)", self.session, args["content"])
            return tool_result(success=True)
        return tool_result(notes=[text for (text,) in self.run("SELECT text FROM notes")])

    def system_prompt_block(self):
        return "Notes are kept in my-provider."

    def prefetch(self, query, *, session_id=""):
        return "\\n".join(text for (text,) in self.run("SELECT text FROM notes WHERE text LIKE ?", f"%{query}%"))

    def sync_turn(self, user_content, assistant_content, *, session_id=""):
        def work():
            self.run("INSERT INTO notes VALUES (?, ?)", self.session, f"{user_content} / {assistant_content}")

        if self.thread is not None:
            self.thread.join(timeout=5)
        self.thread = threading.Thread(target=work, daemon=True)
        self.thread.start()

    def on_session_end(self, messages):
        self.thread.join(timeout=5)
        self.run("INSERT INTO notes VALUES (?, ?)", self.session, f"ended with {len(messages)} messages")

    def shutdown(self):
        self.run("INSERT INTO notes VALUES (?, ?)", self.session, "shut down")


def register(ctx):
    ctx.register_memory_provider(MyProvider())
"""

EXAMPLE = """
{first}
from plugins.memory import load_memory_provider
my_provider = load_memory_provider("my-provider")

from agent.memory_manager import MemoryManager
mgr = MemoryManager()
mgr.add_provider(my_provider)
mgr.initialize_all(session_id="test-1", platform="cli")
result = mgr.handle_tool_call("my_tool", {{"action": "add", "content": "test"}})
mgr.sync_all("user msg", "assistant msg")
mgr.on_session_end([])
mgr.shutdown_all()

import json, sqlite3
print(result)
print(json.dumps(sqlite3.connect(my_provider.path).execute("SELECT session, text FROM notes").fetchall()))
print(my_provider.path)
"""
INSTALLED = "import site, sys; site.addsitedir(sys.argv[1])  # the folder of installed packages, as Python takes it in"


@pytest.fixture
def provider(home):
    """The provider, where a user puts it."""
    home.plugin("memory/my-provider", PROVIDER, name="my-provider", version="1.0.0", description="Notes of my own")


@pytest.mark.parametrize("first", ["import hermes_core", INSTALLED], ids=["imported", "hermes compat install"])
def test_the_example_works_as_it_is_written(provider, home, run_python, tmp_path, first):
    """Tool, turn, end of session and shutdown reach the provider in that order, and its file lies in the home."""
    folder = tmp_path / "site"
    folder.mkdir()
    run_python(
        "from hermes_core.cli import main; import sys; main(['compat', 'install', '--into', sys.argv[1]])", folder
    )
    done = run_python(EXAMPLE.format(first=first), folder)
    notes = ["test", "user msg / assistant msg", "ended with 0 messages", "shut down"]
    expected = [
        '{"success": true}',
        json.dumps([["test-1", note] for note in notes]),
        str(home.path / "my-provider.db"),
    ]
    assert expected == done.stdout.splitlines(), done.stderr
    assert done.stderr == ""


def test_a_second_provider_is_refused(provider, home, run_python):
    """The manager takes one external provider, and refuses a second with a warning that names both and the setting."""
    code = PROVIDER.replace('return "my-provider"', 'return "second"')
    home.plugin("memory/second", code, name="second")
    done = run_python("""
        import hermes_core, logging
        logging.basicConfig(level="WARNING")
        from agent.memory_manager import MemoryManager
        from plugins.memory import load_memory_provider
        mgr = MemoryManager()
        for name in ("my-provider", "second"):
            mgr.add_provider(load_memory_provider(name))
        print([provider.name for provider in mgr.providers])
    """)
    assert done.stdout == "['my-provider']\n"
    assert all(word in done.stderr for word in ("my-provider", "second", "memory.provider"))


def test_its_turns_are_recalled_in_the_next_session(provider, run_python):
    """What one process was told, the next one recalls, fenced for the model."""
    script = """
        import hermes_core, sys
        from agent.memory_manager import MemoryManager, build_memory_context_block
        from plugins.memory import load_memory_provider
        mgr = MemoryManager()
        mgr.add_provider(load_memory_provider("my-provider"))
        mgr.initialize_all(session_id=sys.argv[1], platform="cli")
        print(build_memory_context_block(mgr.prefetch_all("Zephyr")))
        mgr.sync_all("The launch is called Zephyr", "Noted.")
        mgr.shutdown_all()
    """
    first, second = (run_python(script, session) for session in ("one", "two"))
    assert (first.stdout, first.stderr) == ("\n", "")
    assert second.stdout.startswith("<memory-context>\n[System note:")
    assert second.stdout.endswith("\n\n> The launch is called Zephyr / Noted.\n</memory-context>\n")
