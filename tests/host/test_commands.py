"""Slash commands: how they are run, from threads and event loops, and what becomes of what they return."""

import asyncio

import pytest

from hermes_core.errors import HermesError, PluginError


@pytest.fixture
def host(home, load_host):
    """A host with a plugin whose commands do all sorts of things."""
    code = """
    import asyncio
    from hermes_core.plugins import current
    def register(ctx):
        ctx.register_command("echo", handler=lambda raw: raw, description=" Say it. ", args_hint=" <text> ")
        ctx.register_command("nothing", handler=lambda raw: None)
        ctx.register_command("who", handler=lambda raw: current.plugin_context().plugin_id)
        ctx.register_command("fails", handler=lambda raw: 1 / 0)
        ctx.register_command("loop", handler=lambda raw: asyncio.run(wait(raw)))
        ctx.register_command("later", handler=wait)
        ctx.register_command("plain", handler=lambda raw: "x")
    async def wait(raw):
        await asyncio.sleep(0)
        return f"waited {raw} as {current.plugin_context().plugin_id}"
    """
    home.plugin("acme", code, name="acme")
    return load_host(config={"plugins": {"enabled": ["acme"]}})


COMMANDS = pytest.mark.parametrize(
    ("name", "raw", "text"),
    [
        pytest.param("echo", "  two words  ", "two words", id="its arguments are trimmed"),
        pytest.param("/echo", "x", "x", id="a slash before the name"),
        pytest.param("nothing", "x", "", id="None is no text"),
        pytest.param("who", "", "acme", id="it runs as its plugin"),
        pytest.param("later", "x", "waited x as acme", id="an async handler"),
        pytest.param("loop", "x", "waited x as acme", id="a handler with a loop of its own"),
    ],
)


@COMMANDS
def test_a_command_is_run_to_its_end(host, name, raw, text):
    """A command's handler, async or not, is run to its end, and its text is returned."""
    assert host.run_command(name, raw) == text


@COMMANDS
def test_a_command_runs_inside_an_event_loop_r24_04(host, name, raw, text):
    """``run_command`` works from code that an event loop runs."""

    async def ask():
        return host.run_command(name, raw)

    assert asyncio.run(ask()) == text


@COMMANDS
def test_a_command_can_be_awaited(host, name, raw, text):
    """``arun_command`` is the same, without blocking the loop."""
    assert asyncio.run(host.arun_command(name, raw)) == text


def test_what_a_command_raises_goes_through(host):
    """What a handler raises reaches the caller as it is."""
    with pytest.raises(ZeroDivisionError):
        host.run_command("fails")


def test_an_unknown_command_is_an_error_with_a_suggestion(host):
    """A command that is not there is an error that suggests a close one."""
    with pytest.raises(HermesError, match="no command /ecko; did you mean 'echo'") as caught:
        host.run_command("/ecko")
    assert "hermes run" in caught.value.hint


@pytest.mark.parametrize(
    ("code", "config", "words"),
    [
        pytest.param("", {}, ["'shy'", "is off", "not enabled in config"], id="off"),
        pytest.param(
            "1 / 0", {"plugins": {"enabled": ["shy"]}}, ["'shy'", "is failed", "ZeroDivisionError"], id="failed"
        ),
    ],
)
def test_a_command_of_a_plugin_that_is_not_on_says_why_it_is_not_there(home, load_host, code, config, words):
    """A command declared by a plugin that is off or failed is an error with plugin, reason and remedy."""
    home.plugin("shy", code, name="shy", provides_commands=["whisper"])
    with pytest.raises(PluginError, match="/whisper belongs to plugin") as caught:
        load_host(config=config).run_command("Whisper")
    assert ([word for word in words if word not in str(caught.value)], bool(caught.value.hint)) == ([], True)


def test_a_command_says_what_it_is(host):
    """A command has its plugin, a description, and its arguments' hint, trimmed."""
    commands = host.commands
    assert (("acme", "Say it.", "<text>"), "Plugin command", sorted(commands)) == (
        (commands["echo"].plugin, commands["echo"].description.strip(), commands["echo"].args_hint),
        commands["plain"].description,
        [*commands],
    )


def test_the_bundled_commands_are_there(host):
    """The bundled commands are offered, and tell how they are used when they are given nothing."""
    assert (
        host.run_command("tldr"),
        host.run_command("paste-to-tasks", "  "),
    ) == ("Usage: /tldr <text to summarise>", "Usage: /paste-to-tasks <meeting notes>")


def test_a_plugin_that_is_loaded_for_its_command_alone(home, load_host):
    """Asking for commands imports the plugins that may offer one, and no provider."""
    home.plugin("model-providers/acme", "raise RuntimeError('imported')")
    host = load_host()
    assert ("tldr" in host.commands, "ready") == (True, host.plugin("acme").state)
