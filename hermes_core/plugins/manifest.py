"""What a plugin says of itself."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

PROFILES = "hermes_provider_profiles"
MEMORY = "hermes_memory_providers"
COMMANDS = "hermes_commands"
TOOLS = "hermes_tools"
CLI = "cli_commands"
"""A surface is named by its hook; command-line trees have none, and only this name."""

KINDS = {
    "standalone": None,
    "backend": None,
    "platform": None,
    "exclusive": frozenset({MEMORY}),
    "model-provider": frozenset({PROFILES}),
}
"""Kind → the surfaces such a plugin can answer at all; None for any."""


class Manifest(NamedTuple):
    """A manifest's fields, checked.

    Attributes:
        name: What people call the plugin.
        kind: One of ``KINDS``.
        is_kind_guessed: Whether the manifest says no kind, and the code gave it away.
        default_on: Whether a bundled plugin is on when the configuration says nothing.
        requires_env: Variables it needs.
        strict_env: Whether it may not load without them.
        requires_hermes: Versions of Hermes it works with, such as ``>=0.19,<0.30``; ``""`` for any.
        requires_plugins: Plugins that are to be loaded before it → the versions it asks for, ``""`` for any.
        hooks: Hooks it implements, new names and old ones.
        commands: Slash commands it offers → one line of help.
        cli_commands: Command-line trees it offers → one line of help.
        tools: Tools it offers.
        profiles: Provider profiles it declares.
        config_schema: Its settings → ``type``, ``default``, ``description`` and ``required`` of each.
        about: What else it says, of ``ABOUT``, for people.
    """

    name: str
    version: str = ""
    description: str = ""
    author: str = ""
    kind: str = "standalone"
    is_kind_guessed: bool = False
    default_on: bool = True
    requires_env: tuple[str, ...] = ()
    strict_env: bool = False
    requires_hermes: str = ""
    requires_plugins: Mapping[str, str] = MappingProxyType({})
    hooks: tuple[str, ...] = ()
    commands: Mapping[str, str] = MappingProxyType({})
    cli_commands: Mapping[str, str] = MappingProxyType({})
    tools: tuple[str, ...] = ()
    profiles: tuple[Mapping[str, Any], ...] = ()
    config_schema: Mapping[str, Mapping[str, Any]] = MappingProxyType({})
    about: Mapping[str, Any] = MappingProxyType({})

    @property
    def surfaces(self) -> frozenset[str]:
        """The surfaces it declares."""
        declared = {
            PROFILES: self.profiles,
            COMMANDS: self.commands,
            CLI: self.cli_commands,
            TOOLS: self.tools,
        }
        return frozenset({surface for surface, offers in declared.items() if offers} | set(self.hooks))

    def may_answer(self, surface: str) -> bool:
        """Whether the plugin has to be asked about ``surface``.

        It has when it declares the surface, or when it declares nothing that would say.
        """
        possible = KINDS[self.kind]
        if possible is not None and surface in possible:
            return True
        if self.surfaces:
            return surface in self.surfaces
        return possible is None
