"""``auth.json``: read as it is, written whole, and never over something that cannot be read."""

import json
import os
import signal
import stat
import subprocess
import sys
import threading
import time

import pytest

from hermes_core.auth.store import AuthStore, is_secret
from hermes_core.config.redact import redact
from hermes_core.errors import ConfigError

TREE = {
    "version": 1,
    "updated_at": "2026-01-02T03:04:05+00:00",
    "active_provider": "acme",
    "providers": {"acme": {"access_token": "at-of-the-original", "of_a_newer_version": {"a": [1, None]}}},
    "credential_pool": {"acme": [{"id": "abc123", "access_token": "k-pool-1", "novel": True}, "not an object"]},
    "suppressed_sources": {"acme": ["env:ACME_API_KEY"]},
    "of_a_newer_version": {"emoji": "🙂", "deep": [[{}]]},
}


@pytest.fixture
def store(home):
    """The active home's store."""
    return AuthStore(home.path)


def mode(path):
    """A file's permissions."""
    return stat.S_IMODE(path.stat().st_mode)


def test_a_home_without_a_store_has_an_empty_one(store):
    """Nothing stored is no error, and reading makes no file."""
    assert (store.read(), store.error, store.path.exists()) == ({}, None, False)


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(json.dumps(TREE), id="as it was written"),
        pytest.param("\ufeff" + json.dumps(TREE), id="with a byte order mark r21_02"),
        pytest.param(json.dumps(TREE, ensure_ascii=False), id="with letters beyond ASCII r21_03"),
        pytest.param(json.dumps(TREE, indent=4).replace("\n", "\r\n"), id="with the line ends of Windows"),
    ],
)
def test_a_store_is_read(store, auth_file, content):
    """What the file holds is what is read."""
    auth_file.write(content)
    assert store.read() == TREE


def test_a_change_on_disk_counts_at_once(store, auth_file):
    """A file written by somebody else is read again; one that was not is not."""
    auth_file.write({"active_provider": "one"})
    first = store.read()
    assert store.read() is first
    auth_file.write({"active_provider": "another"})
    assert store.read()["active_provider"] == "another"
    auth_file.path.unlink()
    assert store.read() == {}


def test_what_it_does_not_know_is_kept(store, auth_file):
    """Unknown keys at every level, odd rows included, are still there after a write."""
    auth_file.write(TREE)
    with store.changing() as tree:
        tree["active_provider"] = "other"
    assert {**auth_file.tree, "updated_at": ""} == {**TREE, "active_provider": "other", "updated_at": ""}


def test_a_new_store_says_its_version_and_time(store, auth_file):
    """A first write makes the home, and notes the layout's version and when it was."""
    with store.changing() as tree:
        tree["providers"] = {}
    assert (auth_file.tree["version"], auth_file.tree["updated_at"][:3]) == (1, "202")


def test_nothing_is_written_when_nothing_changes(store, auth_file):
    """A block that changes nothing leaves the file alone, byte for byte."""
    auth_file.write(json.dumps(TREE))
    before = auth_file.path.stat().st_mtime_ns
    with store.changing():
        pass
    assert auth_file.path.stat().st_mtime_ns == before


def test_nothing_is_written_when_the_change_fails(store, auth_file):
    """An error in the block leaves the old content, and the lock free."""
    auth_file.write({"active_provider": "one"})
    with pytest.raises(ZeroDivisionError), store.changing() as tree:
        tree["active_provider"] = str(1 / 0)
    with store.changing(wait=0) as tree:
        assert tree == {"active_provider": "one"}


BROKEN = {
    "half a file": '{"providers": {"acme": {"access_token": "at-half-of-it',
    "no JSON": "providers: {}",
    "empty": "",
    "a list": "[]",
    "a number": "5",
    "not UTF-8": b'{"a": "\xff\xfe"}',
    "nested too deep": "[" * 100_000,
    "providers is a list": '{"providers": []}',
    "credential_pool is text": '{"credential_pool": "sk-1"}',
}


@pytest.mark.parametrize("content", BROKEN.values(), ids=BROKEN)
def test_a_broken_store_is_reported_copied_and_never_written(store, auth_file, caplog, content):
    """A file that is no store counts as empty, is copied privately, and every write refuses; it stays as it is."""
    auth_file.write(content)
    before = auth_file.path.read_bytes()
    assert store.read() == {}
    copy = auth_file.path.with_name("auth.json.corrupt")
    assert (copy.read_bytes(), mode(copy)) == (before, 0o600)
    assert str(auth_file.path) in caplog.text
    with pytest.raises(ConfigError, match=r"cannot read .*auth\.json") as caught, store.changing():
        pass
    assert (caught.value.path, "auth.json.corrupt" in caught.value.hint) == (str(auth_file.path), True)
    assert auth_file.path.read_bytes() == before


def test_a_broken_store_goes_on_as_it_last_was(store, auth_file, caplog):
    """What the file held while it could be read counts until it can be read again; the trouble is said once."""
    auth_file.write({"active_provider": "one"})
    store.read()
    auth_file.write("{")
    assert [store.read()["active_provider"] for _ in range(3)] == ["one"] * 3
    assert (store.error is not None, len(caplog.records)) == (True, 1)
    auth_file.write({"active_provider": "two"})
    assert (store.read()["active_provider"], store.error) == ("two", None)


def test_an_error_names_the_line_and_no_secret(store, auth_file):
    """The error of a broken file says where it breaks, and nothing reachable from it holds what the file says."""
    auth_file.write('{\n"access_token": "at-in-a-broken-file",\n')
    error = store.error
    assert "line 3" in str(error)
    assert "at-in-a-broken-file" not in f"{error}{error.__cause__}{error.__context__}{vars(error)}{store!r}"


def test_an_unreadable_store_is_never_written(as_nobody):
    """A file that this user may not read counts as empty, and a write refuses rather than replace it."""
    home = as_nobody.folder / "home"
    home.mkdir(mode=0o777)
    home.chmod(0o777)
    path = home / "auth.json"
    path.write_text('{"active_provider": "one"}')
    path.chmod(0o600)
    done = as_nobody(
        """
        import pathlib, sys
        from hermes_core.errors import ConfigError
        store = AuthStore(pathlib.Path(sys.argv[1]))
        print(store.read())
        try:
            with store.changing() as tree:
                tree["active_provider"] = "two"
        except ConfigError as error:
            print(error)
        """,
        home,
        first="from hermes_core.auth.store import AuthStore; import filelock",
    )
    assert done.stdout.splitlines()[0] == "{}", done.stderr
    assert "Permission denied" in done.stdout
    assert path.read_text() == '{"active_provider": "one"}'


def test_a_home_that_cannot_be_written_is_a_clear_error(as_nobody):
    """Where no lock can be made, the error names the file and what to do."""
    done = as_nobody(
        """
        import pathlib, sys
        from hermes_core.errors import ConfigError
        try:
            with AuthStore(pathlib.Path(sys.argv[1])).changing() as tree:
                tree["active_provider"] = "two"
        except ConfigError as error:
            print(error, "|", error.hint)
        """,
        as_nobody.folder,
        first="from hermes_core.auth.store import AuthStore; import filelock",
    )
    assert "cannot write" in done.stdout, done.stderr
    assert "writable" in done.stdout


@pytest.fixture
def open_umask():
    """Let new files be as open as a program asks for."""
    before = os.umask(0)
    yield
    os.umask(before)


def test_the_file_is_private_whatever_the_umask_r19_14(store, auth_file, open_umask):
    """A store that is made, or rewritten, is its owner's alone, and so is the lock; a home that is made, too."""
    with store.changing() as tree:
        tree["active_provider"] = "one"
    made = mode(auth_file.path)
    auth_file.path.chmod(0o644)
    with store.changing() as tree:
        tree["active_provider"] = "two"
    lock = auth_file.path.with_name("auth.lock")
    assert [made, *map(mode, (auth_file.path, lock, auth_file.path.parent))] == [0o600, 0o600, 0o600, 0o700]


def given_away(path, owner):
    """Give a file to another user, where this one may; returns whose it is now."""
    if os.geteuid() == 0:
        os.chown(path, *owner)
    found = path.stat()
    return found.st_uid, found.st_gid


@pytest.mark.parametrize("exists", [True, False], ids=["file that is there", "file that is made"])
def test_root_leaves_the_file_to_its_owner_r19_03(store, auth_file, exists):
    """What root writes belongs to whom it belonged, or to the home's owner, who can go on using it."""
    auth_file.path.parent.mkdir()
    owner = of_home = given_away(auth_file.path.parent, (1234, 1235))
    if exists:
        auth_file.write({})
        owner = given_away(auth_file.path, (1236, 1237))
    with store.changing() as tree:
        tree["active_provider"] = "one"
    found, lock = auth_file.path.stat(), auth_file.path.with_name("auth.lock").stat()
    assert [(found.st_uid, found.st_gid), (lock.st_uid, lock.st_gid)] == [owner, of_home]


def test_a_link_stays_a_link_r19_03(store, auth_file, tmp_path):
    """A store that is a link is written through: the link stays, both places are locked, no draft is left."""
    auth_file.path.parent.mkdir()
    (tmp_path / "real").mkdir()
    target = tmp_path / "real" / "auth.json"
    target.write_text("{}")
    auth_file.path.symlink_to(target)
    with store.changing() as tree:
        tree["active_provider"] = "one"
    assert (auth_file.path.is_symlink(), json.loads(target.read_text())["active_provider"]) == (True, "one")
    assert sorted(path.name for path in target.parent.iterdir()) == ["auth.json", "auth.lock"]


def test_every_secret_read_is_redacted_from_then_on(store, auth_file):
    """Tokens and keys at any depth are known to the redactor once the file is read; other words are not."""
    auth_file.write(
        {
            "providers": {"a": {"tokens": {"access_token": "at-nested-1", "refresh_token": "rt-nested-1"}}},
            "credential_pool": {
                "a": [{"access_token": "k-in-pool-1", "agent_key": "ak-in-pool-1", "label": "my label"}]
            },
            "suppressed_sources": {"monkey": ["env:MONKEY_API_KEY"]},
            "novel": {"client_secret": "cs-novel-1"},
        }
    )
    store.read()
    words = "at-nested-1 rt-nested-1 k-in-pool-1 ak-in-pool-1 cs-novel-1"
    assert redact(words) == " ".join(["[redacted]"] * 5)
    assert redact("my label env:MONKEY_API_KEY") == "my label env:MONKEY_API_KEY"


@pytest.mark.parametrize(
    ("name", "expected"),
    [("access_token", True), ("API_KEY", True), ("client_secret", True), ("token_type", False), ("key_hash", False)],
)
def test_a_field_is_secret_by_the_end_of_its_name(name, expected):
    """Fields called token, key, secret or password hold one."""
    assert is_secret(name) is expected


def test_writers_take_turns(store, auth_file):
    """Threads that change the file at once lose none of the changes."""

    def work(number):
        for step in range(5):
            with store.changing() as tree:
                tree.setdefault("novel", []).append([number, step])

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert sorted(auth_file.tree["novel"]) == [[number, step] for number in range(8) for step in range(5)]


HOLD = """
import pathlib, sys, time
from hermes_core.auth.store import AuthStore
with AuthStore(pathlib.Path(sys.argv[1])).changing() as tree:
    tree["active_provider"] = "held"
    print("held", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def holder(home):
    """Another process that is writing, and does not come to an end."""
    process = subprocess.Popen([sys.executable, "-c", HOLD, str(home.path)], stdout=subprocess.PIPE, text=True)
    process.stdout.readline()
    yield process
    process.kill()
    process.wait()
    process.stdout.close()


def test_a_writer_gives_up_after_a_while(store, auth_file, holder):
    """While another process keeps writing, a write ends in an error that says so, and nothing is written."""
    with pytest.raises(ConfigError, match=r"somebody else has been writing it for 0\.2 s"), store.changing(wait=0.2):
        pass
    assert not auth_file.path.exists()


def test_reading_does_not_wait_for_a_writer(store, auth_file, holder):
    """While another process keeps writing, the old content can be read."""
    auth_file.write({"active_provider": "one"})
    assert store.read()["active_provider"] == "one"


def test_a_killed_writer_holds_nobody_up(store, auth_file, holder):
    """The lock of a process that was killed is free, and what it had begun counts for nothing."""
    holder.send_signal(signal.SIGKILL)
    holder.wait()
    with store.changing(wait=10) as tree:
        assert tree == {}
        tree["active_provider"] = "next"
    assert auth_file.tree["active_provider"] == "next"


WRITE = """
import pathlib, sys
from hermes_core.auth.store import AuthStore
store = AuthStore(pathlib.Path(sys.argv[1]))
number = 0
while True:
    number += 1
    with store.changing() as tree:
        tree["novel"] = [number] * 20_000
    print(number, flush=True)
"""


@pytest.mark.slow
@pytest.mark.parametrize("round_", range(3))
def test_a_writer_that_is_killed_leaves_a_whole_file(store, auth_file, home, round_):
    """``kill -9`` at any moment leaves the old content or the new one, and no draft after the next write."""
    for number in range(25):
        with subprocess.Popen(
            [sys.executable, "-c", WRITE, str(home.path)], stdout=subprocess.PIPE, text=True
        ) as process:
            last = int(process.stdout.readline())
            time.sleep(0.003 * number)
            process.kill()
            last = max([last, *map(int, process.stdout.read().split())])
        novel = auth_file.tree["novel"]
        assert (len(set(novel)), len(novel), novel[0] in (last, last + 1)) == (1, 20_000, True)
        with store.changing(wait=10) as tree:
            tree["novel"] = []
        assert sorted(path.name for path in home.path.iterdir()) == ["auth.json", "auth.lock"]
