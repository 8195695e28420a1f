"""The memory provider sqlite: its file, what may happen to it, and what goes in and out of it."""

import json
import sqlite3

import pytest

from hermes_core import HermesError

PLACE = "memories/memory.db"


@pytest.fixture
def path(home):
    """The memory file of the home."""
    return home.path / PLACE


def test_the_file_is_its_owners_alone(told, path):
    """Nobody else can read what was said."""
    told("hello")
    assert path.stat().st_mode & 0o077 == 0


def test_secrets_are_masked_before_they_are_kept(told, home, path):
    """A key in a message or a fact stands in no file."""
    key = "sk-proj-4f9a8b7c6d5e4f3a2b1c0d9e8f7a6b5c"
    provider = told((f"my key is {key}", f"keep {key} safe"))
    provider.add_fact(f"the key is {key}", "tool")
    provider.on_memory_write("add", "memory", f"remember {key}")
    assert "my key is" in provider.prefetch("key")
    provider.shutdown()
    assert all(key.encode() not in file.read_bytes() for file in home.path.rglob("*") if file.is_file())


def old_file(path, version):
    """Write a file as an earlier version left it, with one message."""
    from hermes_builtin_plugins.memory.sqlite.schema import MIGRATIONS

    path.parent.mkdir(parents=True)
    connection = sqlite3.connect(path)
    for statements in MIGRATIONS[:version]:
        for statement in statements:
            connection.execute(statement)
    connection.execute("insert into scope (id, user_id, agent, next) values (1, '', '', 1)")
    connection.execute("insert into session values (1, 1, 'old')")
    row = (1 << 40, 1, 0, "user", "user", 0.0, "1 January 1970", 0, "", "I bought a kayak")
    connection.execute("insert into memory values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
    connection.execute("insert into word (rowid, text) values (?, ?)", (row[0], row[-1]))
    connection.execute(f"pragma user_version = {version}")
    connection.commit()
    connection.close()


def test_an_older_file_is_brought_up_to_date(told, path):
    """What an earlier version wrote is kept, and the file has the newest version afterwards."""
    old_file(path, 1)
    assert "kayak" in told("hello").prefetch("kayak")
    from hermes_builtin_plugins.memory.sqlite.schema import MIGRATIONS

    assert sqlite3.connect(path).execute("pragma user_version").fetchone() == (len(MIGRATIONS),)


def test_a_newer_file_is_refused_and_left_alone(memory, path):
    """A file of a later version is not touched; the error says so."""
    old_file(path, 1)
    connection = sqlite3.connect(path)
    connection.execute("pragma user_version = 99")
    connection.close()
    with pytest.raises(HermesError, match=r"memory\.db has version 99") as caught:
        memory()
    assert "update" in caught.value.hint
    assert sqlite3.connect(path).execute("pragma user_version").fetchone() == (99,)


def test_a_damaged_file_is_reported_copied_and_never_written_over(memory, path):
    """What cannot be read stays as it is, beside one copy however often it is tried."""
    path.parent.mkdir(parents=True)
    path.write_bytes(b"this is no database " * 500)
    for _ in range(2):
        with pytest.raises(HermesError, match=r"memory\.db is damaged") as caught:
            memory()
    copies = list(path.parent.glob("memory.db.damaged-*"))
    assert [copy.read_bytes() for copy in copies] == [path.read_bytes()] == [b"this is no database " * 500]
    assert str(copies[0]) in caught.value.hint


def test_a_home_that_cannot_be_written_is_a_clear_error(as_nobody):
    """The error names the file and says what to look at; the provider itself is available."""
    done = as_nobody(
        """
        from hermes_core import HermesError
        memory = host.memory_provider("sqlite")
        print(memory.is_available())
        try:
            memory.initialize("s", hermes_home=sys.argv[1])
        except HermesError as error:
            print(error, "|", error.hint)
        """,
        as_nobody.folder / "home",
        first="""
        (pathlib.Path(sys.argv[1]) / "memories").mkdir(parents=True)
        host = Host.load(sys.argv[1])
        host.memory_provider("sqlite").initialize("s", hermes_home=tempfile.mkdtemp())
        """,
    )
    assert "True\n" in done.stdout, done.stderr
    assert "memory.db cannot be used" in done.stdout
    assert "writable" in done.stdout


def test_it_is_available_without_being_opened(load_host):
    """Whether it can run is known without a home; everything it keeps is below it."""
    provider = load_host().memory_provider("sqlite")
    assert provider.is_available()
    assert provider.unavailable_reason() == ""
    assert provider.backup_paths() == []


@pytest.mark.parametrize(
    "text", ["x" * 2_000_000, "word " * 200_000, "猫" * 300_000, "\n" * 100_000 + "end", "a\0b", "half \ud800"]
)
def test_huge_and_odd_messages_are_kept(told, text):
    """A message of any size or content is kept whole, and other messages are still found."""
    provider = told((text, "noted"), "I bought a kayak")
    assert "kayak" in provider.prefetch("kayak")
    kept = [row["text"] for row in provider.export_records()]
    assert kept[0] == text.encode("utf-8", "replace").decode()


def test_empty_messages_are_not_kept(told):
    """A side of a turn that says nothing leaves nothing."""
    assert [row["text"] for row in told(("hello", "  "), ("", "there")).export_records()] == ["hello", "there"]


def test_turns_of_agents_that_talk_with_nobody_are_not_kept(told):
    """Scheduled jobs and subagents recall, but keep nothing."""
    assert list(told("run the report", agent_context="cron").export_records()) == []


def test_what_is_exported_can_be_imported_elsewhere(told, tmp_path):
    """Messages with their sessions, speakers and times, and facts, come through as they were; twice does no harm."""
    source = told(("[8 May 2023 13:56] Ann: I bought a kayak", "w " * 2000), ("猫が好き", "はい"), user_id="ann")
    source.add_fact("Ann likes tea", "tool")
    lines = [json.dumps(record) for record in source.export_records()]
    target = told(user_id="someone else")
    assert target.import_lines(lines) == 5
    assert target.import_lines(lines) == 0
    assert [json.dumps(record) for record in target.export_records()] == lines
    assert "kayak" in target.prefetch("kayak")


def test_lines_of_other_programs_need_a_text_alone(memory):
    """A text is a fact; with a session it is a message."""
    provider = memory()
    assert provider.import_lines(['{"text": "likes tea"}', "", '{"text": "hi", "session": 7, "role": "user"}']) == 2
    assert provider.import_lines(['{"text": "hi", "session": 7, "role": "user"}']) == 0
    assert [(row["session"], row["role"]) for row in provider.export_records()] == [(None, "fact"), ("7", "user")]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", "line 2 is no JSON"),
        ("[]", "line 2 has no 'text'"),
        ('{"text": " "}', "line 2 has no 'text'"),
        ('{"text": "x", "time": "now"}', "line 2: 'time'"),
    ],
)
def test_a_line_that_cannot_be_imported_is_named(memory, line, said):
    """The error says which line, and what is wrong with it."""
    with pytest.raises(HermesError, match=said):
        memory().import_lines(['{"text": "fine"}', line])


def test_the_entries_of_a_memory_file_become_facts(memory):
    """MEMORY.md is taken entry by entry, once."""
    provider = memory()
    text = "\ufeffAnn likes tea\n§\nThe server is\nin Lisbon\n§\n  \n§\nann likes tea"
    assert provider.import_entries(text) == 2
    assert provider.import_entries(text) == 0
    assert "Lisbon" in provider.prefetch("server")


def test_the_status_says_what_is_kept(told, path):
    """Counts, place and size, as ``hermes memory status`` shows them."""
    provider = told("hello", "again")
    provider.add_fact("Ann likes tea", "tool")
    status = provider.get_status_config({})
    assert (status["messages"], status["facts"], status["sessions"], status["path"]) == (4, 1, 1, str(path))
    assert status["bytes"] > 0
