"""What a plugin hands to its context comes out as what the host knows."""

import pytest

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
        host = load_host(config={"plugins": {"enabled": ["acme"]}})
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
