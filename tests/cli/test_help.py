"""``hermes`` itself: its help, its version, and how it finds a command."""

import re

import pytest

from hermes_core import __version__
from hermes_core.cli.main import COMMANDS


def listed_commands(out):
    """The commands in a help text → their one line."""
    return dict(re.findall(r"^ +([a-z][\w-]*)\s+(\S.*)$", out.partition("commands:")[2], re.MULTILINE))


def test_help_lists_the_commands_with_a_line_each(hermes):
    """``hermes --help`` names every command of the host, and what it is for."""
    done = hermes("--help")
    assert (done.code, done.err) == (0, "")
    assert COMMANDS.items() <= listed_commands(done.out).items()


def test_no_arguments_are_a_call_for_help(hermes):
    """``hermes`` alone prints the help and is no error."""
    assert hermes("--help")[:2] == hermes()[:2]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_a_help_of_its_own(hermes, command):
    """``hermes <command> --help`` says how the command is used, and opens with its line."""
    done = hermes(command, "--help")
    assert (done.code, done.err) == (0, "")
    assert f"{COMMANDS[command]}." in done.out


def test_help_lists_the_trees_of_enabled_plugins(hermes, greeter):
    """A tree that an enabled plugin declares in its manifest stands beside the host's own, its text as written."""
    assert listed_commands(hermes("--help").out)["hello"] == "Say hello to 100% of people"


def test_help_does_not_list_the_trees_of_other_plugins(hermes, home):
    """A plugin that is not enabled adds nothing to the help."""
    home.plugin("greeter", name="greeter", provides_cli_commands={"hello": "Say hello"})
    assert "hello" not in hermes("--help").out


def test_a_plugin_cannot_take_a_command_of_the_host(hermes, home):
    """A tree named like a command of the host is neither listed nor run."""
    home.config({"plugins": {"enabled": ["thief"]}})
    home.plugin("thief", "raise RuntimeError", name="thief", provides_cli_commands={"plugins": "Steal it"})
    assert "Steal it" not in hermes("--help").out
    assert "thief" in hermes("plugins", "list").out


def test_a_name_that_two_plugins_want_costs_no_other_r05_09(hermes, home):
    """The first plugin keeps a command; what the second one offers beside it is there."""
    home.config({"plugins": {"enabled": ["one", "two"]}})
    home.plugin("one", "", name="one", provides_cli_commands={"same": "Of the first"})
    home.plugin("two", "", name="two", provides_cli_commands={"same": "Of the second", "other": "Beside it"})
    listed = listed_commands(hermes("--help").out)
    assert (listed["same"], listed["other"]) == ("Of the first", "Beside it")


def test_version_is_one_line(hermes):
    """``hermes --version`` prints name and version."""
    assert (0, f"hermes {__version__}\n", "") == hermes("--version")


def test_an_unknown_command_names_the_nearest(hermes):
    """A misspelled command is refused in one line that names the closest, and a second that says what to do."""
    expected = (1, "", "error: no command 'plugin'; did you mean 'plugins'?\nhint: run `hermes --help`\n")
    assert expected == hermes("plugin")


def test_a_misspelled_tree_of_a_plugin_names_the_nearest(hermes, greeter):
    """Trees of plugins count among the commands that a misspelled word is compared with."""
    assert hermes("helo").err.splitlines()[0] == "error: no command 'helo'; did you mean 'hello'?"


def test_a_word_like_nothing_names_nothing(hermes):
    """Where no command is close, none is suggested."""
    assert hermes("zzz").err.splitlines()[0] == "error: no command 'zzz'"


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(["--nonsense"], id="an option of the host"),
        pytest.param(["plugins"], id="a command without its action"),
        pytest.param(["plugins", "frobnicate"], id="an action"),
        pytest.param(["providers", "show"], id="an action without its name"),
        pytest.param(["llm", "hi", "--max-tokens", "many"], id="a number that is none"),
        pytest.param(["llm", "hi", "--temperature", "warm"], id="a temperature that is none"),
    ],
)
def test_a_command_line_that_makes_no_sense_exits_with_2(hermes, words):
    """What cannot be parsed ends with the usage on standard error, nothing on standard output, and code 2."""
    done = hermes(*words)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("usage: hermes")


@pytest.mark.parametrize(
    ("words", "code", "out"),
    [
        pytest.param(["hello"], 0, "hello world\n", id="with its defaults"),
        pytest.param(["hello", "you"], 0, "hello you\n", id="with an argument"),
        pytest.param(["hello", "--code", "3"], 3, "hello world\n", id="with an exit code of its own"),
    ],
)
def test_the_tree_of_a_plugin_is_run(hermes, greeter, words, code, out):
    """A plugin's tree parses its own arguments, and its handler's number is the exit code."""
    assert (code, out, "") == hermes(*words)


def test_the_tree_of_a_plugin_has_its_own_help(hermes, greeter):
    """``hermes <tree> --help`` is built by the plugin's own parser."""
    done = hermes("hello", "--help")
    assert done.code == 0
    assert done.out.startswith("usage: hermes hello [-h] [--code CODE] [--fail] [name]")


def test_the_tree_of_a_plugin_that_fails_is_blamed_in_one_line(hermes, greeter):
    """An exception in a plugin's handler names command, plugin and error, without a traceback."""
    expected = (1, "", "error: hermes hello (plugin greeter): RuntimeError: no breath left\n")
    assert expected == hermes("hello", "--fail")


def test_the_tree_of_a_plugin_that_cannot_be_built_is_blamed_in_one_line(hermes, home):
    """An exception while a plugin builds its parser names the plugin, without a traceback."""
    home.config({"plugins": {"enabled": ["broken"]}})
    code = """
        def register(ctx):
            ctx.register_cli_command("hello", help="Say hello", setup_fn=lambda parser: parser.add_nonsense())
        """
    home.plugin("broken", code, name="broken", provides_cli_commands=["hello"])
    done = hermes("hello")
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("error: hermes hello (plugin broken): AttributeError:")


def test_a_tree_that_leaves_the_handler_to_its_parser(hermes, home):
    """``set_defaults(func=…)`` in the setup is called; without it, the tree's help is shown and the code is 2."""
    home.config({"plugins": {"enabled": ["tree"]}})
    code = """
        def register(ctx):
            def setup(parser):
                actions = parser.add_subparsers()
                actions.add_parser("grow").set_defaults(func=lambda args: print("grown"))
            ctx.register_cli_command("tree", help="A tree", setup_fn=setup)
        """
    home.plugin("tree", code, name="tree", provides_cli_commands=["tree"])
    assert hermes("tree", "grow") == (0, "grown\n", "")
    alone = hermes("tree")
    assert (alone.code, alone.out.startswith("usage: hermes tree")) == (2, True)


def test_a_tree_whose_plugin_does_not_load_is_no_unknown_command(hermes, home):
    """When the plugin that declares a command fails to load, the error says so, and not that there is none."""
    home.config({"plugins": {"enabled": ["broken"]}})
    home.plugin("broken", "raise RuntimeError('not today')", name="broken", provides_cli_commands={"hello": "Hi"})
    done = hermes("hello")
    assert done.code == 1
    assert "RuntimeError: not today" in done.err
    assert "no command" not in done.err
