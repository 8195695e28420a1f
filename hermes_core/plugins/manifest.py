"""``plugin.yaml``: what a plugin says of itself, read without importing it."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from hermes_core.config.environment import stamp
from hermes_core.config.settings import read_yaml
from hermes_core.config.truth import is_number
from hermes_core.errors import ConfigError

if TYPE_CHECKING:
    from hermes_core.config.environment import Stamp

MAX_BYTES = 256 * 1024
MAX_VALUES = 10_000
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")

_TEXT = ("text", lambda value: isinstance(value, str))
_SWITCH = ("true or false", lambda value: isinstance(value, bool))
_WHOLE = ("a whole number", lambda value: value is None or (isinstance(value, int) and not isinstance(value, bool)))
_NAMES = (
    "a list of names",
    lambda value: isinstance(value, list) and all(isinstance(item, str) for item in value),
)
PROFILE_FIELDS: dict[str, tuple[str, Callable[[Any], bool]]] = {
    **dict.fromkeys(("name", "extends", "api_mode", "display_name", "description", "signup_url", "base_url"), _TEXT),
    **dict.fromkeys(("models_url", "auth_type", "hostname", "default_aux_model", "max_tokens_field"), _TEXT),
    **dict.fromkeys(("aliases", "env_vars", "fallback_models"), _NAMES),
    **dict.fromkeys(("supports_health_check", "supports_vision", "supports_vision_tool_messages"), _SWITCH),
    **dict.fromkeys(("supports_vision_user_messages", "schema_in_prompt"), _SWITCH),
    **dict.fromkeys(("default_max_tokens", "auto_rank"), _WHOLE),
    "default_headers": ("a mapping", lambda value: isinstance(value, dict)),
    "fixed_temperature": ("a number or omit", lambda value: value in (None, "omit") or is_number(value)),
}
"""Fields of a ``profile:`` block → what they must be, and how to tell; others are kept as they are."""

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


def manifest_file(folder: str) -> tuple[str, Stamp]:
    """The folder's manifest, and its stamp; the stamp is None when there is none."""
    for name in FILE_NAMES:
        file = f"{folder}{os.sep}{name}"
        found = stamp(file)
        if found is not None:
            return file, found
    return "", None


def read_manifest(file: str) -> Mapping[str, Any]:
    """The mapping in a manifest.

    Raises:
        ConfigError: The file cannot be read, is too large, or is no mapping.
    """
    try:
        if os.path.getsize(file) > MAX_BYTES:
            message = f"cannot use {file}: a manifest may hold {MAX_BYTES // 1024} KiB at most"
            raise ConfigError(message, path=file, hint="keep only the fields that docs/plugins.md names")
        return read_yaml(Path(file))
    except FileNotFoundError as error:
        raise ConfigError(f"cannot read {file}: it is gone", path=file, hint="list again") from error


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
        items = [item.get("name") if isinstance(item, Mapping) else item for item in value]
        if not all(isinstance(item, str | int | float | None) for item in items):
            raise wrong(key, "a list of names")
        return tuple(str(item) for item in items if item not in (None, ""))

    def help_lines(key: str) -> dict[str, str]:
        value = data.get(key)
        if isinstance(value, Mapping):
            if not all(isinstance(line, str | None) for line in value.values()):
                raise wrong(key, "names with one line of help each")
            return {str(name): line or "" for name, line in value.items()}
        return dict.fromkeys(names(key), "")

    def profiles() -> tuple[Mapping[str, Any], ...]:
        value = data.get("profile")
        if value is None:
            return ()
        blocks = value if isinstance(value, list) else [value]
        if not all(isinstance(block, Mapping) for block in blocks):
            raise wrong("profile", "a mapping or a list of mappings")
        try:
            plain = json.loads(json.dumps(_plain(blocks, [MAX_VALUES])))
        except (TypeError, ValueError) as error:
            message = f"{path}: profile cannot be used: {error}"
            raise ConfigError(message, path=path, key="profile", hint="correct the manifest") from error
        return tuple(_profile({key: value for key, value in block.items() if _says(key, value)}) for block in plain)

    def _profile(block: dict[str, Any]) -> dict[str, Any]:
        for key, value in block.items():
            wanted, fits = PROFILE_FIELDS.get(key, ("", lambda _value: True))
            if not fits(value):
                message = f"{path}: profile.{key} must be {wanted}, got {type(value).__name__}"
                raise ConfigError(message, path=path, key=f"profile.{key}", hint="correct the manifest")
        return {"name": name, **block}

    if not isinstance(data.get("name", ""), str):
        raise wrong("name", "text; put a bare number in quotes")
    name = text("name", default_name)
    if not NAME.fullmatch(name):
        message = f"{path}: name {name[:80]!r} may hold letters, digits, '.', '_' and '-', 64 at most"
        raise ConfigError(message, path=path, key="name", hint="choose another name")
    kind = text("kind", "model-provider" if data.get("profile") is not None else default_kind).lower()
    author = data.get("author")
    return Manifest(
        name=name,
        version=text("version"),
        description=text("description"),
        author=", ".join(_words(author)) if isinstance(author, Mapping) else text("author"),
        kind=kind if kind in KINDS else "standalone",
        default_on=data.get("default") not in (False, "off"),
        requires_env=names("requires_env"),
        hooks=names("provides_hooks") or names("hooks"),
        commands=help_lines("provides_commands"),
        cli_commands=help_lines("provides_cli_commands"),
        tools=names("provides_tools"),
        profiles=profiles(),
    )


def _says(key: str, value: Any) -> bool:
    """Whether a field of a profile says anything: nothing behind the colon does where None has no meaning."""
    return value is not None or key in ("auto_rank", "default_max_tokens", "fixed_temperature")


def _words(values: Mapping[str, Any]) -> list[str]:
    return [value for value in values.values() if isinstance(value, str)]


def _plain(value: Any, left: list[int]) -> Any:
    """``value`` in JSON's types; refuses one that unfolds to too much.

    Raises:
        ValueError: It holds more than ``left[0]`` values.
        TypeError: It holds what JSON cannot.
    """
    left[0] -= 1
    if left[0] < 0:
        message = f"it holds more than {MAX_VALUES} values"
        raise ValueError(message)
    if isinstance(value, Mapping):
        return {str(key): _plain(item, left) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item, left) for item in value]
    if value is None or isinstance(value, str | bool | int | float):
        return value
    message = f"it holds a {type(value).__name__}"
    raise TypeError(message)
