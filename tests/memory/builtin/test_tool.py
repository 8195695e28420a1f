"""The tool ``memory``: what the model is told in every case."""

import json

import pytest

from hermes_core.memory.entries import entry_id
from hermes_core.memory.tool import SCHEMA

FULL = {"memory_char_limit": 20}


def test_only_the_target_is_required():
    """The schema has every parameter, and wants but one."""
    assert SCHEMA["parameters"]["required"] == ["target"]
    assert {*SCHEMA["parameters"]["properties"]} == {"action", "target", "content", "old_text", "operations"}


def test_an_entry_is_added(call, home):
    """The answer says that it is done and how full the file is, and shows no entries."""
    answer = call("add", "user", content="  likes tea ")
    assert answer == {
        "success": True,
        "done": True,
        "changed": True,
        "target": "user",
        "usage": "0% — 9/1,375 chars",
        "entry_count": 1,
        "message": "entry added",
        "note": "this is done; do not repeat the call",
    }
    assert (home.path / "memories" / "USER.md").read_text() == "likes tea"


def test_an_entry_that_is_there_is_not_added(call):
    """A repetition succeeds, and changes nothing."""
    call("add", content="a")
    answer = call("add", content="a")
    assert (answer["success"], answer["changed"], answer["entry_count"]) == (True, False, 1)
    assert answer["message"] == "nothing to do: it is there already"


def test_an_entry_is_replaced_and_removed(call, memory):
    """The answer holds the entry that gave way, for whoever mirrors it."""
    call("add", content="likes tea")
    assert call("replace", old_text="tea", content="likes milk")["replaced_entry"] == "likes tea"
    assert call("remove", old_text=entry_id("likes milk"))["removed_entry"] == "likes milk"
    assert memory.store.entries("memory") == ()


def test_a_batch_tells_what_each_operation_did(call):
    """The answer says of each operation whether it changed anything, and which entry gave way."""
    call("add", content="a")
    wishes = [
        {"action": "add", "content": "a"},
        {"action": "replace", "content": "b", "old_text": "a"},
        {"action": "add", "content": "c"},
        {"action": "add", "content": "d"},
    ]
    answer = call(operations=wishes)
    assert answer["message"] == "2 entries added, entry replaced"
    assert answer["operations"] == [
        {"changed": False},
        {"changed": True, "replaced_entry": "a"},
        {"changed": True},
        {"changed": True},
    ]


@pytest.mark.parametrize("operations", [[], None])
def test_an_empty_batch_is_none(call, operations):
    """Without operations, the call is what it says itself."""
    assert call("add", content="a", operations=operations)["success"]


@pytest.mark.parametrize("target", [None, "memory"])
def test_the_target_is_memory_unless_said(call, memory, target):
    """Null means the agent's notes."""
    assert call("add", target, content="a")["target"] == "memory"


@pytest.mark.parametrize(
    ("args", "error"),
    [
        ({"target": "soul", "action": "add", "content": "a"}, "unknown target 'soul': use memory or user"),
        ({"target": [], "action": "add", "content": "a"}, "unknown target []: use memory or user"),
        ({"target": "memory"}, "action is missing"),
        ({"target": "memory", "action": "view"}, "unknown action 'view': use add, replace, remove"),
        ("text", "the arguments must be an object"),
        (None, "the arguments must be an object"),
    ],
)
def test_a_call_that_makes_no_sense(call, args, error):
    """Whatever a model sends, the answer is an object that says what is wrong."""
    answer = json.loads(call.tool.call(args))
    assert (answer["success"], answer["error"]) == (False, error)


@pytest.mark.parametrize("action", ["replace", "remove"])
def test_without_old_text_the_entries_are_listed(call, action):
    """The model can go on from the answer: it has the entries, their ids and the usage."""
    call("add", content="a")
    answer = call(action, content="b")
    assert answer["error"] == f"{action} needs old_text: a part of the entry that is meant, or its id"
    assert (answer["current_entries"], answer["entry_ids"]) == (["a"], [entry_id("a")])
    assert answer["usage"] == "0% — 1/2,200 chars"


def test_several_matches_are_previewed(call):
    """The model is shown what it could mean."""
    call(operations=[{"action": "add", "content": "red tea"}, {"action": "add", "content": "green tea"}])
    answer = call("remove", old_text="tea")
    assert (answer["success"], answer["matches"]) == (False, ["red tea", "green tea"])


def test_no_room_is_an_error_with_the_entries(make_memory, tool_of):
    """The model sees what it may shorten."""
    call = tool_of(make_memory(**FULL))
    call("add", content="x" * 20)
    answer = call("add", content="y")
    assert (answer["success"], answer["current_entries"]) == (False, ["x" * 20])
    assert answer["usage"] == "100% — 20/20 chars"


def test_drift_is_an_error_with_its_remedy(call, home):
    """The model hears where the copy is, and what the user has to do."""
    home.write("memories/MEMORY.md", "a\n\n§\n\nb")
    answer = call("remove", old_text="a")
    assert answer["success"] is False
    assert answer["drift_backup"].startswith(str(home.path / "memories" / "MEMORY.md.bak."))
    assert "ask the user to separate the entries" in answer["remediation"]


def test_a_file_that_cannot_be_read_is_an_error(call, home):
    """The tool never raises."""
    home.write("memories/MEMORY.md", b"\xff")
    assert "is not UTF-8 text" in call("add", content="a")["error"]


@pytest.mark.parametrize(("target", "switch"), [("memory", "memory_enabled"), ("user", "user_profile_enabled")])
def test_a_target_may_be_switched_off(make_memory, tool_of, target, switch):
    """What is switched off is not written, and the answer names the switch; with both off there is no tool."""
    call = tool_of(make_memory(**{switch: False}))
    assert call.tool.schemas == [SCHEMA]
    assert f"memory.{switch} in config.yaml" in call("add", target, content="a")["error"]
    assert tool_of(make_memory(memory_enabled=False, user_profile_enabled="no")).tool.schemas == []


def test_a_threat_is_refused(call, memory):
    """The model hears which pattern it was; one bad operation refuses all."""
    answer = call(operations=[{"action": "add", "content": "fine"}, {"action": "add", "content": "see ~/.ssh"}])
    assert answer["success"] is False
    assert answer["error"] == "Blocked: content matches threat pattern 'ssh_access'"
    assert memory.store.entries("memory") == ()


def test_the_fourth_failure_in_a_turn_is_the_last(make_memory, tool_of):
    """A model that keeps failing to make room, or to find an entry, is told to stop; a new turn begins anew."""
    call = tool_of(make_memory(**FULL))
    failing = [{"action": "add", "content": "x" * 30}, {"action": "remove", "old_text": "none"}]
    for wish in [*failing, failing[0]]:
        assert "done" not in call(**wish)
    last = call(**failing[1])
    assert (last["success"], last["done"]) == (False, True)
    assert "stop" in last["error"]
    call.tool.new_turn()
    assert "done" not in call(**failing[0])


def test_a_success_resets_the_count_of_failures(make_memory, tool_of):
    """Failures before something that worked do not count."""
    call = tool_of(make_memory(**FULL))
    for _ in range(3):
        call("remove", old_text="none")
    call("add", content="a")
    assert "done" not in call("remove", old_text="none")


def test_other_mistakes_do_not_count(call):
    """Only room and missing entries lead to endless trying."""
    for _ in range(6):
        assert "done" not in call("view")


def test_listeners_hear_of_the_caller(memory, call):
    """What the host knows of a call goes along with the write, and nothing else does."""
    found = []
    memory.store.subscribe(lambda write: found.append(write.metadata))
    call.tool.call(
        {"target": "memory", "action": "add", "content": "a"}, session_id="s1", tool_call_id="c1", secret="x"
    )
    call.tool.call({"target": "memory", "action": "remove", "old_text": "a"}, task_id="")
    origin = {"write_origin": "assistant_tool", "execution_context": "foreground", "tool_name": "memory"}
    assert found == [{**origin, "session_id": "s1", "tool_call_id": "c1"}, {**origin, "old_text": "a"}]
