"""The memory of a host: what its configuration makes of it."""

import json
import logging

import pytest

RECORDS = """
import json
from pathlib import Path
from hermes_core import MemoryProvider
class Notes(MemoryProvider):
    name = "{name}"
    def is_available(self): return {available}
    def unavailable_reason(self): return "start the server"
    def initialize(self, session_id, *, hermes_home, **kwargs): self.file = Path(hermes_home, "{name}.jsonl")
    def get_tool_schemas(self): return [{{"name": "{name}_note"}}]
    def handle_tool_call(self, name, args): return self._keep("tool", args)
    def sync_turn(self, user, assistant): self._keep("turn", user)
    def prefetch(self, query): return "{name} knows"
    def on_memory_write(self, action, target, content, metadata): self._keep(action, content, metadata)
    def _keep(self, *what):
        with self.file.open("a") as file: file.write(json.dumps(what) + "\\n")
        return "kept"
"""
TOOL = """
def register(ctx):
    ctx.register_memory_provider(Notes())
    ctx.register_tool("roll", schema={"name": "roll"}, handler=lambda args, **_: ctx.plugin_id)
"""


def code(name="notes", available=True):
    """The code of a provider that writes down what it is told."""
    return RECORDS.format(name=name, available=available)


def kept(home, name="notes"):
    """What that provider has written down."""
    return [json.loads(line) for line in (home.path / f"{name}.jsonl").read_text().splitlines()]


@pytest.mark.parametrize("chosen", ["", "  ", "builtin", None])
def test_the_memory_is_empty_when_nothing_is_chosen(home, load_host, chosen, caplog):
    """Without ``memory.provider`` a host has a manager all the same: an empty one, that answers everything."""
    home.plugin("memory/notes", code())
    memory = load_host(config={"memory": {"provider": chosen}}).memory
    memory.initialize_all("s1")
    memory.on_turn_start(1, "hi")
    memory.sync_all("hi", "hello")
    memory.on_session_end([])
    answers = memory.providers, memory.prefetch_all("tea"), memory.build_system_prompt(), memory.get_all_tool_schemas()
    assert answers == ([], "", "", [])
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []


def test_the_chosen_provider_is_used_and_closed_with_the_host(home, load_host):
    """The provider that ``memory.provider`` names keeps turns in the host's home, and the host closes it."""
    home.plugin("memory/notes", code())
    host = load_host(config={"memory": {"provider": "notes"}})
    host.memory.initialize_all("s1")
    host.memory.sync_all("hi", "hello")
    assert host.memory.prefetch_all("tea") == "notes knows"
    host.close()
    assert kept(home) == [["turn", "hi"]]
    assert host.memory.shutdown_drain_state["status"] == "drained"


@pytest.mark.parametrize(
    ("plugin", "chosen", "reason"),
    [
        pytest.param(code(available=False), "notes", "it is not available: start the server", id="not available"),
        pytest.param("import sys; sys.exit(3)", "notes", "SystemExit: 3", id="broken"),
        pytest.param(code(), "note", "no memory provider 'note'; did you mean 'notes'?", id="unknown"),
    ],
)
def test_a_provider_that_cannot_be_used_is_warned_of(home, load_host, caplog, plugin, chosen, reason):
    """When the chosen provider cannot be used, memory is empty, one warning says why, and the stats do."""
    home.plugin("memory/notes", plugin)
    memory = load_host(config={"memory": {"provider": chosen}}).memory
    assert (memory.providers, reason in memory.stats["refused"][chosen]) == ([], True)
    said = [record.getMessage() for record in caplog.records if "refused" in record.getMessage()]
    assert (len(said), reason in said[0]) == (1, True)


def test_secondaries_are_asked_to_recall(home, load_host):
    """The providers of ``memory.also`` recall beside the chosen one; what they offer else is left alone."""
    home.plugin("memory/notes", code())
    home.plugin("memory/older", code("older") + TOOL)
    host = load_host(config={"memory": {"provider": "notes", "also": ["older"]}})
    host.memory.initialize_all("s1")
    host.memory.sync_all("hi", "hello")
    assert host.memory.prefetch_all("tea") == "notes knows\n\nolder knows"
    assert sorted(host.tools.tools()) == ["notes_note"]
    host.close()
    assert not (home.path / "older.jsonl").exists()


def test_the_builtin_memory_is_mirrored(home, load_host):
    """A write to the built-in memory reaches the provider by itself, with what is known of it."""
    from hermes_core.memory.changes import Operation

    home.plugin("memory/notes", code())
    host = load_host(config={"memory": {"provider": "notes"}})
    host.memory.initialize_all("s1")
    host.builtin_memory.write("user", [Operation("add", "likes tea")], {"write_origin": "test"})
    host.builtin_memory.write("user", [Operation("replace", "likes coffee", "tea")])
    host.memory.flush()
    told = [[action, content, meta.get("previous_content")] for action, content, meta in kept(home)]
    assert told == [["add", "likes tea", None], ["replace", "likes coffee", "likes tea"]]
    assert (kept(home)[0][2]["session_id"], kept(home)[0][2]["write_origin"]) == ("s1", "test")


def test_the_deadlines_are_configured(load_host):
    """Each limit is a key of the section ``memory``."""
    memory = load_host(config={"memory": {"prefetch_timeout": 2, "max_chars": 100, "hook_timeout": "0.5"}}).memory
    limits = memory.limits
    assert (limits.prefetch_timeout, limits.max_chars, limits.hook_timeout, limits.queue_size) == (2, 100, 0.5, 1000)


def test_plugins_and_the_memory_provider_share_one_list_of_tools_r06_02(home, load_host):
    """Tools of plugins and of the provider are called through one registry, and no name is there twice."""
    home.plugin("memory/notes", code() + TOOL.replace('"roll"', '"notes_note"'))
    home.plugin("dice", "def register(ctx):\n    ctx.register_tool('roll', schema={'name': 'roll'}, "
                "handler=lambda args, **_: {'eyes': args['of']})", name="dice")  # fmt: skip
    host = load_host(config={"memory": {"provider": "notes"}, "plugins": {"enabled": ["dice"]}})
    host.memory.initialize_all("s1")
    names = [schema["function"]["name"] for schema in host.tools.schemas()]
    assert sorted(names) == ["notes_note", "roll"]
    assert json.loads(host.context("dice").dispatch_tool("roll", {"of": 6})) == {"eyes": 6}
    assert json.loads(host.tools.dispatch("no_note", {})) == {"error": "Unknown tool: no_note"}


def test_a_provider_tool_is_called_through_the_context(home, load_host):
    """``ctx.dispatch_tool`` reaches the tools of the memory provider."""
    home.plugin("memory/notes", code())
    host = load_host(config={"memory": {"provider": "notes"}})
    host.memory.initialize_all("s1")
    assert host.program_context().dispatch_tool("notes_note", {"a": 1}) == "kept"
    assert kept(home) == [["tool", {"a": 1}]]


def test_the_plugin_of_a_provider_has_its_own_context(home, load_host, tmp_path, monkeypatch):
    """A provider's code runs as its plugin's: the current host and the active home are its own, wherever it runs."""
    monkeypatch.setenv("HERMES_HOME", str(tmp_path / "elsewhere"))
    look = """
from hermes_core.config.paths import get_hermes_home
from hermes_core.plugins.current import plugin_context
Notes.prefetch = lambda self, query: f"{plugin_context().plugin_id} in {get_hermes_home()}"
"""
    home.plugin("memory/notes", code() + look)
    memory = load_host(config={"memory": {"provider": "notes"}}).memory
    memory.initialize_all("s1")
    assert memory.prefetch_all("tea") == f"memory/notes in {home.path}"


def test_the_memory_of_a_host_is_one(home, load_host):
    """Threads that ask for it at the same time get the same manager."""
    from concurrent.futures import ThreadPoolExecutor

    home.plugin("memory/notes", "import time; time.sleep(0.05)\n" + code())
    host = load_host(config={"memory": {"provider": "notes"}})
    with ThreadPoolExecutor(4) as pool:
        assert len({id(memory) for memory in pool.map(lambda _: host.memory, range(4))}) == 1
