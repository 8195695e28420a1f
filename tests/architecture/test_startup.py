"""What must not be loaded: the start is quick because it does little."""

import pytest

from hermes_core.testing import FakeProvider

HEAVY = {
    "asyncio", "concurrent.futures", "dataclasses", "email", "httpx", "importlib.metadata", "importlib_metadata",
    "inspect", "jsonschema", "logging", "pathlib", "pluggy", "rich", "ruamel", "socket", "sqlite3", "ssl", "typing",
    "urllib.request", "yaml",
}  # fmt: skip

RUN = """
from hermes_core.cli import main
try:
    main({words!r})
except SystemExit:
    pass
"""


def test_importing_the_package_loads_nothing_heavy(loaded_by):
    """``import hermes_core`` brings in none of the libraries it is built on, nor the heavy standard ones."""
    assert set() == loaded_by("import hermes_core") & HEAVY


def test_importing_the_package_loads_three_modules_of_it(loaded_by):
    """``import hermes_core`` brings in the facade and its import finder, and no room."""
    own = {name for name in loaded_by("import hermes_core") if name.startswith("hermes_")}
    assert {"hermes_core", "hermes_core.compat", "hermes_core.compat.finders"} == own


def test_hookimpl_loads_nothing_but_pluggy(loaded_by):
    """``from hermes_core import hookimpl``, the first line of a native plugin, loads no room of the host."""
    own = {name for name in loaded_by("from hermes_core import hookimpl") if name.startswith("hermes_core.")}
    assert {"hermes_core.compat", "hermes_core.compat.finders"} == own


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(["--help"], id="the help of all commands"),
        pytest.param(["--version"], id="the version"),
        pytest.param(["llm", "--help"], id="the help of one command"),
        pytest.param(["plugins", "list"], id="the list of plugins"),
        pytest.param(["providers", "list"], id="the list of providers"),
        pytest.param(["config", "schema"], id="the schema of the configuration"),
        pytest.param(["config", "get", "logging.backup_count"], id="a value of the configuration"),
        pytest.param(["auth", "list"], id="the list of keys and logins"),
    ],
)
def test_a_command_over_an_empty_home_loads_no_library_it_does_not_need(loaded_by, words):
    """With no configuration to read and nothing to draw, no YAML, HTTP, schema or table library is loaded."""
    loaded_by(RUN.format(words=words))  # the first start looks at installed packages, and remembers them
    assert set() == loaded_by(RUN.format(words=words)) & {"httpx", "jsonschema", "yaml", "ruamel", "rich", "asyncio"}


def test_the_version_loads_no_host(loaded_by):
    """``hermes --version`` answers without looking at any home."""
    assert "hermes_core.host" not in loaded_by(RUN.format(words=["--version"]))


@pytest.mark.parametrize("action", ["list", "show"])
def test_plugins_are_listed_without_being_imported(loaded_by, tmp_path, action):
    """``hermes plugins list`` and ``show`` import no plugin, enabled ones included."""
    folder = tmp_path / "home" / "plugins" / "trap"
    folder.mkdir(parents=True)
    (folder / "plugin.yaml").write_text("name: trap\n")
    (folder / "__init__.py").write_text("raise SystemExit('imported')\n")
    (tmp_path / "home" / "config.yaml").write_text("plugins: {enabled: [trap]}\n")
    words = ["plugins", action, *(["trap"] if action == "show" else [])]
    loaded = loaded_by(RUN.format(words=words))
    assert set() == {name for name in loaded if name.startswith(("hermes_plugins", "hermes_builtin_plugins", "httpx"))}


def test_the_help_lists_the_commands_of_plugins_without_importing_them(loaded_by, tmp_path):
    """Plugins declare their commands in the manifest, so ``hermes --help`` imports none of them."""
    folder = tmp_path / "home" / "plugins" / "trap"
    folder.mkdir(parents=True)
    (folder / "plugin.yaml").write_text("name: trap\nprovides_cli_commands: {trap: Spring it}\n")
    (folder / "__init__.py").write_text("raise SystemExit('imported')\n")
    (tmp_path / "home" / "config.yaml").write_text("plugins: {enabled: [trap]}\n")
    loaded = loaded_by(RUN.format(words=["--help"]))
    assert set() == {name for name in loaded if name.startswith(("hermes_plugins", "hermes_builtin_plugins", "httpx"))}


def test_a_declared_provider_is_found_without_importing_the_others(loaded_by):
    """Looking up one bundled provider imports at most its own plugin."""
    program = "from hermes_core import Host\nwith Host.load() as host:\n    host.providers.get('openai')"
    loaded = loaded_by(program)
    assert set() == {name for name in loaded if name.startswith("hermes_plugins.")}


def test_a_blocking_call_loads_no_event_loop(loaded_by):
    """``complete()`` does not import asyncio: a program that blocks does not pay for one that awaits."""
    with FakeProvider() as server:
        program = (
            "import sys\n"
            "from hermes_core import Host\n"
            "sys.modules['genai_prices'] = None  # an extra, which imports much\n"
            f"with Host.load(config={server.config!r}) as host:\n"
            "    host.llm('program').complete([{'role': 'user', 'content': 'ping'}])"
        )
        assert "asyncio" not in loaded_by(program)


def test_a_plain_http_call_loads_no_schema_and_no_table_library(loaded_by):
    """A chat answer over HTTP needs neither jsonschema nor a table library of ours."""
    with FakeProvider() as server:
        program = (
            "from hermes_core import Host\n"
            f"with Host.load(config={server.config!r}) as host:\n"
            "    host.llm('program').complete([{'role': 'user', 'content': 'ping'}])"
        )
        assert set() == loaded_by(program) & {"jsonschema", "ruamel"}


def test_a_call_loads_the_one_wire_format_it_speaks(loaded_by):
    """A plain chat call loads no other wire format, and neither the image fetcher nor botocore."""
    with FakeProvider() as server:
        program = (
            "from hermes_core import Host\n"
            f"with Host.load(config={server.config!r}) as host:\n"
            "    host.llm('program').complete([{'role': 'user', 'content': 'ping'}])"
        )
        loaded = loaded_by(program)
    wire = "hermes_core.llm.wire"
    assert {name for name in loaded if name.startswith(wire)} == {wire, f"{wire}.chat_completions", f"{wire}.select"}
    assert not loaded & {"hermes_core.llm.images", "botocore", "httpx"}
