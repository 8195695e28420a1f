"""The tools of a host: who keeps a name, what a call returns."""

import json
import logging

import pytest

from hermes_core import Tool, hookimpl
from hermes_core.errors import PluginToolOverrideError
from hermes_core.tools.registry import ToolRegistry

OFFERS = """
def register(ctx):
    ctx.register_tool("roll", schema={{"name": "roll"}}, handler=lambda args, **_: "{word}", override={override})
"""


def offers(word, *, override=False):
    """The code of a plugin with a tool ``roll`` that answers with a word."""
    return OFFERS.format(word=word, override=override)


@pytest.fixture
def host(home, load_host):
    """Load a host with these plugins, folder → code; those granted may replace tools."""

    def load(plugins, *granted):
        for name, code in plugins.items():
            home.plugin(name, code, name=name)
        entries = {name: {"allow_tool_override": True} for name in granted}
        return load_host(config={"plugins": {"enabled": [*plugins], "entries": entries}})

    return load


@pytest.mark.parametrize(("first", "second"), [(True, False), (False, True)], ids=["before", "after"])
def test_a_granted_override_wins_wherever_it_stands_r06_03(host, first, second):
    """A plugin that may replace a tool has its way, whether it is found before the other or after it."""
    tools = host({"aa": offers("a", override=first), "bb": offers("b", override=second)}, "aa", "bb").tools
    assert tools.dispatch("roll", {}) == ("a" if first else "b")


def test_without_an_override_the_first_keeps_a_name(host, caplog):
    """A second plugin with a tool of the name is left out, and warned of with both."""
    tools = host({"aa": offers("a"), "bb": offers("b")}).tools
    with caplog.at_level(logging.WARNING):
        assert [tools.dispatch("roll", {}) for _ in range(2)] == ["a", "a"]
    assert "tool=roll plugin=bb reason=plugin 'aa' has one of that name" in caplog.text


ASKS = """
import threading
def ask(ctx):
    try:
        ctx.register_tool("roll", schema={"name": "roll"}, handler=lambda args, **_: "mine", override=True)
    except PermissionError as error:
        asked.append(error)
asked = []
def register(ctx):
    ctx.register_command("later", lambda raw: ask(ctx))
    ctx.asked = asked
    """
WAYS = {
    "directly": "ask(ctx)",
    "from a thread": "thread = threading.Thread(target=ask, args=(ctx,)); thread.start(); thread.join()",
    "later": "",
}


@pytest.mark.parametrize("way", WAYS)
def test_an_override_needs_the_operator_s_leave_r06_04(host, way):
    """Replacing a tool without leave is refused, however it is asked; the tool is the first one's, the key is named."""
    loaded = host({"aa": offers("a"), "bb": ASKS + WAYS[way]})
    loaded.run_command("later")
    for error in loaded.context("bb").asked:
        assert isinstance(error, PluginToolOverrideError)
        assert "plugins.entries.bb.allow_tool_override" in error.hint
    assert (len(loaded.context("bb").asked) >= 1, loaded.tools.dispatch("roll", {})) == (True, "a")


def test_a_hook_needs_leave_too(load_host, caplog):
    """A tool offered by a hook that asks to replace one is left out without the operator's leave."""

    class Plugin:
        @hookimpl
        def hermes_tools(self):
            yield Tool(name="roll", schema={"name": "roll"}, handler=lambda args, **_: "mine", override=True)

    host = load_host()
    context = host.program_context()
    context.registrations.natives.append(Plugin())
    host._registry._commit(context.manifest, context)
    host._registry.changed()
    with caplog.at_level(logging.WARNING):
        assert json.loads(host.tools.dispatch("roll", {})) == {"error": "Unknown tool: roll"}
    assert "allow_tool_override would let it" in caplog.text


def one(handler, **fields):
    """A registry with one tool ``roll``."""
    return ToolRegistry(lambda: [Tool(name="roll", schema={"name": "roll"}, handler=handler, **fields)])


async def async_handler(args, **context):
    """A handler that is to be awaited."""
    return {"eyes": 4}


@pytest.mark.parametrize(
    ("handler", "expected"),
    [
        (lambda args, **_: "four", "four"),
        (lambda args, **_: {"eyes": 4}, '{"eyes": 4}'),
        (async_handler, '{"eyes": 4}'),
        (lambda args, **_: 1 / 0, '{"error": "Tool execution failed: ZeroDivisionError: division by zero"}'),
        (lambda args, **_: exec("raise SystemExit(3)"), '{"error": "Tool execution failed: SystemExit: 3"}'),
        (lambda args, **_: object(), '{"error": "the tool returned an object, which is no JSON"}'),
    ],
    ids=["text", "a mapping", "async r07-05", "raises", "exits", "rubbish"],
)
def test_a_call_always_gives_text(handler, expected):
    """Whatever a tool does, its answer is text: its own, JSON, or an error in JSON."""
    assert one(handler).dispatch("roll", {}) == expected


def test_an_async_tool_is_run_inside_an_event_loop_too():
    """A blocking call from within an event loop gets the outcome of an async tool."""
    import asyncio

    async def call():
        return one(async_handler).dispatch("roll", {})

    assert asyncio.run(call()) == '{"eyes": 4}'


def test_an_interrupt_goes_through():
    """``KeyboardInterrupt`` in a tool is not swallowed."""
    with pytest.raises(KeyboardInterrupt):
        one(lambda args, **_: exec("raise KeyboardInterrupt")).dispatch("roll", {})


@pytest.mark.parametrize(
    ("check", "shown"), [(None, True), (lambda: True, True), (lambda: 0, False), (lambda: 1 / 0, False)]
)
def test_a_tool_is_shown_while_its_check_says_so(check, shown):
    """A tool whose check is false, or fails, is neither shown nor run."""
    registry = one(lambda args, **_: "x", check=check)
    assert ([*registry.tools()], len(registry.schemas()), "Unknown" in registry.dispatch("roll", {})) == (
        ["roll"] * shown,
        int(shown),
        not shown,
    )


def test_a_tool_gets_what_the_caller_says():
    """Arguments and context reach the handler as they are."""
    seen = []
    one(lambda args, **context: seen.append((args, context)) or "").dispatch("roll", {"of": 6}, task_id="t")
    assert seen == [({"of": 6}, {"task_id": "t"})]
