"""The process environment and a home's ``.env``: who sees what, in which order."""

import codecs

import pytest

from hermes_core.config.environment import Environment


@pytest.fixture
def env(home):
    """An environment of the home, with process variables of its own."""

    def make(text=None, **variables):
        if text is not None:
            home.write(".env", text)
        return Environment(home.path, variables)

    return make


@pytest.mark.parametrize(
    ("text", "values"),
    [
        pytest.param("A=1\nB=2\n", {"A": "1", "B": "2"}, id="plain lines"),
        pytest.param("export A=1\n", {"A": "1"}, id="export"),
        pytest.param("A = 1 \n", {"A": "1"}, id="blanks around"),
        pytest.param("# A=1\n\nB=2\n", {"B": "2"}, id="comments and empty lines"),
        pytest.param("A='x y # z'\n", {"A": "x y # z"}, id="single quotes"),
        pytest.param('A="x y # z"\n', {"A": "x y # z"}, id="double quotes"),
        pytest.param('A="x \\"y\\" \\\\z"\n', {"A": 'x "y" \\z'}, id="escapes in double quotes"),
        pytest.param("A='x\\ny'\n", {"A": "x\\ny"}, id="no escapes in single quotes"),
        pytest.param("A=x#y\n", {"A": "x#y"}, id="a hash inside a value"),
        pytest.param("A=x=y=\n", {"A": "x=y="}, id="equal signs inside a value"),
        pytest.param("A=${B}\nB=2\n", {"A": "${B}", "B": "2"}, id="no expansion"),
        pytest.param("A=1\nA=2\n", {"A": "2"}, id="the last one counts"),
        pytest.param("A=\nB\n", {"A": ""}, id="an empty value, and a name alone"),
        pytest.param("A=1\r\nB=2\r\n", {"A": "1", "B": "2"}, id="lines of Windows"),
        pytest.param("A=ü🙂\n", {"A": "ü🙂"}, id="any letters"),
        pytest.param(codecs.BOM_UTF8 + b"A=1\n", {"A": "1"}, id="a byte order mark"),
        pytest.param(b"A=\xff1\nB=2\n", {"A": "\ufffd1", "B": "2"}, id="bytes of no encoding"),
        pytest.param("", {}, id="nothing"),
        pytest.param(
            "MY_GLM_API_KEY=1\nGLM_API_KEY=2\n", {"MY_GLM_API_KEY": "1", "GLM_API_KEY": "2"}, id="names r19-13"
        ),
    ],
)
def test_a_file_is_read(env, text, values):
    """``.env`` is read as shells and other tools write it, without expansion."""
    assert {**env(text).file_values()} == values


def test_reading_changes_no_byte_r19_13(env, home):
    """Reading ``.env`` leaves the file as it is."""
    text = "GLM_API_KEY=aKIMI_API_KEY=b\n# note\n"
    env(text).credential("GLM_API_KEY")
    assert (home.path / ".env").read_text() == text


def test_a_missing_file_sets_nothing(env):
    """Without ``.env`` there is the process alone."""
    environment = env(A="1")
    assert ({**environment.file_values()}, environment.credential("A"), environment.credential("B")) == ({}, "1", "")


@pytest.mark.parametrize(
    ("in_file", "in_process", "credential", "setting"),
    [
        pytest.param("file", "process", "file", "process", id="both"),
        pytest.param("file", None, "file", "file", id="the file alone"),
        pytest.param(None, "process", "process", "process", id="the process alone"),
        pytest.param("", "process", "process", "process", id="empty in the file"),
        pytest.param("file", "", "file", "file", id="empty in the process"),
        pytest.param(None, None, "", "", id="neither"),
    ],
)
def test_credentials_prefer_the_file_and_settings_the_process(env, in_file, in_process, credential, setting):
    """A secret is looked up in ``.env`` before the process, a setting the other way round."""
    environment = env(
        "" if in_file is None else f"ACME={in_file}", **({} if in_process is None else {"ACME": in_process})
    )
    assert (credential, setting) == (environment.credential("ACME"), environment.get("ACME"))


def test_a_setting_may_have_a_default(env):
    """``get`` has a default for what is set nowhere."""
    assert env("").get("ACME", "d") == "d"


@pytest.mark.parametrize("value", [" k-1234 ", "k-1234\t", "\u00a0k-1234"])
def test_a_credential_is_trimmed(env, value):
    """Blanks around a secret are not part of it."""
    assert env(ACME=value).credential("ACME") == "k-1234"


def test_a_key_changed_on_disk_counts_at_once(env, home):
    """``.env`` is read again when it changes."""
    environment = env("A=1")
    first = environment.credential("A")
    home.write(".env", "A=22")
    second = environment.credential("A")
    (home.path / ".env").unlink()
    assert (first, second, environment.credential("A")) == ("1", "22", "")


@pytest.mark.parametrize(
    ("value", "expected"), [("1", True), (" TRUE ", True), ("0", False), ("", False), (None, False)]
)
def test_a_flag_is_of_the_process_alone(env, value, expected):
    """A switch counts when the process sets it; ``.env`` sets none."""
    environment = env("SWITCH=1\nOTHER=1", **({} if value is None else {"SWITCH": value}))
    assert (expected, False) == (environment.flag("SWITCH"), environment.flag("OTHER"))


def test_export_sets_what_is_neither_hidden_nor_set(env):
    """``export`` gives the process what ``.env`` sets, but for hidden names and those the shell has set."""
    environment = env("NEW=file\nHIDDEN=file\nSET=file\nEMPTY=file", SET="shell", EMPTY="")
    environment.export(["HIDDEN"])
    assert environment.variables == {"NEW": "file", "SET": "shell", "EMPTY": ""}


def test_nothing_is_exported_unasked(env):
    """Reading ``.env`` leaves the process's variables alone."""
    environment = env("A=1")
    environment.credential("A"), environment.get("A"), environment.flag("A")
    assert environment.variables == {}


def test_a_folder_in_the_files_place_sets_nothing(env, home, caplog):
    """A ``.env`` that cannot be read is warned of, and sets nothing."""
    (home.path / ".env").mkdir(parents=True)
    assert (env(A="p").credential("A"), len(caplog.records)) == ("p", 1)


def test_an_unreadable_file_is_warned_of(as_nobody):
    """A ``.env`` that may not be read is warned of with its path; the process's variables still count."""
    path = as_nobody.folder / ".env"
    path.write_text("A=1")
    path.chmod(0)
    done = as_nobody(
        """
        import logging
        logging.basicConfig()
        print(Host.load(sys.argv[1]).environment.credential("HOME") != "")
        """,
        as_nobody.folder,
    )
    assert (done.stdout, str(path) in done.stderr) == ("True\n", True), done.stderr


@pytest.fixture
def managed(tmp_path):
    """An administrator's folder, its ``.env`` with some text; the variable that names it."""

    def make(text):
        folder = tmp_path / "managed"
        folder.mkdir(exist_ok=True)
        (folder / ".env").write_text(text)
        return {"HERMES_MANAGED_DIR": str(folder)}

    return make


def test_the_administrators_file_beats_everything(env, managed):
    """What the administrator's ``.env`` sets wins for secrets, settings and switches; what it leaves out does not."""
    environment = env("A=home\nB=home\nC=home", A="process", SWITCH="1", **managed("A=admin\nB=admin\nSWITCH=0\n"))
    assert (
        environment.credential("A"),
        environment.get("A"),
        environment.credential("C"),
        environment.get("B"),
    ) == ("admin", "admin", "home", "admin")
    assert environment.flag("SWITCH") is False


def test_the_administrators_file_is_read_again_when_it_changes(env, managed):
    """A change of the administrator's ``.env`` counts at once."""
    environment = env("A=home", **managed("A=admin"))
    first = environment.credential("A")
    managed("B=1234567")
    assert (first, environment.credential("A")) == ("admin", "home")


def test_a_home_cannot_choose_the_administrators_folder(env, managed):
    """The home's ``.env`` does not say where the administrator's files are; nor does a folder that is not there."""
    variables = managed("A=admin")
    environment = env(f"HERMES_MANAGED_DIR={variables['HERMES_MANAGED_DIR']}", HERMES_MANAGED_DIR="/nonexistent")
    assert (environment.credential("A"), environment.managed.as_posix()) == ("", "/etc/hermes")


def test_export_sets_the_administrators_over_the_shells(env, managed):
    """What the administrator sets replaces what the shell has set, but for hidden names."""
    variables = managed("SET=admin\nHIDDEN=admin\n")
    environment = env("SET=home\nNEW=home", SET="shell", **variables)
    environment.export(["HIDDEN"])
    assert environment.variables == {"SET": "admin", "NEW": "home", **variables}


def test_export_passes_over_what_the_process_cannot_hold(home, run_python):
    """A value that no process can hold is warned of by name, and the others are set."""
    home.write(".env", b"BAD=hunter\x0022\nGOOD=1\n")
    done = run_python(
        """
        import logging, os, sys
        from pathlib import Path
        from hermes_core.config.environment import Environment
        logging.basicConfig()
        Environment(Path(sys.argv[1])).export([])
        print(os.environ.get("GOOD"), "BAD" in os.environ)
        """,
        home.path,
    )
    assert (done.stdout, "'BAD'" in done.stderr, "hunter" in done.stderr) == ("1 False\n", True, False), done.stderr


def test_a_line_that_makes_no_sense_is_warned_of(env, caplog):
    """A line that sets nothing is warned of by its number, without its text; the others count."""
    environment = env("A=1\nACME_API_KEY hunter22\n")
    assert environment.credential("A") == "1"
    (record,) = caplog.records
    assert ("line=2" in record.getMessage(), "hunter22" in record.getMessage()) == (True, False)
