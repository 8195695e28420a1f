"""The contract of a memory provider: what is required, and what every other member does by default."""

import dataclasses
import inspect

import pytest

from hermes_core.memory.provider import (
    INDICATOR_GLYPH,
    PRE_COMPRESS_CHECKPOINT_API_VERSION,
    MemoryProvider,
    RecallStatus,
)

REQUIRED = {"name", "is_available", "initialize", "get_tool_schemas"}


class Notes(MemoryProvider):
    name = "notes"

    def __init__(self):
        self.begun = []

    def is_available(self):
        return True

    def initialize(self, session_id, **kwargs):
        self.begun.append((session_id, kwargs))

    def get_tool_schemas(self):
        return []


DEFAULTS = {
    "unavailable_reason": ([], {}, ""),
    "system_prompt_block": ([], {}, ""),
    "prefetch": (["query"], {"session_id": "s"}, ""),
    "recall_status": ([], {}, None),
    "queue_prefetch": (["query"], {"session_id": "s"}, None),
    "sync_turn": (["hi", "hello"], {"session_id": "s", "messages": [], "turn_author": "ann"}, None),
    "shutdown": ([], {}, None),
    "on_turn_start": ([1, "hi"], {"remaining_tokens": 5, "model": "m"}, None),
    "on_session_end": ([[]], {}, None),
    "on_session_switch": (["s2"], {"parent_session_id": "s", "reset": True, "rewound": True, "reason": "undo"}, None),
    "on_pre_compress": ([[]], {"require_checkpoint": True}, ""),
    "on_memory_write": (["add", "user", "likes tea", {"session_id": "s"}], {}, None),
    "on_delegation": (["task", "result"], {"child_session_id": "c", "more": 1}, None),
    "get_config_schema": ([], {}, []),
    "save_config": ([{}, "/home"], {}, None),
    "backup_paths": ([], {}, []),
}


def test_four_members_are_required():
    """A provider that defines the four required members is complete; they are the abstract ones."""
    assert MemoryProvider.__abstractmethods__ == REQUIRED


def test_every_other_member_is_in_the_table_below():
    """No method is left out of the test of defaults."""
    methods = {name for name, member in vars(MemoryProvider).items() if inspect.isfunction(member) and name[0] != "_"}
    apart = {"handle_tool_call", "initialize_for_inspection"}
    assert methods - REQUIRED - apart == {*DEFAULTS}


@pytest.mark.parametrize(("method", "arguments"), DEFAULTS.items())
def test_a_default_returns_what_is_documented(method, arguments):
    """A method that a provider leaves out takes every documented argument, and returns its documented value."""
    positional, keywords, expected = arguments
    assert expected == getattr(Notes(), method)(*positional, **keywords)


def test_a_tool_that_nobody_runs_is_not_implemented():
    """A provider that offers tools must say how to run them; the error names provider and tool."""
    with pytest.raises(NotImplementedError, match=r"'notes'.*'note_add'"):
        Notes().handle_tool_call("note_add", {})


def test_being_looked_at_is_being_initialised_unless_the_provider_says_otherwise():
    """``initialize_for_inspection`` calls ``initialize`` with the same arguments."""
    notes = Notes()
    notes.initialize_for_inspection("s", hermes_home="/home")
    assert notes.begun == [("s", {"hermes_home": "/home"})]


def test_a_provider_promises_no_checkpoint_unless_it_says_so():
    """The default version is 1; 2 is what a durable ``on_pre_compress`` advertises."""
    assert (Notes().pre_compress_checkpoint_api_version, PRE_COMPRESS_CHECKPOINT_API_VERSION) == (1, 2)


def test_the_status_of_a_recall_is_a_value():
    """A recall's status cannot be changed, and has a glyph and no count by default."""
    status = RecallStatus("Notes")
    assert (status.count, status.glyph) == (0, INDICATOR_GLYPH)
    with pytest.raises(dataclasses.FrozenInstanceError):
        status.count = 2
