"""Broken configuration, and secrets."""

import logging

import pytest

SECRET = "sk-live-0123456789abcdef"

BROKEN = "model:\n  provider: custom\n bad: [\n"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        pytest.param(BROKEN, "line 3: ", id="a mistake in a line"),
        pytest.param("- a\n- b\n", "it must hold a mapping, not a list", id="a list"),
        pytest.param("model: \xff".encode("latin-1"), "", id="no UTF-8"),
    ],
)
def test_a_broken_configuration_is_named_with_its_place(shell, home, text, reason):
    """Every command that reads a broken config.yaml warns with the file, the line and what follows from it."""
    path = home.write("config.yaml", text)
    for words in (["plugins", "list"], ["providers", "list"], ["run"]):
        done = shell(*words)
        assert done.code == 0
        (warning,) = done.err.splitlines()
        assert warning.startswith("warning: cannot ")
        assert str(path) in warning
        assert reason in warning


@pytest.mark.parametrize("action", ["enable", "disable"])
def test_a_broken_configuration_is_never_written(shell, home, action):
    """A command that would change a broken config.yaml refuses, with the line, and leaves it as it is."""
    path = home.write("config.yaml", BROKEN)
    done = shell("plugins", action, "tldr")
    assert (done.code, done.out) == (1, "")
    errors = [line for line in done.err.splitlines() if not line.startswith("warning: ")]
    assert errors[0].startswith(f"error: cannot read {path}, line 3: ")
    assert errors[1] == "hint: mend the file; nothing in it was changed"
    assert path.read_text() == BROKEN


def test_a_broken_configuration_sends_nothing_elsewhere(shell, home, provider):
    """While config.yaml cannot be read, a question does not go to whichever provider happens to have a key."""
    home.write("config.yaml", BROKEN)
    done = shell("llm", "a private question", OPENAI_API_KEY=SECRET, OPENAI_BASE_URL=provider.base_url)
    assert (done.code, provider.requests) == (1, [])
    assert "line 3" in done.err


@pytest.mark.parametrize("words", [["providers", "show", "openai"], ["providers", "list"], ["plugins", "list"]])
@pytest.mark.parametrize("flags", [[], ["--json"]], ids=["for people", "for programs"])
def test_no_list_shows_a_key(shell, home, words, flags):
    """A key in the configuration, in .env or in the environment is on no screen."""
    home.config({"model": {"provider": "openai", "api_key": SECRET, "default_headers": {"X-Key": SECRET}}})
    home.write(".env", f"OPENROUTER_API_KEY={SECRET}\n")
    done = shell(*words, *flags, OPENAI_API_KEY=SECRET)
    assert done.code == 0
    assert SECRET not in done.out + done.err


def test_no_header_value_of_a_profile_is_shown(hermes, home):
    """``show`` names a profile's headers, and not what is in them."""
    home.plugin("acme", name="acme", profile={"base_url": "https://acme.test/v1", "default_headers": {"X-Key": SECRET}})
    for flags in ([], ["--json"]):
        done = hermes("providers", "show", "acme", *flags)
        assert "X-Key" in done.out
        assert SECRET not in done.out


@pytest.mark.parametrize("words", [["providers", "show", "acme"], ["providers", "list"]], ids=" ".join)
def test_a_list_shows_no_part_of_a_key_r20_07(hermes, home, words):
    """Where a list would have to show a secret, it says that one is configured."""
    address = "https://ann:{0}@acme.test/v1?key={0}&x=1"
    home.plugin("acme", name="acme", profile={"base_url": address.format(SECRET)})
    shown = address.format("[configured]")
    assert shown in hermes(*words).out
    found = hermes(*words, "--json").json
    assert shown in {row["base_url"] for row in (found if isinstance(found, list) else [found])}


def test_an_answer_is_printed_as_it_is_but_for_keys_of_this_home(shell, home, provider):
    """What a model says may hold examples of keys; only those that this home has read are left out."""
    home.config({"model": {**provider.config["model"], "api_key": SECRET}})
    example = "curl -H 'Authorization: Bearer abc123def456' https://ann:pass1word@acme.test?key=abcdef123456"
    for flags in ([], ["--json"]):
        provider.queue(f"{example} {SECRET}")
        done = shell("llm", "ping", *flags)
        assert f"{example} [redacted]" in (done.json["text"] if flags else done.out)


@pytest.mark.parametrize(
    ("text", "action"),
    [
        pytest.param("password: *{secret}\n", "list", id="a password that begins like an alias"),
        pytest.param("password: !{secret} x\n", "list", id="a password that begins like a tag"),
        pytest.param("api_key: {secret}\napi_key: b\n", "enable", id="a key that is there twice"),
        pytest.param("api_key: {secret}\n\tb: 1\n", "enable", id="a mistake below a key"),
    ],
)
def test_a_broken_configuration_is_not_quoted(shell, home, text, action):
    """The error about a file that cannot be read names the line and quotes nothing of it."""
    home.write("config.yaml", text.format(secret="zebrafish"))
    done = shell("plugins", action, *(["tldr"] if action == "enable" else []))
    assert "line " in done.err
    assert "zebrafish" not in done.out + done.err


def test_no_error_shows_a_key(shell, home, provider):
    """A provider that quotes the key back does not bring it to the screen, nor into a log."""
    home.config({"model": {**provider.config["model"], "api_key": SECRET}})
    for _ in range(8):
        provider.queue_response({"error": {"message": f"invalid key {SECRET}"}}, status=401)
    done = shell("llm", "ping")
    assert f"Bearer {SECRET}" == provider.requests[0].headers["authorization"]
    assert "invalid key [redacted]" in done.err
    assert SECRET not in done.err + "".join(path.read_text() for path in (home.path / "logs").iterdir())


def test_no_plugin_brings_a_key_to_the_screen(shell, home):
    """A plugin that fails with the configured key in its message does not bring it to the screen."""
    home.config({"model": {"provider": "custom", "api_key": SECRET}, "plugins": {"enabled": ["leak"]}})
    code = f"""
        def register(ctx):
            def leak(raw):
                raise RuntimeError("cannot log in with {SECRET}")
            ctx.register_command("leak", handler=leak)
        """
    home.plugin("leak", code, name="leak", provides_commands=["leak"])
    done = shell("run", "/leak")
    assert done.code == 1
    assert SECRET not in done.err


def test_warnings_are_kept_in_the_home(hermes, home):
    """What ``hermes run`` warns of is kept in errors.log, with time and place."""
    home.config({"plugins": {"enabled": ["broken"]}})
    home.plugin("broken", "raise RuntimeError('not today')", name="broken")
    hermes("run")
    (line,) = (home.path / "logs" / "errors.log").read_text().splitlines()
    assert line.endswith("error=RuntimeError: not today")
    assert " WARNING hermes_core." in line


def test_a_home_that_is_a_file_is_one_line(shell, home):
    """A HERMES_HOME that is no folder is no traceback."""
    home.path.write_text("not a folder")
    done = shell("plugins", "enable", "tldr")
    assert done.code == 1
    assert "Traceback" not in done.err


def test_a_variable_of_the_home_reaches_plugins(hermes, home):
    """``hermes run`` sets the variables of .env for plugins, but for those that a provider calls its key."""
    home.write(".env", f"GREETING=hello\nOPENAI_API_KEY={SECRET}\n")
    home.config({"plugins": {"enabled": ["env"]}})
    code = """
        import os
        def register(ctx):
            shown = lambda raw: f"{os.environ.get('GREETING')} {os.environ.get('OPENAI_API_KEY')}"
            ctx.register_command("env", handler=shown)
        """
    home.plugin("env", code, name="env", provides_commands=["env"])
    assert hermes("run", "/env") == (0, "hello None\n", "")


def test_commands_leave_no_handler_on_the_root_logger(hermes):
    """Warnings are shown by a handler of the host's own logger."""
    before = [*logging.getLogger().handlers]
    hermes("run")
    assert before == logging.getLogger().handlers
