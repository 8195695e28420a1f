"""The queue in the background."""

import os
import threading

import pytest

from hermes_core.memory.worker import WARM_UP, WRITE, Worker


@pytest.fixture
def worker():
    """A worker for two tasks, closed when the test ends."""
    worker = Worker(2)
    yield worker
    worker.close(1)


@pytest.fixture
def busy(worker, gate):
    """The worker with a task that runs until the gate is opened."""
    begun = threading.Event()
    worker.submit(WRITE, lambda: begun.set() or gate.wait(), "busy")
    begun.wait()
    return worker


def test_tasks_run_in_order(worker):
    """First in, first out, in one thread."""
    done, threads = [], set()
    for number in range(2):
        worker.submit(WRITE, lambda number=number: (done.append(number), threads.add(threading.get_ident())), "task")
    assert (worker.wait(5), done, len(threads)) == (True, [0, 1], 1)


def test_a_task_that_raises_leaves_the_others(worker, caplog):
    """What a task raises is logged, and the next one runs."""
    done = []
    worker.submit(WRITE, lambda: 1 / 0, "the bad one")
    worker.submit(WRITE, lambda: done.append(1), "the good one")
    assert (worker.wait(5), done, "the bad one" in caplog.text) == (True, [1], True)


def test_a_full_queue_leaves_out_warm_ups_first(busy, gate):
    """A task that keeps something takes the place of warm-ups; when there are none, it is refused."""
    done = []
    busy.submit(WARM_UP, lambda: done.append("warm-up"), "a")
    busy.submit(WRITE, lambda: done.append("first"), "b")
    assert busy.submit(WRITE, lambda: done.append("second"), "c") is not None
    assert busy.submit(WRITE, lambda: done.append("third"), "d") is None
    assert busy.submit(WARM_UP, lambda: done.append("fourth"), "e") is None
    gate.set()
    assert (busy.wait(5), done) == (True, ["first", "second"])


def test_a_newer_warm_up_takes_the_place_of_an_older(busy, gate):
    """Only the latest warm-up of a label runs; one of another label stays."""
    done = []
    for number, label in enumerate(["a", "b", "a"]):
        busy.submit(WARM_UP, lambda number=number: done.append(number), label)
    gate.set()
    assert (busy.wait(5), done) == (True, [1, 2])


def test_waiting_gives_up_in_time(busy):
    """``wait`` says no when what was handed in takes longer."""
    assert (busy.wait(0.01), busy.is_idle, busy.load["running"]) == (False, False, "busy")


def test_an_unused_worker_closes_at_once(worker):
    """A worker that never ran anything has no thread, and is drained."""
    worker.close(1)
    assert (worker.drain_state["status"], worker.submit(WRITE, print, "late")) == ("drained", None)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_child_has_a_thread_of_its_own(run_python):
    """After a fork, parent and child store on: each starts the thread it lacks."""
    done = run_python("""
        import os, sys
        from hermes_core.memory.lane import Lane
        from hermes_core.memory.worker import WRITE, Worker
        worker, lane = Worker(5), Lane("lane")
        worker.submit(WRITE, lambda: None, "before"), worker.wait(5), lane.call(lambda: 1, 5)
        child = os.fork()
        done = []
        worker.submit(WRITE, lambda: done.append(1), "after"), worker.wait(5)
        ok = done == [1] and lane.call(lambda: 2, 5) == 2
        if child == 0:
            os._exit(0 if ok else 3)
        print(ok, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    """)
    assert (done.stdout.split(), done.returncode) == (["True", "0"], 0)
