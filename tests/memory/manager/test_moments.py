"""What a conversation does with its memory, and what providers hear of it."""

import inspect
import json
import logging
import threading

import pytest

from hermes_core.memory.limits import Limits
from hermes_core.memory.manager import MemoryManager
from hermes_core.memory.provider import INDICATOR_GLYPH, MemoryProvider, RecallStatus

from .conftest import LONG, Recorder


class Table(MemoryProvider):
    """The provider of the documented example, with a real database."""

    name = "table"

    def is_available(self):
        return True

    def initialize(self, session_id, *, hermes_home, **kwargs):
        import sqlite3

        self.db = sqlite3.connect(f"{hermes_home}/table.db", check_same_thread=False)
        self.db.execute("create table if not exists lines (text)")

    def get_tool_schemas(self):
        return [{"name": "my_tool", "parameters": {"type": "object"}}]

    def handle_tool_call(self, name, args):
        self._keep(args["content"])
        return json.dumps({"success": True})

    def sync_turn(self, user, assistant):
        self._keep(user)

    def prefetch(self, query):
        return "\n".join(text for (text,) in self.db.execute("select text from lines"))

    def shutdown(self):
        self.db.close()

    def _keep(self, text):
        with self.db:
            self.db.execute("insert into lines values (?)", [text])


def test_the_documented_example_works_from_end_to_end(tmp_path):
    """Register, initialise, call a tool, store a turn, end the session, close: with a real database."""
    manager = MemoryManager()
    manager.add_provider(Table())
    manager.initialize_all(session_id="test-1", platform="cli", hermes_home=str(tmp_path))
    result = manager.handle_tool_call("my_tool", {"action": "add", "content": "test"})
    manager.sync_all("user msg", "assistant msg")
    manager.on_session_end([])
    recalled = manager.prefetch_all("anything")
    manager.shutdown_all()
    assert (json.loads(result), recalled) == ({"success": True}, "test\nuser msg")
    assert manager.shutdown_drain_state["status"] == "drained"


def test_a_provider_need_not_have_every_method():
    """Any object with a name will do: what it does not have, it has nothing to say to."""

    class Bare:
        name = "bare"

        def prefetch(self, query):
            return "tea"

    with MemoryManager(limits=LONG) as memory:
        memory.add_provider(Bare())
        memory.initialize_all("s1")
        memory.on_turn_start(1, "hi")
        memory.sync_all("hi", "hello")
        assert (memory.prefetch_all("hi"), memory.get_all_tool_schemas(), memory.build_system_prompt()) == (
            "tea",
            [],
            "",
        )
        memory.flush()
        assert memory.stats["providers"][0]["state"] == "ready"


@pytest.mark.parametrize("seconds", [0, -1])
def test_a_timeout_is_above_zero(seconds):
    """A deadline of nothing is refused."""
    with pytest.raises(ValueError, match="prefetch_timeout must be above 0"):
        MemoryManager(external_prefetch_timeout=seconds)


def test_a_second_external_provider_is_refused(managed, caplog):
    """One external provider at a time; the warning names both, and the key that chooses."""
    first, second = Recorder("first"), Recorder("second")
    memory = managed(first, second)
    assert memory.providers == [first]
    warning = next(record.getMessage() for record in caplog.records if record.levelno == logging.WARNING)
    assert all(word in warning for word in ("'first'", "second", "memory.provider"))
    assert "second" in memory.stats["refused"]


def test_the_builtin_memory_stands_beside_an_external_one(managed):
    """A provider named ``builtin`` takes no place; both are found by name, in order."""
    builtin, other = Recorder("builtin", ()), Recorder()
    memory = managed(builtin, other)
    assert (memory.providers, memory.get_provider("recorder"), memory.get_provider("x")) == (
        [builtin, other],
        other,
        None,
    )


def test_a_secondary_only_recalls(managed):
    """A read-only provider beside the active one is asked to recall, and told nothing; its tools are not there."""
    first, second = Recorder("first", ("first_tool",)), Recorder("second", ("second_tool",))
    memory = MemoryManager(limits=LONG)
    with memory:
        assert (memory.add_provider(first), memory.add_provider(second, read_only=True)) == (True, True)
        memory.initialize_all("s1")
        assert memory.prefetch_all("tea") == "about tea\n\nabout tea"
        memory.on_turn_start(1, "hi")
        memory.sync_all("hi", "hello")
        memory.queue_prefetch_all("hi")
        memory.on_memory_write("add", "user", "tea")
        memory.on_session_end([])
        assert (memory.build_system_prompt(), memory.get_all_tool_names()) == ("the block", {"first_tool"})
    assert set(second.order) <= {"initialize", "prefetch", "recall_status", "queue_prefetch", "shutdown"}


@pytest.mark.parametrize("rubbish", [5, Recorder, object(), Recorder(" ")], ids=["int", "class", "object", "nameless"])
def test_what_is_no_provider_is_refused(rubbish):
    """Anything but an instance of a provider is refused, with a warning."""
    assert MemoryManager().add_provider(rubbish) is False


def test_a_provider_without_schemas_gives_its_place_to_the_next_r10_03(managed, caplog):
    """A provider whose ``get_tool_schemas`` raises is refused for another that comes, which is then active."""
    bad, good = Recorder("bad", get_tool_schemas=lambda: 1 / 0), Recorder("good")
    memory = managed(bad, good)
    assert (memory.providers, memory.get_all_tool_names()) == ([good], {"recorder_note"})
    assert "provider=bad reason=get_tool_schemas raised ZeroDivisionError" in caplog.text


def test_providers_are_told_who_and_where_r11_02(managed, tmp_path):
    """``initialize`` gets the home, the platform, and in a named profile its name."""
    plain, named = Recorder(), Recorder()
    managed(plain, hermes_home=str(tmp_path))
    managed(named, hermes_home=str(tmp_path / "profiles" / "work"), platform="telegram", user_id="7")
    ((args, options),) = plain.named("initialize")
    assert (args, options["hermes_home"], options["platform"]) == (("s1",), str(tmp_path), "cli")
    assert "agent_identity" not in options
    ((_, options),) = named.named("initialize")
    assert [options[key] for key in ("platform", "user_id", "agent_identity", "agent_workspace")] == [
        "telegram",
        "7",
        "work",
        "hermes",
    ]


def test_the_active_home_is_told_when_nobody_says(managed, monkeypatch, tmp_path):
    """Without a home in its options, a manager takes the active one."""
    monkeypatch.setenv("HERMES_HOME", str(tmp_path))
    provider = Recorder()
    managed(provider)
    assert provider.named("initialize")[0][1]["hermes_home"] == str(tmp_path)


def test_two_homes_do_not_bleed_into_each_other(managed, tmp_path):
    """Each provider's code has its own home as the active one, wherever it runs."""
    from hermes_core.config.paths import get_hermes_home

    found = {"a": set(), "b": set()}

    def look(name):
        return lambda: found[name].add(get_hermes_home()) or ""

    methods = ("initialize", "prefetch", "sync_turn", "on_turn_start", "on_session_end", "shutdown", "handle_tool_call")
    memories = [
        managed(Recorder(name, **dict.fromkeys(methods, look(name))), hermes_home=str(tmp_path / name)) for name in "ab"
    ]
    for memory in memories:
        memory.on_turn_start(1, "hi")
        memory.prefetch_all("tea")
        memory.handle_tool_call("recorder_note", {})
        memory.sync_all("hi", "hello")
        memory.shutdown_all()
    assert found == {"a": {tmp_path / "a"}, "b": {tmp_path / "b"}}


def test_blocks_are_parted_by_blank_lines(managed):
    """System prompt blocks and recalled texts of several providers are joined by a blank line; blank ones vanish."""
    memory = managed(Recorder("builtin", ()), Recorder())
    assert memory.build_system_prompt() == "the block\n\nthe block"
    memory = managed(Recorder(system_prompt_block=lambda: " \n"))
    assert memory.build_system_prompt() == ""


def test_a_long_text_is_cut_off_visibly():
    """What one provider says is cut at its limit, with a note that says so."""
    with MemoryManager(limits=Limits(max_chars=10)) as memory:
        memory.add_provider(Recorder(prefetch=lambda: "0123456789ABC", system_prompt_block=lambda: "x" * 11))
        memory.initialize_all("s1")
        assert memory.prefetch_all("tea") == "0123456789\n[cut off: recorder gave 13 characters, 10 are shown]"
        assert memory.build_system_prompt().startswith("x" * 10 + "\n[cut off")


SKILL = (
    '[IMPORTANT: The user has invoked the "tidy" skill. The full skill content is loaded below.]\n\n# Tidy\n\n'
    "The user has provided the following instruction alongside the skill invocation: sort the tea"
)
BARE = '[IMPORTANT: The user has invoked the "tidy" skill. The full skill content is loaded below.]\n\n# Tidy\n'


@pytest.mark.parametrize(
    ("said", "told"), [("hi", ["hi"]), (SKILL, ["sort the tea"]), (BARE, []), ("", []), (None, []), ([{}], [])]
)
def test_providers_are_told_what_the_user_said_and_no_scaffolding(managed, said, told):
    """Of a message that a skill was unfolded into, providers get the user's own words; without any, nothing."""
    provider = Recorder()
    memory = managed(provider)
    memory.prefetch_all(said)
    memory.sync_all(said, "hello")
    memory.queue_prefetch_all(said)
    memory.flush()
    heard = [[args[0] for args, _ in provider.named(method)] for method in ("prefetch", "sync_turn", "queue_prefetch")]
    assert heard == [told] * 3


def test_turns_are_stored_in_order_and_never_two_at_a_time(managed):
    """The background stores first in, first out, one after the other, before what comes later."""
    provider, busy, seen = Recorder(), threading.Lock(), []

    def store():
        assert busy.acquire(blocking=False)
        seen.append(len(seen))
        busy.release()

    provider.faults["sync_turn"] = store
    memory = managed(provider)
    for number in range(50):
        memory.sync_all(f"turn {number}", "ok")
    memory.on_session_end([])
    assert [args[0] for args, _ in provider.named("sync_turn")] == [f"turn {number}" for number in range(50)]
    assert (len(seen), provider.order[-1]) == (50, "on_session_end")


def test_storing_does_not_hold_up_the_turn_r08_01(managed, gate):
    """``sync_all`` returns at once however long a provider takes, and the next turn's recall does not wait for it."""
    memory = managed(Recorder(sync_turn=gate.wait))
    memory.sync_all("hi", "hello")
    assert memory.prefetch_all("tea") == "about tea"


def test_a_provider_that_fails_to_store_is_asked_again_r09_09(managed, caplog):
    """A turn that could not be stored is warned of with its session, and counted; the next is tried."""
    provider = Recorder(sync_turn=lambda: 1 / 0)
    memory = managed(provider)
    memory.sync_all("one", "ok")
    memory.flush()
    del provider.faults["sync_turn"]
    memory.sync_all("two", "ok")
    memory.flush()
    (stats,) = memory.stats["providers"]
    assert (stats["turns_failed"], stats["turns_stored"], stats["state"]) == (1, 1, "ready")
    assert "session=s1" in caplog.text


def test_a_full_queue_refuses_the_turn_and_says_so(caplog, gate):
    """When the queue is full, a turn is refused at once: counted, and warned of once."""
    provider = Recorder(sync_turn=gate.wait)
    with MemoryManager(limits=Limits(queue_size=2, drain_timeout=0.01, session_end_timeout=0.1)) as memory:
        memory.add_provider(provider)
        memory.initialize_all("s1")
        memory.sync_all("being stored", "ok")
        while memory.stats["queue"]["running"] == "":
            pass
        for number in range(5):
            memory.sync_all(f"turn {number}", "ok")
        assert memory.stats["providers"][0]["turns_refused"] == 3
        assert len([record for record in caplog.records if "task refused" in record.getMessage()]) == 1
        gate.set()


def test_everything_that_changed_is_told(managed):
    """Each moment reaches the provider, with what the host says of it."""
    provider = Recorder()
    memory = managed(provider)
    memory.on_turn_start(3, "hi", model="m")
    memory.on_delegation("task", "result", child_session_id="c")
    memory.on_memory_write("add", "user", "tea", {"session_id": "s1"})
    memory.on_session_switch("s2", parent_session_id="s1", reset=True, reason="new_session")
    memory.on_session_switch("")
    memory.on_session_switch("s2", rewound=True)
    assert memory.on_pre_compress([{"role": "user", "content": "hi"}]) == "keep this"
    begun = [call for call in provider.calls if call[0] not in ("get_tool_schemas", "initialize")]
    assert begun == [
        ("on_turn_start", (3, "hi"), {"model": "m"}),
        ("on_delegation", ("task", "result"), {"child_session_id": "c"}),
        ("on_memory_write", ("add", "user", "tea"), {"metadata": {"session_id": "s1"}}),
        ("on_session_switch", ("s2",), {"parent_session_id": "s1", "reset": True, "reason": "new_session"}),
        ("on_session_switch", ("s2",), {"parent_session_id": "", "reset": False, "rewound": True}),
        ("on_pre_compress", ([{"role": "user", "content": "hi"}],), {}),
    ]


def test_the_builtin_memory_is_not_told_of_its_own_writes(managed):
    """``on_memory_write`` goes to external providers alone."""
    builtin, other = Recorder("builtin", ()), Recorder()
    managed(builtin, other).on_memory_write("add", "user", "tea")
    assert (len(builtin.named("on_memory_write")), len(other.named("on_memory_write"))) == (0, 1)


SIGNATURES = {
    "prefetch": {
        "query": (lambda self, query: "got it", "tea"),
        "and a session": (lambda self, query, session_id: "got it", "tea"),
        "and anything": (lambda self, query, **more: "got it", "tea"),
    },
    "sync_turn": {
        "two": lambda self, user, assistant: None,
        "keywords of its own": lambda self, user, assistant, *, session_id="": None,
        "messages": lambda self, user, assistant, *, messages=None, **more: None,
        "an author": lambda self, user, assistant, *, turn_author=None: None,
    },
    "on_memory_write": {
        "three": lambda self, a, t, c: None,
        "a fourth": lambda self, a, t, c, extra: None,
        "metadata": lambda self, action, target, content, metadata=None: None,
        "anything": lambda self, action, target, content, **more: None,
    },
    "on_session_switch": {"one": lambda self, session: None, "reason": lambda self, s, *, reason="": None},
    "on_turn_start": {"two": lambda self, number, message: None},
    "initialize": {"one": lambda self, session_id: None},
    "handle_tool_call": {"two": lambda self, name, args: "{}"},
}
SHAPES = [
    pytest.param(method, shape[0] if isinstance(shape, tuple) else shape, id=f"{method}: {label}")
    for method, shapes in SIGNATURES.items()
    for label, shape in shapes.items()
]


@pytest.mark.parametrize(("method", "function"), SHAPES)
def test_older_signatures_work_r10_04(caplog, method, function):
    """A method that knows fewer arguments than the host offers is called with those it knows."""
    calls = []

    def recorded(self, *args, **options):
        calls.append(inspect.signature(function).bind(self, *args, **options).arguments)
        return function(self, *args, **options)

    recorded.__signature__ = inspect.signature(function)
    provider = type("Old", (Recorder,), {method: recorded})()
    with MemoryManager(limits=LONG) as memory:
        memory.add_provider(provider)
        memory.initialize_all("s1", platform="cli")
        memory.on_turn_start(1, "hi", model="m")
        memory.prefetch_all("tea")
        memory.handle_tool_call("recorder_note", {}, task_id="t")
        memory.sync_all("hi", "hello", messages=[], turn_author="ann")
        memory.on_memory_write("add", "user", "tea", {"session_id": "s1"})
        memory.on_session_switch("s2", reason="resume")
    assert len(calls) == 1
    assert [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING] == []


def test_metadata_reaches_each_shape_that_has_room_for_it():
    """``on_memory_write`` gets its metadata by name, else as a fourth argument, else not at all."""
    seen = []

    class Fourth(Recorder):
        def on_memory_write(self, action, target, content, extra):
            seen.append(extra)

    with MemoryManager() as memory:
        memory.add_provider(Fourth())
        memory.on_memory_write("add", "user", "tea", {"session_id": "s1"})
        memory.flush()
    assert seen == [{"session_id": "s1"}]


@pytest.mark.parametrize("method", ["prefetch", "handle_tool_call", "sync_turn", "initialize"])
def test_an_async_method_is_awaited_r07_05(managed, method):
    """A provider may write any method as a coroutine function."""
    done = []

    async def answer(*args, **options):
        done.append(method)
        return "awaited"

    provider = Recorder(**{method: answer})
    memory = managed(provider)
    memory.prefetch_all("tea")
    memory.handle_tool_call("recorder_note", {})
    memory.sync_all("hi", "hello")
    memory.flush()
    assert done == [method]


def test_a_person_is_told_what_was_recalled(managed):
    """``describe_recall`` speaks of the latest prefetch alone."""
    provider = Recorder(recall_status=lambda: RecallStatus("Notes", 2))
    memory = managed(provider)
    memory.prefetch_all("tea")
    assert memory.describe_recall() == f"{INDICATOR_GLYPH} Notes — recalled 2 memories"
    provider.faults["prefetch"] = lambda: ""
    memory.prefetch_all("coffee")
    assert memory.describe_recall() == ""


def test_a_required_checkpoint_that_nobody_keeps_is_an_error(managed):
    """Where a checkpoint is required, messages may go only once a provider that promises it has kept them."""
    from hermes_core.errors import MemoryProviderError

    memory = managed(Recorder())
    assert memory.supports_pre_compress_checkpoint(2) is False
    with pytest.raises(MemoryProviderError, match="no memory provider has kept"):
        memory.on_pre_compress([], require_checkpoint=True)


def test_a_provider_that_promises_checkpoints_gets_what_was_said(managed):
    """Such a provider is told of user and assistant text alone, and that a checkpoint is required."""
    provider = Recorder()
    provider.pre_compress_checkpoint_api_version = 2
    memory = managed(provider)
    said = [
        {"role": "user", "content": "hi"},
        {"role": "tool", "content": "{}"},
        {"role": "assistant", "content": None},
    ]
    assert (memory.supports_pre_compress_checkpoint(2), memory.on_pre_compress(said, require_checkpoint=True)) == (
        True,
        "keep this",
    )
    assert provider.named("on_pre_compress") == [(([said[0]],), {"require_checkpoint": True})]


def test_the_caller_s_context_reaches_the_provider(managed):
    """A context variable of the caller is seen in every call, in whichever thread."""
    from contextvars import ContextVar

    variable, seen = ContextVar("variable", default=""), []
    look = lambda: seen.append(variable.get()) or "text"  # noqa: E731
    memory = managed(Recorder(prefetch=look, sync_turn=look, on_turn_start=look, handle_tool_call=look))
    variable.set("mine")
    memory.on_turn_start(1, "hi")
    memory.prefetch_all("tea")
    memory.handle_tool_call("recorder_note", {})
    memory.sync_all("hi", "hello")
    memory.flush()
    assert seen == ["mine"] * 4


def test_the_session_reaches_the_provider(managed):
    """Recall and storing name the session, the one of the switch after it."""
    provider = Recorder()
    memory = managed(provider)
    memory.prefetch_all("tea")
    memory.on_session_switch("s2")
    memory.prefetch_all("tea", session_id="s3")
    memory.sync_all("hi", "hello")
    memory.flush()
    assert [options["session_id"] for _, options in provider.named("prefetch")] == ["s1", "s3"]
    assert provider.named("sync_turn")[0][1]["session_id"] == "s2"
