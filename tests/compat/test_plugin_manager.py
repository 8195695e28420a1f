"""``hermes_cli.plugins``: plugins as the original's manager shows them."""

import gc
import weakref

import pytest
from hermes_cli.plugins import (
    VALID_HOOKS,
    PluginContext,
    PluginManifest,
    discover_plugins,
    get_plugin_command_handler,
    get_plugin_commands,
    get_plugin_manager,
    has_hook,
    invoke_hook,
)

from hermes_core import Host
from hermes_core.plugins.current import running

PLUGIN = """
SCHEMA = {"name": "shout", "description": "Say it louder.", "parameters": {"type": "object"}}

def register(ctx):
    ctx.register_command("shout", handler=str.upper)
    ctx.register_tool("shout", "talk", SCHEMA, lambda args, **context: "{}")
    ctx.register_cli_command("talk", "Talk.", lambda parser: None)
    ctx.register_skill("speak", ctx.manifest.location)
    ctx.register_hook("pre_llm_call", lambda **event: {"context": event["user_message"]})
    ctx.register_hook("pre_llm_call", lambda **event: None)
    ctx.register_hook("pre_llm_call", lambda **event: 1 / 0)
    ctx.register_hook("pre_llm_call", lambda user_message, **event: event["telemetry_schema_version"])
"""


@pytest.fixture
def talk(home):
    """A plugin that offers one of each kind, and one that is not enabled."""
    home.plugin("talk", PLUGIN, name="talk", version="2.0")
    home.plugin("idle", "raise SystemExit(3)", name="idle")
    home.config({"plugins": {"enabled": ["talk"]}})


def test_plugins_are_loaded_and_listed(talk):
    """Each plugin is a mapping with what it offers; one that is off says why."""
    discover_plugins()
    rows = {row["name"]: row for row in get_plugin_manager().list_plugins()}
    assert rows["talk"] == {
        "name": "talk",
        "key": "talk",
        "kind": "standalone",
        "version": "2.0",
        "source": "user",
        "enabled": True,
        "error": None,
        "tools": ["shout"],
        "hooks": ["pre_llm_call"] * 4,
        "commands": ["shout"],
    }
    assert (rows["idle"]["enabled"], rows["idle"]["error"]) == (False, "not enabled in config")


def test_what_tools_of_the_original_look_into_is_there(talk):
    """Records by key, command-line trees and skills are where other programs look for them."""
    discover_plugins()
    manager = get_plugin_manager()
    record = manager._plugins["talk"]
    assert (record.enabled, record.manifest.name, record.tools_registered) == (True, "talk", ["shout"])
    assert ([*manager._cli_commands], [*manager._plugin_skills]) == (["talk"], ["talk:speak"])


def test_an_event_reaches_every_listener(talk, caplog):
    """Each listener is called with the event's fields; what it returned is collected, and one that raises is named."""
    discover_plugins()
    answers = invoke_hook("pre_llm_call", user_message="tea")
    assert answers == [{"context": "tea"}, "hermes.observer.v1"]
    assert "Hook 'pre_llm_call' raised plugin=talk error=ZeroDivisionError" in caplog.text
    assert (has_hook("pre_llm_call"), has_hook("post_llm_call")) == (True, False)


def test_loading_again_reads_the_plugin_anew(home, talk):
    """With ``force`` a loaded plugin is read again."""
    discover_plugins()
    home.plugin("talk", PLUGIN.replace('"shout", handler', '"whisper", handler'), name="talk")
    discover_plugins(force=True)
    assert "whisper" in get_plugin_commands()


def test_a_command_is_found_by_its_name(talk):
    """Slash commands and what they run."""
    assert get_plugin_command_handler("shout")("tea") == "TEA"
    assert get_plugin_command_handler("nowhere") is None


def test_a_program_may_listen_too(home):
    """A context that a program makes up, and the manager's own list, listen as plugins do."""
    manager = get_plugin_manager()
    context = PluginContext(PluginManifest(name="mine", version=1), manager)
    context.register_hook("on_session_end", lambda **event: "context")
    manager._hooks.setdefault("on_session_end", []).append(lambda **event: "list")
    assert invoke_hook("on_session_end", session_id="s") == ["context", "list"]
    assert (context.plugin_id, context.manifest.version, context.home) == ("mine", "1", home.path)


def test_each_host_has_one_manager_which_ends_with_it(home, tmp_path):
    """The manager is that of the host whose code is running, and is not kept beyond it."""
    with Host.load(tmp_path / "other") as host, running(host.program_context()):
        manager = get_plugin_manager()
        assert (manager is get_plugin_manager(), manager.home) == (True, tmp_path / "other")
        assert weakref.ref(manager)() is manager
    assert get_plugin_manager() is not manager
    gone = weakref.ref(manager)
    del manager, host
    gc.collect()
    assert gone() is None


def test_the_names_of_events_are_known():
    """The events that published plugins listen to are valid ones."""
    assert {"on_session_start", "pre_llm_call", "post_llm_call", "on_kanban_dispatch_tick"} <= VALID_HOOKS
