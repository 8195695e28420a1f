"""The public contract suite: a good provider passes all of it, and each defect is found by a test that names it."""

import json
import logging
import os
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import ClassVar

import pytest

from hermes_core.testing import MemoryContract

sys.path.insert(0, str(Path(__file__).parent))
from notes_provider import TOOL, NotesProvider

sys.path.pop(0)


class TestGood(MemoryContract):
    """Every rule, on a provider that keeps them."""

    def make(self, home):
        return NotesProvider()


class Bare:
    """No more than is required; it does not even inherit."""

    name = "bare"

    def is_available(self):
        return True

    def initialize(self, session_id, **kwargs):
        """Nothing to get ready."""

    def get_tool_schemas(self):
        return []


class TestBare(MemoryContract):
    """A provider without any optional method breaks no rule."""

    def make(self, home):
        return Bare()


def returns(value):
    """A method that returns this, whatever it is asked."""
    return lambda self, *args, **keywords: value


def raises(*args, **keywords):
    """A method that fails."""
    message = "the store is down"
    raise RuntimeError(message)


def sleeps(*args, **keywords):
    """A method that takes its time."""
    time.sleep(0.4)


def with_tool(**changes):
    """Tool schemas with one that is changed."""
    return returns([{**TOOL, **changes}])


def with_field(**field):
    """Settings of one field."""
    return returns([{"key": "mode", "description": "Mode", **field}])


def with_fields(*fields):
    """Settings of these fields."""
    return returns([*fields])


def connects(self):
    """Ask a server whether it is there."""
    import socket

    with socket.socket() as probe:
        probe.connect_ex(("127.0.0.1", 9))
    return True


def writes_at_once(self):
    """Leave a mark."""
    Path(os.environ["HERMES_HOME"]).mkdir(parents=True, exist_ok=True)
    return True


def hard_coded(self, session_id, **kwargs):
    """Keep the file where the user's home is."""
    folder = Path.home() / ".hermes"
    folder.mkdir(parents=True, exist_ok=True)
    self.path = folder / "notes.db"
    self.run("CREATE TABLE IF NOT EXISTS notes (text TEXT)")


def one_connection(self, session_id, **kwargs):
    """Keep one connection, which belongs to the thread that made it."""
    NotesProvider.initialize(self, session_id, **kwargs)
    connection = sqlite3.connect(self.path)
    self.run = lambda sql, *values: connection.execute(sql, values).fetchall()


def exclusive(self, session_id, **kwargs):
    """Lock the file for as long as it is open."""
    self.path = Path(kwargs["hermes_home"], "notes.db")
    self.connection = sqlite3.connect(self.path, timeout=0, check_same_thread=False, isolation_level=None)
    self.connection.execute("PRAGMA locking_mode=EXCLUSIVE")
    self.connection.execute("CREATE TABLE IF NOT EXISTS notes (text TEXT)")
    self.connection.execute("INSERT INTO notes VALUES ('open')")
    self.run = lambda sql, *values: self.connection.execute(sql, values).fetchall()


def starts_over(self, session_id, **kwargs):
    """Begin with an empty file each time."""
    Path(kwargs["hermes_home"], "notes.db").unlink(missing_ok=True)
    NotesProvider.initialize(self, session_id, **kwargs)


class Shared(NotesProvider):
    """Keeps everything in one place of the process."""

    kept: ClassVar = []

    def add(self, text):
        Shared.kept.append(text)

    def find(self, query):
        return Shared.kept[-3:]


class LastHome(NotesProvider):
    """Keeps everything where the last one was opened."""

    last = None

    def initialize(self, session_id, **kwargs):
        NotesProvider.initialize(self, session_id, **kwargs)
        LastHome.last = self.path

    def run(self, sql, *values):
        self.path = LastHome.last or self.path
        return NotesProvider.run(self, sql, *values)


def shows_its_key(self):
    """Say everything about itself."""
    return f"<Notes key={os.environ.get('NOTES_API_KEY')}>"


def logs_its_key(self, session_id, **kwargs):
    """Say everything in the log."""
    logging.getLogger("notes").debug("key=%s", os.environ.get("NOTES_API_KEY"))
    NotesProvider.initialize(self, session_id, **kwargs)


def leaves_a_thread(self):
    """Never end."""
    threading.Thread(target=time.sleep, args=(4,), name="notes-flush").start()


def once(self):
    """End once."""
    if getattr(self, "over", False):
        raises()
    self.over = True


def needs_its_path(self):
    """Clean up what is not there."""
    self.path.with_suffix(".tmp").unlink(missing_ok=True)


def saves_in_its_own_place(self, values, hermes_home):
    """Save where the process's home is."""
    Path(os.environ["HERMES_HOME"]).mkdir(parents=True, exist_ok=True)
    Path(os.environ["HERMES_HOME"], "notes.json").write_text(json.dumps(values))


def unquoted(self, query, *, session_id=""):
    """Put the query into the statement."""
    return "\n".join(text for (text,) in self.run(f"SELECT text FROM notes WHERE text LIKE '%{query}%'"))


def counts(self):
    """Say how much there is."""
    return f"{len(self.run('SELECT text FROM notes'))} notes"


class Counting:
    """A name that is never the same."""

    number = 0

    def __get__(self, instance, owner):
        Counting.number += 1
        return f"notes{Counting.number}"


NAME, AVAILABLE = "it_has_a_name", "availability_is_told_without_network_or_files"
TOOLS, WRONG, SCHEMAS = "a_tool_answers_in_json", "a_tool_survives_wrong_arguments", "schemas_are_well_formed"
TURN, QUERY, EVENT = "a_turn_is_taken_at_once", "any_query_is_answered_with_text", "an_event_may_be_told_twice"
FIELDS, HOMES = "settings_are_well_formed", "two_homes_do_not_mix"
KEY = {"key": "api_key", "description": "Key", "secret": True}
COMPRESS = {"method": "on_pre_compress", "args": ([],), "keywords": {}}

DEFECTS = {
    "a name with a blank": ({"name": "my notes"}, NAME, {}, "not one word"),
    "no name": ({"name": None}, NAME, {}, "NoneType, and no text"),
    "the name of the built-in memory": ({"name": "builtin"}, NAME, {}, "built-in"),
    "another name each time": ({"name": Counting()}, NAME, {}, "two names"),
    "a required method missing": ({"initialize": None}, "it_has_what_is_required", {}, "missing: initialize"),
    "availability that is no truth value": ({"is_available": returns("yes")}, AVAILABLE, {}, "'yes'"),
    "availability by network": ({"is_available": connects}, AVAILABLE, {}, "used the network.*127.0.0.1"),
    "availability that writes": ({"is_available": writes_at_once}, AVAILABLE, {}, "is_available wrote"),
    "availability that raises": ({"is_available": raises}, AVAILABLE, {}, "RuntimeError: the store is down"),
    "availability that takes long": ({"is_available": sleeps}, AVAILABLE, {}, "not over after 0.2 s"),
    "a reason that is no text": ({"unavailable_reason": returns(["x"])}, AVAILABLE, {}, "list, and no text"),
    "a keyword that must be there": (
        {"initialize": lambda self, session_id, *, hermes_home, platform: None},
        "a_home_is_all_it_needs",
        {},
        "missing 1 required keyword-only argument: 'platform'",
    ),
    "files in the user's home": ({"initialize": hard_coded}, "files_stay_in_the_home", {}, "written outside"),
    "schemas that are no list": ({"get_tool_schemas": returns({})}, SCHEMAS, {"when": "before"}, "dict, and no list"),
    "schemas that need a start": ({"get_tool_schemas": raises}, SCHEMAS, {"when": "before"}, "the store is down"),
    "a tool's name with a blank": ({"get_tool_schemas": with_tool(name="a b")}, SCHEMAS, {"when": "after"}, "'a b'"),
    "a tool without a name": (
        {"get_tool_schemas": with_tool(name=None)},
        SCHEMAS,
        {"when": "after"},
        "None is no name",
    ),
    "a tool without a description": (
        {"get_tool_schemas": with_tool(description=" ")},
        SCHEMAS,
        {"when": "after"},
        "description is missing",
    ),
    "parameters that are no object": (
        {"get_tool_schemas": with_tool(parameters={"type": "string"})},
        SCHEMAS,
        {"when": "after"},
        "type object",
    ),
    "parameters that are no schema": (
        {"get_tool_schemas": with_tool(parameters={"type": "object", "properties": {"a": {"type": "words"}}})},
        SCHEMAS,
        {"when": "after"},
        "no JSON schema",
    ),
    "a required argument that is none": (
        {"get_tool_schemas": with_tool(parameters={"type": "object", "properties": {}, "required": ["a"]})},
        SCHEMAS,
        {"when": "after"},
        "required but no property: a",
    ),
    "a schema that JSON cannot hold": (
        {"get_tool_schemas": with_tool(extra={1, 2})},
        SCHEMAS,
        {"when": "after"},
        "JSON cannot hold",
    ),
    "two tools of one name": (
        {"get_tool_schemas": returns([TOOL, TOOL])},
        SCHEMAS,
        {"when": "after"},
        "more than one tool is called notes",
    ),
    "an answer that is a mapping": ({"handle_tool_call": returns({"ok": True})}, TOOLS, {}, "dict, and no text"),
    "an answer that is no JSON": ({"handle_tool_call": returns("done")}, TOOLS, {}, "'done', which is no JSON"),
    "an answer that cannot be sent": ({"handle_tool_call": returns('"\ud800"')}, TOOLS, {}, "no JSON"),
    "a tool that raises": ({"handle_tool_call": raises}, TOOLS, {}, "the store is down"),
    "a tool that blocks": ({"handle_tool_call": sleeps}, TOOLS, {}, "not over after"),
    "a tool that trusts its arguments": (
        {"handle_tool_call": lambda self, tool_name, args: json.dumps({"found": args["text"].upper()})},
        WRONG,
        {},
        "KeyError: 'text'",
    ),
    "a tool that trusts their types": (
        {"handle_tool_call": lambda self, tool_name, args: json.dumps({"found": str(args.get("text", "")[:5])})},
        WRONG,
        {},
        "TypeError",
    ),
    "an unknown tool that raises": (
        {"handle_tool_call": lambda self, tool_name, args: {"notes": "{}"}[tool_name]},
        "an_unknown_tool_is_answered",
        {},
        "KeyError: 'no_such_tool'",
    ),
    "a turn that blocks": ({"sync_turn": sleeps}, TURN, {"kind": "empty"}, "not over after 0.2 s"),
    "a turn that raises": ({"sync_turn": raises}, TURN, {"kind": "emoji"}, "the store is down"),
    "a warm-up that blocks": ({"queue_prefetch": sleeps}, TURN, {"kind": "empty"}, "queue_prefetch.*not over"),
    "a turn that cannot be written": (
        {"add": lambda self, text: self.run("INSERT INTO notes VALUES (?)", text)},
        TURN,
        {"kind": "half a surrogate"},
        "UnicodeEncodeError",
    ),
    "a connection of one thread": ({"initialize": one_connection}, TURN, {"kind": "emoji"}, "ProgrammingError"),
    "a recall that is no text": ({"prefetch": returns(["tea"])}, QUERY, {"kind": "emoji"}, "list, and no text"),
    "a recall that raises": ({"prefetch": raises}, QUERY, {"kind": "empty"}, "the store is down"),
    "a query in the statement": ({"prefetch": unquoted}, QUERY, {"kind": "SQL"}, "one statement at a time"),
    "a recall that blocks": ({"prefetch": sleeps}, QUERY, {"kind": "empty"}, "not over after"),
    "a status that is none": ({"recall_status": returns(3)}, QUERY, {"kind": "empty"}, "recall_status returned 3"),
    "a prompt that changes": ({"system_prompt_block": counts}, "the_system_prompt_block_is_fixed", {}, "changed"),
    "a prompt that is no text": (
        {"system_prompt_block": returns(["x"])},
        "the_system_prompt_block_is_fixed",
        {},
        "list, and no text",
    ),
    "an end that counts once": (
        {"shutdown": once},
        EVENT,
        {"method": "shutdown", "args": (), "keywords": {}},
        "the store is down",
    ),
    "a summary that is no text": ({"on_pre_compress": returns({})}, EVENT, COMPRESS, "dict, and no text"),
    "an event that raises": ({"on_pre_compress": raises}, EVENT, COMPRESS, "the store is down"),
    "a session's id by position alone": (
        {"initialize": lambda self, session, /, **kwargs: None},
        "a_session_may_be_given_by_position_or_name",
        {},
        "session",
    ),
    "an end that needs a start": ({"shutdown": needs_its_path}, "shutdown_needs_no_initialize", {}, "AttributeError"),
    "a thread that stays": (
        {"shutdown": leaves_a_thread},
        "shutdown_leaves_no_thread_that_holds_the_process",
        {},
        "notes-flush",
    ),
    "a start that forgets": ({"initialize": starts_over}, "it_remembers_after_a_restart", {}, "gone after a restart"),
    "one memory for all homes": (vars(Shared), HOMES, {}, "recalls what another one keeps"),
    "the last home for all": (vars(LastHome), HOMES, {}, "what another one keeps"),
    "a file for one alone": ({"initialize": exclusive}, "two_instances_share_a_home", {}, "locked"),
    "a key in repr": ({"__repr__": shows_its_key}, "secrets_are_not_shown", {}, "shown in repr"),
    "a key in the log": ({"initialize": logs_its_key}, "secrets_are_not_shown", {}, "shown in the log"),
    "settings that are no list": ({"get_config_schema": returns({})}, FIELDS, {}, "dict, and no list"),
    "a field that is no mapping": ({"get_config_schema": returns(["mode"])}, FIELDS, {}, "str, and no mapping"),
    "a field without a key": ({"get_config_schema": returns([{"description": "x"}])}, FIELDS, {}, "has no key"),
    "a flag that is a text": ({"get_config_schema": with_field(required="yes")}, FIELDS, {}, "required is a str"),
    "a secret without a variable": ({"get_config_schema": with_fields(KEY)}, FIELDS, {}, "needs an env_var"),
    "a secret with a default": (
        {"get_config_schema": with_fields({**KEY, "env_var": "K", "default": "k-1"})},
        FIELDS,
        {},
        "has no default",
    ),
    "a variable that is none": ({"get_config_schema": with_field(env_var="my key")}, FIELDS, {}, "no variable's name"),
    "an address that is none": ({"get_config_schema": with_field(url="x.test")}, FIELDS, {}, "no address"),
    "no choices": ({"get_config_schema": with_field(choices=[])}, FIELDS, {}, "no choices"),
    "a default out of the choices": (
        {"get_config_schema": with_field(choices=["a"], default="b")},
        FIELDS,
        {},
        "none of its choices",
    ),
    "a condition on a later field": ({"get_config_schema": with_field(when={"x": 1})}, FIELDS, {}, "depends on x"),
    "a field asked twice": (
        {"get_config_schema": with_fields({"key": "a"}, {"key": "a"})},
        FIELDS,
        {},
        "asked twice",
    ),
    "a field that JSON cannot hold": ({"get_config_schema": with_field(default={1})}, FIELDS, {}, "JSON cannot hold"),
    "settings in another home": (
        {"save_config": saves_in_its_own_place},
        "settings_are_saved_in_the_home_that_is_named",
        {},
        "written outside",
    ),
    "a backup path that is relative": (
        {"backup_paths": returns(["notes.db"])},
        "backup_paths_are_absolute",
        {},
        "no list of absolute paths",
    ),
}


def defective(changes):
    """A contract suite for a provider with a defect, its limits short."""
    body = {
        key: value for key, value in changes.items() if key not in {"__dict__", "__weakref__", "__abstractmethods__"}
    }
    provider = type("Bad", (NotesProvider,), body)
    provider.__abstractmethods__ = frozenset()
    limits = {"sync_limit": 0.2, "call_limit": 0.2}
    return type("Suite", (MemoryContract,), {"make": lambda self, home: provider(), **limits})()


@pytest.mark.parametrize("defect", DEFECTS)
def test_a_defect_is_found(defect, tmp_path, monkeypatch, caplog):
    """The test of the rule that a provider breaks fails, and says what is wrong."""
    changes, name, arguments, said = DEFECTS[defect]
    suite = defective(changes)
    suite.prepare(tmp_path, monkeypatch)
    rule = getattr(suite, f"test_{name}")
    takes = rule.__code__.co_varnames[: rule.__code__.co_argcount]
    offered = {"monkeypatch": monkeypatch, "caplog": caplog, **arguments}
    with suite.bench.watch, pytest.raises((AssertionError, TypeError), match=said):
        rule(**{key: value for key, value in offered.items() if key in takes})


def test_each_rule_can_fail():
    """There is a defect for each test of the suite, but for the one that only takes keywords in."""
    rules = {name.removeprefix("test_") for name in dir(MemoryContract) if name.startswith("test_")}
    assert rules - {name for _, name, _, _ in DEFECTS.values()} == {"it_takes_whatever_a_host_knows"}


def test_the_example_of_the_page_passes(tmp_path):
    """The first example of docs/memory-contract.md is a suite that passes, run by pytest as an author would."""
    page = Path(__file__).parents[2] / "docs" / "memory-contract.md"
    code = page.read_text(encoding="utf-8").split("```python\n")[1].partition("```")[0]
    (tmp_path / "test_mine.py").write_text(code, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", str(tmp_path)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout
    assert " passed" in done.stdout
