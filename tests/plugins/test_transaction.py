"""Loading is all or nothing: what fails leaves no trace, and disturbs nobody."""

import logging
import sys
from textwrap import dedent, indent

import pytest

NEIGHBOUR = """
from hermes_core import ProviderProfile
def register(ctx):
    ctx.register_provider(ProviderProfile("neighbour", base_url="https://neighbour.test/v1"))
    ctx.register_command("neighbour", handler=lambda raw: "here")
"""
REGISTERS_ALL = """
from hermes_core import ProviderProfile
def register(ctx):
    ctx.register_command("half", handler=str.upper)
    ctx.register_cli_command("half", help="Half.", setup_fn=lambda parser: None)
    ctx.register_tool("half", "half", {"name": "half"}, lambda args: "")
    ctx.register_hook("on_session_end", lambda **_: None)
    ctx.register_provider(ProviderProfile("half", base_url="https://half.test/v1"))
    ctx.on_unload(lambda: print("unloaded"))
"""
NATIVE_ALL = """
from hermes_core import Command, ProviderProfile, Tool, hookimpl
@hookimpl
def hermes_provider_profiles():
    yield ProviderProfile("half", base_url="https://half.test/v1")
@hookimpl
def hermes_commands():
    yield Command(name="half", handler=str.upper)
@hookimpl
def hermes_tools():
    yield Tool(name="half", schema={}, handler=lambda args: "")
@hookimpl
def hermes_turn_end(turn):
    print(turn)
"""
SILENT_ERROR = """
class Silent(Exception):
    def __str__(self):
        raise ValueError("no text")
"""


LEAVES_A_TRACE = """
from pathlib import Path
with open(Path(__file__).with_name("it-ran"), "a") as file:
    file.write("x")
"""


def registering(*last_lines):
    """Code that registers everything, and then these lines of ``register``."""
    return REGISTERS_ALL + indent("\n".join(last_lines), "    ")


FAILURES = [
    pytest.param("import nonexistent_module", "nonexistent_module", id="an import error"),
    pytest.param("def register(ctx:", "SyntaxError", id="a syntax error"),
    pytest.param(registering("raise RuntimeError('boom')"), "RuntimeError: boom", id="register raises r02-01"),
    pytest.param(registering("import sys", "sys.exit(3)"), "SystemExit: 3", id="register exits"),
    pytest.param("import sys\nsys.exit(3)", "SystemExit: 3", id="the module exits r01-05"),
    pytest.param("raise GeneratorExit", "GeneratorExit", id="the module raises a BaseException"),
    pytest.param(SILENT_ERROR + "raise Silent", "Silent", id="an error without text r01-08"),
    pytest.param(SILENT_ERROR + registering("raise Silent"), "Silent", id="register raises an error without text"),
    pytest.param("raise ValueError('\\ud800')", "ValueError", id="an error whose text cannot be written"),
    pytest.param("def register(ctx): return ctx.nonsense", "nonsense", id="an unknown attribute of the context"),
    pytest.param("def register(ctx): ctx.register_command('half', handler=5)", "handler", id="a handler that is none"),
    pytest.param("def register(ctx, more): pass", "more", id="a register with another signature"),
    pytest.param(
        NATIVE_ALL + "@hookimpl\ndef hermes_comands(): pass", "did you mean 'hermes_commands'", id="an unknown hook"
    ),
    pytest.param(
        NATIVE_ALL + "@hookimpl\ndef hermes_session_end(sesion): pass", "sesion", id="an unknown argument of a hook"
    ),
    pytest.param(
        NATIVE_ALL + "@hookimpl(wrapper=True)\ndef hermes_api_modes():\n    return (yield)", "wrapper", id="a wrapper"
    ),
    pytest.param(
        NATIVE_ALL + "@hookimpl(hookwrapper=True)\ndef hermes_api_modes():\n    yield", "wrapper", id="an old wrapper"
    ),
    pytest.param(
        NATIVE_ALL + "@hookimpl(tryfirst=True, trylast=True)\ndef hermes_api_modes(): return []",
        "tryfirst and trylast",
        id="first and last at once",
    ),
    pytest.param(
        NATIVE_ALL + "@hookimpl\nasync def hermes_api_modes(): return []", "is async", id="an offer to be awaited"
    ),
    pytest.param(
        NATIVE_ALL + "@hookimpl\nasync def hermes_api_modes():\n    yield 1",
        "is async",
        id="an offer to be iterated asynchronously",
    ),
    pytest.param(
        NATIVE_ALL + "def register(ctx):\n    raise RuntimeError('boom')",
        "RuntimeError: boom",
        id="both shapes, one fails",
    ),
    pytest.param("import no_such_name_2\n" + NATIVE_ALL, "no_such_name_2", id="the import before the hooks"),
    pytest.param("from providers import nonsense", "shim of providers in hermes_core", id="a name a shim lacks"),
]
WAYS = ["a folder", "a nested folder", "a pip package", "a pip module"]


@pytest.fixture(params=WAYS)
def install_broken(request, home, site):
    """Install a broken plugin in one of the ways there are; gives its key when called with code."""

    def install(code):
        if request.param == "a folder":
            home.plugin("broken", code, name="broken")
            return "broken"
        if request.param == "a nested folder":
            home.plugin("tools/broken", code, name="broken")
            return "tools/broken"
        entry = {"hermes": {"broken": "broken_pip"}}
        site.install("broken", entry)
        site.write("broken_pip.py" if request.param == "a pip module" else "broken_pip/__init__.py", code)
        return "broken"

    return install


@pytest.mark.parametrize(("code", "reason"), FAILURES)
def test_a_plugin_that_fails_leaves_nothing(home, load_host, install_broken, code, reason):
    """A plugin that fails while it loads is a failed row with reason and remedy; none of what it offered is there."""
    key = install_broken(code)
    home.plugin("aa", NEIGHBOUR, name="aa")
    home.plugin("zz", NEIGHBOUR.replace("neighbour", "last"), name="zz")
    modules = {*sys.modules}
    host = load_host(config={"plugins": {"enabled": [key, "aa", "zz"]}})
    offered = {row.name for row in host.providers}
    assert ({"neighbour", "last"}, False) == (offered & {"neighbour", "last"}, "half" in offered)
    assert tuple(name in host.commands for name in ("neighbour", "last", "half")) == (True, True, False)
    tools = [offer for _, offer in host._registry.offers("hermes_tools") if offer]
    assert ("half" in host.cli_commands, tools) == (False, [])
    assert [name for name in {*sys.modules} - modules if "broken" in name] == []
    row = host.plugin(key)
    assert (row.state, reason in row.reason, bool(row.remedy)) == ("failed", True, True), row.reason


@pytest.mark.parametrize(("code", "reason"), FAILURES[:2] + FAILURES[6:7])
def test_a_plugin_that_fails_is_warned_of_once_r01_01(home, load_host, caplog, code, reason):
    """A plugin that fails is warned of in one line, with its key, its source and the reason; it is not tried again."""
    folder = home.plugin("model-providers/broken", code)
    host = load_host()
    for _ in range(3):
        assert host.providers.get("broken") is None
    (record,) = caplog.records
    line = record.getMessage()
    assert (
        record.levelno,
        [word for word in ("model-providers/broken", str(folder), reason) if word not in line],
        "\n" not in line,
    ) == (logging.WARNING, [], True)


@pytest.mark.parametrize("where", ["at import", "in register"])
def test_a_keyboard_interrupt_goes_through_r01_04(home, load_host, where):
    """Ctrl-C while a plugin loads reaches the caller and leaves nothing of it; another host loads it afresh."""
    once = """
    from pathlib import Path
    def interrupt():
        if not Path(__file__).with_name("tried").exists():
            Path(__file__).with_name("tried").touch()
            raise KeyboardInterrupt
    """
    code = dedent(once) + ("interrupt()\n" if where == "at import" else "") + registering("interrupt()")
    home.plugin("acme", code, name="acme")
    config = {"plugins": {"enabled": ["acme"]}}
    host = load_host(config=config)
    with pytest.raises(KeyboardInterrupt):
        _ = host.commands
    assert ("half" in host.commands, host.providers.get("half"), "half" in host.cli_commands) == (False, None, False)
    assert load_host(config=config).run_command("half", "x") == "X"


def test_a_helper_that_fails_is_not_left_half_made_r02_03(home, load_host, tmp_path):
    """When a plugin's own helper module raises, neither is left in ``sys.modules``; mended, the plugin loads."""
    home.plugin("acme", "from . import helper\ndef register(ctx): pass", name="acme")
    home.write("plugins/acme/helper.py", "raise RuntimeError('half made')")
    config = {"plugins": {"enabled": ["acme"]}}
    before = set(sys.modules)
    host = load_host(config=config)
    assert ("acme" in host.commands, host.plugin("acme").state) == (False, "failed")
    assert {name for name in sys.modules if name.startswith("hermes_plugins.") and "acme" in name} - before == set()
    home.write("plugins/acme/helper.py", "MENDED = True  # and longer than it was, for the cache of bytecode")
    mended = load_host(config=config)
    assert ("acme" in mended.commands, mended.plugin("acme").state) == (False, "loaded")


def test_the_last_error_is_told_without_importing_r01_01(home, load_host):
    """A later start shows what failed as failed, with its error, without importing it; it is tried when needed."""
    folder = home.plugin("acme", LEAVES_A_TRACE + "raise RuntimeError('boom')", name="acme")
    config = {"plugins": {"enabled": ["acme"]}}
    assert "acme" not in load_host(config=config).commands
    host = load_host(config=config)
    row, runs = host.plugin("acme"), (folder / "it-ran").read_text()
    assert (row.state, "RuntimeError: boom" in row.reason, runs) == ("failed", True, "x")
    assert ("acme" in host.commands, (folder / "it-ran").read_text()) == (False, "xx")


def test_a_plugin_that_was_mended_is_shown_ready(home, load_host):
    """A plugin whose file has changed since it failed is not shown as failed, and loads."""
    home.plugin("acme", "raise RuntimeError('boom')", name="acme")
    config = {"plugins": {"enabled": ["acme"]}}
    assert "acme" not in load_host(config=config).commands
    home.plugin("acme", "def register(ctx): ctx.register_command('acme', handler=str.upper)", name="acme")
    host = load_host(config=config)
    assert (host.plugin("acme").state, host.run_command("acme", "x")) == ("ready", "X")


def test_a_hook_that_raises_is_passed_over_r01_04(home, load_host, caplog):
    """An offer hook that raises, SystemExit included, is warned of by name; the other plugins' offers are there."""
    code = """
    import sys
    from hermes_core import hookimpl
    @hookimpl
    def hermes_commands():
        {0}
    """
    home.plugin("aa", code.format("sys.exit(1)"), name="aa")
    home.plugin("bb", code.format("raise RuntimeError('boom')"), name="bb")
    home.plugin("cc", code.format("yield 1 / 0"), name="cc")
    home.plugin("zz", NEIGHBOUR, name="zz")
    host = load_host(config={"plugins": {"enabled": ["aa", "bb", "cc", "zz"]}})
    for _ in range(2):
        assert ("tldr" in host.commands, "neighbour" in host.commands) == (True, True)
    lines = [record.getMessage() for record in caplog.records]
    assert sorted(line.partition("plugin=")[2][:2] for line in lines) == ["aa", "bb", "cc"]
    assert ("SystemExit: 1" in host.plugin("aa").reason, host.plugin("aa").state) == (True, "loaded")


def test_a_keyboard_interrupt_in_a_hook_goes_through_r01_04(home, load_host):
    """Ctrl-C in a hook reaches the caller."""
    code = """
    from hermes_core import hookimpl
    @hookimpl
    def hermes_commands():
        raise KeyboardInterrupt
    """
    home.plugin("aa", code, name="aa")
    host = load_host(config={"plugins": {"enabled": ["aa"]}})
    with pytest.raises(KeyboardInterrupt):
        _ = host.commands


@pytest.mark.parametrize("junk", ["5", "[5]", "'acme'", "{'a': 1}", "[None]", "object()", "[object()]", "True"])
@pytest.mark.parametrize(
    ("hook", "surface"),
    [
        pytest.param("hermes_commands", lambda host: host.commands, id="commands"),
        pytest.param("hermes_provider_profiles", lambda host: host.providers.get("xiaomi").name, id="providers"),
        pytest.param("hermes_api_modes", lambda host: host.wires(), id="wire formats"),
    ],
)
def test_a_hook_that_returns_junk_is_passed_over(home, load_host, hook, surface, junk):
    """What an offer hook returns that it may not is its plugin's failure, by name; the others' offers are there."""
    code = f"from hermes_core import hookimpl\n@hookimpl\ndef {hook}(): return {junk}\n"
    home.plugin("junk", code, name="junk")
    home.plugin("zz", NEIGHBOUR, name="zz")
    host = load_host(config={"plugins": {"enabled": ["junk", "zz"]}})
    surface(host)
    assert (host.run_command("neighbour"), hook in host.plugin("junk").reason) == ("here", True)


@pytest.mark.parametrize("junk", ["5", "'acme'", "None", "object()", "{'name': 'acme'}"])
def test_registering_what_is_no_profile_fails_that_plugin(home, load_host, junk):
    """``register_provider`` with something that is no profile fails its plugin alone."""
    home.plugin("model-providers/junk", f"def register(ctx): ctx.register_provider({junk})")
    host = load_host()
    assert host.providers.get("xiaomi").name == "xiaomi"
    assert (host.plugin("junk").state, "register_provider" in host.plugin("junk").reason) == ("failed", True)


@pytest.mark.parametrize(
    ("call", "argument"),
    [
        pytest.param("register_command('x', handler=None)", "handler", id="a command without handler"),
        pytest.param("register_cli_command('x', 'help', None)", "setup_fn", id="a tree without set-up"),
        pytest.param("register_tool('x', 'set', 'schema', print)", "schema", id="a tool without schema"),
        pytest.param("register_tool('x', 'set', {}, None)", "handler", id="a tool without handler"),
        pytest.param("register_hook('on_session_end', None)", "callback", id="a hook without callback"),
        pytest.param("on_unload(None)", "callback", id="unloading without callback"),
    ],
)
def test_a_wrong_argument_is_named(home, load_host, call, argument):
    """A wrong argument to a ``register_`` method fails the plugin with the method and the argument."""
    home.plugin("acme", f"def register(ctx): ctx.{call}", name="acme")
    host = load_host(config={"plugins": {"enabled": ["acme"]}})
    _ = host.commands
    row = host.plugin("acme")
    assert (row.state, f"{call.partition('(')[0]}: {argument} must be" in row.reason) == ("failed", True)


def test_a_surface_this_host_does_not_use_is_stored(home, load_host):
    """``register_`` methods that this host has no use for are accepted, and what they were given is kept."""
    home.plugin("acme", "def register(ctx): ctx.register_painter('x', size=2)", name="acme")
    host = load_host(config={"plugins": {"enabled": ["acme"]}})
    _ = host.commands
    stored = host.context("acme").registrations.unused
    assert (host.plugin("acme").state, stored) == ("loaded", {"painter": [(("x",), {"size": 2})]})


def test_a_broken_plugin_costs_no_command_r01_01(home, capsys):
    """The command line works beside a plugin that raises, exits or does not parse; help ends with 0."""
    from hermes_core.cli.main import main

    home.plugin("model-providers/raises", "raise RuntimeError")
    home.plugin("model-providers/exits", "import sys; sys.exit(3)")
    home.plugin("model-providers/unparsable", "def")
    home.write("plugins/manifest/plugin.yaml", "name: [")
    codes = [main(words) for words in ([], ["plugins", "list"], ["providers", "show", "xiaomi"], ["run"])]
    assert (codes, "xiaomimimo" in capsys.readouterr().out) == ([0, 0, 0, 0], True)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "code",
    [
        pytest.param("async def register(ctx): pass", id="async"),
        pytest.param("async def register(): pass", id="async, without context"),
        pytest.param("async def register(ctx): yield", id="an async generator"),
        pytest.param("def register(ctx): yield", id="a generator"),
        pytest.param("async def later(ctx): pass\ndef register(ctx): return later(ctx)", id="returns a coroutine"),
    ],
)
def test_a_register_that_would_do_nothing_is_a_failed_row(home, load_host, code):
    """A ``register`` that is async, or a generator, fails its plugin with a reason: calling it runs none of it."""
    home.plugin("acme", code, name="acme")
    host = load_host(config={"plugins": {"enabled": ["acme"]}})
    _ = host.commands
    row = host.plugin("acme")
    assert (row.state, "must be a plain function" in row.reason, "def register(ctx)" in row.remedy) == (
        "failed",
        True,
        True,
    )
