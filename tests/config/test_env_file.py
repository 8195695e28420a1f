"""Writing ``.env``: what is written reads back the same, and every other line stays."""

import codecs
import os
import threading

import pytest
from dotenv import dotenv_values
from hypothesis import given
from hypothesis import strategies as st

from hermes_core.config.env_file import parse_env, write_env
from hermes_core.errors import ConfigError

names = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,8}", fullmatch=True)
values = st.one_of(
    st.text(max_size=20),
    st.text("'\"\\ #$`\n\t=x", max_size=10),
    st.sampled_from(["", "#", " x ", "a #b", "'", '"', "\\", "\\n", "it's", '"x"', "${A}", "export A=1", "\ufeff"]),
)
lines = st.sampled_from(
    ["# a note", "", "  ", "A=1", "export B='x y' # n", "C = 2", 'D="a\\nb"', "odd line", "E", "=x", "F='open", "'G'=1"]
)


@pytest.fixture
def env(tmp_path):
    """A ``.env`` with some text."""

    def make(text=None):
        path = tmp_path / ".env"
        if text is not None:
            path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return make


CHANGES = {
    "a new file": (None, {"A": "1"}, "A=1\n"),
    "a new name": ("B=2\n", {"A": "1"}, "B=2\nA=1\n"),
    "no newline at the end": ("B=2", {"A": "1"}, "B=2\nA=1\n"),
    "a name that is there": ("A=1\nB=2\n", {"A": "3"}, "A=3\nB=2\n"),
    "the last of two counts": ("A=1\nB=2\nA=3\n", {"A": "4"}, "A=1\nB=2\nA=4\n"),
    "export stays": ("export  A=1\n", {"A": "2"}, "export  A=2\n"),
    "a note stays": ("A=1   # mine\n", {"A": "2"}, "A=2   # mine\n"),
    "a note behind quotes stays": ("A='x # y' # mine\n", {"A": "2"}, "A=2 # mine\n"),
    "indentation stays": ("  A=1\n", {"A": "2"}, "  A=2\n"),
    "a value over two lines": ("A='x\ny'\nB=2\n", {"A": "1"}, "A=1\nB=2\n"),
    "blank lines and notes": ("# top\n\nA=1\n\n# end\n", {"A": "2"}, "# top\n\nA=2\n\n# end\n"),
    "lines of Windows": ("A=1\r\nB=2\r\n", {"A": "3", "C": "4"}, "A=3\r\nB=2\r\nC=4\r\n"),
    "a byte order mark": ("\ufeffA=1\n", {"A": "2"}, "\ufeffA=2\n"),
    "quotes where they are needed": (None, {"A": "a b", "B": "it's", "C": "a#b"}, "A='a b'\nB=\"it's\"\nC='a#b'\n"),
    "backslashes": (None, {"A": 'a\\b"c'}, 'A="a\\\\b\\"c"\n'),
    "nothing as a value": ("A=1\n", {"A": ""}, "A=\n"),
    "taken out": ("# a\nA=1\n\nB=2\nA=3\n", {"A": None}, "# a\n\nB=2\n"),
    "taken out of nothing": ("B=2\n", {"A": None}, "B=2\n"),
    "the last one taken out": ("A=1\n", {"A": None}, ""),
    "several at once": ("A=1\nB=2\n", {"A": None, "B": "3", "C": "4"}, "B=3\nC=4\n"),
    "a line that makes no sense": ("odd line\nA=1\n", {"A": "2"}, "odd line\nA=2\n"),
    "the same value": ("A = '1'\n", {"A": "1"}, "A=1\n"),
}


@pytest.mark.parametrize(("before", "changes", "after"), CHANGES.values(), ids=CHANGES)
def test_only_the_named_lines_change(env, before, changes, after):
    """A variable is set where it stands, or added at the end; every other line stays byte for byte."""
    path = env(before)
    write_env(path, changes)
    assert path.read_bytes().decode() == after


@given(st.lists(lines, max_size=6), st.booleans(), names, values)
def test_what_is_written_reads_back(tmp_path_factory, before, ends, name, value):
    """Whatever the file holds, a value reads back the same, no other variable changes, or nothing is written."""
    path = tmp_path_factory.mktemp("env") / ".env"
    text = "\n".join(before) + ("\n" if ends else "")
    path.write_text(text, encoding="utf-8")
    old = parse_env(path.read_bytes())[0]
    refused = False
    try:
        write_env(path, {name: value})
    except ConfigError:
        refused = True
    found = parse_env(path.read_bytes())[0]
    if refused:
        assert path.read_text(encoding="utf-8") == text
        assert "F='open" in before or not value.isprintable()
    else:
        assert found == {**old, name: value}
        write_env(path, {name: None})
        assert parse_env(path.read_bytes())[0] == {key: held for key, held in old.items() if key != name}


@given(st.dictionaries(names, values.filter(lambda value: "\r" not in value and "\0" not in value), max_size=4))
def test_others_read_the_same(tmp_path_factory, wanted):
    """python-dotenv itself reads what was written, from a file of our own making."""
    path = tmp_path_factory.mktemp("env") / ".env"
    write_env(path, wanted)
    found = dotenv_values(path, interpolate=False) if path.exists() else {}
    assert found == wanted


@pytest.mark.parametrize("name", ["", "1A", "A-B", "A B", "A=B", "ä", "A\n", "export A"])
def test_what_is_no_name_is_refused(env, name):
    """A name that no shell would take is refused, and nothing is written."""
    with pytest.raises(ConfigError, match="is no name of a variable"):
        write_env(env("B=1\n"), {"C": "2", name: "x"})
    assert env().read_text() == "B=1\n"


@pytest.mark.parametrize("value", ["a\0b", "a\rb", "a\r\nb", "\udc80"], ids=ascii)
def test_a_value_that_would_not_read_back_is_refused(env, value):
    """A value that no file can hold is refused with the variable's name, without the value; nothing is written."""
    with pytest.raises(ConfigError, match="cannot write A to") as caught:
        write_env(env("B=1\n"), {"A": f"hunter22{value}"})
    assert (env().read_text(), "hunter22" in str(caught.value)) == ("B=1\n", False)


def test_bytes_of_no_encoding_stay(env):
    """Bytes that are no UTF-8 stay as they are in the lines that do not change."""
    path = env(b"A=\xff\n# \xfe\nB=1\n")
    write_env(path, {"B": "2"})
    assert path.read_bytes() == b"A=\xff\n# \xfe\nB=2\n"


def test_a_new_file_is_private_r19_14(tmp_path):
    """A new file, in a folder that is made for it, is readable by its owner alone."""
    path = tmp_path / "deep" / ".env"
    before = os.umask(0)
    try:
        write_env(path, {"A": "1"})
    finally:
        os.umask(before)
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("mode", [0o600, 0o640])
def test_mode_owner_and_link_are_kept_r19_03(tmp_path, mode):
    """The file keeps its mode and owner, and is written where a link leads."""
    real = tmp_path / "real"
    real.write_text("A=1\n")
    real.chmod(mode)
    if os.geteuid() == 0:
        os.chown(real, 65534, 65534)
    before = real.stat()
    link = tmp_path / ".env"
    link.symlink_to(real)
    write_env(link, {"A": "2"})
    after = real.stat()
    assert (link.is_symlink(), real.read_text()) == (True, "A=2\n")
    assert (mode, before.st_uid, before.st_gid) == (after.st_mode & 0o777, after.st_uid, after.st_gid)


def test_a_change_that_changes_nothing_writes_nothing(env):
    """Setting what is set leaves the file untouched."""
    path = env("A=1\n")
    before = path.stat()
    write_env(path, {"A": "1"})
    assert (before.st_ino, before.st_mtime_ns) == (path.stat().st_ino, path.stat().st_mtime_ns)


def test_a_file_that_cannot_be_read_is_not_written(as_nobody):
    """A file that may not be read is refused with its path, and stays."""
    path = as_nobody.folder / ".env"
    path.write_text("A=1\n")
    path.chmod(0)
    as_nobody.folder.chmod(0o777)
    done = as_nobody(
        """
        from hermes_core.config.env_file import write_env
        from hermes_core.errors import ConfigError
        try:
            write_env(pathlib.Path(sys.argv[1]), {"A": "2"})
        except ConfigError as error:
            print(error)
        """,
        path,
        first="import hermes_core.config.env_file, dotenv.parser",
    )
    assert (done.stdout, path.read_text()) == (f"cannot write {path}: Permission denied\n", "A=1\n"), done.stderr


def test_a_kill_before_the_last_step_leaves_the_old_file_r21_10(env, run_python):
    """A process that dies while it writes leaves the old content whole."""
    path = env("A=1\n")
    run_python(
        """
        import os, sys
        from pathlib import Path
        from hermes_core.config.env_file import write_env
        sys.addaudithook(lambda event, args: os._exit(9) if event == "os.rename" else None)
        write_env(Path(sys.argv[1]), {"A": "2"})
        """,
        path,
    )
    write_env(path, {"B": "3"})
    assert path.read_text() == "A=1\nB=3\n"


def test_writers_wait_for_each_other(env):
    """Ten threads that each add a variable at once all have it in the end."""
    path = env("")
    barrier = threading.Barrier(10)

    def add(number):
        barrier.wait(timeout=30)
        write_env(path, {f"A{number}": str(number)})

    threads = [threading.Thread(target=add, args=(number,)) for number in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert parse_env(path.read_bytes())[0] == {f"A{number}": str(number) for number in range(10)}


@pytest.mark.parametrize(
    ("content", "odd"),
    [
        pytest.param(b"A=1\nB\nexport C\n# d\n", [], id="names alone, and notes"),
        pytest.param(b"A=1\n\n\nA B\n", [4], id="no equal sign"),
        pytest.param(b"A='x\nB=1\n", [1], id="a quote that is not closed"),
        pytest.param(b"A='x' y\r\nB=1\r\n=z", [1, 3], id="lines of Windows"),
        pytest.param(codecs.BOM_UTF8 + b"=x\n", [1], id="a byte order mark"),
    ],
)
def test_lines_that_make_no_sense_are_counted(content, odd):
    """Lines that python-dotenv passes over are given by their number."""
    assert parse_env(content)[1] == odd
