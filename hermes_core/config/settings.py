"""``config.yaml``: read, healed, expanded, and read again when it changes."""

from __future__ import annotations

import logging
import os
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from hermes_core.config.environment import Environment, Stamp, stamp
from hermes_core.config.redact import register_secret
from hermes_core.errors import ConfigError, describe

if TYPE_CHECKING:
    from collections.abc import Callable

log = logging.getLogger(__name__)

Tree = dict[str, Any]
MAX_VALUES = 200_000
MAX_DEPTH = 100
_SECRET_KEYS = frozenset({"api_key", "apikey", "api", "token", "password", "secret", "access_token", "refresh_token"})
_SECRET_HEADERS = ("auth", "key", "token", "secret", "cookie", "password")
_SECRET_MAPPINGS = frozenset({"default_headers", "extra_headers"})
_REFERENCE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_MODEL_NAMES = ("default", "model", "name")
_MODEL_ALIASES = {
    "provider": "provider",
    "base_url": "base_url",
    "api_base": "base_url",
    "context_length": "context_length",
}


class Config(NamedTuple):
    """One reading of the configuration.

    Attributes:
        tree: Everything, merged and expanded.
        error: Why ``config.yaml`` cannot be read now, while ``tree`` is the last good one; else None.
    """

    tree: Mapping[str, Any] = MappingProxyType({})
    error: ConfigError | None = None

    def __repr__(self) -> str:
        return f"Config(error={self.error!r})"

    def get(self, *keys: str, default: Any = None) -> Any:
        """The value at a path of keys; ``default`` where a key or a mapping is missing.

        Example:
            >>> Config(tree={"a": {"b": None}}).get("a", "b", default=1) is None
            True
        """
        node: Any = self.tree
        for key in keys:
            if not isinstance(node, Mapping) or key not in node:
                return default
            node = node[key]
        return node

    def section(self, *keys: str) -> Mapping[str, Any]:
        """The mapping at a path of keys; an empty one where there is none."""
        found = self.get(*keys)
        return found if isinstance(found, Mapping) else {}

    def text(self, *keys: str) -> str:
        """The string at a path of keys, trimmed; ``""`` where there is none."""
        found = self.get(*keys)
        return found.strip() if isinstance(found, str) else ""


def merge(base: Mapping[str, Any], over: Mapping[str, Any]) -> Tree:
    """``over`` laid on ``base``: mappings merge, all else replaces; null leaves a mapping alone.

    Example:
        >>> merge({"a": {"x": 1}, "b": [1]}, {"a": {"y": 2}, "b": [2]})
        {'a': {'x': 1, 'y': 2}, 'b': [2]}
    """
    merged = dict(base)
    for key, value in over.items():
        below = merged.get(key)
        if isinstance(below, Mapping):
            if value is None:
                continue
            if isinstance(value, Mapping):
                merged[key] = merge(below, value)
                continue
        merged[key] = value
    return merged


def heal(tree: Mapping[str, Any]) -> Tree:
    """The older spellings of the model section in today's: ``model.default``, ``.provider``, ``.base_url``.

    Example:
        >>> heal({"model": "m", "provider": "acme"})
        {'model': {'default': 'm', 'provider': 'acme'}}
    """
    healed = dict(tree)
    section = healed.get("model")
    model = dict(section) if isinstance(section, Mapping) else {"default": section} if isinstance(section, str) else {}
    for old, new in _MODEL_ALIASES.items():
        value = healed.pop(old, None)
        if value and not model.get(new):
            model[new] = value
    if model.get("api_base") and not model.get("base_url"):
        model["base_url"] = model["api_base"]
    name = next((model[key] for key in _MODEL_NAMES if model.get(key)), "")
    if name:
        model["default"] = name
    if model:
        healed["model"] = model
    return healed


def expand(node: Any, look_up: Callable[[str], str]) -> Any:
    """``node`` with each ``${NAME}`` in a string replaced; an unset name stays as it is written.

    Example:
        >>> expand({"key": "${A}-${B}"}, {"A": "1"}.get)
        {'key': '1-${B}'}
    """
    if isinstance(node, str):
        return _REFERENCE.sub(lambda match: look_up(match[1]) or match[0], node) if "${" in node else node
    if isinstance(node, Mapping):
        return {key: expand(value, look_up) for key, value in node.items()}
    if isinstance(node, list):
        return [expand(value, look_up) for value in node]
    return node


def read_yaml(path: Path) -> Tree:
    """The mapping in a YAML file; an empty file is an empty mapping.

    Raises:
        ConfigError: It cannot be read, is no YAML, or is no mapping; names the line.
        FileNotFoundError: There is no such file.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise
    except (OSError, ValueError) as error:
        message = f"cannot read {path}: {getattr(error, 'strerror', None) or 'it is not UTF-8 text'}"
        raise ConfigError(message, path=path, hint="make the file readable UTF-8; nothing in it was changed") from error
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        tree = yaml.load(text, loader)  # noqa: S506 - both loaders are the safe ones
        _check_size(tree, MAX_VALUES)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        at = getattr(error, "position", None)
        line = mark.line if mark else text.count("\n", 0, at) if isinstance(at, int) else None
        place = "" if line is None else f", line {line + 1}"
        problem = getattr(error, "problem", None) or getattr(error, "reason", None) or "it is not YAML"
        message = f"cannot read {path}{place}: {problem}"
        raise ConfigError(message, path=path, hint="mend the file; nothing in it was changed") from error
    except (ValueError, RecursionError) as error:
        message = f"cannot read {path}: {describe(error)}"
        raise ConfigError(message, path=path, hint="mend the file; nothing in it was changed") from error
    if tree is None:
        return {}
    if not isinstance(tree, dict):
        message = f"cannot use {path}: it must hold a mapping, not a {type(tree).__name__}"
        raise ConfigError(message, path=path, hint="write `key: value` lines")
    return tree


class ConfigFile:
    """The configuration of one home, kept current.

    Later layers win: the file, the program's ``overlay``, the administrator's managed file.

    Args:
        home: The home whose ``config.yaml`` counts.
        environment: What ``${NAME}`` is looked up in.
        overlay: A mapping of the embedding program's; it is never written.
    """

    def __init__(self, home: Path, environment: Environment, overlay: Mapping[str, Any] | None = None) -> None:
        self.path = home / "config.yaml"
        named = environment.variables.get("HERMES_MANAGED_DIR", "")  # the administrator's, so not from a home's .env
        self._managed = Path(named if named and os.path.isdir(named) else "/etc/hermes") / "config.yaml"
        self._environment = environment
        self._layers: dict[str, Mapping[str, Any]] = {"user": {}, "overlay": dict(overlay or {}), "managed": {}}
        self._current = Config()
        self._stamps: tuple[Stamp, Stamp] | None = None
        self._references: dict[str, str] = {}

    @property
    def is_file_alone(self) -> bool:
        """Whether the files say everything: no program's overlay, and no ``${NAME}`` seen so far."""
        return not self._layers["overlay"] and not self._references

    def stamps(self) -> tuple[Stamp, Stamp]:
        """What changes when a file does."""
        return stamp(self.path), stamp(self._managed)

    def current(self) -> Config:
        """The configuration as it is now; the same object until a file or a ``${NAME}`` changes."""
        stamps = self.stamps()
        if stamps != self._stamps or any(self._look_up(name) != old for name, old in self._references.items()):
            self._current, self._stamps = self._read(), stamps
        return self._current

    def _look_up(self, name: str) -> str:
        return self._environment.own_credential(name)  # one configuration is shared by all scopes

    def _remember(self, name: str) -> str:
        value = self._references[name] = self._look_up(name)
        return value

    def _read(self) -> Config:
        """Merge the layers; one that cannot be read stands as it last could."""
        error: ConfigError | None = None
        self._references = {}
        for layer, path in (("user", self.path), ("managed", self._managed)):
            try:
                self._layers[layer] = read_yaml(path)
            except FileNotFoundError:
                self._layers[layer] = {}
            except ConfigError as broken:
                self._report(broken)
                error = error or broken
        tree: Tree = {}
        for layer in ("user", "overlay", "managed"):
            tree = merge(tree, expand(heal(self._layers[layer]), self._remember))
        _register_secrets(tree)
        return Config(tree=tree, error=error)

    def _report(self, error: ConfigError) -> None:
        log.warning("%s; the last good configuration stays in use, and no plugin override is allowed", error)
        if error.path == str(self.path):
            backup = self.path.with_name(self.path.name + ".broken")
            try:
                backup.touch(mode=0o600)
                shutil.copyfile(self.path, backup)
            except OSError:
                log.debug("no backup of the broken configuration path=%s", backup)


def _check_size(node: Any, left: int, depth: int = 0) -> int:
    """How many values are left of the ones a file may hold; aliases count wherever they stand.

    Raises:
        ValueError: There are too many, or they are nested too deep.
    """
    if left <= 0 or depth > MAX_DEPTH:
        message = f"it holds more than {MAX_VALUES} values, or is nested deeper than {MAX_DEPTH}"
        raise ValueError(message)
    children = node.values() if isinstance(node, Mapping) else node if isinstance(node, list | tuple | set) else ()
    for child in children:
        left = _check_size(child, left - 1, depth + 1)
    return left


def _register_secrets(node: Any) -> None:
    """Have what looks like a secret redacted from now on, wherever it turns up."""
    if isinstance(node, list):
        for item in node:
            _register_secrets(item)
    if not isinstance(node, Mapping):
        return
    for key, value in node.items():
        word = str(key).lower()
        if isinstance(value, str) and word in _SECRET_KEYS and "://" not in value:
            register_secret(value.strip())
        elif isinstance(value, Mapping) and word in _SECRET_MAPPINGS:
            for name, item in value.items():
                if any(part in str(name).lower() for part in _SECRET_HEADERS):
                    register_secret(str(item).strip())
                    register_secret(str(item).rpartition(" ")[2].strip())  # behind "Bearer"
        else:
            _register_secrets(value)
