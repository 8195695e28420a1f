"""Slash commands: how they are run, from threads and event loops, and what becomes of what they return."""

import asyncio
import gc
import logging
import threading

import pytest

from hermes_core import Command
from hermes_core.errors import CommandError, CommandTimeoutError, HermesError, PluginContractError, PluginError


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
        ctx.register_command("count", handler=len)
        ctx.register_command("falsy", handler=lambda raw: False)
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
        pytest.param("count", "four", "4", id="a number is shown as text"),
        pytest.param("falsy", "", "False", id="a value that counts as false is shown too"),
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


FAILING = """
import asyncio
import sys
from hermes_core import HermesError
class Unprintable:
    def __str__(self): raise LookupError("no text")
async def later(error):
    await asyncio.sleep(0)
    raise error
def register(ctx):
    ctx.register_command("raises", handler=lambda raw: 1 / 0)
    ctx.register_command("exits", handler=lambda raw: sys.exit(3))
    ctx.register_command("later", handler=lambda raw: later(KeyError("k")))
    ctx.register_command("exits-later", handler=lambda raw: later(SystemExit(3)))
    ctx.register_command("times-out", handler=lambda raw: later(TimeoutError("the server slept")))
    ctx.register_command("unprintable", handler=lambda raw: Unprintable())
    ctx.register_command("lines", handler=lambda raw: open("two\\nlines"))
    ctx.register_command("meant", handler=lambda raw: later(HermesError("no such city", hint="name another")))
    ctx.register_command("interrupts", handler=lambda raw: later(KeyboardInterrupt()))
"""


@pytest.fixture
def failing(home, load_host):
    """A host with a plugin whose commands fail in all sorts of ways."""
    home.plugin("acme", FAILING, name="acme")
    return load_host(config={"plugins": {"enabled": ["acme"]}})


@pytest.fixture(params=["in a thread", "in an event loop", "awaited"])
def run(request):
    """``run_command`` or its twin, from each place it may be called from."""

    async def ask(host, *words):
        return host.run_command(*words)

    async def wait(host, *words):
        return await host.arun_command(*words)

    inside = {"in an event loop": ask, "awaited": wait}.get(request.param)
    return (lambda host, *words: asyncio.run(inside(host, *words))) if inside else lambda host, *w: host.run_command(*w)


@pytest.mark.parametrize(
    ("name", "said", "cause"),
    [
        pytest.param("raises", "ZeroDivisionError: division by zero", ZeroDivisionError, id="it raises"),
        pytest.param("exits", "SystemExit: 3", SystemExit, id="it tries to end the process"),
        pytest.param("later", "KeyError: 'k'", KeyError, id="it raises after awaiting"),
        pytest.param("exits-later", "SystemExit: 3", SystemExit, id="it tries to end the process after awaiting"),
        pytest.param("times-out", "TimeoutError: the server slept", TimeoutError, id="a time limit of its own"),
        pytest.param("unprintable", "LookupError: no text", LookupError, id="its answer has no text"),
        pytest.param("lines", "No such file", FileNotFoundError, id="a message of several lines"),
    ],
)
def test_a_handler_that_fails_is_one_error_with_its_names(failing, run, name, said, cause):
    """Whatever a handler raises reaches the caller as one ``CommandError`` of one line, which names the plugin."""
    with pytest.raises(CommandError) as caught:
        run(failing, name)
    assert type(caught.value) is CommandError
    assert str(caught.value).startswith(f"/{name} (plugin 'acme') failed: ")
    assert (said in str(caught.value), len(str(caught.value).splitlines()), caught.value.plugin) == (True, 1, "acme")
    assert isinstance(caught.value.__cause__, cause)


@pytest.mark.parametrize("name", ["later", "exits-later", "meant"])
def test_what_a_handler_raises_is_told_once(failing, caplog, name):
    """What the caller was told by an exception is not told again when the event loop is thrown away."""
    with pytest.raises(HermesError):
        failing.run_command(name)
    gc.collect()
    assert [message for message in caplog.messages if message.startswith(f"/{name} ")] == []


def test_an_error_of_the_host_goes_through_with_its_hint(failing, run):
    """A ``HermesError`` that a handler raises is already fit to be shown, and is left as it is."""
    with pytest.raises(HermesError, match=r"^no such city$") as caught:
        run(failing, "meant")
    assert (type(caught.value), caught.value.hint) == (HermesError, "name another")


def test_a_keyboard_interrupt_in_a_handler_goes_through(failing):
    """Whoever presses Ctrl-C ends the program, and not just the command."""
    with pytest.raises(KeyboardInterrupt):
        failing.run_command("interrupts")


def test_a_failure_holds_no_secret(home, load_host):
    """What a handler's error says is shown without any key the host knows."""
    home.plugin("acme", "def register(ctx): ctx.register_command('x', handler=lambda raw: {}[raw])", name="acme")
    host = load_host(config={"plugins": {"enabled": ["acme"]}, "acme": {"api_key": "key-of-acme"}})
    with pytest.raises(CommandError, match=r"KeyError: '\[redacted\]'"):
        host.run_command("x", "key-of-acme")


SLOW = """
import asyncio
async def forever(raw):
    await asyncio.Event().wait()
async def stubborn(raw):
    while True:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            if raw == "once":
                raw = ""
                continue
            raise
async def leaves_one_behind(raw):
    task = asyncio.get_running_loop().create_task(forever(raw))
    task.add_done_callback(lambda task: ended.append(task.cancelled()))
    await asyncio.sleep(0)
    return "done"
ended = []
def register(ctx):
    ctx.ended = ended
    ctx.register_command("forever", handler=forever)
    ctx.register_command("stubborn", handler=stubborn)
    ctx.register_command("leaves", handler=leaves_one_behind)
    ctx.register_command("next", handler=lambda raw: "here")
"""


@pytest.fixture
def slow(home, load_host):
    """A host with commands that never end, and a short limit."""

    def load(seconds=0.05):
        home.plugin("acme", SLOW, name="acme")
        return load_host(config={"plugins": {"enabled": ["acme"], "command_timeout": seconds}})

    return load


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(["forever"], id="one that waits"),
        pytest.param(["stubborn", "once"], id="one that does not heed being cancelled"),
    ],
)
def test_an_async_command_that_never_ends_is_cut_off_r07_08(slow, run, words):
    """An async handler that awaits forever is a ``TimeoutError`` after the limit, and the next command works."""
    host = slow()
    with pytest.raises(CommandTimeoutError, match=r"^/\w+ \(plugin 'acme'\) took longer than 0\.05 s") as caught:
        run(host, *words)
    assert (isinstance(caught.value, TimeoutError), "plugins.command_timeout" in caught.value.hint) == (True, True)
    assert run(host, "next") == "here"


def test_a_command_leaves_no_task_running(slow):
    """What a handler left running in its event loop is cancelled, not waited for."""
    host = slow()
    assert (host.run_command("leaves"), host.context("acme").ended) == ("done", [True])


def test_a_task_left_behind_that_fails_is_a_warning(home, load_host, caplog):
    """A task that nobody awaited and that raised is told of in one line with the plugin's name, no traceback."""
    code = """
    import asyncio
    async def fail(): raise LookupError("lost")
    async def handler(raw):
        asyncio.get_running_loop().create_task(fail())
        await asyncio.sleep(0)
        return "done"
    def register(ctx): ctx.register_command("x", handler=handler)
    """
    home.plugin("acme", code, name="acme")
    assert load_host(config={"plugins": {"enabled": ["acme"]}}).run_command("x") == "done"
    gc.collect()
    assert caplog.messages == ["/x (plugin 'acme') left a task behind that failed: LookupError: lost"]


@pytest.mark.parametrize("seconds", [0, -1, 60, 1e300])
def test_a_limit_that_is_not_reached_changes_nothing(slow, seconds):
    """Zero and less mean no limit, and a long one is only a limit."""
    assert slow(seconds).run_command("leaves") == "done"


@pytest.mark.parametrize("seconds", ["10", None, True, [1]])
def test_a_limit_that_is_no_number_is_warned_of(slow, caplog, seconds):
    """``plugins.command_timeout`` that is no number is warned of, and the usual limit stays."""
    assert slow(seconds).run_command("next") == "here"
    assert "plugins.command_timeout must be a number of seconds" in caplog.text


def test_a_handler_that_blocks_is_not_cut_off(home, load_host):
    """The limit is for handlers that await: one that blocks runs to its end."""
    code = "import time\ndef register(ctx): ctx.register_command('x', handler=lambda raw: time.sleep(0.1) or 'end')"
    home.plugin("acme", code, name="acme")
    host = load_host(config={"plugins": {"enabled": ["acme"], "command_timeout": 0.01}})
    assert host.run_command("x") == "end"


def test_an_awaited_command_lets_the_loop_go_on(home, load_host):
    """While ``arun_command`` waits for a handler that blocks, the event loop runs other things."""
    code = "import time\ndef register(ctx): ctx.register_command('x', handler=lambda raw: ctx.release.wait(30))"
    home.plugin("acme", code, name="acme")
    host = load_host(config={"plugins": {"enabled": ["acme"]}})
    host.context("acme").release = threading.Event()

    async def both():
        command = asyncio.create_task(host.arun_command("x"))
        await asyncio.sleep(0)
        host.context("acme").release.set()
        return await command

    assert asyncio.run(both()) == "True"


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
        (commands["echo"].plugin, commands["echo"].description, commands["echo"].args_hint),
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


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        pytest.param("Fought For", "fought-for", id="capitals and a blank"),
        pytest.param("  /fought_for ", "fought-for", id="a slash, an underscore, blanks around"),
        pytest.param("a__b", "a--b", id="each underscore is a dash"),
        pytest.param("/", "", id="nothing but a slash"),
    ],
)
def test_a_native_command_is_spelled_like_any_other(written, kept):
    """A ``Command`` keeps its name in the one spelling, and has a description."""
    command = Command(name=written, handler=str.upper, description=None, args_hint=None)
    assert (command.name, command.description, command.args_hint) == (kept, "Plugin command", "")


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        pytest.param({"name": 5, "handler": str.upper}, "name must be text, got int", id="a name that is no text"),
        pytest.param({"name": "x", "handler": "y"}, "handler must be callable, got str", id="no handler"),
    ],
)
def test_a_native_command_that_cannot_be_one_is_refused(fields, said):
    """A ``Command`` without a name or a handler is an error where it is made."""
    with pytest.raises(PluginContractError, match=said):
        Command(**fields)


def offering(name, word="who"):
    """A plugin's code: it offers one command that answers with the plugin's name."""
    return f"def register(ctx): ctx.register_command({word!r}, handler=lambda raw: {name!r})"


def test_within_a_tier_the_first_keeps_a_command(home, load_host, caplog):
    """Two plugins of one tier offer one name: the first keeps it, and one warning names both."""
    for name, word in (("aa", "who"), ("bb", "/Who ")):
        home.plugin(name, offering(name, word), name=name)
    host = load_host(config={"plugins": {"enabled": ["aa", "bb"]}})
    assert [host.run_command("who") for _ in range(2)] == ["aa", "aa"]
    (warning,) = [record.getMessage() for record in caplog.records if "command ignored" in record.getMessage()]
    expected = [
        "command=/who",
        "plugin=bb",
        str(home.path / "plugins" / "bb"),
        "plugin aa",
        str(home.path / "plugins" / "aa"),
    ]
    assert [words for words in expected if words not in warning] == []


def test_a_plugin_that_offers_a_command_twice_is_warned_of(home, load_host, caplog):
    """Within one plugin, too, the first keeps the name."""
    home.plugin("aa", f"{offering('one')}; ctx.register_command('who', handler=lambda raw: 'two')", name="aa")
    assert load_host(config={"plugins": {"enabled": ["aa"]}}).run_command("who") == "one"
    assert "command ignored command=/who plugin=aa" in caplog.text


def test_across_tiers_the_higher_one_wins_and_nobody_is_warned(home, load_host, site, caplog):
    """A folder in the home replaces a package's command, which is what it is there for."""
    site.install("pip-acme", {"hermes": {"pip": "pip_mod"}}, pip_mod=offering("pip"))
    home.plugin("mine", offering("mine"), name="mine")
    with caplog.at_level(logging.WARNING):
        assert load_host(config={"plugins": {"enabled": ["mine"]}}).run_command("who") == "mine"
    assert caplog.messages == []


def test_a_command_taken_back_gives_its_name_to_the_next(home, load_host):
    """When the plugin that had a name takes its command back, the other plugin's is found."""
    home.plugin("aa", offering("aa").replace("ctx.reg", "ctx.mine = ctx.reg"), name="aa")
    home.plugin("bb", offering("bb"), name="bb")
    host = load_host(config={"plugins": {"enabled": ["aa", "bb"]}})
    before = host.run_command("who")
    host.context("aa").mine.dispose()
    assert (before, host.run_command("who")) == ("aa", "bb")


def test_a_declared_command_is_known_by_any_spelling(home, load_host):
    """A manifest may write a command with an underscore; whoever types it is told why it is off."""
    home.plugin("shy", "", name="shy", provides_commands=["soft_whisper"])
    with pytest.raises(PluginError, match="/soft-whisper belongs to plugin 'shy'"):
        load_host().run_command("soft-whisper")
