"""``hermes memory setup``: by flags, through a pipe, and at a real terminal."""

import os
import re
import select
import subprocess
import sys
import time

import pytest
import yaml

pty = pytest.importorskip("pty")  # where there are no terminals of this kind

ACME = """
import json, pathlib
from hermes_core import MemoryProvider


class Acme(MemoryProvider):
    name = "acme"

    def is_available(self):
        return True

    def initialize(self, session_id, **kwargs):
        pass

    def get_tool_schemas(self):
        return []

    def get_config_schema(self):
        return [
            {"key": "mode", "description": "Where it runs", "choices": ["cloud", "local"], "default": "cloud"},
            {"key": "api_key", "secret": True, "required": True, "env_var": "ACME_API_KEY",
             "url": "https://acme.test/keys", "when": {"mode": "cloud"}},
            {"key": "region", "default_from": {"field": "mode", "map": {"cloud": "eu", "local": "here"}}},
            {"key": "port", "type": "int", "default": 0, "minimum": 0, "maximum": 65535, "when": {"mode": "local"}},
            {"key": "verbose", "default": False},
            {"key": "ratio", "type": "float", "default": 0.5},
            {"key": "project", "description": "Project", "env_var": "ACME_PROJECT"},
        ]

    def save_config(self, values, hermes_home):
        pathlib.Path(hermes_home, "acme.json").write_text(json.dumps(values))


def register(ctx):
    ctx.register_memory_provider(Acme())
"""


@pytest.fixture
def acme(home):
    """A provider that asks for everything a schema can ask for."""
    home.plugin("acme", ACME, name="acme", kind="exclusive", description="Remembers far away")
    return home


@pytest.fixture
def written(home):
    """What stands in config.yaml now."""
    return lambda: yaml.safe_load((home.path / "config.yaml").read_text())


def files(home):
    """The names and contents of the home's own files."""
    names = ("config.yaml", ".env", "acme.json")
    return {name: (home.path / name).read_text() for name in names if (home.path / name).exists()}


class Terminal:
    """``hermes`` at a terminal: what it writes is waited for, and answered."""

    def __init__(self, *words, by_number=True, **environment):
        self.seen = ""
        self._ours, theirs = pty.openpty()
        script = (
            "import fcntl, signal, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); "  # so that Ctrl-C is a signal
            "signal.signal(signal.SIGINT, signal.default_int_handler); "  # a job may ignore it
            f"sys.modules.update({{'questionary': None}} if {by_number} else {{}}); "  # which asks by arrow keys
            f"from hermes_core.cli import main; sys.exit(main({words!r}))"
        )
        self.process = subprocess.Popen(
            [sys.executable, "-c", script],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
            env={**os.environ, "TERM": "dumb", "COLUMNS": "120", **environment},
        )
        os.close(theirs)

    def expect(self, text):
        """Wait until it has written this since the last answer; a part of it that was there before does not count."""
        until = time.monotonic() + 30
        while text not in self.seen:
            assert time.monotonic() < until, f"{text!r} did not come: {self.seen!r}"
            assert self._read(), f"it ended without {text!r}: {self.seen!r}"
        return self

    def answer(self, text):
        """Type a line."""
        self.seen = ""
        os.write(self._ours, text.encode() + b"\n")
        return self

    def press(self, key):
        """Press one key."""
        os.write(self._ours, key)
        return self

    def interrupt(self):
        """Press Ctrl-C until it counts: one that comes while the question is being written does not."""
        while "cancelled" not in self.seen and self.process.poll() is None:
            os.write(self._ours, b"\x03")
            until = time.monotonic() + 2
            while "cancelled" not in self.seen and time.monotonic() < until and self._read():
                pass
        return self.expect("cancelled; nothing was saved")

    def end(self):
        """Its exit code, once it has ended."""
        while self._read():
            pass
        os.close(self._ours)
        return self.process.wait(30)

    def _read(self):
        ready, _, _ = select.select([self._ours], [], [], 1)
        if not ready:
            return self.process.poll() is None
        try:
            chunk = os.read(self._ours, 65536)
        except OSError:  # Linux reports the end of a terminal so
            return False
        if b"\x1b[6n" in chunk:  # a program that asks where the cursor is, and waits for that
            os.write(self._ours, b"\x1b[1;1R")
        self.seen += chunk.decode()
        return bool(chunk)


@pytest.fixture
def terminal():
    """Start ``hermes`` at a terminal; what has not ended by itself is ended."""
    started = []

    def start(*words, **options):
        started.append(Terminal(*words, **options))
        return started[-1]

    yield start
    for one in started:
        if one.process.poll() is None:
            one.process.kill()
            one.process.wait()


def test_a_first_user_has_local_memory_after_three_returns(home, terminal, written):
    """Whoever presses Enter at every question gets the provider that comes along, and keeps everything here."""
    session = terminal("memory", "setup")
    session.expect("Which memory provider: a number, or a part of the name [sqlite]: ").answer("")
    session.expect("[1000]: ").answer("")
    session.expect("Write it? (Y/n): ").answer("").expect("is active from the next session on")
    assert session.end() == 0
    assert written()["memory"]["provider"] == "sqlite"


def test_arrow_keys_choose_where_they_can(acme, terminal, written):
    """With the extra ``chat``, lists are chosen from by arrow keys and Enter; Ctrl-C saves nothing there either."""
    session = terminal("memory", "setup", by_number=False, TERM="xterm")
    session.expect("Which memory provider").expect("sqlite").press(b"\x1b[A").press(b"\r")
    session.expect("acme is code from").expect("Where it runs").press(b"\x1b[B").press(b"\r").expect("region [here]: ")
    for _ in range(5):
        session.answer("").expect(": ")
    session.answer("").expect("is active from the next session on")
    assert session.end() == 0
    assert (written()["memory"]["provider"], written()["memory"]["acme"]["mode"]) == ("acme", "local")
    again = terminal("memory", "setup", by_number=False, TERM="xterm")
    again.expect("Which memory provider").interrupt()
    assert again.end() == 130


def test_every_kind_of_field_is_asked(acme, terminal, written):
    """Choices, a secret that is not shown, numbers and switches are asked in order; then the plan, then the writing."""
    session = terminal("memory", "setup", "acme")
    session.expect("acme is code from")
    session.expect("1  cloud").expect("Where it runs: a number, or a part of the name [cloud]: ").answer("")
    session.expect("get one at https://acme.test/keys").expect("api_key (it is not shown): ").answer("k-secret-1")
    session.expect("region [eu]: ").answer("")
    assert "k-secret-1" not in session.seen
    session.expect("verbose (y/N): ").answer("y")
    session.expect("ratio [0.5]: ").answer("much").expect("ratio must be a number").answer(".25")
    session.expect("Project: ").answer("hermes")
    session.expect("ACME_API_KEY = [configured]").expect("ACME_PROJECT = hermes").expect(
        "memory.acme.region = eu"
    ).expect("Write it? (Y/n): ")
    assert files(acme) == {}
    session.answer("").expect("memory provider acme is active from the next session on")
    assert session.end() == 0
    settings = {"mode": "cloud", "region": "eu", "verbose": True, "ratio": 0.25, "project": "hermes"}
    assert written() == {"memory": {"provider": "acme", "acme": settings}}
    assert files(acme)[".env"] == "ACME_API_KEY=k-secret-1\nACME_PROJECT=hermes\n"
    assert yaml.safe_load(files(acme)["acme.json"]) == settings


def test_a_second_setup_begins_with_what_is_there(acme, terminal, written):
    """What is configured is the default, a secret that is there is kept by a blank answer, and never shown."""
    acme.write(".env", "ACME_API_KEY=k-secret-1\n")
    acme.config({"memory": {"acme": {"mode": "cloud", "region": "us", "verbose": True, "ratio": "much"}}})
    session = terminal("memory", "setup", "acme")
    session.expect("[cloud]: ").answer("1")
    session.expect("[configured]; blank keeps it").answer("")
    session.expect("region [us]: ").answer("")
    session.expect("verbose (Y/n): ").answer("")
    session.expect("what is configured for ratio cannot be used").expect("ratio [0.5]: ").answer("")
    session.expect("Project: ").answer("").expect("Write it?").answer("y")
    assert session.end() == 0
    assert "k-secret-1" not in session.seen
    assert written()["memory"]["acme"] == {"mode": "cloud", "region": "us", "verbose": True, "ratio": 0.5}
    assert files(acme)[".env"] == "ACME_API_KEY=k-secret-1\n"


@pytest.mark.parametrize("how", ["ctrl-c", "ctrl-d", "no"])
def test_cancelling_saves_nothing(acme, terminal, how):
    """Whichever way the user leaves, every file is as it was, and that is said."""
    acme.config({"memory": {"provider": ""}})
    before = files(acme)
    session = terminal("memory", "setup", "acme")
    session.expect("[cloud]: ").answer("local").expect("region [here]: ")
    if how == "no":
        for _ in range(5):
            session.answer("").expect(": ")
        session.expect("Write it? (Y/n): ").answer("n").expect("cancelled; nothing was saved")
        assert session.end() == 1
    else:
        session.interrupt() if how == "ctrl-c" else session.press(b"\x04").expect("the question was not answered")
        assert session.end() == (130 if how == "ctrl-c" else 1)
    assert files(acme) == before


def test_ctrl_c_at_the_secret_saves_nothing(acme, terminal):
    """The question for a secret can be left too, and the terminal shows what is typed again."""
    session = terminal("memory", "setup", "acme")
    session.expect("[cloud]: ").answer("").expect("it is not shown").interrupt()
    assert session.end() == 130
    assert files(acme) == {}


@pytest.mark.parametrize(("answer", "code", "is_there"), [("yes", 0, False), ("y", 1, True), ("", 1, True)])
def test_a_reset_wants_the_whole_word(home, terminal, answer, code, is_there):
    """Only a yes that is written out deletes anything."""
    path = home.write("memories/MEMORY.md", "uses tabs")
    session = terminal("memory", "reset")
    session.expect("MEMORY.md? Type yes: ").answer(answer)
    assert session.end() == code
    assert path.exists() is is_there


def test_a_wrong_answer_is_asked_again(acme, terminal):
    """A choice that there is not, and a required answer left out, are said, and asked once more."""
    session = terminal("memory", "setup", "acme")
    session.expect("[cloud]: ").answer("7").expect("nothing holds '7'").answer("cloud")
    session.expect("it is not shown").answer("").expect("api_key must be given").expect("it is not shown")
    session.answer("k\x01b").expect("control character")
    session.interrupt()
    assert session.end() == 130


def test_the_list_offers_what_there_is(acme, terminal, written):
    """The list shows each provider with its line; none means the built-in memory alone."""
    acme.config({"memory": {"provider": "acme"}})
    session = terminal("memory", "setup")
    session.expect("acme").expect("Remembers far away").expect("none").expect("MEMORY.md and USER.md alone")
    session.expect("[acme]: ").answer("none").expect("memory provider acme is off")
    assert session.end() == 0
    assert written()["memory"]["provider"] == ""


def test_flags_answer_everything(hermes, acme, written):
    """Without a terminal, every step has a flag; defaults stand for the rest, falsy ones too."""
    done = hermes("memory", "setup", "acme", "--set", "mode=local", "--verbose", "--ratio", "2", "--project=x y")
    assert (done.code, done.err) == (0, "")
    settings = {"mode": "local", "region": "here", "port": 0, "verbose": True, "ratio": 2.0, "project": "x y"}
    assert written()["memory"]["acme"] == settings
    assert files(acme)[".env"] == "ACME_PROJECT='x y'\n"


def test_a_secret_comes_by_standard_input(hermes, acme, written):
    """A secret is piped in; it reaches .env, and neither the configuration nor the provider's file nor the screen."""
    done = hermes("memory", "setup", "acme", "--secret-stdin", "api_key", stdin="k-secret-1\n")
    assert done.code == 0
    assert files(acme)[".env"] == "ACME_API_KEY=k-secret-1\n"
    assert "k-secret-1" not in done.out + done.err + files(acme)["config.yaml"] + files(acme)["acme.json"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--set", "mode=mars"], "mode must be one of cloud, local"),
        (["--set", "mode=local", "--port", "70000"], "port must be a whole number of at most 65535"),
        (["--set", "mode=local", "--port", "1.5"], "port must be a whole number"),
        (["--verbose", "perhaps"], "verbose must be yes or no"),
        (["--set", "color=red"], "there is no setting 'color'"),
        (["--regon", "x"], "there is no setting 'regon'; did you mean 'region'?"),
        (["--set", "mode"], "--set mode has no value"),
        (["--api-key", "k-secret-1"], "api_key is a secret, and would be seen in the list of processes"),
        (["--port", "5"], "port does not apply here"),
        ([], "api_key must be given; nothing was saved"),
        (["stray"], "unrecognized argument: stray"),
    ],
)
def test_flags_that_cannot_be_right(hermes, acme, words, said):
    """What is wrong is said in one line, and nothing is written."""
    stdin = "" if words != ["--port", "5"] else "k"
    extra = ["--secret-stdin", "api_key"] if words == ["--port", "5"] else []
    done = hermes("memory", "setup", "acme", *words, *extra, stdin=stdin)
    assert done.code == 1
    assert said in done.err
    assert "k-secret-1" not in done.err
    assert files(acme) == {}


def test_the_place_of_a_folder_is_no_part_of_its_name(hermes, home, written):
    """A provider in the folder ``memory`` is configured under its own name, whichever way it is called."""
    home.plugin("memory/acme", ACME, name="acme")
    assert hermes("memory", "setup", "memory/acme", "--set", "mode=local").code == 0
    assert written()["memory"]["provider"] == "acme"
    assert written()["memory"]["acme"]["mode"] == "local"


def test_a_provider_that_cannot_run_yet_says_why(hermes, home):
    """It is set up all the same, and the reason follows."""
    code = ACME.replace(
        "return True", "return False\n\n    def unavailable_reason(self):\n        return 'start it'", 1
    )
    home.plugin("acme", code, name="acme", kind="exclusive")
    done = hermes("memory", "setup", "acme", "--set", "mode=local")
    assert (done.code, done.out.splitlines()[-1]) == (0, "it cannot run yet: start it")


def test_comments_of_the_configuration_stay(hermes, acme):
    """Only the lines that are meant are written, once."""
    acme.write("config.yaml", "# mine\nmodel: m  # the small one\nmemory:\n  memory_enabled: yes # of course\n")
    hermes("memory", "setup", "acme", "--set", "mode=local", "--yes")
    text = files(acme)["config.yaml"]
    assert text.startswith("# mine\nmodel: m  # the small one\nmemory:\n  memory_enabled: yes # of course\n")
    assert text.count("provider: acme") == 1


def test_a_secret_without_a_variable_gets_one(hermes, home, written):
    """It is kept in a variable made of both names, and the configuration refers to it."""
    code = ACME.replace('"env_var": "ACME_API_KEY",', "")
    home.plugin("acme-two", code, name="acme-two", kind="exclusive")
    assert hermes("memory", "setup", "acme-two", "--secret-stdin", "api_key", stdin="k-secret-1").code == 0
    assert files(home)[".env"].startswith("ACME_TWO_API_KEY=k-secret-1\n")
    assert written()["memory"]["acme-two"]["api_key"] == "${ACME_TWO_API_KEY}"


@pytest.mark.parametrize("name", ["PATH", "LD_PRELOAD", "PYTHONPATH", "HERMES_HOME", "GIT_SSH", "a b", "1X"])
def test_variables_that_steer_the_process_are_refused(hermes, home, name):
    """A provider cannot have a variable set that would lead programs astray."""
    home.plugin("acme", ACME.replace("ACME_PROJECT", name), name="acme", kind="exclusive")
    done = hermes("memory", "setup", "acme", "--set", "mode=local")
    assert done.code == 1
    assert f"would set the variable {name!r}" in done.err


@pytest.mark.parametrize("schema", ["5", "[5]", '[{"description": "x"}]', '[{"key": ""}]', '{"key": "x"}'])
def test_a_schema_that_makes_no_sense_is_blamed(hermes, home, schema):
    """The error names the provider and the field; nothing is written."""
    code = re.sub(r"return \[\n(.|\n)*?\n        \]", f"return {schema}", ACME)
    home.plugin("acme", code, name="acme", kind="exclusive")
    done = hermes("memory", "setup", "acme")
    assert (done.code, files(home)) == (1, {})
    assert "the configuration schema of memory provider 'acme'" in done.err


def test_a_provider_that_cannot_save_is_not_made_active(hermes, acme):
    """When its own file cannot be written, the error names it, and the configuration stays."""
    acme.path.joinpath("acme.json").mkdir()
    done = hermes("memory", "setup", "acme", "--set", "mode=local")
    assert done.code == 1
    assert "memory provider 'acme': save_config raised IsADirectoryError" in done.err
    assert "config.yaml" not in {path.name for path in acme.path.iterdir()}


def test_the_administrator_chooses(hermes, acme, monkeypatch, tmp_path):
    """A provider that the administrator has set is not changed by anybody else."""
    (tmp_path / "config.yaml").write_text("memory: {provider: sqlite}")
    monkeypatch.setenv("HERMES_MANAGED_DIR", str(tmp_path))
    for words in (["setup", "acme", "--set", "mode=local"], ["off"]):
        done = hermes("memory", *words)
        assert (done.code, files(acme)) == (1, {})
        assert "memory.provider is set by the administrator" in done.err


def test_a_configuration_that_cannot_be_read_is_left_alone(hermes, acme):
    """Nothing is written over a broken file."""
    acme.write("config.yaml", "memory: [")
    assert hermes("memory", "setup", "acme", "--set", "mode=local").code == 1
    assert files(acme) == {"config.yaml": "memory: ["}


POST_SETUP = """
import sys
from hermes_core import MemoryProvider
from hermes_cli.config import save_config


class Own(MemoryProvider):
    name = "own"

    def is_available(self):
        return True

    def initialize(self, session_id, **kwargs):
        pass

    def get_tool_schemas(self):
        return []

    def get_config_schema(self):
        raise RuntimeError("nobody asks")

    def post_setup(self, hermes_home, config):
        print("words", [word for word in sys.argv if word.startswith("--")])
        {body}


def register(ctx):
    ctx.register_memory_provider(Own())
"""


@pytest.mark.parametrize(
    ("body", "code", "said", "provider"),
    [
        ('config.setdefault("memory", {})["provider"] = "own"; save_config(config)', 0, "", "own"),
        ("pass", 0, "own has not made itself the active provider; to do so: hermes config set memory.provider own", ""),
        ("sys.exit(0)", 0, "has not made itself", ""),
        ("sys.exit(3)", 1, "post_setup raised SystemExit: 3", ""),
        ('raise RuntimeError("sk-live-0123456789abcdef0123")', 1, "post_setup raised RuntimeError: [redacted]", ""),
    ],
    ids=["activates itself", "does not", "exits", "exits in anger", "raises"],
)
def test_a_provider_with_its_own_setup_does_all_of_it_r05_10(shell, home, body, code, said, provider):
    """It gets the home and the configuration, and its own words on the command line; its faults are named."""
    home.plugin("own", POST_SETUP.replace("{body}", body), name="own", kind="exclusive")
    done = shell("memory", "setup", "own", "--mode", "oss", "--fast")
    assert done.code == code
    assert "words ['--mode', '--fast']" in done.out
    assert said in done.out + done.err
    config = home.path / "config.yaml"
    assert (yaml.safe_load(config.read_text())["memory"]["provider"] if config.exists() else "") == provider


OWN_QUESTIONS = """
        from pathlib import Path
        from hermes_cli.memory_setup import _CANCELLED, _curses_select, _print_cancelled_setup, _prompt, _write_env_vars
        place = _curses_select("Mode", [("cloud", "far away"), ("local", "here"), "off"], 1, cancel_returns=_CANCELLED)
        if place == _CANCELLED:
            return _print_cancelled_setup()
        project, key = _prompt("Project", default="hermes"), _prompt("Key", secret=True)
        _write_env_vars(Path(hermes_home) / ".env", {"OWN_KEY": key, "OWN PROJECT": project, "OWN_PLACE": str(place)})
"""


def test_a_setup_of_its_own_may_ask_as_the_host_does(home, terminal):
    """The original's questions are there under their names; what cannot be written is passed over with a line."""
    home.plugin("own", POST_SETUP.replace("{body}", OWN_QUESTIONS.strip()), name="own", kind="exclusive")
    session = terminal("memory", "setup", "own")
    session.expect("2  local").expect("name [local]: ").answer("cloud").expect("Project [hermes]: ").answer("")
    session.expect("Key (it is not shown): ").answer("k-secret-1").expect("not saved: 'OWN PROJECT' is no name")
    assert session.end() == 0
    assert files(home)[".env"] == "OWN_KEY=k-secret-1\nOWN_PLACE=0\n"
    again = terminal("memory", "setup", "own")
    again.expect("name [local]: ").press(b"\x04").expect("cancelled; nothing was saved")
    assert again.end() == 0


@pytest.fixture
def needy(home):
    """A provider with requirements, as its manifest says them."""

    def make(**requirements):
        home.plugin("acme", ACME, name="acme", kind="exclusive", **requirements)
        return home

    return make


@pytest.mark.parametrize("flags", [[], ["--no-install"], ["--no-install", "--yes"]])
def test_a_missing_package_stops_the_setup_r10_06(hermes, needy, flags):
    """Nothing is written, and the exact command is shown; what is there, in whatever version, is not asked for."""
    home = needy(pip_dependencies=["pluggy>=1.0", "no-such-package-of-acme>=2,<3", "pytest[dev]"])
    done = hermes("memory", "setup", "acme", "--set", "mode=local", *flags)
    command = f"{sys.executable} -m pip install 'no-such-package-of-acme>=2,<3'"
    assert (done.code, files(home)) == (1, {})
    assert command in done.err
    assert "pluggy" not in done.out + done.err


@pytest.mark.parametrize(
    ("version", "asked", "is_met"),
    [
        ("2.1.0rc1", "odd>=2", True),
        ("2.1.dev0", "odd>=2", True),
        ("unknown", "odd>=2", True),
        ("1.9", "odd>=2", False),
        ("1.9", "odd >= 2 ; python_version < '3'", True),
        ("1.9", "odd[extra]", True),
        ("1.9", "not a requirement >", True),
    ],
)
def test_versions_are_compared_without_a_crash_r10_08(hermes, needy, site, version, asked, is_met):
    """Versions that are not final, or none at all, stop nobody."""
    site.install("odd", {})
    metadata = site.path / "odd-1.0.dist-info" / "METADATA"
    metadata.write_text(metadata.read_text().replace("Version: 1.0", f"Version: {version}"))
    needy(pip_dependencies=[asked])
    assert hermes("memory", "setup", "acme", "--set", "mode=local").code == (0 if is_met else 1)


def test_a_package_is_installed_when_wanted(terminal, needy, tmp_path):
    """At a terminal the command is shown, and run after a yes; then the questions follow."""
    source = tmp_path / "tiny"
    source.mkdir()
    (source / "tiny_acme.py").write_text("")
    (source / "pyproject.toml").write_text('[project]\nname = "tiny-acme"\nversion = "1"\n')
    needy(pip_dependencies=["tiny-acme>=5"])
    session = terminal("memory", "setup", "acme", PIP_NO_INDEX="1")
    session.expect("pip install 'tiny-acme>=5'").expect("Install it now? (Y/n): ").answer("y")
    session.expect("cannot install tiny-acme>=5").expect("try it by hand")
    assert session.end() == 1


@pytest.mark.parametrize("check", ["false", "no-such-program-of-acme --version", "true && false", "'"])
def test_a_missing_program_stops_the_setup(hermes, needy, check):
    """Programs are always looked for, by running their check without a shell; --yes goes on without them."""
    home = needy(external_dependencies=[{"name": "brew", "install": "curl | sh", "check": check}])
    if check == "true && false":  # without a shell these are arguments of `true`
        assert hermes("memory", "setup", "acme", "--set", "mode=local").code == 0
        return
    done = hermes("memory", "setup", "acme", "--set", "mode=local")
    assert (done.code, files(home)) == (1, {})
    assert "needs the program brew" in done.err
    assert "hint: curl | sh" in done.err
    assert hermes("memory", "setup", "acme", "--set", "mode=local", "--yes").code == 0


def test_an_unknown_provider_names_the_nearest(hermes, acme):
    """A misspelled name is an error with the right one in it."""
    assert "no memory provider 'acmee'; did you mean 'acme'?" in hermes("memory", "setup", "acmee").err


def test_a_disabled_provider_is_not_set_up(hermes, acme):
    """What the operator has switched off is not switched on by a setup."""
    acme.config({"plugins": {"disabled": ["acme"]}})
    done = hermes("memory", "setup", "acme", "--set", "mode=local")
    assert done.code == 1
    assert "hint: hermes plugins enable acme" in done.err


def test_without_a_terminal_a_name_is_needed(hermes, acme):
    """Nobody can choose from a list in a pipe."""
    done = hermes("memory", "setup")
    assert (done.code, done.err) == (
        1,
        "error: name a memory provider\nhint: hermes memory setup NAME, one of acme, sqlite\n",
    )


def test_settings_go_into_the_home_that_is_meant_r11_07(run_python, acme, tmp_path):
    """Everything is written below the host's home, whatever HERMES_HOME says."""
    other = tmp_path / "other"
    other.mkdir()
    done = run_python(
        """
        import os, sys
        from hermes_core.config.paths import set_hermes_home_override
        from hermes_core.cli import main
        os.environ["HERMES_HOME"] = sys.argv[2]
        set_hermes_home_override(sys.argv[1])
        sys.exit(main(["memory", "setup", "acme", "--set", "mode=local", "--yes"]))
        """,
        acme.path,
        other,
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == 0, done.stderr
    assert {*files(acme)} == {"config.yaml", "acme.json"}
    assert [*other.iterdir()] == []
