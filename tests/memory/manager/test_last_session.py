"""How memory did in the last session is told in another process."""

import json

import pytest

from hermes_core.memory.last_session import FILE, keep, last_session, troubles

from .test_host_memory import code


def test_what_went_wrong_is_known_afterwards_r09_09(home, load_host):
    """What a provider did not store is counted beyond the end of the program, with the reason."""
    home.plugin("memory/notes", code() + "Notes.sync_turn = lambda self, user, assistant: 1 / 0")
    with load_host(config={"memory": {"provider": "notes"}}) as host:
        host.memory.initialize_all("s1")
        host.memory.sync_all("hi", "hello")
    found = last_session(home.path)
    assert (found["session_id"], found["providers"][0]["turns_failed"]) == ("s1", 1)
    (line,) = troubles(found)
    assert line.startswith("notes: 1 turn not stored: sync_turn raised ZeroDivisionError")


def test_a_session_without_trouble_has_none(home, load_host):
    """Where all went well, there is nothing to tell."""
    home.plugin("memory/notes", code())
    with load_host(config={"memory": {"provider": "notes"}}) as host:
        host.memory.initialize_all("s1")
        host.memory.sync_all("hi", "hello")
    assert troubles(last_session(home.path)) == []


def test_nothing_is_written_without_a_session(home, load_host):
    """A host whose memory began no session, or has none, writes nothing."""
    home.plugin("memory/notes", code())
    for chosen in ("notes", ""):
        with load_host(config={"memory": {"provider": chosen}}) as host:
            assert host.memory.stats["session_id"] == ""
    assert not (home.path / FILE).exists()


@pytest.mark.parametrize("text", ["", "[1]", "{", '{"providers": 5, "refused": [1], "shutdown": "x"}',
                                  '{"providers": [5, {"turns_failed": "x"}]}'])  # fmt: skip
def test_a_file_that_is_damaged_says_nothing(home, text):
    """Whatever the file holds, asking for it does no harm."""
    home.write(FILE, text)
    assert troubles(last_session(home.path)) == []


def test_what_was_abandoned_is_told():
    """Tasks that were not done at the end are told of."""
    assert troubles({"shutdown": {"abandoned_writes": 2, "active_tasks": 1}}) == [
        "3 tasks were not done when the program ended"
    ]


def test_a_home_that_cannot_be_written_is_left_alone(as_nobody):
    """Keeping fails without a word where nothing can be written."""
    done = as_nobody(
        """
        import sys
        from pathlib import Path
        from hermes_core.memory.last_session import keep, last_session
        keep(Path(sys.argv[1]), {"session_id": "s"})
        print(last_session(Path(sys.argv[1])))
        """,
        as_nobody.folder,
        first="import hermes_core.memory.last_session, hermes_core.config.files",
    )
    assert (done.returncode, done.stdout) == (0, "{}\n"), done.stderr


def test_what_is_kept_is_plain(home):
    """The file is JSON with the time it was written."""
    home.path.mkdir()
    keep(home.path, {"session_id": "s"})
    assert json.loads((home.path / FILE).read_text()) == last_session(home.path)
    assert last_session(home.path)["ended"].endswith("+00:00")
