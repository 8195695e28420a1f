"""What a plugin hands to its context comes out as what the host knows."""

import asyncio
import logging
import threading
from pathlib import Path

import pytest

from hermes_core.errors import PluginContractError

SCHEMA = {"name": "roll", "description": "Roll a die.", "parameters": {"type": "object"}}


@pytest.fixture
def loaded(home, load_host):
    """Load a plugin whose ``register`` makes these calls; gives what it registered."""

    def load(*calls):
        lines = "".join(f"    ctx.{call}\n" for call in calls)
        home.plugin(
            "acme",
            f"SCHEMA = {SCHEMA!r}\ndef handle(args, **context): return 'x'\ndef register(ctx):\n{lines}",
            name="acme",
        )
        granted = {"entries": {"acme": {"allow_tool_override": True}}}
        host = load_host(config={"plugins": {"enabled": ["acme"], **granted}})
        _ = host.commands
        assert (host.plugin("acme").state, host.plugin("acme").reason) == ("loaded", "")
        return host.context("acme").registrations

    return load


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        pytest.param(
            "register_tool('roll', 'games', SCHEMA, handle, requires_env=['A'], is_async=1, emoji='x', override=1)",
            ("games", "Roll a die.", ("A",), True, "x", True),
            id="the published signature",
        ),
        pytest.param(
            "register_tool('roll', SCHEMA, handle)", ("", "Roll a die.", (), False, "", False), id="without a toolset"
        ),
        pytest.param(
            "register_tool(name='roll', toolset='t', schema=SCHEMA, handler=handle, description='Other')",
            ("t", "Other", (), False, "", False),
            id="by keyword",
        ),
    ],
)
def test_a_tool(loaded, call, expected):
    """A tool is taken in each of its spellings; its description is its own, else the schema's."""
    (tool,) = loaded(call).tools
    assert (tool.toolset, tool.description, tool.requires_env, tool.is_async, tool.emoji, tool.override) == expected
    assert (tool.name, tool.schema, tool.plugin, tool.handler({})) == ("roll", SCHEMA, "acme", "x")


def test_a_command_takes_newer_keywords(loaded):
    """A keyword that this host does not know is no reason to refuse a command."""
    (command,) = loaded("register_command('x', handle, argument_mode='text')").commands
    assert (command.name, command.plugin) == ("x", "acme")


def test_a_command_line_tree(loaded):
    """A command-line tree is kept with its help and its plugin."""
    (tree,) = loaded("register_cli_command('x', 'Do x.', handle, description='More.')").cli_commands
    assert (tree.name, tree.help, tree.description, tree.plugin) == ("x", "Do x.", "More.", "acme")


def test_a_hook_by_its_old_name(loaded):
    """A listener by an old hook name is kept under that name."""
    ((name, callback),) = loaded("register_hook('on_session_end', handle)").hooks
    assert (name, callback(None)) == ("on_session_end", "x")


def test_offers_come_out_of_hooks(home, load_host):
    """What ``register`` offered is answered by the same hooks that native plugins implement."""
    code = """
    from hermes_core import MemoryProvider
    class Notes(MemoryProvider):
        name = "notes"
        def is_available(self): return True
        def initialize(self, session_id, **kwargs): pass
        def get_tool_schemas(self): return []
    def register(ctx):
        ctx.register_memory_provider(Notes())
        ctx.register_tool("roll", {"name": "roll"}, lambda args: "4")
    """
    home.plugin("acme", code, name="acme")
    registry = load_host(config={"plugins": {"enabled": ["acme"]}})._registry
    memory = [offer for impl, offer in registry.offers("hermes_memory_providers") if impl.plugin.key == "acme"]
    tools = [offer for impl, offer in registry.offers("hermes_tools") if impl.plugin.key == "acme"]
    assert ([*memory[0]], [tool.name for tool in tools[0]]) == (["notes"], ["roll"])


def test_hooks_get_their_own_context(home, load_host):
    """Each implementation gets its own plugin's ``ctx``, and none unless it asks for it."""
    code = """
    from hermes_core import Command, hookimpl
    @hookimpl
    def hermes_commands(ctx):
        yield Command(name=f"who-{ctx.plugin_id}", handler=lambda raw: ctx.plugin_id)
    """
    for name in ("aa", "bb"):
        home.plugin(name, code, name=name)
    home.plugin("cc", code.replace("(ctx)", "()").replace("ctx.plugin_id", "'cc'"), name="cc")
    host = load_host(config={"plugins": {"enabled": ["aa", "bb", "cc"]}})
    assert [host.run_command(f"who-{name}") for name in ("aa", "bb", "cc")] == ["aa", "bb", "cc"]


def test_an_optional_hook_of_another_host_is_let_be(home, load_host):
    """A hook that this host does not have is no error when it is marked optional."""
    code = """
    from hermes_core import Command, hookimpl
    @hookimpl(optionalhook=True)
    def hermes_from_the_future(): pass
    @hookimpl(specname="hermes_commands")
    def my_commands(): return [Command(name="x", handler=lambda raw: "x")]
    """
    home.plugin("acme", code, name="acme")
    host = load_host(config={"plugins": {"enabled": ["acme"]}})
    assert (host.run_command("x"), host.plugin("acme").state) == ("x", "loaded")


EVERYTHING = """
from hermes_core import MemoryProvider, ProviderProfile

class Notes(MemoryProvider):
    name = "notes"
    def is_available(self): return True
    def initialize(self, session_id, **kwargs): pass
    def get_tool_schemas(self): return []

class Engine:
    name = "engine"
    def update_from_response(self, usage): pass
    def should_compress(self, prompt_tokens=None): return False
    def compress(self, messages, **kwargs): return messages

def register(ctx):
    ctx.handles = {
        "commands": ctx.register_command("shout", handler=str.upper),
        "cli_commands": ctx.register_cli_command("tree", "A tree.", setup_fn=print),
        "tools": ctx.register_tool("roll", {"name": "roll"}, print),
        "hooks": ctx.register_hook("on_session_end", print),
        "providers": ctx.register_provider(ProviderProfile("acme-llm", base_url="https://acme.test/v1")),
        "memory": ctx.register_memory_provider(Notes()),
        "skill": ctx.register_skill("cook", ctx.manifest.location),
        "auxiliary_task": ctx.register_auxiliary_task("rank", display_name="Rank", description="Rank things"),
        "context_engine": ctx.register_context_engine(Engine()),
        "platform": ctx.register_platform("irc", "IRC", adapter_factory=print, check_fn=bool),
        "slack_action_handler": ctx.register_slack_action_handler("ok", print),
        "image_gen_provider": ctx.register_image_gen_provider(Engine()),
    }
"""
NAMES = {
    "commands": ["shout"], "cli_commands": ["tree"], "tools": ["roll"], "hooks": ["on_session_end"],
    "providers": ["acme-llm"], "memory": ["notes"], "skill": ["cook"], "auxiliary_task": ["rank"],
    "context_engine": ["Engine"], "platform": ["irc"], "slack_action_handler": ["ok"],
    "image_gen_provider": ["Engine"],
}  # fmt: skip


@pytest.fixture
def acme(home, load_host):
    """The context of a plugin that is loaded from this code."""

    def load(code="def register(ctx): pass", **config):
        home.plugin("acme", code, name="acme")
        host = load_host(config={"plugins": {"enabled": ["acme"]}, **config})
        _ = host.commands
        assert (host.plugin("acme").state, host.plugin("acme").reason) == ("loaded", "")
        return host.context("acme")

    return load


def visible(host):
    """What the host shows of everything that ``EVERYTHING`` registers, where this host has a place for it."""
    registry = host._registry
    return {
        "commands": "shout" in host.commands,
        "cli_commands": "tree" in host.cli_commands,
        "tools": any(tools for _, tools in registry.offers("hermes_tools")),
        "providers": host.providers.get("acme-llm") is not None,
        "memory": any("notes" in names for _, names in registry.offers("hermes_memory_providers")),
    }


@pytest.mark.parametrize("kind", NAMES)
def test_a_registration_can_be_taken_back(acme, kind):
    """Every ``register_*`` returns a handle that takes that one registration back, at once, and no other."""
    ctx = acme(EVERYTHING)
    before = visible(ctx._host)
    ctx.handles[kind].dispose()
    assert visible(ctx._host) == {shown: shown != kind for shown in before}
    assert (set(before.values()), ctx.registrations.names()) == ({True}, {k: v for k, v in NAMES.items() if k != kind})


def test_taking_back_twice_takes_back_once(acme):
    """Disposing twice does nothing, even when the same thing has been registered again meanwhile."""
    ctx = acme("def register(ctx): ctx.first = ctx.register_hook('x', print)")
    ctx.first.dispose()
    ctx.register_hook("x", print)
    ctx.first.dispose()
    assert ctx.registrations.names() == {"hooks": ["x"]}


def test_of_two_equal_registrations_the_right_one_is_taken_back(acme):
    """A handle stands for one call: the other, of the same name, stays."""
    code = """
    def register(ctx):
        ctx.register_command("x", handler=lambda raw: "one")
        ctx.second = ctx.register_command("y", handler=lambda raw: "two")
        ctx.third = ctx.register_command("y", handler=lambda raw: "three")
    """
    ctx = acme(code)
    ctx.second.dispose()
    assert [ctx._host.run_command(name) for name in ("x", "y")] == ["one", "three"]


def test_a_memory_provider_that_was_replaced_takes_back_nothing(acme):
    """The handle of a memory provider that a later one of its name replaced leaves the later one alone."""
    ctx = acme(EVERYTHING)
    ctx.register_memory_provider(next(iter(ctx.registrations.memory.values()))())
    ctx.handles["memory"].dispose()
    assert ctx.registrations.names()["memory"] == ["notes"]


def test_a_handle_outlives_its_plugin(acme):
    """Disposing after the plugin was unloaded is harmless."""
    ctx = acme(EVERYTHING)
    host = ctx._host
    host.reload("acme")
    for handle in ctx.handles.values():
        handle.dispose()
    assert host.context("acme").registrations.names() == NAMES


def test_a_registration_may_come_from_another_thread(acme):
    """A plugin may register and take back whenever it likes, from any thread."""
    ctx = acme()
    seen = []

    def work(number):
        handle = ctx.register_command(f"c{number}", handler=str.upper)
        seen.append(f"c{number}" in ctx._host.commands)
        handle.dispose()

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (seen, ctx.registrations.commands) == ([True] * 8, [])


def test_what_this_host_does_not_use_is_kept_and_said_once(acme, caplog):
    """A registrar that this host has no use for is taken on trust, kept with its arguments, and told of once."""
    code = """
    def register(ctx):
        ctx.register_tts_provider("loud")
        ctx.register_tts_provider("soft", size=2)
        ctx.register_from_the_future(id="f")
    """
    with caplog.at_level(logging.INFO):
        ctx = acme(code)
    assert ctx.registrations.unused == {
        "tts_provider": [(("loud",), {}), (("soft",), {"size": 2})],
        "from_the_future": [((), {"id": "f"})],
    }
    said = [record.getMessage() for record in caplog.records if "registration kept" in record.getMessage()]
    assert [line.rpartition("kind=")[2] for line in said] == ["tts_provider", "from_the_future"]


@pytest.mark.parametrize(
    ("arguments", "keywords", "shown"),
    [
        pytest.param(("loud", 5), {}, "loud", id="a name by position"),
        pytest.param((5,), {"id": "loud"}, "loud", id="a name by keyword"),
        pytest.param((5, "secret"), {}, "int", id="an object, and a text that is no name"),
        pytest.param((), {"token": "secret"}, "str", id="a text that is no name"),
        pytest.param((), {}, "NoneType", id="nothing at all"),
    ],
)
def test_what_is_kept_is_shown_by_its_name_alone(acme, arguments, keywords, shown):
    """A registration of an unknown kind is shown by its name, else by its type; no other argument is shown."""
    ctx = acme()
    ctx.register_from_the_future(*arguments, **keywords)
    assert ctx.registrations.names() == {"from_the_future": [shown]}


def test_a_skill_is_kept_with_its_path(acme, tmp_path):
    """A skill's path may be text or a path."""
    ctx = acme()
    for path in (str(tmp_path), tmp_path):
        ctx.register_skill("cook", path, description="Cook.")
    kept = {"name": "cook", "path": Path(tmp_path), "description": "Cook."}
    assert ctx.registrations.unused["skill"] == [((), kept)] * 2


def test_an_auxiliary_task_has_defaults(acme):
    """A task is kept with the usual defaults under its own, and what is not known among those is kept too."""
    ctx = acme()
    for defaults in (None, {"timeout": 5, "colour": "red"}):
        ctx.register_auxiliary_task("rank", display_name="Rank", description="Rank things", defaults=defaults)
    usual = {"provider": "auto", "model": "", "base_url": "", "api_key": "", "timeout": 60, "extra_body": {}}
    kept = [keywords["defaults"] for _, keywords in ctx.registrations.unused["auxiliary_task"]]
    assert kept == [usual, usual | {"timeout": 5, "colour": "red"}]
    assert kept[0]["extra_body"] is not kept[1]["extra_body"]


TASK = {"display_name": "Rank", "description": "Rank things"}


@pytest.mark.parametrize(
    ("method", "arguments", "keywords", "said"),
    [
        pytest.param("skill", ("a:b", "/"), {}, "name must be letters", id="a skill with a colon in its name"),
        pytest.param("skill", ("", "/"), {}, "name must be letters", id="a skill without a name"),
        pytest.param("skill", ("a\n", "/"), {}, "name must be letters", id="a skill's name with a line break"),
        pytest.param("skill", (5, "/"), {}, "name must be text, got int", id="a skill whose name is no text"),
        pytest.param("skill", ("a", 5), {}, "path must be a path, got int", id="a skill whose path is none"),
        pytest.param("auxiliary_task", ("",), TASK, "key must be letters", id="a task without a key"),
        pytest.param("auxiliary_task", (None,), TASK, "key must be text", id="a task whose key is no text"),
        pytest.param("auxiliary_task", ("a-b",), TASK, "key must be letters", id="a task's key with a dash"),
        pytest.param("auxiliary_task", ("vision",), TASK, "'vision' is the host's own", id="a built-in task"),
        pytest.param(
            "auxiliary_task", ("a",), {**TASK, "defaults": []}, "defaults must be", id="defaults that are none"
        ),
        pytest.param("slack_action_handler", (" ", print), {}, "action_id must be some text", id="an empty action"),
        pytest.param("slack_action_handler", ("a", "b"), {}, "callback must be callable", id="an action of nothing"),
        pytest.param(
            "platform",
            ("a", "A", print, bool),
            {"emojy": "x"},
            "'emojy'; did you mean 'emoji'",
            id="an unknown keyword",
        ),
        pytest.param("command", (5, str), {}, "name must be text, got int", id="a command whose name is no text"),
        pytest.param("command", ("x", 5), {}, "handler must be callable, got int", id="a command of nothing"),
    ],
)
def test_a_wrong_argument_is_an_error_of_pythons_own_kinds(acme, method, arguments, keywords, said):
    """A wrong argument is a contract error that names plugin and method; it is a ValueError and a TypeError too."""
    with pytest.raises(PluginContractError, match=said) as caught:
        getattr(acme(), f"register_{method}")(*arguments, **keywords)
    assert (isinstance(caught.value, ValueError), isinstance(caught.value, TypeError)) == (True, True)
    assert str(caught.value).startswith(f"plugin 'acme': register_{method}: ")


def test_only_what_can_be_called_is_called_at_unloading(acme):
    """``on_unload`` with anything else is a TypeError, at once."""
    with pytest.raises(TypeError, match="plugin 'acme': on_unload: callback must be callable, got NoneType"):
        acme().on_unload(None)


def test_a_skill_that_is_not_there_is_an_error(acme, tmp_path):
    """A skill whose path leads nowhere is a FileNotFoundError that names both."""
    with pytest.raises(FileNotFoundError, match=r"plugin 'acme': register_skill: skill 'cook': there is no .*nowhere"):
        acme().register_skill("cook", tmp_path / "nowhere")


def test_an_argument_that_is_missing_is_a_type_error(acme):
    """The published signatures hold: what is missing is Python's own error."""
    with pytest.raises(TypeError, match="adapter_factory"):
        acme().register_platform("irc", "IRC")


@pytest.fixture
def neighbours(home, load_host):
    """The contexts of two loaded plugins."""
    for name in ("aa", "bb"):
        home.plugin(name, "def register(ctx): pass", name=name)
    host = load_host(config={"plugins": {"enabled": ["aa", "bb"]}})
    _ = host.commands
    return host.context("aa"), host.context("bb")


def test_an_auxiliary_task_belongs_to_whom_it_came_from(neighbours):
    """A task's key is its first owner's until that one takes it back; the owner itself may say it again."""
    ours, theirs = neighbours
    handles = [ours.register_auxiliary_task("rank", **TASK) for _ in range(2)]
    with pytest.raises(ValueError, match=r"plugin 'bb': .*'rank' is a task of plugin 'aa' already"):
        theirs.register_auxiliary_task("rank", **TASK)
    for handle in handles:
        handle.dispose()
    theirs.register_auxiliary_task("rank", **TASK)
    assert theirs.registrations.names() == {"auxiliary_task": ["rank"]}


class Engine:
    """What a context engine has to have."""

    name = "engine"

    def update_from_response(self, usage): ...

    def should_compress(self, prompt_tokens=None): ...

    def compress(self, messages, **kwargs): ...


def test_a_second_context_engine_is_ignored(neighbours, caplog):
    """One plugin's engine is there; a second one, whoever's, is a warning until the first is taken back."""
    ours, theirs = neighbours
    first = ours.register_context_engine(Engine())
    theirs.register_context_engine(Engine()).dispose()
    kept = theirs.registrations.names()
    first.dispose()
    theirs.register_context_engine(Engine())
    assert (kept, theirs.registrations.names()) == ({}, {"context_engine": ["Engine"]})
    assert "plugin=bb" in caplog.text
    assert "plugin 'aa' has registered one already" in caplog.text


@pytest.mark.parametrize(
    ("method", "value", "said"),
    [
        pytest.param("context_engine", Engine, "the class Engine is no context engine", id="the class of an engine"),
        pytest.param("context_engine", 5, "a int is no context engine", id="no context engine"),
        pytest.param("memory_provider", 5, "a int is no memory provider", id="no memory provider"),
    ],
)
def test_what_is_none_is_ignored_with_a_warning(acme, caplog, method, value, said):
    """An object of the wrong kind is a warning, no error, and the handle is harmless."""
    ctx = acme()
    getattr(ctx, f"register_{method}")(value).dispose()
    assert (ctx.registrations.names(), f"call=register_{method} reason={said}" in caplog.text) == ({}, True)


@pytest.mark.parametrize(
    "name", ["register_approval_transport", "register_platform_handler", "register_context_reference"]
)
def test_a_registrar_that_would_mislead_is_refused_with_a_warning(acme, caplog, name):
    """What a plugin would rely on, and this host never asks, is not kept: a warning says why; the plugin loads."""
    ctx = acme(f"def register(ctx): ctx.{name}('x', print).dispose()")
    assert (ctx.registrations.unused, f"call={name} reason=this host" in caplog.text) == ({}, True)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        pytest.param("call_mcp", "this host runs no MCP servers", id="MCP"),
        pytest.param("platform_actions", "this host has no gateway", id="platforms"),
        pytest.param("subagent_lifecycle", "this host has no subagents", id="subagents"),
        pytest.param("lllm", "did you mean 'llm'", id="a misspelt name"),
        pytest.param("regsiter_command", "did you mean 'register_command'", id="a misspelt registrar"),
    ],
)
def test_what_is_not_there_says_so(acme, name, said):
    """A plugin may look whether ``ctx`` has something; using what is not there is an error that says why."""
    ctx = acme()
    assert getattr(ctx, name, None) is None
    with pytest.raises(AttributeError, match=f"PluginContext has no attribute '{name}'.*{said}"):
        getattr(ctx, name)


def test_a_private_name_is_looked_up_quickly(acme):
    """A name with an underscore, which libraries look for all the time, gets no suggestion."""
    with pytest.raises(AttributeError, match=r"attribute '_ipython_display_'$"):
        _ = acme()._ipython_display_


def test_a_tool_that_nobody_has_is_an_answer(acme):
    """``dispatch_tool`` never raises: an unknown tool is an error in JSON."""
    assert acme().dispatch_tool("röll", {"sides": 6}, parent_agent=None) == '{"error": "Unknown tool: röll"}'


def test_a_message_has_nowhere_to_go(acme, caplog):
    """``inject_message`` says that no conversation is running, and returns False."""
    assert acme().inject_message("hello", role="system", session_key="s") is False
    assert "message not injected plugin=acme" in caplog.text


@pytest.mark.parametrize(
    ("name", "found"),
    [
        pytest.param("acme", True, id="itself"),
        pytest.param("commands/tldr", True, id="one that will be loaded when it is needed, by its key"),
        pytest.param("tldr", True, id="the same by its name"),
        pytest.param("off", False, id="one that is off"),
        pytest.param("broken", False, id="one that failed"),
        pytest.param("nobody", False, id="one that is not there"),
    ],
)
def test_a_plugin_can_ask_for_another(home, acme, name, found):
    """``has_plugin`` is true for what is loaded, or will be at its first use."""
    home.plugin("off", "", name="off")
    home.plugin("broken", "1 / 0", name="broken", provides_commands=["x"])
    ctx = acme(plugins={"enabled": ["acme", "broken"]})
    assert ctx.has_plugin(name) is found


def test_a_background_task_is_cancelled_when_the_plugin_goes(acme):
    """``spawn_task`` runs a coroutine as the plugin's own, from any thread's unloading it is cancelled."""
    code = """
    import asyncio
    from hermes_core.plugins import current
    async def work(started):
        started.append(current.plugin_context().plugin_id)
        await asyncio.Event().wait()
    def register(ctx): ctx.work = work
    """
    ctx, started = acme(code), []

    async def live():
        task = ctx.spawn_task(ctx.work(started))
        await asyncio.sleep(0)
        await asyncio.to_thread(ctx._host.reload, "acme")
        await asyncio.wait([task])
        return task.cancelled()

    assert (asyncio.run(live()), started) == (True, ["acme"])


def test_a_background_task_has_a_result(acme):
    """The task that ``spawn_task`` returns can be awaited."""

    async def live():
        return await acme().spawn_task(asyncio.sleep(0, "rested"))

    assert asyncio.run(live()) == "rested"


def test_a_background_task_that_fails_is_told_of(acme, caplog):
    """What a background task raises is one warning with the plugin's name, and ends nothing else."""

    async def fail():
        raise LookupError("lost")

    async def live(ctx):
        await asyncio.wait([ctx.spawn_task(fail())])
        return "alive"

    assert asyncio.run(live(acme())) == "alive"
    assert caplog.messages == ["background task failed plugin=acme error=LookupError: lost"]


def test_a_background_task_needs_an_event_loop(acme):
    """Without a running event loop ``spawn_task`` is an error, and the coroutine is closed."""
    with pytest.raises(RuntimeError, match="plugin 'acme': spawn_task needs a running event loop"):
        acme().spawn_task(asyncio.sleep(0))


def test_unloading_after_the_loop_has_gone_is_harmless(acme):
    """A plugin whose tasks' event loop was closed is unloaded like any other."""
    ctx = acme()

    async def live():
        ctx.spawn_task(asyncio.sleep(60))

    asyncio.run(live())
    assert ctx._host.reload("acme").state == "loaded"
