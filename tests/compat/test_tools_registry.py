"""``tools.registry``: tools under the original's names."""

import asyncio
import json

import pytest
from tools.registry import registry, tool_error, tool_result

PLUGIN = """
from tools.registry import registry, tool_result

SCHEMA = {"name": "shout", "description": "Say it louder.", "parameters": {"type": "object", "properties": {}}}

def shout(args, **context):
    return tool_result(said=args["word"].upper())

async def whisper(args, **context):
    return args["word"].lower()

registry.register("whisper", "talk", SCHEMA, whisper, is_async=True, newer_option=1)

def register(ctx):
    ctx.register_tool("shout", "talk", SCHEMA, shout)
    ctx.register_tool("count", "talk", SCHEMA, lambda args, **context: {"count": 3})
    ctx.register_tool("leave", "talk", SCHEMA, lambda args, **context: exit(3))
"""


@pytest.fixture
def talk(home):
    """A plugin with tools."""
    home.plugin("talk", PLUGIN, name="talk")
    home.config({"plugins": {"enabled": ["talk"]}})


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (tool_error("no"), {"error": "no"}),
        (tool_error(ValueError("no"), code=3), {"error": "no", "code": 3}),
        (tool_result({"a": 1}), {"a": 1}),
        (tool_result({"a": 1}, b=2), {"a": 1, "b": 2}),
        (tool_result(success=True), {"success": True}),
        (tool_result([1, "é"]), [1, "é"]),
        (tool_result(), {}),
        (tool_result(path=json), {"path": str(json)}),
    ],
)
def test_answers_are_json(made, expected):
    """``tool_error`` and ``tool_result`` give JSON texts."""
    assert expected == json.loads(made)


@pytest.mark.parametrize("text", ["é 茶", "half \ud83d"])
def test_answers_can_be_sent(text):
    """Whatever is in it, an answer can be encoded, and comes back as it was."""
    assert text == json.loads(tool_error(text).encode().decode())["error"]


def test_tools_are_listed_and_looked_up(talk):
    """Every tool of an enabled plugin is there, with its schema; an unknown one is None."""
    assert registry.get_all_tool_names() == ["count", "leave", "shout", "whisper"]
    entry = registry.get_entry("shout")
    assert (entry.schema["name"], entry.toolset, registry.get_entry("nowhere")) == ("shout", "talk", None)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("shout", '{"said": "TEA"}'),
        ("whisper", "tea"),
        ("count", '{"count": 3}'),
        ("nowhere", '{"error": "Unknown tool: nowhere"}'),
    ],
)
def test_a_tool_is_run_to_its_end(talk, name, expected):
    """A tool's answer is text, also when it is async, or answers with a mapping; an unknown tool is an error."""
    assert expected == registry.dispatch(name, {"word": "Tea"}, task_id="t")


def test_an_async_tool_runs_inside_an_event_loop(talk):
    """An async tool is awaited where an event loop is running already."""

    async def call():
        return registry.dispatch("whisper", {"word": "Tea"})

    assert asyncio.run(call()) == "tea"


def test_an_async_tool_runs_as_its_plugins_code(home, load_host):
    """What an async tool asks through a shim is answered by the host that its plugin belongs to."""
    home.plugin(
        "who",
        """
        from hermes_cli.plugins import get_plugin_manager

        async def who(args, **context):
            return str(id(get_plugin_manager()._host))

        def register(ctx):
            ctx.register_tool("who", "talk", {"name": "who"}, who, is_async=True)
        """,
        name="who",
    )
    other = load_host(home.path, config={"plugins": {"enabled": ["who"]}}, say=print)
    assert other.tools.dispatch("who", {}) == str(id(other))


@pytest.mark.parametrize(("name", "args"), [("shout", {}), ("whisper", {}), ("leave", {})])
def test_a_tool_that_fails_answers_with_an_error(talk, name, args):
    """What a tool raises, ``SystemExit`` included, is an answer with an ``error``."""
    assert "Tool execution failed" in json.loads(registry.dispatch(name, args))["error"]


def test_a_program_may_offer_a_tool_and_take_it_back(home):
    """``register`` outside any plugin offers a tool of the program's; ``deregister`` takes it back."""
    registry.register("mine", "own", {"name": "mine"}, lambda args, **context: "yes")
    assert registry.dispatch("mine", {}) == "yes"
    registry.deregister("mine")
    registry.deregister("mine")
    assert registry.get_entry("mine") is None
