"""Whatever a provider does, a turn goes on, in time, and the provider is named."""

import logging
import time

import pytest

from .conftest import SHORT, Recorder

MOMENTS = {
    "system_prompt_block": lambda memory: memory.build_system_prompt(),
    "on_turn_start": lambda memory: memory.on_turn_start(1, "hi"),
    "prefetch": lambda memory: memory.prefetch_all("tea"),
    "get_tool_schemas": lambda memory: memory.get_all_tool_schemas(),
    "handle_tool_call": lambda memory: memory.handle_tool_call("recorder_note", {}),
    "on_memory_write": lambda memory: memory.on_memory_write("add", "user", "tea"),
    "on_delegation": lambda memory: memory.on_delegation("task", "result"),
    "on_pre_compress": lambda memory: memory.on_pre_compress([]),
    "on_session_switch": lambda memory: memory.on_session_switch("s2"),
    "on_session_end": lambda memory: memory.on_session_end([]),
    "sync_turn": lambda memory: memory.sync_all("hi", "hello"),
    "queue_prefetch": lambda memory: memory.queue_prefetch_all("tea"),
    "shutdown": lambda memory: memory.shutdown_all(),
}
"""What a conversation calls → what a provider is asked then."""

WAITED_FOR = [moment for moment in MOMENTS if moment not in ("sync_turn", "queue_prefetch")]
TEXTS = ("system_prompt_block", "prefetch", "on_pre_compress")


def raises(error):
    """A fault that raises."""

    def fault():
        raise error

    return fault


def warnings_of(caplog, moment):
    """The warnings that name the provider and the moment."""
    return [
        record.getMessage()
        for record in caplog.records
        if record.levelno == logging.WARNING and "recorder" in record.getMessage() and moment in record.getMessage()
    ]


@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("error", [ValueError("boom"), SystemExit(3), BaseException("odd")], ids=repr)
def test_a_provider_that_raises_costs_nothing_and_is_named_once_r01_11(managed, caplog, moment, error):
    """A method that raises, ``SystemExit`` included, is warned of once with the provider's name; turns go on."""
    provider = Recorder()
    memory = managed(provider)
    provider.faults[moment] = raises(error)
    for _ in range(3):
        MOMENTS[moment](memory)
        memory.on_turn_start(2, "next")
        memory.flush(1)
    assert len(warnings_of(caplog, moment)) == 1
    (stats,) = memory.stats["providers"]
    assert (stats["failures"] >= 1, moment in stats["reason"]) == (True, True)


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_provider_that_hangs_costs_a_turn_its_deadline_at_most(managed, caplog, gate, moment):
    """A method that never returns costs one deadline, the next calls nothing; it is named in one warning."""
    provider = Recorder()
    memory = managed(provider, limits=SHORT)
    provider.faults[moment] = gate.wait
    began = time.monotonic()
    MOMENTS[moment](memory)
    first = time.monotonic() - began
    assert first < SHORT.hook_timeout + 2
    if moment != "shutdown":
        began = time.monotonic()
        MOMENTS[moment](memory)
        assert time.monotonic() - began < SHORT.hook_timeout + 2
    if moment in WAITED_FOR:
        assert len(warnings_of(caplog, moment)) == 1


@pytest.mark.parametrize("moment", TEXTS)
@pytest.mark.parametrize(
    "rubbish", [["a list"], {"a": "dict"}, b"bytes", 5, object()], ids=lambda value: type(value).__name__
)
def test_rubbish_in_place_of_text_is_nothing_r10_10(managed, caplog, moment, rubbish):
    """What is no text is passed over with one warning, and what others say is used."""
    provider, other = Recorder(), Recorder("builtin", ())
    memory = managed(provider, other)
    provider.faults[moment] = lambda: rubbish
    expected = {"system_prompt_block": "the block", "prefetch": "about tea", "on_pre_compress": "keep this"}[moment]
    assert [expected] * 2 == [MOMENTS[moment](memory) for _ in range(2)]
    assert len(warnings_of(caplog, moment)) == 1


@pytest.mark.parametrize("moment", TEXTS)
def test_nothing_in_place_of_text_is_no_fault(managed, caplog, moment):
    """A provider that returns None where text is due has nothing to say; that is not warned of."""
    memory = managed(Recorder(**{moment: lambda: None}))
    assert (MOMENTS[moment](memory), warnings_of(caplog, moment)) == ("", [])


def test_an_interrupt_goes_through(managed):
    """``KeyboardInterrupt`` is never swallowed: it reaches the one who asked."""
    provider = Recorder()
    memory = managed(provider)
    provider.faults["prefetch"] = raises(KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        memory.prefetch_all("tea")


def test_a_failed_initialize_hides_the_tools_and_says_why(managed, caplog):
    """A provider that cannot get ready is degraded: no tools, nothing recalled, a reason in the status."""
    memory = managed(Recorder(initialize=raises(RuntimeError("no database"))))
    assert (memory.get_all_tool_schemas(), memory.prefetch_all("tea"), memory.build_system_prompt()) == ([], "", "")
    (stats,) = memory.stats["providers"]
    assert (stats["state"], stats["reason"]) == ("degraded", "initialize raised RuntimeError: no database")
    assert len(warnings_of(caplog, "initialize")) == 1


def test_a_hung_provider_does_not_hold_up_another_r08_05(managed, gate):
    """Providers are asked at the same time: what one recalls is there though the other hangs."""
    memory = managed(Recorder(prefetch=gate.wait), Recorder("builtin", ()), limits=SHORT)
    began = time.monotonic()
    assert memory.prefetch_all("tea") == "about tea"
    assert time.monotonic() - began < SHORT.prefetch_timeout + 2


def test_no_secret_of_an_error_is_logged(managed, caplog):
    """What a provider raises is blanked before it is logged or shown."""
    memory = managed(Recorder(prefetch=raises(ValueError("api_key=Sesame-1234567"))))
    memory.prefetch_all("tea")
    assert "Sesame" not in caplog.text + repr(memory.stats)


def test_a_provider_that_hangs_everywhere_costs_a_turn_one_deadline(managed, gate):
    """While a hook hangs, the provider is not asked to recall either: the turn pays once."""
    provider = Recorder()
    memory = managed(provider, limits=SHORT)
    provider.faults |= {"on_turn_start": gate.wait, "prefetch": gate.wait}
    began = time.monotonic()
    memory.on_turn_start(1, "hi")
    assert memory.prefetch_all("tea") == ""
    assert time.monotonic() - began < SHORT.hook_timeout + 2
    assert memory.stats["providers"][0]["recalls_skipped"] == 1


def trap(self, *_):
    """A method that does what nobody expects."""
    raise ValueError


class Trap(str):
    """Text whose methods raise."""

    __slots__ = ()
    strip = rstrip = __len__ = __format__ = trap


class LazyList(list):
    """A list that is fetched when it is read, in vain."""

    __iter__ = __len__ = trap


@pytest.mark.parametrize("moment", [*TEXTS, "handle_tool_call", "get_tool_schemas"])
def test_a_value_whose_own_methods_raise_costs_nothing(managed, caplog, moment):
    """What a provider returns is made plain in its own thread, where it is blamed for what that does."""
    provider = Recorder()
    memory = managed(provider)
    is_list = moment == "get_tool_schemas"
    provider.faults[moment] = lambda: LazyList([1]) if is_list else Trap("tea")
    MOMENTS[moment](memory)
    assert memory.handle_tool_call("recorder_note", {}) in ('{"did": "recorder_note"}', "tea")
    assert len(warnings_of(caplog, moment)) == is_list
