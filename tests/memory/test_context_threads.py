"""Threads and callbacks that see the caller's context."""

import threading
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar

import pytest

from hermes_core.memory.context_threads import ctx_bound, spawn_context_thread

WHO = ContextVar("who", default="nobody")


@pytest.fixture
def anna():
    """The caller is Anna."""
    token = WHO.set("anna")
    yield
    WHO.reset(token)


def test_a_thread_has_the_callers_context_and_is_not_started(anna):
    """The thread is made, named, a daemon, not started; it sees what the caller saw when it was made."""
    seen = []
    thread = spawn_context_thread(
        lambda *args, **kw: seen.append((WHO.get(), args, kw)), name="t", args=(1,), kwargs={"b": 2}
    )
    WHO.set("bob")
    assert (thread.name, thread.daemon, thread.is_alive(), thread.ident) == ("t", True, False, None)
    thread.start()
    thread.join()
    assert seen == [("anna", (1,), {"b": 2})]


def test_a_thread_may_outlive_its_program(anna):
    """``daemon=False`` is obeyed."""
    assert not spawn_context_thread(print, name="t", daemon=False).daemon


def test_what_a_thread_sets_stays_in_it(anna):
    """The thread has a copy of the context."""
    thread = spawn_context_thread(lambda: WHO.set("bob"), name="t")
    thread.start()
    thread.join()
    assert WHO.get() == "anna"


def test_a_bound_function_has_its_makers_context(anna):
    """A bound function sees the context in which it was bound, passes arguments and result, and keeps its name."""

    def greet(word, *, mark):
        return f"{word} {WHO.get()}{mark}"

    bound = ctx_bound(greet)
    WHO.set("bob")
    with ThreadPoolExecutor() as pool:
        assert (pool.submit(bound, "hi", mark="!").result(), bound.__name__) == ("hi anna!", "greet")


def test_a_bound_function_may_run_several_times_at_once(anna):
    """A bound function may be called in several threads at once, and within itself."""
    barrier = threading.Barrier(4)
    bound = ctx_bound(lambda depth: bound(depth - 1) if depth else (barrier.wait(30), WHO.get())[1])
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(bound, [0, 1, 2, 3], timeout=30)) == ["anna"] * 4
