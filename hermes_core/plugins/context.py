"""What a plugin is handed: its own view of the host."""

from __future__ import annotations

import logging
import os
import re
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from hermes_core.errors import PluginContractError, PluginToolOverrideError, near
from hermes_core.plugins.current import running
from hermes_core.plugins.debug import warn_once
from hermes_core.plugins.registrations import Registration, Registrations
from hermes_core.plugins.services import PluginServices
from hermes_core.plugins.unused import ABSENT, AUXILIARY_DEFAULTS, AUXILIARY_TASKS, PLATFORM_OPTIONS

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from asyncio import Task
    from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence

    from hermes_core.config.settings import Config
    from hermes_core.llm.client import PluginLlm
    from hermes_core.plugins.plugin import Plugin
    from hermes_core.plugins.tasks import BackgroundTasks
    from hermes_core.tools.registry import ToolRegistry
    from hermes_core.types.contributions import Handler

log = logging.getLogger(__name__)

T = TypeVar("T")


class HostServices(Protocol):
    """What a context needs of the host."""

    home: Path

    @property
    def plugins(self) -> Sequence[Plugin]:
        """Every plugin there is."""

    def config(self) -> Config:
        """The configuration as it is now."""

    @property
    def managed_config(self) -> Path | None:
        """The administrator's ``config.yaml``, when there is one."""

    def contexts(self) -> Iterable[PluginContext]:
        """The contexts of the loaded plugins."""

    def llm(self, plugin_id: str) -> PluginLlm:
        """The model surface of a plugin."""

    @property
    def tools(self) -> ToolRegistry:
        """What a model, or a plugin, may call."""

    def offered_more(self, context: PluginContext) -> None:
        """What a plugin has registered is no longer what it was."""


class PluginContext(PluginServices):
    """A plugin's own context, the ``ctx`` of ``register(ctx)`` and of every hook; see ``docs/context.md``.

    Each ``register_*`` returns a ``Registration``, whose ``dispose()`` takes that one back; it may be ignored.
    """

    def __init__(self, plugin: Plugin, host: HostServices) -> None:
        super().__init__(plugin, host)
        self.registrations = Registrations()

    def register_command(
        self, name: str, handler: Handler, description: str = "", args_hint: str = "", **_newer: Any
    ) -> Registration:
        """Offer a slash command; see ``Command``. A reserved or empty name is ignored with a warning.

        Example:
            >>> def register(ctx):
            ...     ctx.register_command("shout", handler=str.upper, description="Say it louder.")
        """
        from hermes_core.types.contributions import Command, command_refusal

        self._text("register_command", "name", name)
        self._callable("register_command", "handler", handler)
        command = Command(
            name=name, handler=handler, description=description, args_hint=args_hint, plugin=self.plugin_id
        )
        refusal = command_refusal(command.name)
        if refusal:
            return self._ignored("register_command", f"{name!r}: {refusal}")
        return self._add(self.registrations.commands, command)

    def register_cli_command(
        self,
        name: str,
        help: str,  # noqa: A002 - the published name of the argument
        setup_fn: Callable[[ArgumentParser], object],
        handler_fn: Callable[[Namespace], int | None] | None = None,
        description: str = "",
    ) -> Registration:
        """Offer a command-line tree, ``hermes <name> …``; see ``CliCommand``."""
        from hermes_core.types.contributions import CliCommand

        self._callable("register_cli_command", "setup_fn", setup_fn)
        command = CliCommand(
            name=name,
            help=help,
            setup_fn=setup_fn,
            handler_fn=handler_fn,
            description=description,
            plugin=self.plugin_id,
        )
        return self._add(self.registrations.cli_commands, command)

    def register_tool(
        self,
        name: str,
        toolset: str | Mapping[str, Any] = "",
        schema: Mapping[str, Any] | Callable[..., Any] | None = None,
        handler: Callable[..., Any] | None = None,
        check_fn: Callable[[], bool] | None = None,
        requires_env: Sequence[str] | None = None,
        is_async: bool = False,
        description: str = "",
        emoji: str = "",
        override: bool = False,
    ) -> Registration:
        """Offer a tool; see ``Tool``. ``(name, schema, handler)`` is understood too.

        Raises:
            PluginToolOverrideError: ``override`` is set, and the operator lets the plugin replace no tool.
        """
        from hermes_core.types.contributions import Tool

        if isinstance(toolset, dict) and handler is None:
            toolset, schema, handler = "", toolset, schema  # type: ignore[assignment]
        if not isinstance(schema, dict):
            raise self._wrong("register_tool", "schema", "a mapping", schema)
        self._callable("register_tool", "handler", handler)
        if override and not self.has_capability("tools.override"):
            message = self._said("register_tool", f"{name!r} may replace no tool")
            hint = f"an operator may grant it: plugins.entries.{self.plugin_id}.allow_tool_override: true"
            raise PluginToolOverrideError(message, plugin=self.plugin_id, source=self.manifest.source, hint=hint)
        tool = Tool(
            name=name,
            schema=schema,
            handler=handler,  # type: ignore[arg-type]
            toolset=str(toolset),
            check=check_fn,
            requires_env=tuple(requires_env or ()),
            override=override,
            description=description or str(schema.get("description", "")),
            emoji=emoji,
            is_async=is_async,
            plugin=self.plugin_id,
        )
        return self._add(self.registrations.tools, tool)

    def register_hook(self, hook_name: str, callback: Callable[..., Any]) -> Registration:
        """Listen to a lifecycle event by its old name, such as ``on_session_end``."""
        self._callable("register_hook", "callback", callback)
        return self._add(self.registrations.hooks, (hook_name, callback))

    def register_provider(self, profile: Any) -> Registration:
        """Offer an LLM provider profile; a later one of the same name replaces an earlier one."""
        if not is_profile(profile):
            raise self._wrong("register_provider", "profile", "a ProviderProfile", profile)
        return self._add(self.registrations.profiles, profile)

    def register_memory_provider(self, provider: Any) -> Registration:
        """Offer a memory provider; ``memory.provider`` decides whether it is used.

        What is none is ignored with a warning.
        """
        if isinstance(provider, type) or not is_memory_provider(provider) or not hasattr(provider, "name"):
            return self._ignored("register_memory_provider", f"{_kind(provider)} is no memory provider")
        held, name = self.registrations.memory, str(provider.name)

        def factory() -> Any:
            return provider

        def undo() -> None:
            if held.get(name) is factory:
                del held[name]
            self._changed()

        held[name] = factory
        self._changed()
        return Registration(undo)

    def register_skill(self, name: str, path: str | os.PathLike[str], description: str = "") -> Registration:
        """Offer a skill: a folder or file of instructions. It is kept; this host does not use skills yet.

        Raises:
            PluginContractError: The name holds more than letters, digits, ``_`` and ``-``.
            FileNotFoundError: There is nothing at ``path``.
        """
        self._named("register_skill", "name", name, r"[A-Za-z0-9_-]+", "letters, digits, '_' and '-'")
        if not isinstance(path, str | os.PathLike):
            raise self._wrong("register_skill", "path", "a path", path)
        if not Path(path).exists():
            raise FileNotFoundError(self._said("register_skill", f"skill {name!r}: there is no {path}"))
        return self._keep("skill", name=name, path=Path(path), description=description)

    def register_auxiliary_task(
        self, key: str, *, display_name: str, description: str, defaults: Mapping[str, Any] | None = None
    ) -> Registration:
        """Offer a kind of side work that may have a model of its own. It is kept; this host asks for none yet.

        Raises:
            PluginContractError: The key holds more than letters, digits and ``_``, is the host's own, or another
                plugin's.
        """
        method = "register_auxiliary_task"
        self._named(method, "key", key, r"[A-Za-z0-9_]+", "letters, digits and '_'")
        if key in AUXILIARY_TASKS:
            raise self._refused(method, f"{key!r} is the host's own")
        for other in self._others():
            if key in other.registrations.names().get("auxiliary_task", ()):
                raise self._refused(method, f"{key!r} is a task of plugin {other.plugin_id!r} already")
        if defaults is not None and not isinstance(defaults, dict):
            raise self._wrong(method, "defaults", "a mapping", defaults)
        return self._keep(
            "auxiliary_task",
            key=key,
            display_name=display_name,
            description=description,
            defaults={**AUXILIARY_DEFAULTS, "extra_body": {}, **(defaults or {})},
        )

    def register_context_engine(self, engine: Any) -> Registration:
        """Offer what compresses a conversation. It is kept; there is no conversation in this host yet.

        A second one, or what is none, is ignored with a warning.
        """
        members = ("name", "update_from_response", "should_compress", "compress")
        if isinstance(engine, type) or not all(hasattr(engine, member) for member in members):
            return self._ignored("register_context_engine", f"{_kind(engine)} is no context engine")
        for other in (self, *self._others()):
            if other.registrations.unused.get("context_engine"):
                reason = f"plugin {other.plugin_id!r} has registered one already"
                return self._ignored("register_context_engine", reason)
        return self._keep("context_engine", engine=engine)

    def register_platform(
        self,
        name: str,
        label: str,
        adapter_factory: Callable[..., Any],
        check_fn: Callable[[], bool],
        validate_config: Callable[..., Any] | None = None,
        required_env: Sequence[str] | None = None,
        install_hint: str = "",
        **entry_kwargs: Any,
    ) -> Registration:
        """Offer a messaging platform. It is kept; this host has no gateway.

        Raises:
            PluginContractError: A keyword that no platform has.
        """
        unknown = sorted(entry_kwargs.keys() - PLATFORM_OPTIONS)
        if unknown:
            reason = f"unexpected keyword {unknown[0]!r}{near(unknown[0], PLATFORM_OPTIONS)}"
            raise self._refused("register_platform", reason)
        return self._keep(
            "platform",
            name=name,
            label=label,
            adapter_factory=adapter_factory,
            check_fn=check_fn,
            validate_config=validate_config,
            required_env=tuple(required_env or ()),
            install_hint=install_hint,
            **entry_kwargs,
        )

    def register_slack_action_handler(self, action_id: str, callback: Callable[..., Any]) -> Registration:
        """Offer what a button in Slack does. It is kept; this host has no gateway.

        Raises:
            PluginContractError: The id is empty, or the callback cannot be called.
        """
        self._named("register_slack_action_handler", "action_id", action_id, r"(?s).*\S.*", "some text")
        self._callable("register_slack_action_handler", "callback", callback)
        return self._keep("slack_action_handler", action_id=action_id, callback=callback)

    def on_unload(self, callback: Callable[[], object]) -> None:
        """Have ``callback`` called when the plugin is unloaded; the last one registered goes first.

        Raises:
            PluginContractError: It cannot be called.
        """
        self._callable("on_unload", "callback", callback)
        self.registrations.on_unload.append(callback)

    def spawn_task(self, coroutine: Coroutine[Any, Any, T]) -> Task[T]:
        """Run a coroutine in the background of the running event loop; unloading the plugin cancels it.

        What it raises is logged with the plugin's name.

        Raises:
            RuntimeError: No event loop is running.
        """
        with running(self):
            return self._tasks.spawn(coroutine)

    def __getattr__(self, name: str) -> Any:
        absent = ABSENT.get(name)
        if name.startswith("register_") and absent:
            return lambda *_args, **_keywords: self._ignored(name, f"this host {absent}")
        if name.startswith("register_"):
            return lambda *args, **keywords: self._keep(name.removeprefix("register_"), *args, **keywords)
        message = f"PluginContext has no attribute {name!r}"
        if absent:
            message += f": this host {absent}"
        elif not name.startswith("_"):
            message += near(name, [known for known in dir(self) if known[0] != "_"])
        raise AttributeError(message)

    @cached_property
    def _tasks(self) -> BackgroundTasks:
        from hermes_core.plugins.tasks import BackgroundTasks

        tasks = BackgroundTasks(self.plugin_id)
        self.on_unload(tasks.cancel)
        return tasks

    def _add(self, held: list[T], item: T) -> Registration:
        def undo() -> None:
            for at, other in enumerate(held):
                if other is item:
                    del held[at]
                    break
            self._changed()

        held.append(item)
        self._changed()
        return Registration(undo)

    def _keep(self, kind: str, /, *args: Any, **keywords: Any) -> Registration:
        """Keep what this host does not use, and say so once."""
        if kind not in self.registrations.unused:
            log.info("registration kept, this host does not use it plugin=%s kind=%s", self.plugin_id, kind)
        return self._add(self.registrations.unused.setdefault(kind, []), (args, keywords))

    def _ignored(self, method: str, reason: str) -> Registration:
        where = self.plugin_id, self.manifest.source
        warn_once("registration ignored plugin=%s source=%s call=%s reason=%s", *where, method, reason)
        return Registration(lambda: None)

    def _others(self) -> list[PluginContext]:
        return [context for context in self._host.contexts() if context is not self]

    def _changed(self) -> None:
        self._host.offered_more(self)

    def _callable(self, method: str, argument: str, value: object) -> None:
        if not callable(value):
            raise self._wrong(method, argument, "callable", value)

    def _named(self, method: str, argument: str, value: object, pattern: str, wanted: str) -> None:
        self._text(method, argument, value)
        if not re.fullmatch(pattern, str(value)):
            raise self._refused(method, f"{argument} must be {wanted}, got {value!r}")

    def _text(self, method: str, argument: str, value: object) -> None:
        if not isinstance(value, str):
            raise self._wrong(method, argument, "text", value)

    def _wrong(self, method: str, argument: str, wanted: str, value: object) -> PluginContractError:
        return self._refused(method, f"{argument} must be {wanted}, got {type(value).__name__}")

    def _refused(self, method: str, reason: str) -> PluginContractError:
        return PluginContractError(self._said(method, reason), plugin=self.plugin_id, source=self.manifest.source)

    def _said(self, method: str, reason: str) -> str:
        return f"plugin {self.plugin_id!r}: {method}: {reason}"


def is_profile(value: Any) -> bool:
    """Whether it is a provider's profile, by its members: some packages bring a base class of their own."""
    members = ("name", "base_url", "build_api_kwargs_extras")
    return not isinstance(value, type) and all(hasattr(value, name) for name in members)


def is_memory_provider(value: Any) -> bool:
    """Whether it is a memory provider, or the class of one, by its members, for the same reason."""
    return all(hasattr(value, name) for name in ("is_available", "initialize", "get_tool_schemas"))


def _kind(value: object) -> str:
    return f"the class {value.__name__}" if isinstance(value, type) else f"a {type(value).__name__}"
