"""Calls of the built-in ``memory`` tool, mirrored as single writes."""

import json

import pytest

from hermes_core.memory.mirror import writes

from .conftest import Recorder

ADD = {"action": "add", "target": "user", "content": "likes tea"}
REPLACE = {"action": "replace", "content": "likes coffee", "old_text": "tea"}
REMOVE = {"action": "remove", "old_text": "coffee", "content": "ignored"}
DONE = {"success": True}


@pytest.mark.parametrize(
    ("result", "args", "expected"),
    [
        pytest.param(DONE, ADD, [("add", "user", "likes tea", {})], id="add"),
        pytest.param(json.dumps(DONE), ADD, [("add", "user", "likes tea", {})], id="as text"),
        pytest.param(DONE, {**ADD, "target": None}, [("add", "memory", "likes tea", {})], id="no target"),
        pytest.param({**DONE, "replaced_entry": "likes tea"}, REPLACE,
                     [("replace", "memory", "likes coffee", {"old_text": "tea", "previous_content": "likes tea"})],
                     id="replace"),
        pytest.param({**DONE, "removed_entry": "likes coffee"}, REMOVE,
                     [("remove", "memory", "", {"old_text": "coffee", "previous_content": "likes coffee"})],
                     id="remove"),
        pytest.param(DONE, {"target": "user", "operations": [ADD, {"action": "read"}, "x", REMOVE]},
                     [("add", "user", "likes tea", {}), ("remove", "user", "", {"old_text": "coffee"})],
                     id="a batch"),
        pytest.param({**DONE, "operations": [{"action": "replace", "content": "new", "previous": "old"}]},
                     {"target": "user", "operations": [ADD, REPLACE]},
                     [("replace", "user", "new", {"previous_content": "old"})], id="a batch that says what it did"),
        pytest.param(DONE, {**ADD, "operations": []}, [("add", "user", "likes tea", {})], id="an empty batch"),
        pytest.param({**DONE, "changed": False}, ADD, [], id="nothing changed"),
        pytest.param({**DONE, "staged": True}, ADD, [], id="staged"),
        pytest.param({"success": "true"}, ADD, [], id="no clear success"),
        pytest.param({"success": False}, ADD, [], id="failed"),
        pytest.param("no JSON", ADD, [], id="no JSON"),
        pytest.param("[1]", ADD, [], id="no mapping"),
        pytest.param(None, ADD, [], id="nothing"),
        pytest.param(DONE, {"action": "read"}, [], id="another action"),
    ],
)  # fmt: skip
def test_what_was_committed_is_mirrored(result, args, expected):
    """A write is mirrored when the tool says that it was done, and was not put aside."""
    assert [tuple(write) for write in writes(result, args, {"session_id": ""})] == expected


def test_a_call_is_told_with_what_is_known_of_it(managed):
    """Where a write comes from is told with it; empty values are left out."""
    provider = Recorder()
    memory = managed(provider, platform="telegram")
    memory.notify_memory_tool_write(DONE, ADD, build_metadata=lambda: {"tool_call_id": "t1", "task_id": ""})
    ((args, options),) = provider.named("on_memory_write")
    assert args == ("add", "user", "likes tea")
    assert options["metadata"] == {
        "write_origin": "assistant_tool", "execution_context": "foreground", "tool_name": "memory",
        "session_id": "s1", "platform": "telegram", "tool_call_id": "t1",
    }  # fmt: skip
