"""The files of the built-in memory: nothing is lost, and everything is told."""

import os
import threading

import pytest

from hermes_core.errors import MemoryFileError, MemoryWriteError
from hermes_core.memory.changes import Operation
from hermes_core.memory.store import MAX_BYTES, MemoryStore

ADD = Operation("add", "new")


@pytest.fixture
def store(memory):
    """The files alone."""
    return memory.store


@pytest.fixture
def write_file(home):
    """Write MEMORY.md by hand."""
    return lambda content: home.write("memories/MEMORY.md", content)


def test_files_are_as_people_read_them(store, home):
    """Entries are separated by a line of §, no newline ends the file, and nobody else may read it."""
    store.apply("memory", [ADD, Operation("add", "two\nlines")])
    path = home.path / "memories" / "MEMORY.md"
    assert path.read_text() == "new\n§\ntwo\nlines"
    assert path.stat().st_mode & 0o777 == 0o600
    assert not (home.path / "memories" / "USER.md").exists()


def test_a_link_goes_on_leading_to_its_file(store, home, tmp_path):
    """A file that is a link is written where it leads."""
    real = tmp_path / "elsewhere.md"
    real.write_text("old")
    (home.path / "memories").mkdir(parents=True)
    (home.path / "memories" / "MEMORY.md").symlink_to(real)
    store.apply("memory", [ADD])
    assert real.read_text() == "old\n§\nnew"


@pytest.mark.parametrize(
    "content",
    [
        pytest.param("# Notes\n\n- one\n\n- two\n", id="Markdown"),
        pytest.param("a\n\n§\n\nb", id="blank lines around the separator"),
        pytest.param("a\n§\na\n§\nb", id="an entry twice"),
        pytest.param("x" * 3000, id="an entry longer than the file may be"),
    ],
)
def test_adding_keeps_what_was_written_by_hand(make_memory, write_file, content):
    """An entry is put behind whatever a person wrote, and no letter of that changes."""
    path = write_file(content)
    make_memory(memory_char_limit=4000).store.apply("memory", [ADD])
    assert path.read_text() == f"{content.strip()}\n§\nnew"


@pytest.mark.parametrize("operation", [Operation("replace", "x", "b"), Operation("remove", "", "b")])
@pytest.mark.parametrize(
    "content",
    ["a\n\n§\n\nb", "a\n§\na\n§\nb", "a\n§\n\n§\nb", "x" * 3000 + "\n§\nb"],
    ids=["blank lines", "an entry twice", "a blank entry", "an entry too long"],
)
def test_a_file_in_another_form_is_not_rewritten(store, write_file, content, operation):
    """What cannot be changed without losing something is refused, copied, and the remedy is told."""
    path = write_file(content)
    with pytest.raises(MemoryWriteError, match=r"MEMORY\.md is not in the form") as caught:
        store.apply("memory", [operation])
    assert caught.value.reason == "drift"
    with open(caught.value.details["drift_backup"]) as backup:
        assert backup.read() == path.read_text() == content
    assert "tell" not in caught.value.details["remediation"]
    assert str(path) in caught.value.details["remediation"]


def test_at_most_five_backups_are_kept(store, write_file, home):
    """The newest copies stay; the same content is not copied twice."""
    for number in range(8):
        write_file(f"{number}\n\n§\n\nb")
        for _ in range(2):
            with pytest.raises(MemoryWriteError):
                store.apply("memory", [Operation("remove", "", "b")])
    backups = sorted((home.path / "memories").glob("MEMORY.md.bak.*"))
    assert [backup.read_text()[0] for backup in backups] == ["3", "4", "5", "6", "7"]


def test_the_line_ends_of_a_file_stay(store, write_file):
    """A file with the line ends of Windows keeps them, and loses its byte order mark at most."""
    path = write_file("\ufeffa\r\n§\r\nb\r\n".encode())
    store.apply("memory", [Operation("replace", "c", "a"), ADD])
    assert path.read_bytes() == "c\r\n§\r\nb\r\n§\r\nnew".encode()


@pytest.mark.parametrize(
    ("content", "said"),
    [(b"a\n\xff\xfe", "line 2: it is not UTF-8 text"), (b"x" * (MAX_BYTES + 1), "larger than 1 MiB")],
    ids=["no text", "too large"],
)
@pytest.mark.parametrize("operation", [ADD, Operation("remove", "", "a")], ids=["add", "remove"])
def test_a_file_that_cannot_be_read_is_never_overwritten(store, write_file, content, said, operation):
    """It is reported, with what to do, and stays as it is."""
    path = write_file(content)
    with pytest.raises(MemoryFileError, match=said) as caught:
        store.apply("memory", [operation])
    assert caught.value.hint
    assert path.read_bytes() == content


def test_a_folder_in_the_place_of_a_file(store, home):
    """What is no file is reported like one that cannot be read."""
    (home.path / "memories" / "MEMORY.md").mkdir(parents=True)
    with pytest.raises(MemoryFileError, match=r"cannot read .*MEMORY\.md"):
        store.entries("memory")


def test_permissions_are_respected(as_nobody):
    """A file one may not read, or a folder one may not write, is an error with the path in it."""
    as_nobody.folder.joinpath("memories").mkdir()
    as_nobody.folder.joinpath("memories", "MEMORY.md").write_text("a")
    as_nobody.folder.joinpath("memories", "MEMORY.md").chmod(0)
    done = as_nobody(
        """
        from hermes_core.errors import MemoryFileError
        for target in ("memory", "user"):
            try:
                store.apply(target, [Operation("add", "new")]), store.entries(target)
            except MemoryFileError as error:
                print(target, error.path.rpartition("/")[2], bool(error.hint))
        try:
            store.entries("memory")
        except MemoryFileError as error:
            print(error)
        """,
        first=f"""
        import filelock
        from hermes_core.memory.store import MemoryStore
        from hermes_core.memory.changes import Operation
        store = MemoryStore(pathlib.Path({str(as_nobody.folder)!r}))
        """,
    )
    assert done.stderr == ""
    path = as_nobody.folder / "memories" / "MEMORY.md"
    assert done.stdout.splitlines() == [
        "memory MEMORY.md True",
        "user USER.md True",
        f"cannot read {path}: Permission denied",
    ]


@pytest.mark.parametrize("reset", [True, False])
def test_a_reset_deletes_even_what_cannot_be_read(store, write_file, told, reset):
    """A reset removes the file, tells what went, and leaves copies alone."""
    path = write_file("a\n§\nb" if reset else b"\xff")
    path.with_name("MEMORY.md.bak.1").write_text("copy")
    assert store.reset("memory") == (2 if reset else 0)
    assert not path.exists()
    assert path.with_name("MEMORY.md.bak.1").exists()
    assert told == ([("remove", "memory", "", "a"), ("remove", "memory", "", "b")] if reset else [])


def test_a_reset_of_a_file_that_became_unreadable_tells_what_is_gone(store, write_file, told):
    """Listeners hear of the entries they know of, though nobody can read them any more."""
    store.apply("memory", [ADD])
    write_file(b"\xff")
    store.reset("memory")
    assert told[1:] == [("remove", "memory", "", "new")]


def test_listeners_are_told_what_changed(store, told):
    """Each change is told once it is on disk, in order, with what gave way; what changes nothing is not told."""
    store.apply("user", [Operation("add", "a"), Operation("add", "b")])
    store.apply("user", [Operation("add", "a")])
    store.apply("user", [Operation("replace", "c", "a"), Operation("remove", "", "b")])
    assert told == [
        ("add", "user", "a", ""),
        ("add", "user", "b", ""),
        ("replace", "user", "c", "a"),
        ("remove", "user", "", "b"),
    ]


def test_a_refused_batch_is_not_told(store, told):
    """Nothing is told of what was not done."""
    with pytest.raises(MemoryWriteError):
        store.apply("user", [ADD, Operation("remove", "", "b")])
    assert told == []


def test_who_wrote_is_told_too(store):
    """Listeners get what is known of the writer; what is empty is left out."""
    found = []
    store.subscribe(lambda write: found.append(write.metadata))
    store.apply("memory", [ADD], {"session_id": "s1", "task_id": "", "platform": None})
    assert found == [{"session_id": "s1"}]


def test_a_listener_that_fails_stops_nobody(store, told, caplog):
    """The write stands, other listeners are told, and a warning names the fault without any secret."""

    def fail(write):
        raise SystemExit("sk-live-0123456789abcdef0123")

    stop = store.subscribe(fail)
    store.apply("memory", [ADD])
    stop()
    stop()
    store.apply("memory", [Operation("add", "b")])
    assert [write[2] for write in told] == ["new", "b"]
    assert len(caplog.records) == 1
    assert "0123456789" not in caplog.text


@pytest.mark.parametrize(
    ("before", "after", "edits"),
    [
        ("a\n§\nb", "a\n§\nb\n§\nc", [("add", "c", "")]),
        ("a\n§\nb", "b", [("remove", "", "a")]),
        ("a\n§\nb", "x\n§\nb", [("replace", "x", "a")]),
        ("a\n§\nb", "b\n§\na", []),
        ("a\n§\nb", None, [("remove", "", "a"), ("remove", "", "b")]),
        ("a", "b\n§\nc", [("replace", "b", "a"), ("add", "c", "")]),
    ],
    ids=["added", "removed", "changed", "reordered", "deleted", "changed and added"],
)
def test_edits_by_hand_are_told(make_memory, home, before, after, edits):
    """What a person changed between two sessions is told at the next one, once."""
    path = home.path / "memories" / "MEMORY.md"
    first = make_memory()
    first.store.subscribe(lambda write: None)
    first.store.apply("memory", [Operation("add", entry) for entry in before.split("\n§\n")])
    path.write_text(after) if after else path.unlink()
    found = []
    for _ in range(2):
        memory = make_memory()
        memory.store.subscribe(lambda write: found.append((write.action, *write[2:4])))
        memory.snapshot()
    assert found == edits


def test_what_changes_while_nobody_listens_is_told_later(make_memory):
    """A program without listeners, such as the command line, leaves its changes to the next one that has some."""
    found = []
    for listens, content in ((True, "a"), (False, "b"), (True, "c")):
        store = make_memory().store
        if listens:
            store.subscribe(lambda write: found.append(write.content))
            store.notice_edits()
        store.apply("memory", [Operation("add", content)])
    assert found == ["a", "b", "c"]


def test_a_file_made_by_hand_after_the_first_session_is_told(make_memory, home):
    """Once there was a session with a listener, everything new counts as a change."""
    found = []
    for _ in range(2):
        memory = make_memory()
        memory.store.subscribe(lambda write: found.append(write.content))
        memory.snapshot()
        home.write("memories/USER.md", "likes tea")
    assert found == ["likes tea"]


def test_the_first_look_at_a_file_tells_nothing(memory, home, told):
    """What was there before is known already, and is not poured into a provider."""
    home.write("memories/MEMORY.md", "a\n§\nb")
    memory.snapshot()
    memory.store.apply("memory", [ADD])
    assert told == [("add", "memory", "new", "")]


def test_a_listener_may_write_itself(store, told):
    """A write from within a listener is done, and told after the one that it answers."""
    store.subscribe(lambda write: write.content == "new" and store.apply("user", [Operation("add", "reply")]))
    store.apply("memory", [ADD])
    assert [write[2] for write in told] == ["new", "reply"]


def test_threads_lose_nothing(home):
    """Many threads of one process may write at once, and all is told in the order it was written."""
    store, told = MemoryStore(home.path, {"memory": 10_000}), []
    store.subscribe(lambda write: told.append(write.content))

    def work(letter):
        for number in range(10):
            store.apply("memory", [Operation("add", f"{letter}{number}")])

    threads = [threading.Thread(target=work, args=(letter,)) for letter in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert told == [*store.entries("memory")]
    assert len(told) == 40


def test_processes_lose_nothing(home, run_python):
    """Two processes may write at once: every entry is there at the end."""
    script = """
    import pathlib, subprocess, sys
    from hermes_core.memory.changes import Operation
    from hermes_core.memory.store import MemoryStore
    home, letter, *others = sys.argv[1:]
    other = subprocess.Popen([sys.executable, "-c", others[0], home, "b"]) if others else None
    store = MemoryStore(pathlib.Path(home), {"memory": 10_000})
    for number in range(25):
        store.apply("memory", [Operation("add", f"{letter}{number}")])
    for number in range(20):
        store.apply("memory", [Operation("remove", "", f"{letter}{number}")])
    sys.exit(other.wait() if other else 0)
    """
    from textwrap import dedent

    done = run_python(script, home.path, "a", dedent(script))
    assert (done.returncode, done.stderr) == (0, "")
    left = MemoryStore(home.path).entries("memory")
    assert {*left} == {f"{letter}{number}" for letter in "ab" for number in range(20, 25)}


@pytest.mark.slow
def test_a_killed_writer_leaves_a_whole_file(home, run_python):
    """Whenever a writer is killed, the file holds whole entries, and the next writer goes on."""
    script = """
    import os, pathlib, sys, threading, time
    from hermes_core.memory.changes import Operation
    from hermes_core.memory.store import MemoryStore
    store = MemoryStore(pathlib.Path(sys.argv[1]), {"memory": 1_000_000})
    threading.Thread(target=lambda: (time.sleep(float(sys.argv[2])), os._exit(9)), daemon=True).start()
    number = len(store.entries("memory"))
    while True:
        store.apply("memory", [Operation("add", f"{number:04} " + "x" * 200)])
        number += 1
    """
    for number in range(12):
        assert run_python(script, home.path, 0.05 + number / 100).returncode == 9
    entries = MemoryStore(home.path).entries("memory")
    assert [entry[:4] for entry in entries] == [f"{number:04}" for number in range(len(entries))]
    assert {len(entry) for entry in entries} == {205}
    leftovers = [
        name for name in os.listdir(home.path / "memories") if name.startswith(".MEMORY.md.") and "told" not in name
    ]
    assert len(leftovers) <= 12
