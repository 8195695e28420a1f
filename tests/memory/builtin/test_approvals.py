"""Writes that wait for the user, and threats that the user waves through."""

import threading

import pytest

from hermes_core.config.settings import Config
from hermes_core.errors import ConfigError, MemoryFileError, MemoryWriteError
from hermes_core.memory.approvals import MAX_PENDING
from hermes_core.memory.builtin import BuiltinMemory
from hermes_core.memory.changes import Operation
from hermes_core.memory.entries import entry_id

SUSPICIOUS = "the key is in ~/.ssh"


@pytest.fixture
def guarded(make_memory):
    """A memory whose writes need approval, with nobody to ask."""
    return make_memory(write_approval=True)


@pytest.mark.parametrize(
    ("said", "needed"),
    [
        (True, True),
        ("yes", True),
        ("maybe", True),
        (5, True),
        ([], True),
        (False, False),
        ("off", False),
        ("false", False),
        (None, False),
    ],
)
def test_only_a_clear_no_lets_the_agent_write(make_memory, said, needed):
    """The gate stays shut for whatever is not understood."""
    assert make_memory(write_approval=said).needs_approval is needed


def test_a_configuration_that_cannot_be_read_shuts_the_gate(home):
    """Nobody knows what it says, so the user is asked."""
    assert BuiltinMemory(home.path, lambda: Config(error=ConfigError("broken"))).needs_approval


def test_a_write_waits(guarded, tool_of, home):
    """Without anybody to ask, a write is staged: the model hears that it counts later, and nothing is written."""
    answer = tool_of(guarded)("add", content="a")
    [waiting] = guarded.approvals.all()
    assert (answer["success"], answer["staged"], answer["pending_id"]) == (True, True, waiting.id)
    assert (waiting.target, waiting.operations) == ("memory", (Operation("add", "a"),))
    assert not (home.path / "memories" / "MEMORY.md").exists()


def test_what_waits_is_written_when_approved(make_memory, guarded, tool_of):
    """Approval writes it, and tells listeners, with the origin it had; it waits no longer."""
    found = []
    call = tool_of(guarded)
    waiting = call("add", "user", content="a")["pending_id"]
    later = make_memory(write_approval=True)
    later.store.subscribe(lambda write: found.append((write.action, write.content, write.metadata["write_origin"])))
    assert later.approve(waiting).entries == ("a",)
    assert found == [("add", "a", "assistant_tool")]
    assert later.approvals.all() == []


def test_two_people_cannot_approve_the_same_write(guarded, tool_of):
    """Whoever comes second hears that it waits no longer; it is written once."""
    waiting = tool_of(guarded)("add", content="a")["pending_id"]
    outcomes = []

    def approve():
        try:
            outcomes.append(guarded.approve(waiting).entries)
        except MemoryWriteError as error:
            outcomes.append(error.reason)

    threads = [threading.Thread(target=approve) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes, key=str) == [("a",), "no_match", "no_match", "no_match"]


def test_what_waits_is_dropped_when_rejected(guarded, tool_of):
    """Rejection leaves the file alone."""
    waiting = tool_of(guarded)("add", content="a")["pending_id"]
    assert guarded.reject(waiting).operations == (Operation("add", "a"),)
    assert (guarded.approvals.all(), guarded.store.entries("memory")) == ([], ())


def test_the_same_write_waits_once(guarded, tool_of):
    """A model that repeats itself does not fill the list."""
    call = tool_of(guarded)
    assert call("add", content="a")["pending_id"] == call("add", content="a")["pending_id"]


def test_what_cannot_be_done_does_not_wait(guarded, tool_of):
    """A call is checked before it is staged."""
    call = tool_of(guarded)
    assert "no entry contains" in call("remove", old_text="x")["error"]
    assert "add needs content" in call("add")["error"]
    assert guarded.approvals.all() == []


def test_what_changes_nothing_needs_no_approval(guarded, tool_of):
    """The user is not asked about an entry that is there already."""
    guarded.write("memory", [Operation("add", "a")])
    assert tool_of(guarded)("add", content="a")["changed"] is False


def test_what_can_no_longer_be_done_goes_on_waiting(guarded, tool_of):
    """An approval that fails loses nothing."""
    guarded.write("memory", [Operation("add", "a")])
    waiting = tool_of(guarded)("remove", old_text="a")["pending_id"]
    guarded.store.reset("memory")
    with pytest.raises(MemoryWriteError, match="no entry contains 'a'"):
        guarded.approve(waiting)
    assert [row.id for row in guarded.approvals.all()] == [waiting]


def test_an_id_that_does_not_exist(guarded, tool_of):
    """The error names a close one."""
    waiting = tool_of(guarded)("add", content="a")["pending_id"]
    for decide in (guarded.approve, guarded.reject):
        with pytest.raises(MemoryWriteError, match=f"did you mean '{waiting}'"):
            decide(f"{waiting[:-1]}_")


def test_there_is_an_end_to_waiting(guarded, tool_of):
    """No more than a hundred writes wait, so that a runaway agent fills no disk."""
    call = tool_of(guarded)
    for number in range(MAX_PENDING):
        assert call("add", content=str(number))["staged"]
    assert "100 writes wait for the user already" in call("add", content="x")["error"]


@pytest.mark.parametrize(("answer", "entries"), [(True, ("a",)), (False, ())])
def test_who_can_be_asked_is_asked(make_memory, tool_of, answer, entries):
    """At a terminal the user decides at once."""
    asked = []
    memory = make_memory(lambda question: asked.append(question) or answer, write_approval=True)
    result = tool_of(memory)("add", content="a")
    assert asked == ["The agent wants to change MEMORY.md:\nadd: a\nLet it?"]
    assert (result["success"], memory.store.entries("memory")) == (answer, entries)
    if not answer:
        assert result["error"] == "the user does not want this to be remembered"


@pytest.mark.parametrize("context", [{"write_origin": "background_review"}, {"execution_context": "background"}])
def test_nobody_is_asked_in_the_background(make_memory, tool_of, context):
    """What the agent writes by itself waits, though somebody is there."""
    memory = make_memory(pytest.fail, write_approval=True)
    tool_of(memory).tool.call({"target": "memory", "action": "add", "content": "a"}, **context)
    assert len(memory.approvals.all()) == 1


def test_a_suspicious_write_can_be_confirmed(memory, tool_of, caplog):
    """It is refused, but kept for the user; confirmed, it is written, logged, and in the prompt from then on."""
    caplog.set_level("INFO", "hermes_core")
    answer = tool_of(memory)("add", content=SUSPICIOUS)
    assert answer["success"] is False
    waiting = answer["pending_id"]
    assert "hermes memory approve" not in str(answer)  # the model is not told how to do it itself
    with pytest.raises(MemoryWriteError, match="ssh_access") as caught:
        memory.approve(waiting)
    assert caught.value.hint == f"if it is harmless, allow it: hermes memory approve {waiting} --confirm"
    memory.approve(waiting, is_confirmed=True)
    assert memory.snapshot().memory.endswith(SUSPICIOUS)
    assert f"confirmed by the user entry={entry_id(SUSPICIOUS)} threats=ssh_access" in caplog.text
    assert SUSPICIOUS not in caplog.text


def test_a_confirmed_text_may_be_written_again(memory, tool_of):
    """What the user has confirmed once is not asked about twice; a letter more is another text."""
    memory.write("memory", [Operation("add", SUSPICIOUS)], is_confirmed=True)
    memory.store.reset("memory")
    call = tool_of(memory)
    assert call("add", content=SUSPICIOUS)["success"]
    assert not call("add", content=f"{SUSPICIOUS}!")["success"]


def test_a_suspicious_entry_of_the_file_can_be_confirmed(memory, home):
    """What a person wrote into the file is let into the prompt by the entry's id."""
    home.write("memories/USER.md", SUSPICIOUS)
    word = entry_id(SUSPICIOUS)
    with pytest.raises(MemoryWriteError, match="ssh_access") as caught:
        memory.approve(word)
    assert f"approve {word} --confirm" in caught.value.hint
    memory.approve(word, is_confirmed=True)
    assert memory.snapshot().problems == ()


def test_nobody_confirms_a_hidden_direction(memory, tool_of, home):
    """Bidi controls are refused outright: not staged, not asked about, not confirmed."""
    answer = tool_of(memory)("add", content="a\u202eb")
    assert "pending_id" not in answer
    with pytest.raises(MemoryWriteError, match=r"U\+202E"):
        memory.write("memory", [Operation("add", "a\u202eb")], is_confirmed=True)
    home.write("memories/MEMORY.md", "a\u202eb")
    with pytest.raises(MemoryWriteError, match=r"U\+202E"):
        memory.approve(entry_id("a\u202eb"), is_confirmed=True)
    assert "BLOCKED" in memory.snapshot().memory


@pytest.mark.parametrize("answer", [True, False])
def test_the_user_at_a_terminal_sees_the_warning(make_memory, tool_of, answer):
    """A suspicious write is asked about even without the gate, with what is suspicious."""
    asked = []
    memory = make_memory(lambda question: asked.append(question) or answer)
    assert tool_of(memory)("add", content=SUSPICIOUS)["success"] is answer
    assert "Careful: it looks like ssh_access." in asked[0]
    assert memory.approvals.all() == []


@pytest.mark.parametrize("content", ["[]", "{", '{"a": 5}', '{"a": {}} x'])
def test_a_list_that_cannot_be_read_is_never_overwritten(guarded, tool_of, home, content):
    """The model and the user hear of it, and the file stays as it is."""
    path = home.write("memories/pending.json", content)
    assert "pending.json" in tool_of(guarded)("add", content="a")["error"]
    with pytest.raises(MemoryFileError, match="not what this program wrote"):
        guarded.approvals.all()
    assert path.read_text() == content


def test_odd_rows_break_nothing(guarded, home):
    """A row of the list with fields missing is shown, and refused when it is approved."""
    home.write("memories/pending.json", '{"x": {"operations": [{"action": "add"}, 5], "metadata": 7}}')
    [row] = guarded.approvals.all()
    assert (row.id, row.target, row.metadata) == ("x", "", {})
    with pytest.raises(MemoryWriteError, match="unknown target"):
        guarded.approve("x")


def test_confirmations_that_cannot_be_read_confirm_nothing(memory, home, caplog):
    """Suspicious entries stay out of the prompt, with a warning."""
    memory.write("memory", [Operation("add", SUSPICIOUS)], is_confirmed=True)
    home.write("memories/confirmed.json", "{")
    assert "BLOCKED" in memory.snapshot().memory
    assert "no suspicious entry counts as confirmed" in caplog.text
