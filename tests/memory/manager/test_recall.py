"""Recalling under a deadline: what comes too late is not lost."""

import threading
import time

import pytest

from hermes_core.memory.limits import Limits
from hermes_core.memory.manager import MemoryManager
from hermes_core.memory.prefetch import are_alike

from .conftest import SHORT, Recorder


class Slow(Recorder):
    """Recalls once it is let: each call waits for a release of its own."""

    def __init__(self):
        super().__init__()
        self.released = threading.Semaphore(0)
        self.returned = threading.Semaphore(0)

    def prefetch(self, query, *, session_id=""):
        self.calls.append(("prefetch", (query,), {}))
        self.released.acquire()
        self.returned.release()
        return f"call {len(self.named('prefetch'))} about {query}"

    def finish(self):
        """Let the call that runs return, and wait until the manager has its answer."""
        self.released.release()
        self.returned.acquire()


@pytest.fixture
def slow():
    """A provider whose calls are let go when the test ends."""
    provider = Slow()
    yield provider
    for _ in range(10):
        provider.released.release()


def until(condition):
    """Wait for what is about to be."""
    deadline = time.monotonic() + 5
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def test_a_slow_recall_is_skipped_and_later_recovers_r08_03_r08_04(managed, slow):
    """The first turn waits for its deadline, the second not at all; once the provider answers, it is asked again."""
    memory = managed(slow, limits=SHORT)
    assert memory.prefetch_all("where is tea") == ""
    assert memory.prefetch_all("where is coffee") == ""
    slow.finish()
    slow.released.release()
    until(lambda: memory.prefetch_all("what is water") == "call 2 about what is water")
    (stats,) = memory.stats["providers"]
    assert (stats["recall_timeouts"], stats["recalls_skipped"] >= 1, stats["state"]) == (1, True, "ready")


def test_a_late_recall_serves_the_next_query_that_is_like_it(managed, slow):
    """What came too late is used when the provider is late again, and the query has the same words in the main."""
    memory = managed(slow, limits=SHORT)
    memory.prefetch_all("Which tea does Anna like?")
    slow.finish()
    until(lambda: memory.stats["providers"][0]["late_recalls"] == 1)
    assert memory.prefetch_all("which tea does anna drink") == "call 1 about Which tea does Anna like?"
    assert memory.stats["providers"][0]["late_recalls_used"] == 1


@pytest.mark.parametrize(
    ("query", "session"), [("What about the weather?", ""), ("Which tea does Anna like?", "another")], ids=str
)
def test_a_late_recall_serves_no_other_query_and_no_other_session(managed, slow, query, session):
    """A late answer is dropped when the next query is of another kind, or of another session."""
    memory = managed(slow, limits=SHORT)
    memory.prefetch_all("Which tea does Anna like?")
    slow.finish()
    until(lambda: memory.stats["providers"][0]["late_recalls"] == 1)
    assert memory.prefetch_all(query, session_id=session) == ""


def test_a_fresh_recall_is_preferred_to_a_late_one(managed, slow):
    """When the provider answers in time, an earlier answer that came late is forgotten."""
    memory = managed(slow, limits=SHORT)
    memory.prefetch_all("tea")
    slow.finish()
    until(lambda: memory.stats["providers"][0]["late_recalls"] == 1)
    slow.released.release()
    assert memory.prefetch_all("tea") == "call 2 about tea"


def test_all_providers_share_one_deadline(gate):
    """Several slow providers are waited for together, not one after the other."""
    limits = Limits(prefetch_timeout=0.3, drain_timeout=0.1, session_end_timeout=0.1)
    with MemoryManager(limits=limits) as memory:
        for number in range(20):
            memory.add_provider(Recorder(f"slow-{number}", (), prefetch=gate.wait), read_only=True)
        memory.initialize_all("s1")
        began = time.monotonic()
        assert memory.prefetch_all("tea") == ""
        assert time.monotonic() - began < 20 * limits.prefetch_timeout
        gate.set()


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        ("tea", "tea", True),
        ("Tea!", "tea?", True),
        ("", "", True),
        ("one two three", "two three four", True),
        ("one two three", "three four five", False),
        ("茶", "咖啡", False),
    ],
)
def test_queries_are_alike_when_half_of_their_words_are(one, other, alike):
    """Likeness goes by whole words, whatever their case and the marks around them."""
    assert are_alike(one, other) is alike
