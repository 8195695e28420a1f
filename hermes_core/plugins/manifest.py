"""``plugin.yaml``: what a plugin says of itself, read without importing it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from hermes_core.config.settings import read_yaml
from hermes_core.errors import ConfigError

if TYPE_CHECKING:
    from pathlib import Path

FILE_NAMES = ("plugin.yaml", "plugin.yml")

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
        default_on: Whether a bundled plugin is on when the configuration says nothing.
        requires_env: Variables it needs, for information.
        hooks: Hooks it implements, new names and old ones.
        commands: Slash commands it offers → one line of help.
        cli_commands: Command-line trees it offers → one line of help.
        tools: Tools it offers.
        profiles: Provider profiles it declares.
    """

    name: str
    version: str = ""
    description: str = ""
    author: str = ""
    kind: str = "standalone"
    default_on: bool = True
    requires_env: tuple[str, ...] = ()
    hooks: tuple[str, ...] = ()
    commands: Mapping[str, str] = MappingProxyType({})
    cli_commands: Mapping[str, str] = MappingProxyType({})
    tools: tuple[str, ...] = ()
    profiles: tuple[Mapping[str, Any], ...] = ()

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


def read_manifest(folder: Path) -> Mapping[str, Any] | None:
    """The mapping in the folder's manifest file, or None when it has none.

    Raises:
        ConfigError: The file cannot be read or is no mapping.
    """
    for name in FILE_NAMES:
        try:
            return read_yaml(folder / name)
        except (FileNotFoundError, NotADirectoryError):
            continue
    return None


def parse_manifest(
    data: Mapping[str, Any], *, path: str, default_name: str, default_kind: str = "standalone"
) -> Manifest:
    """Check a manifest's fields.

    Args:
        data: The mapping in the file.
        path: The file, for error messages.
        default_name: The plugin's name when the file gives none.
        default_kind: Its kind when the file gives none.

    Raises:
        ConfigError: A field has the wrong type; names the file and the key.

    Example:
        >>> parse_manifest({"provides_commands": ["tldr"]}, path="plugin.yaml", default_name="x").commands
        {'tldr': ''}
    """

    def wrong(key: str, wanted: str) -> ConfigError:
        message = f"{path}: {key} must be {wanted}, got {type(data[key]).__name__}"
        return ConfigError(message, path=path, key=key, hint="correct the manifest")

    def text(key: str, default: str = "") -> str:
        value = data.get(key)
        if value is None:
            return default
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            raise wrong(key, "text")
        return str(value).strip() or default

    def names(key: str) -> tuple[str, ...]:
        value = data.get(key)
        if value is None:
            return ()
        if isinstance(value, str) or not isinstance(value, Iterable):
            raise wrong(key, "a list")
        items = [item.get("name", "") if isinstance(item, Mapping) else item for item in value]
        return tuple(str(item) for item in items if item)

    def help_lines(key: str) -> dict[str, str]:
        value = data.get(key)
        if isinstance(value, Mapping):
            return {str(name): str(line or "") for name, line in value.items()}
        return dict.fromkeys(names(key), "")

    def profiles() -> tuple[Mapping[str, Any], ...]:
        value = data.get("profile")
        blocks = value if isinstance(value, list) else [] if value is None else [value]
        if not all(isinstance(block, Mapping) for block in blocks):
            raise wrong("profile", "a mapping or a list of mappings")
        return tuple({"name": name, **block} for block in blocks)

    name = data.get("name")
    if name is not None and not isinstance(name, str):
        raise wrong("name", "text; put a bare number in quotes")
    name = text("name", default_name)
    kind = text("kind", "model-provider" if data.get("profile") is not None else default_kind).lower()
    author = data.get("author")
    return Manifest(
        name=name,
        version=text("version"),
        description=text("description"),
        author=", ".join(str(part) for part in author.values()) if isinstance(author, Mapping) else text("author"),
        kind=kind if kind in KINDS else "standalone",
        default_on=data.get("default") not in (False, "off"),
        requires_env=names("requires_env"),
        hooks=names("provides_hooks") or names("hooks"),
        commands=help_lines("provides_commands"),
        cli_commands=help_lines("provides_cli_commands"),
        tools=names("provides_tools"),
        profiles=profiles(),
    )
