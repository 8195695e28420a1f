"""What a plugin keeps between runs: one JSON file, for several processes, never lost and never overwritten blindly."""

import json
import subprocess
import sys

import pytest

from hermes_core.errors import PluginContractError, PluginError
from hermes_core.plugins.state import MAX_BYTES, PluginState, data_folder


@pytest.fixture
def state(tmp_path):
    """An empty state."""
    return PluginState(tmp_path / "plugin-data" / "acme" / "state.json", "acme")


def test_each_plugin_has_its_own_file_in_its_home(home, load_host):
    """``ctx.state`` lies below the home under the plugin's key; another plugin, and another home, do not see it."""
    for where in ("acme", "tools/beta"):
        home.plugin(where, "", name=where.rpartition("/")[2])
    host = load_host()
    host.context("acme").state.set("x", 1)
    host.context("tools/beta").state.set("x", 2)
    files = sorted(path.relative_to(home.path).as_posix() for path in home.path.glob("plugin-data/**/*.json"))
    assert files == ["plugin-data/acme/state.json", "plugin-data/tools/beta/state.json"]
    other = type(home)(home.path.parent / "other")
    other.plugin("acme", "", name="acme")
    assert [h.context("acme").state.get("x") for h in (host, load_host(), load_host(other.path))] == [1, 1, None]


@pytest.mark.parametrize("plugin_id", ["../../etc", "/etc", "..", ".", "a//b", "", "a\0b", "c:\\x"])
def test_no_id_leads_out_of_the_folder(tmp_path, plugin_id):
    """An id is whatever a package calls its entry point; its files stay below ``plugin-data`` all the same."""
    root = tmp_path / "plugin-data"
    PluginState(data_folder(tmp_path, plugin_id) / "state.json", plugin_id).set("x", 1)
    assert [path for path in tmp_path.rglob("state.json") if path.is_relative_to(root) and path.parent != root]


@pytest.mark.parametrize(
    "value",
    [None, True, 0, 1.5, "", "ü\ud800", [], [1, [2]], {}, {"a": {"b": None}}, "x" * 100_000],
    ids=lambda value: f"{type(value).__name__} {str(value)[:9]!a}",
)
def test_a_value_comes_back_as_it_was(state, value):
    """Every JSON value comes back, in this process and in the next."""
    state.set("k", value)
    again = PluginState(state._path, "acme")
    assert (state.get("k", "default"), again.get("k", "default")) == (value, value)


def test_a_key_that_was_never_set_has_the_default(state):
    """Without a value the default comes back, the same object; nothing is written to find that out."""
    default = []
    assert state.get("k", default) is default
    assert not state._path.parent.exists()


def test_what_is_read_and_written_is_a_copy(state):
    """A plugin that goes on changing what it stored, or read, changes nothing in the store."""
    value = {"a": [1]}
    state.set("k", value)
    value["a"].append(2)
    state.get("k")["a"].append(3)
    assert state.get("k") == {"a": [1]}


def test_a_change_by_somebody_else_is_seen(state):
    """What another process wrote counts at once, and is kept when this one writes."""
    state.set("mine", 1)
    other = PluginState(state._path, "acme")
    other.set("theirs", 2)
    state.set("mine", 3)
    assert (state.get("theirs"), other.get("mine")) == (2, 3)


def test_several_processes_lose_nothing(state):
    """Processes that write different keys at the same time all find theirs afterwards."""
    script = """
import sys
from pathlib import Path
from hermes_core.plugins.state import PluginState
state = PluginState(Path(sys.argv[1]), "acme")
for number in range(10):
    state.set(f"{sys.argv[2]}-{number}", number)
"""
    command = [sys.executable, "-c", script, str(state._path)]
    workers = [subprocess.Popen([*command, str(number)]) for number in range(4)]
    assert [worker.wait(60) for worker in workers] == [0] * 4
    assert len(json.loads(state._path.read_bytes())) == 40


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        pytest.param("k", object(), "the value of 'k' must be one that JSON can hold", id="an object"),
        pytest.param("k", b"x", "the value of 'k' must be one that JSON can hold", id="bytes"),
        pytest.param("k", float("inf"), "the value of 'k' must be one that JSON can hold", id="no finite number"),
        pytest.param(5, 1, "a key of its state must be text, got int", id="a key that is no text"),
    ],
)
def test_what_is_no_json_is_refused(state, key, value, said):
    """A value that JSON cannot hold is an error that names plugin and key; what was there stays."""
    state.set("k", "old")
    with pytest.raises(PluginContractError, match=f"plugin 'acme': {said}"):
        state.set(key, value)
    assert state.get("k") == "old"


def test_a_value_in_itself_is_refused(state):
    """A list that holds itself, or one nested too deep, is no JSON value."""
    circle, deep = [], []
    circle.append(circle)
    for _ in range(100_000):
        deep = [deep]
    for value in (circle, deep):
        with pytest.raises(PluginContractError, match="JSON can hold"):
            state.set("k", value)


def test_a_state_has_a_largest_size(state):
    """What would make the file larger than 10 MiB is a ValueError that says how large; what was there stays."""
    state.set("a", "x" * (MAX_BYTES // 2))
    with pytest.raises(ValueError, match=r"plugin 'acme': .*'b'.* would be 10\.\d MiB; .*state\.json may hold 10 MiB"):
        state.set("b", "x" * (MAX_BYTES // 2))
    assert (state.get("b"), len(state.get("a"))) == (None, MAX_BYTES // 2)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        pytest.param(b'{"k": 1', "it is not JSON", id="cut short"),
        pytest.param(b"\xff\xfe\x00", "it is not JSON", id="no text"),
        pytest.param(b"", "it is not JSON", id="empty"),
        pytest.param(b"[1]", "it must hold an object, not a list", id="a list"),
        pytest.param(b"[" * 100_000, "it is not JSON", id="nested without end"),
    ],
)
def test_a_file_that_cannot_be_read_is_reported_and_left_alone(state, content, said):
    """Reading and writing are errors that name the file, and the file stays as it is."""
    state._path.parent.mkdir(parents=True)
    state._path.write_bytes(content)
    for call in (lambda: state.get("k", "default"), lambda: state.set("k", 2)):
        with pytest.raises(
            PluginError, match=f"plugin 'acme': cannot read its state in .*state.json: {said}"
        ) as caught:
            call()
        assert "move it away" in caught.value.hint
    assert state._path.read_bytes() == content


def test_a_file_that_may_not_be_read_or_written_is_reported(as_nobody):
    """A file that belongs to somebody else is an error for reading; a folder that does is one for writing."""
    path = as_nobody.folder / "data" / "state.json"
    path.parent.mkdir(mode=0o755)
    path.write_text('{"k": 1}')
    path.chmod(0o600)
    script = """
    from hermes_core.errors import PluginError
    from hermes_core.plugins.state import PluginState
    hidden, barred = (PluginState(pathlib.Path(sys.argv[1], name), "acme") for name in ("state.json", "new/state.json"))
    for call in (lambda: hidden.get("k"), lambda: hidden.set("k", 2), lambda: barred.set("k", 2)):
        try:
            print("done", call())
        except PluginError as error:
            print(str(error).partition(" its state")[0], error.__cause__.strerror)
    """
    first = "from hermes_core.plugins.state import PluginState; import filelock"
    done = as_nobody(script, path.parent, first=first)
    assert done.stdout.splitlines()[0] == "plugin 'acme': cannot read Permission denied", done.stderr
    assert {line.partition("cannot ")[2] for line in done.stdout.splitlines()[1:]} == {"write Permission denied"}
    assert path.read_text() == '{"k": 1}'


def test_the_file_is_the_owners_alone(state):
    """Nobody else may read a plugin's state."""
    state.set("k", 1)
    assert state._path.stat().st_mode & 0o777 == 0o600
