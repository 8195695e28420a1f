"""The thread of a provider."""

import threading
import time

import pytest

from hermes_core.memory.lane import Lane, LaneStuckError, LaneTimeoutError


@pytest.fixture
def lane():
    """A lane, closed when the test ends."""
    lane = Lane("a lane")
    yield lane
    lane.close()


def test_calls_run_in_one_thread(lane):
    """Every call runs in the same thread, which bears the lane's name."""
    threads = {lane.call(threading.current_thread, 5) for _ in range(3)}
    assert [thread.name for thread in threads] == ["a lane"]


def test_a_stuck_lane_takes_nothing_until_it_is_free(lane, gate):
    """After a call that was given up, others are refused at once; once it has returned, they run."""
    with pytest.raises(LaneTimeoutError):
        lane.call(gate.wait, 0.01)
    with pytest.raises(LaneStuckError):
        lane.call(lambda: 1, 5)
    gate.set()
    deadline = time.monotonic() + 5
    while lane.is_stuck and time.monotonic() < deadline:
        time.sleep(0.002)
    assert (lane.call(lambda: 1, 5), lane.is_idle) == (1, True)


def test_a_call_that_had_to_wait_too_long_for_its_turn_never_runs(lane, gate):
    """A call behind a long one is given up in time, and left out; the lane is idle afterwards."""
    first, ran = lane.submit(gate.wait), []
    with pytest.raises(LaneTimeoutError):
        lane.call(lambda: ran.append(1), 0.01)
    assert (lane.is_stuck, lane.is_idle) == (False, False)
    gate.set()
    assert first.wait(time.monotonic() + 5)
    assert (lane.call(lambda: 2, 5), ran, lane.is_idle) == (2, [], True)


def test_an_interrupted_wait_gives_the_call_up(lane, gate):
    """When whoever waits is interrupted, the call counts as overdue: nobody waits for it again."""

    class Interrupted:
        def __init__(self, job):
            self.job = job

        def wait(self, until):
            raise KeyboardInterrupt

        def __getattr__(self, name):
            return getattr(self.job, name)

    job = lane.submit(gate.wait)
    while not job._is_started:
        time.sleep(0.001)
    with pytest.raises(KeyboardInterrupt):
        lane.result(Interrupted(job), time.monotonic() + 5)
    assert lane.is_stuck


def test_what_comes_late_is_told(lane, gate):
    """A call that ends after it was given up is handed to who asked to hear of it."""
    heard = threading.Event()
    with pytest.raises(LaneTimeoutError):
        lane.result(lane.submit(gate.wait, late=lambda job: heard.set()), time.monotonic() + 0.01)
    assert not heard.is_set()
    gate.set()
    assert heard.wait(5)


def test_a_closed_lane_starts_again(lane):
    """A lane that was closed has a new thread when it is needed again."""
    lane.call(lambda: 1, 5)
    lane.close()
    assert lane.call(lambda: 2, 5) == 2
