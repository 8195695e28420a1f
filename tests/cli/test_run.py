"""``hermes run``: slash commands from the shell."""

import pytest

SUMMARISE = "Summarise the user's text in one tight paragraph. No preamble."


def asked(provider):
    """The messages of the last request."""
    return provider.requests[-1].body["messages"]


def test_without_a_command_it_lists_them(hermes, greeter):
    """``hermes run`` lists every slash command with its hint, its line and its plugin."""
    rows = {row["name"]: row for row in hermes("run").rows}
    assert {"tldr", "paste-to-tasks", "wave"} <= rows.keys()
    assert rows["wave"] == {"name": "wave", "args_hint": "<name>", "description": "Wave", "plugin": "greeter"}


def test_the_list_for_programs_is_one_array(hermes, greeter):
    """``hermes run --json`` prints one array with the same commands."""
    found = hermes("run", "--json").json
    assert [row["name"] for row in hermes("run").rows] == [row["name"] for row in found]


@pytest.mark.parametrize("name", ["/tldr", "tldr", "/TLDR"])
def test_a_command_is_found_with_and_without_its_slash(hermes, provider, name):
    """The slash is optional, and case does not count."""
    assert hermes("run", name, "a long text") == (0, "pong\n", "")


def test_standard_input_is_the_text(hermes, provider):
    """Without arguments, what is piped in is the command's text, trimmed."""
    assert hermes("run", "/tldr", stdin="  a long\ntext \n").code == 0
    assert [message["content"] for message in asked(provider)] == [SUMMARISE, "a long\ntext"]


def test_a_file_is_the_text(hermes, provider, tmp_path):
    """``--file`` reads the text from a file; a byte order mark does not count."""
    (tmp_path / "in.txt").write_bytes("\ufeffa long text ✓".encode())
    assert hermes("run", "/tldr", "--file", tmp_path / "in.txt").code == 0
    assert asked(provider)[-1]["content"] == "a long text ✓"


def test_arguments_are_the_text(hermes, provider):
    """Words after the command are its text, joined with blanks, whatever is piped in."""
    assert hermes("run", "/tldr", "a", "long", "text", stdin="not this").code == 0
    assert asked(provider)[-1]["content"] == "a long text"


def test_no_text_at_all_is_the_commands_own_business(hermes, provider):
    """A command that is given nothing answers as it likes: /tldr says how it is used, and asks no model."""
    assert hermes("run", "/tldr") == (0, "Usage: /tldr <text to summarise>\n", "")
    assert provider.requests == []


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(["-5", "degrees"], id="a negative number"),
        pytest.param(["--", "--lang", "de:", "-h"], id="words that look like options, after two dashes"),
    ],
)
def test_a_text_may_begin_with_a_dash(hermes, greeter, words):
    """A negative number is a text, and so is whatever stands after ``--``."""
    text = " ".join(word for word in words if word != "--")
    assert (0, f"waving at {text}\n", "") == hermes("run", "wave", *words)


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(["--json", "/wave", "you", "all"], id="before the command"),
        pytest.param(["/wave", "--json", "you", "all"], id="after the command"),
        pytest.param(["/wave", "you", "all", "--json"], id="after the text"),
    ],
)
def test_options_may_stand_anywhere(hermes, greeter, words):
    """An option of ``run`` is understood wherever it stands."""
    done = hermes("run", *words)
    assert (done.code, done.err) == (0, "")
    assert done.json == {"command": "/wave", "text": "waving at you all"}


def test_an_async_handler_is_awaited(hermes, greeter):
    """A command whose handler is a coroutine function is run to its end."""
    assert hermes("run", "/slow-wave", "you") == (0, "slowly waving at you\n", "")


def test_a_handler_that_fails_is_one_line(hermes, greeter):
    """An exception in a handler names command, plugin and error in one line, exit code 1, no traceback."""
    expected = (
        "error: /fail (plugin 'greeter') failed: RuntimeError: two lines\nhint: HERMES_PLUGINS_DEBUG=1 shows where\n"
    )
    assert hermes("run", "/fail") == (1, "", expected)


def test_a_handler_that_leaves_is_a_failure_like_any_other(hermes, greeter):
    """``sys.exit`` in a handler does not end the host with the handler's code: it is one line, and exit code 1."""
    done = hermes("run", "/leave")
    assert (done.code, done.err.splitlines()[0]) == (1, "error: /leave (plugin 'greeter') failed: SystemExit: 7")


def test_a_traceback_is_shown_to_those_who_ask(shell, greeter):
    """``HERMES_PLUGINS_DEBUG`` shows on standard error where a handler failed; without it, nothing does."""
    silent, told = (shell("run", "/fail", HERMES_PLUGINS_DEBUG=debug) for debug in ("", "1"))
    assert ("Traceback" in silent.err, "Traceback" in told.err) == (False, True)
    assert told.err.count("error: /fail (plugin 'greeter') failed") == 1


def test_a_handler_that_returns_no_text_is_shown_as_text(hermes, greeter):
    """A number or another value is printed as Python prints it."""
    assert hermes("run", "/count", "four") == (0, "4\n", "")


def test_an_unknown_command_names_the_nearest(hermes):
    """A misspelled command is refused with the closest one, and with how to list them."""
    expected = "error: no command /tldrr; did you mean 'tldr'?\nhint: run `hermes run` to list the commands\n"
    assert (1, "", expected) == hermes("run", "/tldrr", "text")


def test_a_command_of_a_plugin_that_is_off_says_so(hermes, home):
    """A command that a disabled plugin declares is refused with the command that enables the plugin."""
    home.plugin("greeter", "", name="greeter", provides_commands={"wave": "Wave"})
    done = hermes("run", "/wave")
    assert done.code == 1
    assert "hermes plugins enable greeter" in done.err


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        pytest.param(None, "No such file or directory", id="a file that is not there"),
        pytest.param(b"\xff\xfe\x00", "it is not UTF-8 text", id="a file that is no text"),
    ],
)
def test_a_file_that_cannot_be_read_is_one_line(hermes, greeter, tmp_path, content, reason):
    """An unreadable ``--file`` is refused with its name and the reason."""
    path = tmp_path / "in.txt"
    if content is not None:
        path.write_bytes(content)
    expected = (1, "", f"error: cannot read {path}: {reason}\nhint: name a readable text file\n")
    assert expected == hermes("run", "/wave", "--file", path)


def test_an_error_of_the_provider_keeps_its_hint(hermes, provider):
    """A provider's refusal inside a command is shown like any error of the host: one line, a hint, code 1."""
    provider.queue_response({"error": {"message": "bad key"}}, status=401)
    done = hermes("run", "/tldr", "text")
    assert (done.code, done.out) == (1, "")
    assert [line.partition(":")[0] for line in done.err.splitlines()] == ["error", "hint"]
