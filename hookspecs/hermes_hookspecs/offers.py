"""Hooks by which a plugin offers something."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hermes_hookspecs.markers import hookspec

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from hermes_core import ApiMode, Command, MemoryProvider, PluginContext, ProviderProfile, Tool


class OfferSpecs:
    """Each returns its offers, in any order; the first claim on a name, in call order, wins.

    Call order is pluggy's: tiers rise bundled, legacy files, pip packages, user directory, project
    directory; the last registered is asked first; ``tryfirst`` and ``trylast`` trump that.
    """

    @hookspec
    def hermes_provider_profiles(self, ctx: PluginContext) -> Iterable[ProviderProfile]:
        """Offer LLM provider profiles.

        Called once, at the first provider lookup that the plugin might answer. A profile replaces
        one of the same name from a lower tier; ``hermes providers explain NAME`` shows who won.

        Args:
            ctx: Your plugin's own context.

        Returns:
            Profiles. A name beats an alias, whoever claims it.

        Example:
            >>> from hermes_core import ProviderProfile, hookimpl
            >>> @hookimpl
            ... def hermes_provider_profiles():
            ...     yield ProviderProfile("acme", base_url="https://api.acme.test/v1", env_vars=("ACME_API_KEY",))
        """
        return ()

    @hookspec
    def hermes_memory_providers(
        self, ctx: PluginContext
    ) -> Mapping[str, Callable[[], MemoryProvider]] | Iterable[MemoryProvider]:
        """Offer memory providers.

        Called when memory is first used. One is active at a time: the one ``memory.provider`` names.

        Args:
            ctx: Your plugin's own context.

        Returns:
            Names mapped to zero-argument factories, or instances.

        Example:
            >>> from hermes_core import MemoryProvider, hookimpl
            >>> class Notes(MemoryProvider):
            ...     name = "notes"
            ...     def is_available(self): return True
            ...     def initialize(self, session_id, **kwargs): pass
            ...     def get_tool_schemas(self): return []
            >>> @hookimpl
            ... def hermes_memory_providers():
            ...     return {"notes": Notes}
        """
        return ()

    @hookspec
    def hermes_api_modes(self, ctx: PluginContext) -> Iterable[ApiMode]:
        """Offer wire formats for profiles to name in ``api_mode``.

        Called once, at the first model call.

        Args:
            ctx: Your plugin's own context.

        Returns:
            Pairs of pure functions that write a request and read an answer.

        Example:
            >>> from hermes_core import ApiMode, Completion, hookimpl
            >>> from hermes_core.types.wire import HttpRequest
            >>> def encode(request):
            ...     return HttpRequest(url=f"{request.base_url}/echo", headers={}, body=b"{}")
            >>> def decode(body):
            ...     return Completion(text=body["echo"])
            >>> @hookimpl
            ... def hermes_api_modes():
            ...     yield ApiMode(name="echo", encode=encode, decode=decode)
        """
        return ()

    @hookspec
    def hermes_commands(self, ctx: PluginContext) -> Iterable[Command]:
        """Offer slash commands.

        Called when a command is first looked up. A higher tier replaces a lower one's command;
        within a tier the first keeps the name. The host's own names are reserved.

        Args:
            ctx: Your plugin's own context.

        Returns:
            Commands; a handler takes the rest of the line and may be async.

        Example:
            >>> from hermes_core import Command, hookimpl
            >>> @hookimpl
            ... def hermes_commands():
            ...     yield Command(name="shout", handler=str.upper, description="Say it louder.")
        """
        return ()

    @hookspec
    def hermes_tools(self, ctx: PluginContext) -> Iterable[Tool]:
        """Offer tools for the model to call.

        Called when a session first needs its tools. A tool is never replaced, unless the operator
        sets ``plugins.entries.<id>.allow_tool_override``.

        Args:
            ctx: Your plugin's own context.

        Returns:
            Tools; ``schema`` is a bare function schema, ``handler`` returns a string.

        Example:
            >>> from hermes_core import Tool, hookimpl
            >>> SCHEMA = {"name": "roll", "description": "Roll a die.", "parameters": {"type": "object"}}
            >>> @hookimpl
            ... def hermes_tools():
            ...     yield Tool(name="roll", schema=SCHEMA, handler=lambda args, **context: "4")
        """
        return ()
