"""The memory provider sqlite: writing in the background, by several threads and processes, and being killed."""

import random
import signal
import sqlite3
import subprocess
import sys
import threading
import time

import pytest

from hermes_core import HermesError

WRITE = """
import sys, time
from hermes_core import Host
home, name, count, pause = sys.argv[1:]
with Host.load(home, {"memory": {"sqlite": {"semantic": False}}}) as host:
    memory = host.memory_provider("sqlite")
    memory.initialize("shared", hermes_home=home)
    for number in range(int(count)):
        memory.sync_turn(f"{name} asks {number}", f"{name} answers {number}")
        time.sleep(float(pause))
        if number % 7 == 0:
            memory.flush()
            print(number, flush=True)
    memory.shutdown()
"""


def start_writer(home, name, count, pause=0.0):
    """Another process that writes turns; it prints the number of each one that was flushed."""
    command = [sys.executable, "-c", WRITE, str(home.path), name, str(count), str(pause)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def memory_threads():
    """The threads that providers have started."""
    return [thread for thread in threading.enumerate() if thread.name.startswith("hermes-memory")]


def texts(provider):
    """Everything that is kept, in order."""
    return [row["text"] for row in provider.export_records()]


def test_what_a_manager_has_flushed_is_in_the_file(home, load_host):
    """``host.memory.flush()`` is true when another process can read the turn, and not before."""
    memory = load_host(config={"memory": {"provider": "sqlite", "sqlite": {"semantic": False}}}).memory
    memory.initialize_all("s1")
    memory.flush()
    holder = sqlite3.connect(home.path / "memories/memory.db", check_same_thread=False)
    holder.execute("begin immediate")
    memory.sync_all("a walrus", "indeed")
    assert memory.flush(0.2) is False
    holder.rollback()
    assert memory.flush(10) is True
    assert holder.execute("select text from memory order by id").fetchall() == [("a walrus",), ("indeed",)]
    holder.close()


def test_a_turn_stays_its_users_when_another_ones_session_begins(memory, home):
    """What waits to be written when a provider is initialised anew is kept for whoever said it."""
    provider = memory(user_id="ann")
    holder = sqlite3.connect(home.path / "memories/memory.db")
    holder.execute("begin immediate")
    provider.sync_turn("the secret garden", "indeed")
    holder.execute("insert or ignore into scope (user_id, agent) values ('bob', '')")
    holder.commit()
    holder.execute("begin immediate")
    provider.initialize("s2", hermes_home=str(home.path), user_id="bob")
    holder.rollback()
    holder.close()
    provider.flush()
    assert provider.prefetch("secret garden") == ""
    assert "secret garden" in memory(user_id="ann").prefetch("secret garden")


def test_a_provider_that_could_not_open_its_file_closes_quietly(home, load_host):
    """After a failed start there is nothing to flush, and nothing to close."""
    home.write("memories/memory.db", b"no database at all " * 100)
    provider = load_host().memory_provider("sqlite")
    with pytest.raises(HermesError, match="damaged"):
        provider.initialize("s1", hermes_home=str(home.path))
    provider.flush()
    provider.shutdown()


def test_a_turn_is_handed_over_at_once_while_another_holds_the_file(told, home):
    """``sync_turn`` does not wait for the file, and fails no turn; what it was given is written once it is free."""
    provider = told("hello")
    holder = sqlite3.connect(home.path / "memories/memory.db")
    holder.execute("begin immediate")
    for number in range(50):
        provider.sync_turn(f"turn {number}", "ok")
    with pytest.raises(HermesError, match="not written yet"):
        provider.flush(0.1)
    holder.rollback()
    provider.flush()
    assert f"turn {number}" in texts(provider)


def test_threads_write_and_ask_at_once(told):
    """Nothing is lost or mixed up when several threads use one provider."""
    provider = told("hello")
    failures = []

    def work(name):
        try:
            for number in range(50):
                provider.sync_turn(f"{name} asks {number}", f"{name} answers {number}", session_id=name)
                provider.prefetch(f"asks {number}")
        except HermesError as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(f"t{n}",)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    provider.flush()
    assert failures == []
    kept = texts(provider)
    for n in range(4):
        wanted = [f"t{n} {verb} {number}" for number in range(50) for verb in ("asks", "answers")]
        assert [text for text in kept if text.startswith(f"t{n} ")] == wanted


def test_two_processes_write_one_session_at_once(memory, home):
    """Every turn of both is kept once, whole, and each one's in its order."""
    writers = [start_writer(home, name, 60) for name in ("left", "right")]
    assert [writer.communicate(timeout=60)[0] and writer.returncode for writer in writers] == [0, 0]
    kept = texts(memory())
    for name in ("left", "right"):
        wanted = [f"{name} {verb} {number}" for number in range(60) for verb in ("asks", "answers")]
        assert [text for text in kept if text.startswith(name)] == wanted
    assert all(kept[place + 1] == kept[place].replace("asks", "answers") for place in range(0, len(kept), 2))


def test_what_another_process_wrote_is_recalled(memory, home):
    """A provider that is open sees what others add, by words and by meaning."""
    provider = memory(settings={"semantic": True, "prefetch_tokens": 60})
    provider.sync_turn("hello", "there")
    assert "asks" not in provider.prefetch("left asks")
    start_writer(home, "left", 3).communicate(timeout=60)
    assert "left asks" in provider.prefetch("left asks")


def test_a_fork_writes_its_own_turns_and_none_of_its_parents(told, run_python, home):
    """What waits when a process forks is written by the parent alone; the child writes what it is told itself."""
    done = run_python(
        """
        import os, sys
        from hermes_core import Host
        host = Host.load(sys.argv[1])
        memory = host.memory_provider("sqlite")
        memory.initialize("s", hermes_home=sys.argv[1])
        memory.prefetch("anything")
        for number in range(100):
            memory.sync_turn(f"parent {number}", "ok")
        child = os.fork()
        if child == 0:
            memory.sync_turn("child", "ok")
            memory.flush(10)
            os._exit("child" not in memory.prefetch("child"))
        memory.flush(10)
        assert os.waitpid(child, 0)[1] == 0
        memory.shutdown()
        """,
        home.path,
    )
    assert (done.returncode, done.stderr) == (0, "")
    kept = [text for text in texts(told()) if text not in ("ok", "I see.")]
    assert sorted(kept) == sorted([*(f"parent {number}" for number in range(100)), "child"])


def test_what_waits_at_the_end_of_the_program_is_written(run_python, told, home):
    """A program that ends without closing anything loses no turn."""
    done = run_python(
        """
        import sys
        from hermes_core import Host
        memory = Host.load(sys.argv[1]).memory_provider("sqlite")
        memory.initialize("s", hermes_home=sys.argv[1])
        for number in range(300):
            memory.sync_turn(f"turn {number}", "")
        """,
        home.path,
    )
    assert done.returncode == 0, done.stderr
    assert texts(told()) == [f"turn {number}" for number in range(300)]


def test_before_a_summary_every_turn_is_in_the_file(memory, home):
    """``on_pre_compress`` and ``on_session_end`` return when what was said is kept."""
    provider = memory()
    for number, told in enumerate((provider.on_pre_compress, provider.on_session_end)):
        provider.sync_turn(f"hello {number}", "there")
        told([])
        count = sqlite3.connect(home.path / "memories/memory.db").execute("select count(*) from memory").fetchone()
        assert count == (2 * number + 2,)


@pytest.mark.slow
def test_being_killed_loses_nothing_flushed_and_writes_nothing_twice(memory, home):
    """Of 200 turns, killed at any moment, twenty times: every flushed turn is there, each once, each whole."""
    chance, cut_short = random.Random(5), 0
    for round_ in range(20):
        with start_writer(home, f"r{round_}", 200, 0.001) as writer:
            first = writer.stdout.readline()
            time.sleep(chance.uniform(0, 0.2))
            writer.send_signal(signal.SIGKILL)
            flushed = [int(line) for line in (first + writer.stdout.read()).split()]
        provider = memory(session=f"check {round_}")
        kept = [text for text in texts(provider) if text.startswith(f"r{round_} ")]
        turns = len(kept) // 2
        assert kept == [f"r{round_} {verb} {number}" for number in range(turns) for verb in ("asks", "answers")]
        assert turns > flushed[-1]
        cut_short += turns < 200
        assert f"asks {flushed[-1]}" in provider.prefetch(f"r{round_} asks {flushed[-1]}")
        provider.shutdown()
    assert cut_short > 10  # else they were killed too late to tell


@pytest.mark.parametrize("semantic", [False, True])
def test_no_thread_is_left_when_it_is_shut_down(memory, semantic):
    """Whatever a provider started has ended with it, used or not."""
    for number in range(3):
        provider = memory(settings={"semantic": semantic})
        if number:
            provider.sync_turn("hello", "there")
            provider.prefetch("hello")
        provider.shutdown()
    assert memory_threads() == []


def test_looking_at_it_starts_no_thread(load_host, home):
    """What is opened to be inspected reads in the caller's own thread."""
    provider = load_host().memory_provider("sqlite")
    provider.initialize_for_inspection("s", hermes_home=str(home.path))
    assert provider.get_status_config()["messages"] == 0
    assert memory_threads() == []
    provider.shutdown()


def test_odd_names_do_not_hold_up_what_comes_after(memory):
    """Names that SQLite cannot hold are kept as far as it can, and the turns go on being written."""
    provider = memory(session="s\ud800", user_id="u\ud800", user_name="Ann\ud800", agent_identity=7)
    provider.sync_turn("hello", "there")
    provider.sync_turn("hello again", "there", session_id="\ud800", turn_author="\ud800")
    provider.flush(5)
    assert [(row["session"], row["speaker"]) for row in provider.export_records()] == [
        ("s?", "Ann?"), ("s?", "assistant"), ("?", "?"), ("?", "assistant"),
    ]  # fmt: skip
