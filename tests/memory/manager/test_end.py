"""How a session ends, and a manager closes."""

import gc
import logging
import random
import threading
import time

import pytest

from hermes_core.errors import MemoryProviderError
from hermes_core.memory.limits import Limits
from hermes_core.memory.manager import MemoryManager

from .conftest import LONG, SHORT, Recorder


def opened(provider, limits=LONG):
    """A manager that nobody else closes."""
    memory = MemoryManager(limits=limits)
    memory.add_provider(provider)
    memory.initialize_all("s1")
    return memory


def test_the_session_ends_once_after_its_last_turn_and_before_shutdown():
    """Closing stores what waits, then ends the session, then closes the provider: each once, in this order."""
    provider = Recorder()
    memory = opened(provider)
    memory.sync_all("one", "1")
    memory.sync_all("two", "2")
    memory.shutdown_all()
    memory.shutdown_all()
    assert provider.order == ["initialize", "sync_turn", "sync_turn", "on_session_end", "shutdown"]
    ((messages,), _) = provider.named("on_session_end")[0]
    assert [message["content"] for message in messages] == ["one", "1", "two", "2"]


ENDS = {
    "a with block": lambda memory: memory.__exit__(None, None, None),
    "close()": lambda memory: memory.close(),
    "on_session_end, then close()": lambda memory: (memory.on_session_end([]), memory.close()),
    "on_session_end twice": lambda memory: (memory.on_session_end([]), memory.on_session_end([]), memory.close()),
    "a boundary, then close()": lambda memory: (
        memory.commit_session_boundary_async([], new_session_id="s2"),
        memory.on_session_end([]),
        memory.close(),
    ),
}


@pytest.mark.parametrize("end", ENDS)
def test_each_way_to_end_tells_of_it_once_r09_02(end):
    """Whichever way a session ends, providers hear of it exactly once a session."""
    provider = Recorder()
    memory = opened(provider)
    memory.sync_all("hi", "hello")
    ENDS[end](memory)
    sessions = 2 if "boundary" in end else 1
    assert [provider.order.count(name) for name in ("on_session_end", "shutdown")] == [sessions, 1]


def test_a_turn_after_the_end_opens_the_session_again():
    """When another turn follows, the session ends once more; nothing is lost."""
    provider = Recorder()
    memory = opened(provider)
    memory.on_session_end([])
    memory.sync_all("one more thing", "yes?")
    memory.close()
    assert provider.order == ["initialize", "on_session_end", "sync_turn", "on_session_end", "shutdown"]


def test_a_new_session_ends_the_one_before():
    """When another session begins and nobody has ended the one before, that one ends first, once."""
    provider = Recorder()
    memory = opened(provider)
    memory.sync_all("hi", "hello")
    memory.initialize_all("s2")
    memory.on_session_end([])
    memory.initialize_all("s3")
    memory.close()
    begun = [args[0] for args, _ in provider.named("initialize")]
    assert (begun, provider.order.count("on_session_end")) == (["s1", "s2", "s3"], 3)
    assert provider.order[:4] == ["initialize", "sync_turn", "on_session_end", "initialize"]


def test_a_turn_that_raises_closes_the_memory_and_keeps_its_error_r09_04():
    """The manager as a context manager closes its providers, and the turn's own error goes on."""
    provider = Recorder()
    with pytest.raises(ZeroDivisionError), opened(provider):
        1 / 0  # noqa: B018
    assert provider.order[-1] == "shutdown"


def test_a_program_that_just_ends_ends_its_session_r09_02(run_python):
    """At the end of the program, what waits is stored, and the session is ended, though nobody closed anything."""
    done = run_python("""
        from hermes_core import MemoryProvider
        from hermes_core.memory.manager import MemoryManager
        class Notes(MemoryProvider):
            name = "notes"
            def is_available(self): return True
            def initialize(self, session_id, **kwargs): pass
            def get_tool_schemas(self): return []
            def sync_turn(self, user, assistant): print("stored", user, flush=True)
            def on_session_end(self, messages): print("ended", len(messages), flush=True)
            def shutdown(self): print("closed", flush=True)
        memory = MemoryManager()
        memory.add_provider(Notes())
        memory.initialize_all("s1")
        memory.sync_all("hi", "hello")
    """)
    assert (done.returncode, done.stdout.split("\n")[:-1], done.stderr) == (
        0,
        ["stored hi", "ended 2", "closed"],
        "",
    )


def test_a_program_whose_provider_hangs_ends_in_time_r09_03(run_python):
    """A provider that waits on a socket for ever does not keep a program from ending, with its own exit code."""
    done = run_python("""
        import socket, time
        from hermes_core import MemoryProvider
        from hermes_core.memory.limits import Limits
        from hermes_core.memory.manager import MemoryManager
        class Hangs(MemoryProvider):
            name = "hangs"
            def is_available(self): return True
            def initialize(self, session_id, **kwargs): self.one, self.other = socket.socketpair()
            def get_tool_schemas(self): return []
            def sync_turn(self, user, assistant): self.one.recv(1)
            prefetch = on_session_end = shutdown = lambda self, *args: self.one.recv(1)
        memory = MemoryManager(limits=Limits(prefetch_timeout=0.1, drain_timeout=0.1, session_end_timeout=0.1,
                                             shutdown_timeout=0.1))
        memory.add_provider(Hangs())
        memory.initialize_all("s1")
        memory.sync_all("hi", "hello")
        memory.prefetch_all("tea")
        print(time.monotonic())
    """)
    assert (done.returncode, "Traceback" in done.stderr) == (0, False), done.stderr
    assert time.monotonic() - float(done.stdout) < 5


def test_what_cannot_be_stored_in_time_is_counted(caplog, gate):
    """Closing waits for a stuck provider as long as it may, then says how much was abandoned."""
    provider = Recorder(sync_turn=gate.wait)
    memory = opened(provider, SHORT)
    assert memory.shutdown_drain_state["status"] == "not_started"
    for number in range(3):
        memory.sync_all(f"turn {number}", "ok")
    memory.queue_prefetch_all("tea")
    memory.shutdown_all()
    assert memory.shutdown_drain_state == {
        "status": "timed_out",
        "abandoned_writes": 2,
        "abandoned_prefetches": 1,
        "active_tasks": 1,
    }
    assert "abandoned_writes=2" in caplog.text


def test_an_end_that_cannot_be_told_is_warned_of(caplog, gate):
    """A provider that hangs when the program ends cannot be told so; that is said, and what it costs is bounded."""
    memory = opened(Recorder(on_turn_start=gate.wait), SHORT)
    memory.on_turn_start(1, "hi")
    memory.shutdown_all()
    for call in ("on_session_end", "shutdown"):
        assert f"call={call} reason=was not called: an earlier call has not returned" in caplog.text


def test_the_state_while_draining_is_told(gate):
    """While turns are being stored, the state says so; when all are, it says that."""
    memory = opened(Recorder(sync_turn=gate.wait), Limits(drain_timeout=5))
    memory.sync_all("hi", "hello")
    closing = threading.Thread(target=memory.shutdown_all)
    closing.start()
    while memory.shutdown_drain_state["status"] == "not_started":
        time.sleep(0.005)
    assert memory.shutdown_drain_state["status"] == "draining"
    gate.set()
    closing.join()
    assert memory.shutdown_drain_state["status"] == "drained"


def test_a_late_turn_is_refused_with_a_warning(caplog):
    """What is handed in after closing is refused: counted, and warned of once."""
    provider = Recorder()
    memory = opened(provider)
    memory.shutdown_all()
    memory.sync_all("late", "ok")
    memory.sync_all("later", "ok")
    assert (provider.named("sync_turn"), memory.prefetch_all("tea"), memory.has_tool("recorder_note")) == (
        [],
        "",
        False,
    )
    said = [record for record in caplog.records if record.levelno >= logging.WARNING]
    assert ["memory is closed" in record.getMessage() for record in said] == [True]


def test_providers_close_last_come_first():
    """Providers are closed in the reverse of the order they came in."""
    closed = []
    memory = MemoryManager(limits=LONG)
    for name in ("builtin", "recorder"):
        memory.add_provider(Recorder(name, (), shutdown=lambda name=name: closed.append(name)))
    memory.shutdown_all()
    assert closed == ["recorder", "builtin"]


def test_providers_are_told_that_the_end_has_come(managed):
    """The event that ``initialize`` was given is set before ``shutdown`` is called."""
    provider, seen = Recorder(), []
    memory = managed(provider)
    event = provider.named("initialize")[0][1]["shutdown_event"]
    provider.faults["shutdown"] = lambda: seen.append(event.is_set())
    provider.faults["on_session_end"] = lambda: seen.append(event.is_set())
    memory.shutdown_all()
    assert seen == [False, True]


def test_no_thread_outlives_its_manager_r09_05():
    """Closing ends every thread of a manager; one without providers never starts any."""
    before = threading.active_count()
    for _ in range(50):
        memory = opened(Recorder())
        memory.prefetch_all("tea")
        memory.sync_all("hi", "hello")
        memory.shutdown_all()
    assert threading.active_count() == before
    empty = MemoryManager()
    empty.initialize_all("s1")
    empty.prefetch_all("tea")
    empty.sync_all("hi", "hello")
    assert threading.active_count() == before
    empty.shutdown_all()


def test_a_forgotten_manager_leaves_no_thread():
    """The threads of a manager that is dropped without being closed end when it is collected."""
    before = threading.active_count()
    memory = opened(Recorder())
    memory.sync_all("hi", "hello")
    memory.prefetch_all("tea")
    memory.flush()
    del memory
    gc.collect()
    deadline = time.monotonic() + 5
    while threading.active_count() > before and time.monotonic() < deadline:
        time.sleep(0.01)
    assert threading.active_count() == before


@pytest.mark.parametrize(
    ("how", "told"),
    [
        ({"new_session_id": "s2", "reason": "resume"}, ("", False)),
        ({"new_session_id": "s2", "parent_session_id": "s1", "reason": "branch"}, ("s1", False)),
        ({"new_session_id": "s2", "parent_session_id": "s1", "reset": True, "reason": "new_session"}, ("s1", True)),
        ({"new_session_id": "s2", "parent_session_id": "s1", "reason": "compression"}, ("s1", False)),
    ],
    ids=lambda value: value.get("reason") if isinstance(value, dict) else "",
)
def test_a_switch_says_where_the_session_comes_from_r09_07(managed, how, told):
    """Resume, branch, reset and compression each reach the provider with their parent and whether it begins anew."""
    provider = Recorder()
    managed(provider).on_session_switch(**how)
    ((args, options),) = provider.named("on_session_switch")
    assert (args, (options["parent_session_id"], options["reset"]), options["reason"]) == (("s2",), told, how["reason"])


def test_a_boundary_is_told_in_order_and_in_the_background(managed):
    """End and switch come after the turns before them, and before the turns after them."""
    provider = Recorder()
    memory = managed(provider)
    memory.sync_all("old", "1")
    memory.commit_session_boundary_async([{"role": "user", "content": "old"}], new_session_id="s2")
    memory.sync_all("new", "2")
    memory.flush()
    assert provider.order == ["initialize", "sync_turn", "on_session_end", "on_session_switch", "sync_turn"]
    assert [options["session_id"] for _, options in provider.named("sync_turn")] == ["s1", "s2"]
    assert provider.named("on_session_switch")[0][1]["reason"] == "new_session"


def test_a_provider_that_was_slow_to_get_ready_is_used_once_it_is(gate):
    """One that misses the deadline of ``initialize`` joins in when it is ready, with its tools."""
    provider = Recorder(initialize=gate.wait)
    with MemoryManager(limits=SHORT) as memory:
        memory.add_provider(provider)
        memory.initialize_all("s1")
        assert (memory.stats["providers"][0]["state"], memory.prefetch_all("tea")) == ("degraded", "")
        gate.set()
        deadline = time.monotonic() + 5
        while memory.stats["providers"][0]["state"] != "ready" and time.monotonic() < deadline:
            time.sleep(0.005)
        assert memory.prefetch_all("tea") == "about tea"
        assert [schema["name"] for schema in memory.get_all_tool_schemas()] == ["recorder_note"]


def test_a_provider_that_failed_to_get_ready_is_tried_again(managed):
    """A failed ``initialize`` is repeated in the background when its wait is over; not before."""
    provider = Recorder(initialize=lambda: 1 / 0)
    memory = managed(provider)
    memory.on_turn_start(1, "hi")
    assert len(provider.named("initialize")) == 1
    del provider.faults["initialize"]
    memory._roster.members[0]._retry_at = 0.0
    memory.on_turn_start(2, "hi")
    deadline = time.monotonic() + 5
    while memory.stats["providers"][0]["state"] != "ready" and time.monotonic() < deadline:
        time.sleep(0.005)
    assert (len(provider.named("initialize")), memory.prefetch_all("tea")) == (2, "about tea")
    assert memory.get_all_tool_names() == {"recorder_note"}


def test_turns_of_a_provider_that_is_not_ready_are_counted(managed, caplog):
    """What could not be stored because the provider never got ready is counted and warned of."""
    memory = managed(Recorder(initialize=lambda: 1 / 0))
    memory.sync_all("hi", "hello")
    memory.flush()
    assert memory.stats["providers"][0]["turns_refused"] == 1
    assert "call=sync_turn reason=was not called: the provider is degraded" in caplog.text


def test_no_session_begins_in_a_closed_manager():
    """A closed manager says so, rather than starting its providers again."""
    memory = opened(Recorder())
    memory.close()
    with pytest.raises(MemoryProviderError, match="closed"):
        memory.initialize_all("s2")


class Buffered(Recorder):
    """Keeps turns back, until it is told to flush."""

    def flush(self, timeout=None):
        return self._called("flush", None, timeout)


@pytest.mark.parametrize(
    ("faults", "is_stored"),
    [({}, True), ({"flush": lambda: 1 / 0}, False), ({"flush": lambda: time.sleep(1.0)}, False)],
    ids=["it does", "it raises", "it takes too long"],
)
def test_flushing_has_a_provider_flush_after_the_last_turn(faults, is_stored):
    """``flush`` is true only once a provider that keeps turns back itself has stored them."""
    provider = Buffered(**faults)
    memory = opened(provider)
    memory.sync_all("one", "1")
    assert memory.flush(0.3) is is_stored
    assert provider.order[:3] == ["initialize", "sync_turn", "flush"]
    memory.close()


@pytest.mark.parametrize("faults", [{}, {"flush": lambda: 1 / 0}])
def test_flushing_what_is_closed_asks_nobody(faults):
    """A closed manager has nothing more to store."""
    provider = Buffered(**faults)
    memory = opened(provider)
    memory.close()
    assert memory.flush(0.3) is True
    assert "flush" not in provider.order


@pytest.mark.parametrize("seed", range(5))
def test_every_turn_is_accounted_for(seed):
    """Whatever a provider does, each turn handed in is stored, failed, refused or abandoned: none just vanishes."""
    chance = random.Random(seed)

    def store():
        time.sleep(chance.choice([0, 0, 0, 0.002]))
        if chance.random() < 0.2:
            raise chance.choice([ValueError, SystemExit, MemoryError])

    memory = opened(Recorder(sync_turn=store), Limits(queue_size=5, drain_timeout=0.005, hook_timeout=0.1))
    for number in range(200):
        memory.sync_all(f"turn {number}", "ok")
        if chance.random() < 0.1:
            memory.flush(0.01)
    memory.close()
    state = memory.shutdown_drain_state
    deadline = time.monotonic() + 5
    while state["active_tasks"] and memory.stats["queue"]["running"] and time.monotonic() < deadline:
        time.sleep(0.002)
    (stats,) = memory.stats["providers"]
    counted = sum(stats[name] for name in ("turns_stored", "turns_failed", "turns_refused"))
    assert counted + state["abandoned_writes"] == 200
