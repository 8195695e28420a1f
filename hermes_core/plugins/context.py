"""What a plugin is handed: its own view of the host."""

from __future__ import annotations

import logging
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from hermes_core.config.paths import profile_name
from hermes_core.errors import PluginContractError
from hermes_core.plugins.registrations import Registrations

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from hermes_core.llm.client import PluginLlm
    from hermes_core.plugins.plugin import Plugin
    from hermes_core.types.contributions import Handler

log = logging.getLogger(__name__)

ProfileT = TypeVar("ProfileT")


class HostServices(Protocol):
    """What a context needs of the host."""

    home: Path

    def llm(self, plugin_id: str) -> PluginLlm:
        """The model surface of a plugin."""

    def offered_more(self, context: PluginContext) -> None:
        """A plugin has registered something more."""


class PluginContext:
    """A plugin's own context, the ``ctx`` of ``register(ctx)`` and of every hook.

    Attributes:
        plugin_id: The id that configuration knows the plugin by.
        manifest: Its row: ``name``, ``key``, ``kind``, ``version``, ``description``, ``source``.
        home: The Hermes home; keep files below it.
    """

    def __init__(self, plugin: Plugin, host: HostServices) -> None:
        self.plugin_id = plugin.key
        self.manifest = plugin
        self.home = host.home
        self._host = host
        self.registrations = Registrations()

    def __repr__(self) -> str:
        return f"<PluginContext {self.plugin_id!r}>"

    @cached_property
    def llm(self) -> PluginLlm:
        """The supported way to make a model call; see ``docs/plugin-llm.md``."""
        return self._host.llm(self.plugin_id)

    @property
    def profile_name(self) -> str:
        """The name of the profile whose home this is; ``default`` for the default home, ``custom`` for any other."""
        return profile_name(self.home)

    def declared_profile(self, cls: Callable[..., ProfileT], name: str = "") -> ProfileT:
        """Build a profile from the ``profile:`` block of the plugin's manifest.

        Args:
            cls: The profile class to build.
            name: Which profile, where the manifest declares several; the first one otherwise.

        Raises:
            PluginContractError: The manifest declares no such profile.
        """
        for data in self.manifest.manifest.profiles:
            if not name or data["name"] == name:
                return cls(**data)
        message = f"plugin {self.plugin_id!r} declares no profile {name!r} in its manifest"
        raise PluginContractError(message, plugin=self.plugin_id, source=self.manifest.source)

    def register_command(
        self, name: str, handler: Handler, description: str = "", args_hint: str = "", **_newer: Any
    ) -> None:
        """Offer a slash command; see ``Command``. A reserved or empty name is ignored with a warning.

        Example:
            >>> def register(ctx):
            ...     ctx.register_command("shout", handler=str.upper, description="Say it louder.")
        """
        from hermes_core.types.contributions import RESERVED_COMMANDS, Command, command_name

        cleaned = command_name(name)
        if not cleaned or cleaned in RESERVED_COMMANDS:
            log.warning(
                "command ignored plugin=%s command=%r reason=the name is empty or reserved", self.plugin_id, name
            )
            return
        self._callable("register_command", "handler", handler)
        self.registrations.commands.append(
            Command(
                name=cleaned,
                handler=handler,
                description=description or "Plugin command",
                args_hint=args_hint.strip(),
                plugin=self.plugin_id,
            )
        )
        self._host.offered_more(self)

    def register_cli_command(
        self,
        name: str,
        help: str,  # noqa: A002 - the published name of the argument
        setup_fn: Callable[[ArgumentParser], object],
        handler_fn: Callable[[Namespace], int | None] | None = None,
        description: str = "",
    ) -> None:
        """Offer a command-line tree, ``hermes <name> …``; see ``CliCommand``."""
        from hermes_core.types.contributions import CliCommand

        self._callable("register_cli_command", "setup_fn", setup_fn)
        self.registrations.cli_commands.append(
            CliCommand(
                name=name,
                help=help,
                setup_fn=setup_fn,
                handler_fn=handler_fn,
                description=description,
                plugin=self.plugin_id,
            )
        )
        self._host.offered_more(self)

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
    ) -> None:
        """Offer a tool; see ``Tool``. ``(name, schema, handler)`` is understood too."""
        from hermes_core.types.contributions import Tool

        if isinstance(toolset, dict) and handler is None:
            toolset, schema, handler = "", toolset, schema  # type: ignore[assignment]
        if not isinstance(schema, dict):
            raise self._wrong("register_tool", "schema", "a mapping", schema)
        self._callable("register_tool", "handler", handler)
        self.registrations.tools.append(
            Tool(
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
        )
        self._host.offered_more(self)

    def register_hook(self, hook_name: str, callback: Callable[..., Any]) -> None:
        """Listen to a lifecycle event by its old name, such as ``on_session_end``."""
        self._callable("register_hook", "callback", callback)
        self.registrations.hooks.append((hook_name, callback))
        self._host.offered_more(self)

    def register_provider(self, profile: Any) -> None:
        """Offer an LLM provider profile; a later one of the same name replaces an earlier one."""
        if not is_profile(profile):
            raise self._wrong("register_provider", "profile", "a ProviderProfile", profile)
        self.registrations.profiles.append(profile)
        self._host.offered_more(self)

    def register_memory_provider(self, provider: Any) -> None:
        """Offer a memory provider; ``memory.provider`` decides whether it is used."""
        self.registrations.memory[str(provider.name)] = lambda: provider
        self._host.offered_more(self)

    def on_unload(self, callback: Callable[[], object]) -> None:
        """Have ``callback`` called when the plugin is unloaded; the last one registered goes first."""
        self._callable("on_unload", "callback", callback)
        self.registrations.on_unload.append(callback)

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("register_"):
            message = f"PluginContext has no attribute {name!r}"
            raise AttributeError(message)
        kind = name.removeprefix("register_")

        def store(*args: Any, **keywords: Any) -> None:
            log.info("registration stored, this host does not use it plugin=%s kind=%s", self.plugin_id, kind)
            self.registrations.unused.setdefault(kind, []).append((args, keywords))

        return store

    def _callable(self, method: str, argument: str, value: object) -> None:
        if not callable(value):
            raise self._wrong(method, argument, "callable", value)

    def _wrong(self, method: str, argument: str, wanted: str, value: object) -> PluginContractError:
        message = f"{method}: {argument} must be {wanted}, got {type(value).__name__}"
        return PluginContractError(message, plugin=self.plugin_id, source=self.manifest.source)


def is_profile(value: Any) -> bool:
    """Whether it is a provider's profile, by its members: some packages bring a base class of their own."""
    members = ("name", "base_url", "build_api_kwargs_extras")
    return not isinstance(value, type) and all(hasattr(value, name) for name in members)
