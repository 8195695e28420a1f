"""Plugins as the original's manager shows them; they are those of the current host."""

from __future__ import annotations

import logging
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from hermes_core.compat.hosts import current_host
from hermes_core.config.redact import redact
from hermes_core.errors import PluginToolOverrideError, describe
from hermes_core.plugins.context import PluginContext
from hermes_core.plugins.current import running
from hermes_core.plugins.manifest import Manifest
from hermes_core.plugins.plugin import Plugin

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from hermes_core.host import Host
    from hermes_core.types.contributions import Command

__all__ = [
    "VALID_HOOKS",
    "PluginContext",
    "PluginManager",
    "PluginManifest",
    "PluginToolOverrideError",
    "discover_plugins",
    "get_plugin_command_handler",
    "get_plugin_commands",
    "get_plugin_manager",
    "has_hook",
    "invoke_hook",
]

log = logging.getLogger(__name__)

VALID_HOOKS = frozenset(
    "on_session_start pre_llm_call pre_api_request post_api_request api_request_error pre_tool_call post_tool_call "
    "transform_tool_result transform_terminal_output transform_llm_output post_llm_call pre_verify on_session_end "
    "on_session_finalize on_session_reset subagent_start subagent_stop pre_gateway_dispatch pre_approval_request "
    "post_approval_response kanban_task_claimed kanban_task_completed kanban_task_blocked on_stream_start "
    "on_stream_delta on_stream_end on_interim_message transform_api_error_classification on_skill_lifecycle "
    "agent_loop_stopped on_room_member_activity pre_transcription on_kanban_worker_spawned on_kanban_worker_exited "
    "on_kanban_worker_stale_claim on_kanban_task_updated on_kanban_dispatch_tick gateway_platform_event pre_command "
    "pre_auxiliary_call post_auxiliary_call pre_tts_synthesis".split()
)
"""The names that ``register_hook`` knows."""

LOADED_OTHERWISE = ("exclusive", "model-provider")
"""Kinds that are chosen by configuration and loaded when they are needed."""


class PluginManifest(Plugin):
    """A plugin that a program makes up, to be handed to ``PluginContext``."""

    def __init__(self, name: str = "", *, key: str = "", kind: str = "standalone", **fields: Any) -> None:
        version, description = (str(fields.get(word) or "") for word in ("version", "description"))
        manifest = Manifest(name=name, kind=kind, version=version, description=description)
        super().__init__(key=key or name, tier="program", manifest=manifest)


class PluginManager:
    """The plugins of one host; whatever else is asked of it, the host answers."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._hooks: dict[str, list[Callable[..., Any]]] = {}
        self._made_up: list[PluginContext] = []

    def __getattr__(self, name: str) -> Any:
        if name == "_host":
            raise AttributeError(name)
        return getattr(self._host, name)

    def discover_and_load(self, force: bool = False) -> None:
        """Load every plugin that may load, but for those that configuration chooses when they are needed."""
        for row in self._host.plugins:
            if row.kind not in LOADED_OTHERWISE:
                if force and row.state == "loaded":
                    self._host.reload(row.key)
                else:
                    self._host._registry.load(row)  # noqa: SLF001 - the manager is the host's other face

    def list_plugins(self) -> list[dict[str, Any]]:
        """A mapping for each plugin."""
        return [
            {
                "name": row.name,
                "key": row.key,
                "kind": row.kind,
                "version": row.version,
                "source": row.tier,
                "enabled": row.is_active,
                "error": row.reason or None,
                **{kind: self._names(row).get(kind, []) for kind in ("tools", "hooks", "commands")},
            }
            for row in self._host.plugins
        ]

    @property
    def _plugins(self) -> dict[str, Any]:
        return {
            row.key: SimpleNamespace(
                manifest=row,
                enabled=row.is_active,
                error=row.reason or None,
                **{
                    f"{kind}_registered": self._names(row).get(kind, [])
                    for kind in ("tools", "hooks", "commands", "middleware")
                },
            )
            for row in self._host.plugins
        }

    @property
    def _cli_commands(self) -> dict[str, Any]:
        return {command.name: command for context in self._contexts() for command in context.registrations.cli_commands}

    @property
    def _plugin_skills(self) -> dict[str, Any]:
        return {
            f"{context.manifest.name}:{fields['name']}": fields
            for context in self._contexts()
            for _, fields in context.registrations.unused.get("skill", ())
        }

    def invoke_hook(self, hook_name: str, **arguments: Any) -> list[Any]:
        """Call everything that listens to an event; what each returned, but None. One that raises costs no other."""
        arguments.setdefault("telemetry_schema_version", "hermes.observer.v1")
        found = []
        for context, callback in self._listeners(hook_name):
            try:
                if context is None:
                    value = callback(**arguments)
                else:
                    with running(context):
                        value = callback(**arguments)
            except (Exception, SystemExit) as error:  # noqa: BLE001 - plugin boundary: the others still listen
                who = context.plugin_id if context is not None else "program"
                log.warning("Hook '%s' raised plugin=%s error=%s", hook_name, who, redact(describe(error)))
                continue
            if value is not None:
                found.append(value)
        return found

    def has_hook(self, hook_name: str) -> bool:
        """Whether anything listens to an event."""
        return any(True for _ in self._listeners(hook_name))

    def offered_more(self, context: PluginContext) -> None:
        """A context that a program made up has registered something."""
        if context not in self._made_up:
            self._made_up.append(context)

    def _contexts(self) -> list[PluginContext]:
        return [*self._host.contexts(), *self._made_up]

    def _listeners(self, hook_name: str) -> Iterator[tuple[PluginContext | None, Callable[..., Any]]]:
        for context in self._contexts():
            yield from ((context, callback) for name, callback in context.registrations.hooks if name == hook_name)
        yield from ((None, callback) for callback in self._hooks.get(hook_name, ()))

    def _names(self, row: Plugin) -> dict[str, list[str]]:
        return self._host.context(row.key).registrations.names() if row.state == "loaded" else {}


def get_plugin_manager() -> PluginManager:
    """The manager of the current host's plugins; it ends with the host."""
    kept = vars(current_host())
    if "plugin_manager" not in kept:
        kept["plugin_manager"] = PluginManager(current_host())
    manager: PluginManager = kept["plugin_manager"]
    return manager


def discover_plugins(force: bool = False) -> None:
    """Load every plugin that may load."""
    get_plugin_manager().discover_and_load(force)


def invoke_hook(hook_name: str, **arguments: Any) -> list[Any]:
    """Call everything that listens to an event; see ``PluginManager``."""
    return get_plugin_manager().invoke_hook(hook_name, **arguments)


def has_hook(hook_name: str) -> bool:
    """Whether anything listens to an event."""
    return get_plugin_manager().has_hook(hook_name)


def get_plugin_commands() -> dict[str, Command]:
    """Slash commands by name."""
    return current_host().commands


def get_plugin_command_handler(name: str) -> Callable[[str], Any] | None:
    """What a slash command runs; None when there is no such command."""
    command = current_host().commands.get(name)
    return command.handler if command is not None else None
