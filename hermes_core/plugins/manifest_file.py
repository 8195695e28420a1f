"""``plugin.yaml``, read and checked without importing the plugin."""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hermes_core.config.environment import stamp
from hermes_core.config.settings import read_yaml
from hermes_core.config.truth import is_number, is_true
from hermes_core.errors import ConfigError
from hermes_core.plugins.debug import warn_once
from hermes_core.plugins.manifest import KINDS, Manifest

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
    **dict.fromkeys(("refusal_hint", "unavailable"), _TEXT),
    **dict.fromkeys(("aliases", "env_vars", "fallback_models", "extra_hosts", "preset_for_word"), _NAMES),
    **dict.fromkeys(("supports_health_check", "supports_vision", "supports_vision_tool_messages"), _SWITCH),
    **dict.fromkeys(("supports_vision_user_messages", "schema_in_prompt", "strict_messages"), _SWITCH),
    **dict.fromkeys(("is_aggregator", "is_local"), _SWITCH),
    **dict.fromkeys(("default_max_tokens", "auto_rank", "vision_rank"), _WHOLE),
    **dict.fromkeys(
        ("default_headers", "oauth", "error_hints", "error_meanings"),
        ("a mapping", lambda value: isinstance(value, dict)),
    ),
    "fixed_temperature": ("a number or omit", lambda value: value in (None, "omit") or is_number(value)),
}
"""Fields of a ``profile:`` block → what they must be, and how to tell; others are kept as they are."""

ABOUT = (
    "label", "license", "homepage", "update_url", "tags", "platforms", "capabilities", "emits", "listens",
    "api_version", "pip_dependencies", "python_dependencies", "external_dependencies", "optional_env",
    "data_leaves",
)  # fmt: skip
"""Fields that this host keeps for people to read, and does nothing with."""

NEWEST_FORMAT = 2
"""The highest ``manifest_version`` whose fields are known here."""

FILE_NAMES = ("plugin.yaml", "plugin.yml")


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
        if not stat.S_ISREG((found := os.stat(file)).st_mode):  # reading a pipe would never end
            raise ConfigError(f"cannot use {file}: it is no file", path=file, hint="put a text file in its place")
        if found.st_size > MAX_BYTES:
            message = f"cannot use {file}: a manifest may hold {MAX_BYTES // 1024} KiB at most"
            raise ConfigError(message, path=file, hint="keep only the fields that docs/plugins.md names")
        return read_yaml(Path(file))
    except FileNotFoundError as error:
        raise ConfigError(f"cannot read {file}: it is gone", path=file, hint="list again") from error
    except OSError as error:
        raise ConfigError(f"cannot read {file}: {error.strerror}", path=file, hint="make it readable") from error


def parse_manifest(
    data: Mapping[str, Any], *, path: str, default_name: str, default_kind: str = "", code: str = ""
) -> Manifest:
    """Check a manifest's fields.

    What decides who the plugin is and what it offers has to be right. A field that only adds to that is
    left out with a warning when it is not.

    Args:
        data: The mapping in the file.
        path: The file, for error messages.
        default_name: The plugin's name when the file gives none.
        default_kind: Its kind when the file gives none, such as that of its category.
        code: The beginning of its code, which gives the kind away when nothing else says it.

    Raises:
        ConfigError: A field has the wrong type; names the file and the key.

    Example:
        >>> parse_manifest({"provides_commands": ["tldr"]}, path="plugin.yaml", default_name="x").commands
        {'tldr': ''}
    """
    read = _Fields(data, path)
    if not isinstance(data.get("name", ""), str):
        raise read.wrong("name", "text; put a bare number in quotes")
    name = read.text("name", default_name)
    if not NAME.fullmatch(name):
        message = f"{path}: name {name[:80]!r} may hold letters, digits, '.', '_' and '-', 64 at most"
        raise ConfigError(message, path=path, key="name", hint="choose another name")
    if read.whole("manifest_version", 1) > NEWEST_FORMAT:
        read.warn("manifest_version", f"is newer than {NEWEST_FORMAT}, the newest this host knows; it loads as it is")
    if data.get("profile") is not None:
        default_kind = "model-provider"
    guess = "" if default_kind or data.get("kind") is not None else kind_of(code)
    author = data.get("author")
    return Manifest(
        name=name,
        version=read.text("version"),
        description=read.text("description"),
        author=", ".join(_words(author)) if isinstance(author, Mapping) else read.text("author"),
        kind=read.kind(default_kind or guess or "standalone"),
        is_kind_guessed=bool(guess),
        default_on=data.get("default") not in (False, "off"),
        requires_env=read.names("requires_env"),
        strict_env=is_true(data.get("strict_env")),
        requires_hermes=read.loose_text("requires_hermes"),
        requires_plugins=read.plugins("requires_plugins"),
        hooks=read.names("provides_hooks") or read.names("hooks"),
        commands=read.help_lines("provides_commands"),
        cli_commands=read.help_lines("provides_cli_commands"),
        tools=read.names("provides_tools"),
        profiles=read.profiles(name),
        config_schema=read.settings("config_schema"),
        about={key: value for key in ABOUT if (value := read.plain(key)) is not None},
    )


class _Fields:
    """The fields of one manifest, each read as what it has to be."""

    def __init__(self, data: Mapping[str, Any], path: str) -> None:
        self._data = data
        self._path = path

    def wrong(self, key: str, wanted: str) -> ConfigError:
        message = f"{self._path}: {key} must be {wanted}, got {type(self._data[key]).__name__}"
        return ConfigError(message, path=self._path, key=key, hint="correct the manifest")

    def warn(self, key: str, problem: str) -> None:
        warn_once("plugin manifest %s: %s %s", self._path, key, problem)

    def text(self, key: str, default: str = "") -> str:
        value = self._data.get(key)
        if value is None:
            return default
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            raise self.wrong(key, "text")
        return str(value).strip() or default

    def loose_text(self, key: str) -> str:
        try:
            return self.text(key)
        except ConfigError:
            self.warn(key, "must be text; it is left out")
            return ""

    def whole(self, key: str, default: int) -> int:
        value = self._data.get(key, default)
        if isinstance(value, int):
            return value
        self.warn(key, f"must be a whole number, got {type(value).__name__}; it is left out")
        return default

    def kind(self, default: str) -> str:
        value = self._data.get("kind")
        if value is None:
            return default
        kind = value.strip().lower() if isinstance(value, str) else ""
        if kind in KINDS:
            return kind
        self.warn("kind", f"is none of {', '.join(KINDS)}; it counts as standalone")
        return "standalone"

    def names(self, key: str) -> tuple[str, ...]:
        value = self._data.get(key)
        if value is None:
            return ()
        if isinstance(value, str) or not isinstance(value, Iterable):
            raise self.wrong(key, "a list")
        items = [item.get("name") if isinstance(item, Mapping) else item for item in value]
        if not all(isinstance(item, str | int | float | None) for item in items):
            raise self.wrong(key, "a list of names")
        return tuple(str(item) for item in items if item not in (None, ""))

    def help_lines(self, key: str) -> dict[str, str]:
        value = self._data.get(key)
        if isinstance(value, Mapping):
            if not all(isinstance(line, str | None) for line in value.values()):
                raise self.wrong(key, "names with one line of help each")
            return {str(name): line or "" for name, line in value.items()}
        return dict.fromkeys(self.names(key), "")

    def profiles(self, name: str) -> tuple[Mapping[str, Any], ...]:
        value = self._data.get("profile")
        if value is None:
            return ()
        blocks = value if isinstance(value, list) else [value]
        if not all(isinstance(block, Mapping) for block in blocks):
            raise self.wrong("profile", "a mapping or a list of mappings")
        try:
            plain = json.loads(json.dumps(_plain(blocks, [MAX_VALUES])))
        except (TypeError, ValueError) as error:
            message = f"{self._path}: profile cannot be used: {error}"
            raise ConfigError(message, path=self._path, key="profile", hint="correct the manifest") from error
        checked = [self._checked(block) for block in plain]
        return tuple({**block, "name": block.get("name", "").strip() or name} for block in checked)

    def _checked(self, block: dict[str, Any]) -> dict[str, Any]:
        """A ``profile:`` block without the fields that say nothing."""
        said = {key: value for key, value in block.items() if _says(key, value)}
        for key, value in said.items():
            wanted, fits = PROFILE_FIELDS.get(key, ("", lambda _value: True))
            if not fits(value):
                message = f"{self._path}: profile.{key} must be {wanted}, got {type(value).__name__}"
                raise ConfigError(message, path=self._path, key=f"profile.{key}", hint="correct the manifest")
        return said

    def plugins(self, key: str) -> dict[str, str]:
        value = self._data.get(key) or []
        if isinstance(value, list):
            items = [item if isinstance(item, Mapping) else {"id": item} for item in value]
            pairs = [(item.get("id"), item.get("version_range") or "") for item in items]
            if all(isinstance(word, str) for pair in pairs for word in pair):
                return dict(pairs)  # type: ignore[arg-type]
        self.warn(key, "must be a list of plugin ids, or of mappings with id and version_range; it is left out")
        return {}

    def settings(self, key: str) -> dict[str, dict[str, Any]]:
        value = self.plain(key)
        if value is None:
            return {}
        if isinstance(value, dict) and all(isinstance(item, dict) for item in value.values()):
            return value
        self.warn(key, "must be a mapping of setting to type, default, description and required; it is left out")
        return {}

    def plain(self, key: str) -> Any:
        """The field as JSON holds it; None, with a warning, when JSON cannot."""
        if self._data.get(key) is None:
            return None
        try:
            return json.loads(json.dumps(_plain(self._data[key], [MAX_VALUES])))
        except (TypeError, ValueError) as error:
            self.warn(key, f"cannot be used, and is left out: {error}")
            return None


def kind_of(code: str) -> str:
    """The kind that code gives away; ``""`` when it does not."""
    if any(word in code for word in ("register_memory_provider", "MemoryProvider")):
        return "exclusive"
    return "model-provider" if "register_provider" in code and "ProviderProfile" in code else ""


def _says(key: str, value: Any) -> bool:
    """Whether a field of a profile says anything: nothing behind the colon does where None has no meaning."""
    return value is not None or key in ("auto_rank", "vision_rank", "default_max_tokens", "fixed_temperature")


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
