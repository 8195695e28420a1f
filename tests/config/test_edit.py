"""Changing ``config.yaml``: what a person wrote stays as it was written."""

import codecs
import json
import os
import re
import threading

import pytest
import yaml
from filelock import FileLock
from hypothesis import given
from hypothesis import strategies as st

from hermes_core.config.edit import as_yaml, edit_config, put, read_scalar, take_out
from hermes_core.config.keypath import split_key
from hermes_core.errors import ConfigError

COMMENTED = """\
# my notes
model:
  default: "gpt-5.4"   # the good one
  provider: 'openai'

plugins:
  enabled:
    - acme  # from work
    # - later
    - 'other'
  entries:
    acme: {llm: {allow_model_override: true}}

# the end
zz: ${SECRET_KEY}
"""


def enable(tree):
    """Add one entry."""
    tree.setdefault("plugins", {}).setdefault("enabled", []).append("new")


def disable(tree):
    """Take it out again."""
    tree["plugins"]["enabled"].remove("new")


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(COMMENTED, id="comments, quotes and empty lines"),
        pytest.param(COMMENTED.replace("\n", "\r\n"), id="lines of Windows"),
        pytest.param("\ufeff" + COMMENTED, id="a byte order mark"),
        pytest.param("plugins:\n  enabled:\n  - a\n  - b\n", id="an indentless list"),
        pytest.param("plugins:\n  enabled: [a, b]\n", id="a flow list"),
        pytest.param("plugins:\n    enabled:\n        - a\nb:\n    c: 1\n", id="four blanks"),
        pytest.param("a:\n  - x\nplugins:\n  enabled:\n  - a\n", id="two styles of list"),
        pytest.param("plugins: {enabled: [a], disabled: [b]}\n", id="a flow mapping"),
        pytest.param("x: { a: [ 1,2 ] }\nplugins:\n  enabled: [a]\n", id="blanks in a flow mapping"),
        pytest.param("a: |\n  one\n    two\nb: >-\n  folded\n  text\nplugins:\n  enabled: [a]\n", id="block texts"),
        pytest.param(f"long: {'word ' * 60}end\nplugins:\n  enabled: [a]\n", id="a long line"),
        pytest.param("a: yes\nb: off\nc: 012\nd: 1e3\ne: ~\nf: null\ng:\nplugins:\n  enabled: [a]\n", id="odd scalars"),
        pytest.param("a: 1.10\nb: 0x1F\nc: 1_000\nd: 2026-01-02\nplugins:\n  enabled: [a]\n", id="numbers and dates"),
        pytest.param("a: &x {k: 1}\nb: *x\nplugins:\n  enabled: [a]\n", id="an anchor"),
        pytest.param("base: &x\n  k: 1\nb:\n  <<: *x\nplugins:\n  enabled: [a]\n", id="a merge key"),
        pytest.param("---\nplugins:\n  enabled: [a]\n", id="a document mark"),
        pytest.param("'a b': 1\n\"c\": 2\n? d\n: 3\nplugins:\n  enabled: [a]\n", id="odd keys"),
        pytest.param("plugins:\n  enabled: [a]\nz: 1", id="no newline at the end"),
        pytest.param("plugins:\n  enabled: [a]\n\n\n", id="empty lines at the end"),
        pytest.param("a:   1\nb:  2\nplugins:\n  enabled: [a]\n", id="values in a column"),
        pytest.param("記憶: 🙂\nplugins:\n  enabled: [ä]\n", id="any letters"),
        pytest.param("s: \"tab\\tand \\u263a\"\nt: 'it''s'\nplugins:\n  enabled: [a]\n", id="escapes"),
    ],
)
def test_enable_and_disable_leave_no_trace_r21_07(home, text):
    """An entry that is added and taken out again leaves the file byte for byte as it was, however it is written."""
    path = home.write("config.yaml", text.encode())
    edit_config(path, enable)
    assert "new" in yaml.safe_load(path.read_bytes().decode("utf-8-sig"))["plugins"]["enabled"]
    edit_config(path, disable)
    assert path.read_bytes().decode() == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            "plugins:\n  enabled:\n  - a\n", "plugins:\n  enabled:\n  - a\n  - new\n", id="an indentless list r21-09"
        ),
        pytest.param(
            "plugins:\n  enabled:\n    - a\n", "plugins:\n  enabled:\n    - a\n    - new\n", id="an indented list"
        ),
        pytest.param("plugins:\n  enabled: [a, b]\n", "plugins:\n  enabled: [a, b, new]\n", id="a flow list r21-09"),
        pytest.param("plugins:\n  enabled: []\n", "plugins:\n  enabled:\n  - new\n", id="an empty list r21-09"),
        pytest.param("a: 1\n", "a: 1\nplugins:\n  enabled:\n  - new\n", id="no section r21-09"),
        pytest.param("# only notes\n", "# only notes\nplugins:\n  enabled:\n  - new\n", id="only a comment"),
        pytest.param("", "plugins:\n  enabled:\n  - new\n", id="an empty file"),
        pytest.param("{}", "plugins:\n  enabled:\n  - new\n", id="an empty flow mapping"),
    ],
)
def test_an_entry_is_added_in_the_files_own_style_r21_09(home, text, expected):
    """A list is added to as it is written; what is missing is made."""
    path = home.write("config.yaml", text)
    edit_config(path, enable)
    written = path.read_text()
    assert yaml.safe_load(expected) == yaml.safe_load(written)
    assert expected.rstrip("\n") == written.rstrip("\n")


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(COMMENTED, id="a usual file"),
        pytest.param("plugins: { enabled: [ a,b ] }", id="a file in a style of its own"),
        pytest.param("a: 012\nb:   1\n\n\n", id="a file that a dump would change"),
    ],
)
def test_a_change_that_changes_nothing_writes_nothing(home, text):
    """When the change leaves the mapping as it was, the file is not touched."""
    path = home.write("config.yaml", text.encode())
    before = path.stat()
    edit_config(path, lambda tree: tree.get("plugins"))
    after = path.stat()
    assert (text, before.st_ino, before.st_mtime_ns) == (path.read_bytes().decode(), after.st_ino, after.st_mtime_ns)


def test_a_missing_file_is_made(home):
    """A missing file is made, with its folder, readable by its owner alone."""
    path = home.path / "deep" / "config.yaml"
    before = os.umask(0)
    try:
        edit_config(path, enable)
    finally:
        os.umask(before)
    assert (path.read_text(), path.stat().st_mode & 0o777) == ("plugins:\n  enabled:\n  - new\n", 0o600)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(b"model: [", id="no YAML"),
        pytest.param(b"- a\n", id="a list"),
        pytest.param(b"a: \xff\n", id="no UTF-8"),
        pytest.param(b"a: \x00\n", id="a NUL byte"),
        pytest.param(b"a:\n\tb: 1\n", id="a tab"),
    ],
)
def test_a_broken_file_is_not_written_r21_05(home, text):
    """A file that cannot be read is refused with its name, and stays byte for byte as it is."""
    path = home.write("config.yaml", text)
    with pytest.raises(ConfigError, match=r"config\.yaml"):
        edit_config(path, enable)
    assert path.read_bytes() == text


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("a: 1\nplugins:\n  enabled: [a]\na: 2\n", id="a key that is there twice"),
        pytest.param("a:\t1\nplugins:\n  enabled: [a]\n", id="a tab before a value"),
        pytest.param("a: '\ue000'\nplugins:\n  enabled: [a]\n", id="a private character"),
        pytest.param("%YAML 1.1\n---\nplugins:\n  enabled: [a]\n", id="a version of YAML"),
    ],
)
def test_what_reads_well_is_edited_or_refused_by_name(home, text):
    """A file that the host reads well is edited, or refused with its name; no foreign error, and nothing lost."""
    path = home.write("config.yaml", text)
    expected = ["a", "new"]
    try:
        edit_config(path, enable)
    except ConfigError as error:
        expected = ["a"] if str(path) in str(error) and path.read_text() == text else str(error)
    tree = yaml.load(path.read_text(), yaml.CSafeLoader)  # as the host reads it
    assert tree["plugins"]["enabled"] == expected


def test_commands_refuse_a_broken_file_r21_05(home, capsys):
    """``hermes plugins disable`` on a broken file ends with 1, names file and line, and changes nothing."""
    from hermes_core.cli.main import main

    path = home.write("config.yaml", "model: gpt\nplugins: [\n")
    assert main(["plugins", "disable", "tldr"]) == 1
    assert (path.read_text(), "config.yaml, line" in capsys.readouterr().err) == ("model: gpt\nplugins: [\n", True)


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o644])
def test_mode_and_owner_are_kept_r19_03(home, mode):
    """The file keeps its mode and its owner."""
    path = home.config({"a": 1})
    path.chmod(mode)
    if os.geteuid() == 0:
        os.chown(path, 65534, 65534)
    before = path.stat()
    edit_config(path, enable)
    after = path.stat()
    assert (mode, before.st_uid, before.st_gid) == (after.st_mode & 0o777, after.st_uid, after.st_gid)


def test_a_link_stays_a_link_r19_03(home, tmp_path):
    """A file that is a link is written where the link leads."""
    (tmp_path / "dotfiles").mkdir()
    real = tmp_path / "dotfiles" / "hermes.yaml"
    real.write_text("a: 1\n")
    home.path.mkdir()
    link = home.path / "config.yaml"
    link.symlink_to(real)
    edit_config(link, enable)
    assert (link.is_symlink(), real.read_text()) == (True, "a: 1\nplugins:\n  enabled:\n  - new\n")


def test_references_are_written_as_they_were_r20_09(home, monkeypatch, capsys):
    """``${NAME}`` stays ``${NAME}`` when a command changes the file; its value is not written."""
    from hermes_core.cli.main import main

    monkeypatch.setenv("SECRET_KEY", "hunter22")
    home.plugin("acme", "", name="acme")
    path = home.write("config.yaml", "model:\n  api_key: ${SECRET_KEY}\n")
    codes = main(["plugins", "enable", "acme"]), main(["plugins", "disable", "acme"])
    assert (codes, "api_key: ${SECRET_KEY}\n" in path.read_text(), "hunter22" in path.read_text()) == (
        (0, 0),
        True,
        False,
    )


def test_a_change_that_raises_writes_nothing(home):
    """When the change itself fails, its error goes through and the file stays."""
    path = home.config({"a": 1})
    before = path.read_bytes()

    def change(tree):
        tree["a"] = 2
        raise LookupError

    with pytest.raises(LookupError):
        edit_config(path, change)
    assert (before, [path]) == (path.read_bytes(), [found for found in home.path.iterdir() if found.suffix != ".lock"])


def test_a_kill_before_the_last_step_leaves_the_old_file_r21_10(home, run_python):
    """A process that dies while it writes leaves the old content whole."""
    path = home.write("config.yaml", "a: 1\n")
    run_python(
        """
        import os, sys
        from pathlib import Path
        from hermes_core.config.edit import edit_config
        sys.addaudithook(lambda event, args: os._exit(9) if event == "os.rename" else None)
        edit_config(Path(sys.argv[1]), lambda tree: tree.update(a=2))
        """,
        path,
    )
    edit_config(path, lambda tree: tree.update(b=3))
    assert path.read_text() == "a: 1\nb: 3\n"


def test_writers_wait_for_each_other(home):
    """Twenty threads that each add an entry at once all have it in the end."""
    path = home.config({"plugins": {"enabled": []}})
    barrier = threading.Barrier(20)

    def add(number):
        barrier.wait(timeout=30)
        edit_config(path, lambda tree: tree["plugins"]["enabled"].append(number))

    threads = [threading.Thread(target=add, args=(number,)) for number in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert [*range(20)] == sorted(yaml.safe_load(path.read_text())["plugins"]["enabled"])


@pytest.mark.parametrize("what", ["a folder", "a file"])
def test_what_may_not_be_written_is_an_error_that_names_it(as_nobody, what):
    """Where the file may not be written the error names it and says what to do; it stays as it is."""
    path = as_nobody.folder / "config.yaml"
    path.write_text("a: 1\n")
    path.chmod(0o444)
    if what == "a folder":
        as_nobody.folder.chmod(0o555)
    else:
        lock = as_nobody.folder / "config.yaml.lock"
        lock.touch()
        lock.chmod(0o666)
    done = as_nobody(
        """
        from hermes_core.errors import ConfigError
        try:
            edit_config(pathlib.Path(sys.argv[1]), lambda tree: tree.update(a=2))
        except ConfigError as error:
            print(error, "|", error.hint)
        """,
        path,
    )
    expected = f"cannot write {path}: Permission denied | make the file and its folder writable\n"
    assert (expected, "a: 1\n") == (done.stdout, path.read_text()), done.stderr


def test_commands_write_what_they_say(home):
    """``hermes plugins enable`` and ``disable`` write the plugin's key into the one list, and out of the other."""
    from hermes_core.cli.main import main

    home.plugin("tools/acme", "", name="acme")
    path = home.write("config.yaml", "plugins:\n  disabled: [acme]\n")
    assert main(["plugins", "enable", "acme"]) == 0
    enabled = path.read_text()
    assert main(["plugins", "disable", "acme"]) == 0
    one, other = {"disabled": [], "enabled": ["tools/acme"]}, {"disabled": ["tools/acme"], "enabled": []}
    assert [{"plugins": one}, {"plugins": other}] == [yaml.safe_load(text) for text in (enabled, path.read_text())]


def test_a_bom_is_kept(home):
    """A byte order mark before the file stays where it is."""
    path = home.write("config.yaml", codecs.BOM_UTF8 + b"a: 1\n")
    edit_config(path, lambda tree: tree.update(a=2))
    assert path.read_bytes() == codecs.BOM_UTF8 + b"a: 2\n"


@pytest.mark.slow
def test_a_lock_that_is_never_released_is_an_error(home):
    """When another program holds the file's lock for long, the error names the lock; nothing is written."""
    path = home.config({"a": 1})
    with FileLock(f"{path}.lock"), pytest.raises(ConfigError, match="has held its lock") as caught:
        edit_config(path, enable)
    assert (f"{path}.lock" in caught.value.hint, yaml.safe_load(path.read_text())) == (True, {"a": 1})


NOTED = """\
# top
model:
  default: "gpt"   # the good one
  # about provider
  provider: 'openai'
  # end of model

# plugins follow
plugins:
  enabled:
    - acme  # work
    # - later
    - other

# the end
zz: ${X}
"""
BRACES = "plugins: {enabled: [a], disabled: [b]}\n# both\n"
PUT = {
    "a value, in its quotes": (NOTED, "model.default", "new", ('"gpt"   #', '"new"   #')),
    "a value that YAML reads otherwise": (NOTED, "model.default", "yes", ('"gpt"   #', "'yes'   #")),
    "a number": (NOTED, "zz", 5, ("${X}", "5")),
    "a new key below a comment": (
        NOTED,
        "model.base_url",
        "https://x.test",
        ("# end of model\n", "# end of model\n  base_url: https://x.test\n"),
    ),
    "a mapping on the way": (
        NOTED,
        "model.extra_headers.X-A",
        "a: b",
        ("# end of model\n", "# end of model\n  extra_headers:\n    X-A: 'a: b'\n"),
    ),
    "an item behind the last": (NOTED, "plugins.enabled.2", "new", ("    - other\n", "    - other\n    - new\n")),
    "an item in its place": (NOTED, "plugins.enabled.0", "new", ("acme  #", "new   #")),
    "a new section": (NOTED, "memory.provider", "notes", ("zz: ${X}\n", "zz: ${X}\nmemory:\n  provider: notes\n")),
    "a key in braces": (BRACES, "plugins.disabled", ["c"], ("disabled: [b]", "disabled: [c]")),
    "a bare text that becomes a mapping": (
        "model: gpt\nb: 1\n",
        "model.provider",
        "acme",
        ("model: gpt\n", "model:\n  default: gpt\n  provider: acme\n"),
    ),
    "a list that is made": (
        "b: 1\n",
        "fallback_providers.0.provider",
        "acme",
        ("b: 1\n", "b: 1\nfallback_providers:\n- provider: acme\n"),
    ),
    "lines of Windows": ("a: 1\r\n# note\r\nb: 2\r\n", "b", "no", ("b: 2", "b: 'no'")),
    "a merge key stays": ("a: &x\n  k: 1\nb:\n  <<: *x\n", "b.k", 2, ("<<: *x\n", "<<: *x\n  k: 2\n")),
    "four blanks": ("a:\n    b:\n        c: 1\n", "a.b.d", 2, ("c: 1\n", "c: 1\n        d: 2\n")),
}


@pytest.mark.parametrize(("text", "key", "value", "change"), PUT.values(), ids=PUT)
def test_setting_changes_one_place_r21_07(home, text, key, value, change):
    """A value is set where it stands, or where it belongs; every other byte stays."""
    path = home.write("config.yaml", text.encode())
    edit_config(path, lambda tree: put(tree, split_key(key), value))
    assert path.read_bytes().decode() == text.replace(*change)


TAKEN = {
    "a value, not the comment behind it": (NOTED, "model.provider", ("  provider: 'openai'\n", "")),
    "a value with its own comment": (NOTED, "model.default", ('  default: "gpt"   # the good one\n', "")),
    "an item, not the comment behind it": (NOTED, "plugins.enabled.0", ("    - acme  # work\n", "")),
    "the last item": (NOTED, "plugins.enabled.1", ("    - other\n", "")),
    "the last key": (NOTED, "zz", ("zz: ${X}\n", "")),
    "a section": (NOTED, "model", (NOTED[NOTED.index("model:") : NOTED.index("\n# plugins")], "")),
    "a text that looks like a comment": (
        "a: |\n  # text\n  more\n# note\nb: 2\n",
        "a",
        ("a: |\n  # text\n  more\n", ""),
    ),
    "a key in braces": (BRACES, "plugins.disabled", (", disabled: [b]", "")),
    "sections that are empty then": ("a:\n  b:\n    c: 1\nd: 1\n", "a.b.c", ("a:\n  b:\n    c: 1\n", "")),
}


@pytest.mark.parametrize(("text", "key", "change"), TAKEN.values(), ids=TAKEN)
def test_taking_out_leaves_every_other_line(home, text, key, change):
    """A value goes with its own lines; comments behind it belong to what comes next, and stay."""
    path = home.write("config.yaml", text)
    edit_config(path, lambda tree: take_out(tree, split_key(key)))
    assert path.read_text() == text.replace(*change)


REFUSED = {
    "below a value": ("a: 1\n", "a.b", "a is no mapping"),
    "below a text": ("model: {default: m}\n", "model.default.x", "model.default is no mapping"),
    "a place that is none": ("a: [1]\n", "a.x", "'x' is no place in it"),
    "a place beyond the end": ("a: [1]\n", "a.2", "a is a list of 1"),
    "under an alias": ("a: &x {k: 1}\nb: *x\n", "b.k", "would change more than was asked"),
    "a key that YAML reads otherwise": ("on: 1\n", "on", "would not be read as it was meant"),
}


@pytest.mark.parametrize(("text", "key", "message"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_set_safely_is_refused(home, text, key, message):
    """Where a value would not be read as it was meant, or would change others, the file stays."""
    path = home.write("config.yaml", text)
    with pytest.raises(ConfigError, match=re.escape(message)):
        edit_config(path, lambda tree: put(tree, split_key(key), 2))
    assert path.read_text() == text


@pytest.mark.parametrize("key", ["b", "a.b", "l.1", "l.x", "l.0.x"])
def test_what_is_not_there_cannot_be_taken_out(home, key):
    """Taking out what is not set is an error that names it."""
    path = home.write("config.yaml", "a: 1\nl: [1]\n")
    with pytest.raises(ConfigError, match="is not set"):
        edit_config(path, lambda tree: take_out(tree, split_key(key)))
    assert path.read_text() == "a: 1\nl: [1]\n"


def test_a_plugin_called_like_a_word_of_yaml_is_enabled(home):
    """A plugin named ``on`` is enabled under that name, not under true."""
    from hermes_core.cli.main import main

    home.plugin("on", "", name="on")
    path = home.write("config.yaml", "plugins:\n  enabled: [a]\n")
    assert main(["plugins", "enable", "on"]) == 0
    assert yaml.safe_load(path.read_text())["plugins"]["enabled"] == ["a", "on"]


scalars = st.one_of(
    st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Co", "Cn"]), max_size=8),
    st.sampled_from(["yes", "off", "~", "null", "012", "1_000", "1e3", "2026-01-02", "=", "<<", "- a", "a: b", "#"]),
    st.booleans(), st.none(), st.integers(-9, 9), st.floats(-9, 9),
)  # fmt: skip
words = st.sampled_from(["a", "b", "model", "plugins", "enabled", "on", "5"])
inner = st.recursive(
    scalars,
    lambda below: st.one_of(st.lists(below, max_size=3), st.dictionaries(words, below, max_size=3)),
    max_leaves=6,
)
trees = st.dictionaries(words, inner, min_size=1, max_size=4)
styles = st.sampled_from([{}, {"indent": 4}, {"default_flow_style": True}, {"default_style": '"'}])


@given(trees, styles, st.lists(words, min_size=1, max_size=3), scalars, st.data())
def test_a_change_is_what_it_says_or_nothing(tmp_path_factory, tree, style, path, value, data):
    """Whatever a file holds, in whatever style: setting changes what it names alone, and no comment goes."""
    file = tmp_path_factory.mktemp("edit") / "config.yaml"
    written = yaml.safe_dump(tree, allow_unicode=True, **style).splitlines(keepends=True)
    notes = data.draw(st.lists(st.integers(0, len(written)), max_size=3, unique=True)) if style.get("indent") else []
    for at in sorted(notes, reverse=True):
        written.insert(at, f"# note {at}\n")
    text = "".join(written)
    file.write_text(text, encoding="utf-8")
    if yaml.safe_load(text) != tree:  # a comment inside a text of several lines
        return
    before = json.loads(json.dumps(tree))
    try:
        edit_config(file, lambda found: put(found, path, value))
    except ConfigError:
        assert file.read_text(encoding="utf-8") == text
        return
    put(before, path, value)
    after = file.read_text(encoding="utf-8")
    assert yaml.safe_load(after) == before
    kept = {line.strip() for line in written if line.startswith("# note")}
    if isinstance(tree.get(path[0]), (str, int, float, bool, type(None))):  # nothing with lines of its own is replaced
        assert kept <= {line.strip() for line in after.splitlines()}


@given(scalars)
def test_a_text_is_quoted_where_yaml_would_read_something_else(value):
    """What is put into a tree is of its own kind; only a text that YAML reads otherwise is marked to be quoted."""
    marked = as_yaml({"k": [value]})["k"][0]
    assert repr(str(marked)) == repr(str(value))
    if isinstance(value, str):
        assert (type(marked) is str) is isinstance(read_scalar(value), str)
