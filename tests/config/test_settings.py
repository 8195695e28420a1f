"""``config.yaml``: how layers are merged, healed and expanded, and what happens when one is broken or edited."""

import codecs
import json
import os
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_core.config.environment import Environment
from hermes_core.config.redact import redact
from hermes_core.config.settings import Config, ConfigFile, expand, heal, merge, read_yaml
from hermes_core.errors import ConfigError


@pytest.fixture
def config_of(home, tmp_path):
    """The configuration file of the home, with variables of its own."""

    def make(overlay=None, **variables):
        variables.setdefault("HERMES_MANAGED_DIR", str(tmp_path / "managed"))
        return ConfigFile(home.path, Environment(home.path, variables), overlay)

    return make


@pytest.mark.parametrize(
    ("base", "over", "expected"),
    [
        pytest.param({"a": {"x": 1}}, {"a": {"y": 2}}, {"a": {"x": 1, "y": 2}}, id="mappings merge"),
        pytest.param({"a": {"x": {"p": 1}}}, {"a": {"x": {"q": 2}}}, {"a": {"x": {"p": 1, "q": 2}}}, id="at any depth"),
        pytest.param({"a": [1, 2]}, {"a": [3]}, {"a": [3]}, id="lists replace"),
        pytest.param({"a": 1}, {"a": None}, {"a": None}, id="null replaces a value"),
        pytest.param({"a": {"x": 1}}, {"a": None}, {"a": {"x": 1}}, id="null leaves a mapping alone"),
        pytest.param({"a": {"x": 1}}, {"a": 5}, {"a": 5}, id="a value replaces a mapping"),
        pytest.param({"a": 5}, {"a": {"x": 1}}, {"a": {"x": 1}}, id="a mapping replaces a value"),
        pytest.param({}, {}, {}, id="nothing on nothing"),
    ],
)
def test_merging(base, over, expected):
    """Mappings merge, everything else replaces, and a null leaves a mapping alone."""
    assert merge(base, over) == expected


_trees = st.recursive(
    st.none() | st.integers() | st.text(max_size=3) | st.lists(st.integers(), max_size=2),
    lambda inner: st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from("abc"), _trees), st.dictionaries(st.sampled_from("abc"), _trees))
def test_merging_changes_neither_side(base, over):
    """Merging leaves both mappings as they were, and merging nothing changes nothing."""
    before = json.dumps([base, over])
    merge(base, over)
    assert (before, base) == (json.dumps([base, over]), merge(base, {}))


@pytest.mark.parametrize(
    ("tree", "expected"),
    [
        pytest.param({"model": "m"}, {"model": {"default": "m"}}, id="a text is the default model"),
        pytest.param({"model": {"model": "m"}}, {"model": {"default": "m", "model": "m"}}, id="model.model"),
        pytest.param({"model": {"name": "m"}}, {"model": {"default": "m", "name": "m"}}, id="model.name"),
        pytest.param(
            {"model": {"name": "c", "model": "b", "default": "a"}},
            {"model": {"name": "c", "model": "b", "default": "a"}},
            id="default beats model beats name",
        ),
        pytest.param(
            {"model": {"name": "c", "model": "b", "default": ""}},
            {"model": {"name": "c", "model": "b", "default": "b"}},
            id="an empty default does not count",
        ),
        pytest.param(
            {"provider": "p", "base_url": "u", "context_length": 5},
            {"model": {"provider": "p", "base_url": "u", "context_length": 5}},
            id="root keys move into the section",
        ),
        pytest.param(
            {"provider": "root", "model": {"provider": "own"}},
            {"model": {"provider": "own"}},
            id="the section's own wins",
        ),
        pytest.param({"api_base": "u"}, {"model": {"base_url": "u"}}, id="api_base at the root"),
        pytest.param(
            {"model": {"api_base": "u"}}, {"model": {"api_base": "u", "base_url": "u"}}, id="api_base in the section"
        ),
        pytest.param(
            {"model": {"api_base": "u", "base_url": "v"}},
            {"model": {"api_base": "u", "base_url": "v"}},
            id="base_url beats api_base",
        ),
        pytest.param(
            {"base_url": "root", "model": {"api_base": "own"}},
            {"model": {"api_base": "own", "base_url": "own"}},
            id="an alias in the section beats the root",
        ),
        pytest.param(
            {"provider": "p", "model": {"supports_vision": False}},
            {"model": {"supports_vision": False, "provider": "p"}},
            id="false is a value",
        ),
        pytest.param(
            {"model": {"api": "k", "api_key_env": "K"}},
            {"model": {"api": "k", "api_key": "k", "api_key_env": "K", "key_env": "K"}},
            id="keys in the section",
        ),
        pytest.param(
            {"providers": {"a": {"baseUrl": "u", "keyEnv": "K"}}},
            {"providers": {"a": {"baseUrl": "u", "base_url": "u", "keyEnv": "K", "key_env": "K"}}},
            id="aliases in an entry",
        ),
        pytest.param(
            {"custom_providers": [{"url": "u"}, 5]},
            {"custom_providers": [{"url": "u", "base_url": "u"}, 5]},
            id="aliases in a list",
        ),
        pytest.param(
            {"auxiliary": {"x": {"fallback_chain": [{"transport": "t"}]}}},
            {"auxiliary": {"x": {"fallback_chain": [{"transport": "t", "api_mode": "t"}]}}},
            id="aliases in a task",
        ),
        pytest.param({"zz": {"url": "u"}, 5: {"api": "k"}}, {"zz": {"url": "u"}, 5: {"api": "k"}}, id="other sections"),
        pytest.param({"base_url": "", "x": 1}, {"x": 1}, id="an empty root key is dropped"),
        pytest.param({"model": None}, {"model": None}, id="an empty section stays"),
        pytest.param({"model": 5}, {"model": 5}, id="a number stays"),
        pytest.param({}, {}, id="nothing"),
    ],
)
def test_healing(tree, expected):
    """Older spellings of the model section are understood as today's."""
    assert heal(tree) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        pytest.param("${A}", "one", id="a reference"),
        pytest.param("x-${A}-${B}-y", "x-one-two-y", id="several"),
        pytest.param("${UNSET}", "${UNSET}", id="an unset one stays"),
        pytest.param("${A}${UNSET}", "one${UNSET}", id="a set one beside it"),
        pytest.param("$A", "$A", id="no braces"),
        pytest.param("${A:-x}", "${A:-x}", id="no default syntax"),
        pytest.param("${1A}", "${1A}", id="no name"),
        pytest.param({"k": ["${A}", {"deep": "${B}"}]}, {"k": ["one", {"deep": "two"}]}, id="at any depth"),
        pytest.param({"${A}": 1}, {"${A}": 1}, id="not in keys"),
        pytest.param([1, None, True, 2.5], [1, None, True, 2.5], id="other values"),
        pytest.param("${LOOP}", "${A}", id="once, not again"),
    ],
)
def test_expanding(value, expected):
    """``${NAME}`` in strings is replaced once, at any depth; an unset one stays as it is written."""
    assert expand(value, {"A": "one", "B": "two", "LOOP": "${A}"}.get) == expected


@pytest.mark.parametrize(
    ("keys", "found"),
    [
        pytest.param(("a", "b"), 1, id="a value"),
        pytest.param(("a", "none"), None, id="a null is a value"),
        pytest.param(("a", "nope"), "default", id="a missing key"),
        pytest.param(("a", "b", "c"), "default", id="a key below a value"),
        pytest.param(("nope", "x"), "default", id="a missing section"),
    ],
)
def test_looking_up(keys, found):
    """``get`` walks mappings; the default stands for what is missing, not for a null."""
    assert Config(tree={"a": {"b": 1, "none": None}}).get(*keys, default="default") == found


def test_sections_and_texts():
    """``section`` is a mapping and ``text`` a trimmed string, whatever is written there."""
    config = Config(tree={"a": 5, "b": {"t": " x ", "n": 7}, "c": None})
    assert (
        config.section("a"),
        config.section("b"),
        config.section("c"),
        config.text("b", "t"),
        config.text("b", "n"),
        config.text("nope"),
    ) == ({}, {"t": " x ", "n": 7}, {}, "x", "", "")


def test_a_config_shows_no_value_r20_03():
    """The repr of a configuration holds none of its values."""
    assert "hunter22" not in repr(Config(tree={"model": {"api_key": "hunter22"}}))


def test_a_missing_file_is_an_empty_configuration(config_of):
    """Without a file everything has its default, and nothing is amiss."""
    assert Config() == config_of().current()


@pytest.mark.parametrize("text", ["", "\n", "# nothing yet\n", "---\n", "{}"])
def test_an_empty_file_is_an_empty_configuration(home, config_of, text):
    """A file that holds nothing is no error."""
    home.write("config.yaml", text)
    assert Config() == config_of().current()


def test_an_edit_counts_at_once(home, config_of):
    """The file is read again when it changes, and the same object is given while it does not."""
    home.config({"model": "one"})
    config = config_of()
    first, again = config.current(), config.current()
    home.config({"model": "other"})
    second = config.current()
    (home.path / "config.yaml").unlink()
    assert (
        first.text("model", "default"),
        first is again,
        second.text("model", "default"),
        config.current().text("model", "default"),
    ) == ("one", True, "other", "")


def test_a_variable_that_changes_counts_at_once(home, config_of):
    """A ``${NAME}`` is looked up again when its variable changes, in the process or in ``.env``."""
    home.config({"x": "${A_VALUE}", "y": "${B_VALUE}"})
    variables = {"A_VALUE": "a1"}
    config = ConfigFile(home.path, Environment(home.path, variables))
    seen = [config.current().tree]
    variables["A_VALUE"] = "a2"
    seen.append(config.current().tree)
    home.write(".env", "B_VALUE=b1")
    seen.append(config.current().tree)
    assert seen == [{"x": "a1", "y": "${B_VALUE}"}, {"x": "a2", "y": "${B_VALUE}"}, {"x": "a2", "y": "b1"}]


BROKEN = [
    pytest.param(b"model: [", "line ", id="no YAML"),
    pytest.param(b"a: 1\nb:\n\tc: 1\n", "line 3", id="a tab"),
    pytest.param(b"a: 1\nb: \x00\n", "line 2", id="a NUL byte"),
    pytest.param(b"- a\n", "mapping", id="a list"),
    pytest.param(b"a: \xff\n", "UTF-8", id="no UTF-8"),
    pytest.param(b"a: 1\na: {\n", "line ", id="half an edit"),
    pytest.param(b"[" * 50_000, "", id="fifty thousand brackets"),
    pytest.param(b"a: &a\n  b: *a\n", "", id="a mapping that holds itself"),
    pytest.param(b"a: !!python/name:os.system\n", "line 1", id="a Python object"),
]


@pytest.mark.parametrize(("text", "word"), BROKEN)
def test_a_broken_file_keeps_the_last_good_one_r21_05_r21_11(home, config_of, caplog, text, word):
    """A file that cannot be read is warned of once, with place and line; the last good reading stays in use."""
    home.config({"model": "good"})
    config = config_of()
    config.current()
    path = home.write("config.yaml", text)
    broken = [config.current() for _ in range(3)]
    (record,) = caplog.records
    said = record.getMessage() + broken[0].error.hint
    assert (
        [reading.text("model", "default") for reading in broken],
        str(path) in said and word in said,
        isinstance(broken[0].error, ConfigError),
    ) == (["good"] * 3, True, True)


def test_one_state_of_a_broken_file_is_warned_of_once(home, config_of, caplog):
    """A variable that changes while the file is broken counts, and the file is not warned of again until it changes."""
    home.write("config.yaml", "x: ${A}\n")
    variables = {"A": "1"}
    config = ConfigFile(home.path, Environment(home.path, variables))
    config.current()
    home.write("config.yaml", "x: [")
    seen = []
    for value in "123":
        variables["A"] = value
        seen.append((config.current().get("x"), config.current().error is None, len(caplog.records)))
    home.write("config.yaml", "x: [[")
    config.current()
    assert seen == [("1", False, 1), ("2", False, 1), ("3", False, 1)]
    assert len(caplog.records) == 2


def test_only_the_file_that_changed_is_read_again(home, config_of, tmp_path):
    """A broken user file is not looked at again because the administrator's has changed."""
    (tmp_path / "managed").mkdir()
    managed = tmp_path / "managed" / "config.yaml"
    managed.write_text("y: 1\n")
    path = home.write("config.yaml", "x: [")
    config = config_of()
    config.current()
    path.with_name("config.yaml.broken").unlink()
    managed.write_text("y: 22\n")
    assert (config.current().get("y"), path.with_name("config.yaml.broken").exists()) == (22, False)


def test_threads_that_read_at_once_see_whole_readings(home):
    """While a variable changes, each thread gets one reading or another, never a mixture, and none fails."""
    home.write("config.yaml", "a: ${A}\nb: ${A}\nc: ${B}\n")
    variables = {"A": "1", "B": "1"}
    config = ConfigFile(home.path, Environment(home.path, variables))
    wrong = []
    barrier = threading.Barrier(5)

    def read():
        barrier.wait(timeout=30)
        for _ in range(300):
            found = config.current()
            if found.get("a") != found.get("b"):
                wrong.append(found.tree)

    def change():
        barrier.wait(timeout=30)
        for number in range(300):
            variables["A"] = str(number % 7 + 1)

    with ThreadPoolExecutor(5) as pool:
        jobs = [*(pool.submit(read) for _ in range(4)), pool.submit(change)]
        for job in jobs:
            job.result(timeout=60)
    assert wrong == []


@pytest.mark.parametrize(
    ("user", "managed", "key"),
    [
        pytest.param("base_url: https://user.test", "api_base: https://admin.test", "base_url", id="an address"),
        pytest.param("default: user", "name: admin", "default", id="a model"),
        pytest.param("api_key: k-user-1", "api: k-admin-1", "api_key", id="a key"),
    ],
)
def test_the_managed_file_wins_in_another_spelling(home, config_of, tmp_path, user, managed, key):
    """The administrator's word beats the user's also where the two spell its key differently."""
    home.write("config.yaml", f"model:\n  {user}\n")
    (tmp_path / "managed").mkdir()
    (tmp_path / "managed" / "config.yaml").write_text(f"model:\n  {managed}\n")
    assert "admin" in config_of().current().text("model", key)


def test_what_is_written_is_shown_as_it_is_written(home, config_of, tmp_path):
    """``as_written`` gives the layers with their references unexpanded, and the administrator's alone."""
    home.write("config.yaml", "model: {default: '${M}', provider: user}\n")
    (tmp_path / "managed").mkdir()
    (tmp_path / "managed" / "config.yaml").write_text("model: {provider: '${P}'}\n")
    everything, managed = config_of(M="m", P="p").as_written()
    assert everything == {"model": {"default": "${M}", "provider": "${P}"}}
    assert managed == {"model": {"provider": "${P}"}}


def test_an_overlay_that_is_too_deep_is_refused(config_of):
    """A program's configuration that is nested without end is an error of its own, no recursion."""
    deep = {}
    for _ in range(200):
        deep = {"a": deep}
    with pytest.raises(ConfigError, match="nested deeper than"):
        config_of(deep)


def test_a_broken_file_is_backed_up_and_left_alone(home, config_of):
    """A broken file stays as it is, and a copy of it is kept beside it."""
    path = home.write("config.yaml", "model: [my notes")
    config_of().current()
    assert (path.read_text(), path.with_name("config.yaml.broken").read_text()) == (
        "model: [my notes",
        "model: [my notes",
    )


def test_the_backup_is_as_private_as_the_file_r19_14(home, config_of):
    """The copy of a broken file is readable by nobody who may not read the file."""
    path = home.write("config.yaml", "model: [api_key: hunter22")
    path.chmod(0o600)
    before = os.umask(0)
    try:
        config_of().current()
    finally:
        os.umask(before)
    assert path.with_name("config.yaml.broken").stat().st_mode & 0o777 == 0o600


def test_a_mended_file_counts_at_once(home, config_of):
    """When a broken file is mended it is used again, and the error is gone."""
    home.write("config.yaml", "model: [")
    config = config_of()
    broken = config.current()
    home.config({"model": "mended"})
    assert (
        broken.error is not None,
        config.current().text("model", "default"),
        config.current().error,
    ) == (True, "mended", None)


def test_a_file_that_is_broken_from_the_start_leaves_the_overlay(home, config_of):
    """With no good reading yet, what the program laid over still counts, expanded as ever."""
    home.write("config.yaml", "model: [")
    config = config_of({"model": "${M}"}, M="laid-over").current()
    assert (config.text("model", "default"), config.error is not None) == ("laid-over", True)


def test_a_broken_file_does_not_lift_what_the_administrator_set(home, config_of, tmp_path):
    """A user's broken file leaves the managed file in force, from the first start on."""
    home.write("config.yaml", "model: [")
    (tmp_path / "managed").mkdir()
    (tmp_path / "managed" / "config.yaml").write_text("plugins: {disabled: [acme]}\n")
    assert config_of().current().get("plugins", "disabled") == ["acme"]


@pytest.mark.parametrize("kind", ["a folder", "unreadable"])
def test_a_file_that_cannot_be_opened_is_broken(home, config_of, as_nobody, kind):
    """A configuration that may not be read, or is a folder, is an error with the reason, not an empty file."""
    if kind == "a folder":
        (home.path / "config.yaml").mkdir(parents=True)
        assert "config.yaml" in str(config_of().current().error)
        return
    path = as_nobody.folder / "config.yaml"
    path.write_text("a: 1")
    path.chmod(0)
    done = as_nobody("print(Host.load(sys.argv[1]).config().error)", as_nobody.folder)
    assert f"cannot read {path}: Permission denied\n" == done.stdout, done.stderr


def test_the_overlay_wins_over_the_file_and_is_never_written(home, config_of):
    """What the program lays over the file wins, is not changed, and reaches no disk."""
    path = home.config({"model": {"default": "file", "provider": "p"}, "list": [1]})
    overlay = {"model": {"model": "overlay"}, "list": [2]}
    config = config_of(overlay).current()
    assert (
        (config.text("model", "default"), config.text("model", "provider"), config.get("list")),
        overlay,
        json.loads(path.read_text())["model"]["default"],
    ) == (("overlay", "p", [2]), {"model": {"model": "overlay"}, "list": [2]}, "file")


def test_an_overlay_may_name_the_model_alone(home, config_of):
    """``model: name`` in one layer changes the model and keeps the provider of the layer below."""
    home.config({"model": {"default": "file", "provider": "p"}})
    assert config_of({"model": "other"}).current().get("model") == {"default": "other", "provider": "p"}


def test_the_managed_file_wins_over_everything(home, config_of, tmp_path):
    """The administrator's file beats the user's and the program's, leaf by leaf."""
    home.config({"model": {"default": "user", "provider": "u"}, "x": 1})
    (tmp_path / "managed").mkdir()
    (tmp_path / "managed" / "config.yaml").write_text("model: {provider: '${P}'}\n")
    config = config_of({"model": {"provider": "overlay"}}, P="admin").current()
    assert (config.get("model"), config.get("x")) == ({"default": "user", "provider": "admin"}, 1)


def test_a_broken_managed_file_is_an_error(home, config_of, tmp_path):
    """While the administrator's file cannot be read that is the configuration's error; nothing is written there."""
    home.config({"model": "user"})
    (tmp_path / "managed").mkdir()
    (tmp_path / "managed" / "config.yaml").write_text("model: [")
    error = config_of().current().error
    assert (str(tmp_path / "managed" / "config.yaml"), ["config.yaml"]) == (
        error.path,
        [path.name for path in (tmp_path / "managed").iterdir()],
    )


def test_the_file_may_begin_with_a_bom_r21_02(home):
    """A byte order mark does not count."""
    path = home.write("config.yaml", codecs.BOM_UTF8 + b"model: m\n")
    assert read_yaml(path) == {"model": "m"}


def test_a_bom_inside_a_value_is_part_of_it_r21_11(home):
    """A byte order mark in the middle of a file is no crash: it is read, or refused with file and line."""
    path = home.write("config.yaml", "a: x\ufeffy\n")
    try:
        found = read_yaml(path)["a"]
    except ConfigError as error:
        found = "x\ufeffy" if f"{path}, line 1" in str(error) else str(error)
    assert found == "x\ufeffy"


def test_reading_needs_no_utf8_locale_r21_03(home, run_python):
    """Emoji and CJK text are read, and written back, under the C locale with UTF-8 mode off."""
    path = home.write("config.yaml", "# 記憶 🙂\nmodel: 模型\n")
    done = run_python(
        """
        from pathlib import Path
        import sys
        from hermes_core import Host
        from hermes_core.config.edit import edit_config
        print(ascii(Host.load().config().text("model", "default")))
        edit_config(Path(sys.argv[1]), lambda tree: tree.update(x="\\u00fc"))
        """,
        path,
        env={**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    )
    assert (done.stdout, path.read_text("utf-8")) == ("'\\u6a21\\u578b'\n", "# 記憶 🙂\nmodel: 模型\nx: ü\n"), (
        done.stderr
    )


@pytest.mark.parametrize(
    "tree",
    [
        pytest.param({"model": {"api_key": "{0}"}}, id="a key"),
        pytest.param({"fallback_providers": [{"api_key": "{0}"}]}, id="a key in a list"),
        pytest.param({"model": {"extra_headers": {"X-Auth": "{0}"}}}, id="a header"),
        pytest.param({"model": {"extra_headers": {"Authorization": "Bearer {0}"}}}, id="a bearer token"),
        pytest.param({"plugins": {"entries": {"acme": {"config": {"token": "{0}"}}}}}, id="a plugin's token"),
    ],
)
def test_secrets_in_the_file_are_redacted_from_then_on_r20_01(home, config_of, tree, request):
    """What stands where secrets stand in the configuration is blanked in everything the host writes afterwards."""
    secret = "sk-" + request.node.callspec.id.replace(" ", "-")
    home.write("config.yaml", json.dumps(tree).replace("{0}", secret))
    config_of().current()
    assert redact(f"it said {secret}.") == "it said [redacted]."
