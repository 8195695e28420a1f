"""The configuration, under the original's names: that of the current host."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from hermes_core.compat.hosts import current_host
from hermes_core.config.edit import edit_config, put, take_out
from hermes_core.config.env_file import write_env
from hermes_core.config.keypath import is_secret
from hermes_core.config.keys import ROOT
from hermes_core.plugins.current import plugin_context

if TYPE_CHECKING:
    from collections.abc import Iterator

    KeyPath = tuple[str, ...]

__all__ = [
    "cfg_get",
    "get_config_path",
    "get_env_path",
    "get_env_value",
    "load_config",
    "load_config_readonly",
    "save_config",
    "save_env_value",
]

OPEN_SECTIONS = frozenset(("memory", "plugins"))
"""What plugins keep their own settings in, secrets included; those of the host's other sections are its own."""

_ABSENT = object()


def load_config() -> dict[str, Any]:
    """The configuration as it is now, a copy; keys and tokens of the host's own sections are left blank."""
    return dict(_shown(current_host().config().tree, ()))


load_config_readonly = load_config


def save_config(config: Mapping[str, Any], merge_existing: bool = False, **_newer: Any) -> None:
    """Write what differs from ``load_config()`` to ``config.yaml``; every other line stays as it is.

    Args:
        config: The whole configuration; a part of it with ``merge_existing``.
        merge_existing: Whether what is missing in ``config`` stays. Else it is taken out of the file.

    Raises:
        PermissionError: The administrator manages the configuration; or a plugin would change what plugins
            are enabled, or what they are allowed.
        ConfigError: The file cannot be read or written; nothing was changed.
    """
    host = current_host()
    if host.managed_config is not None:
        message = f"save_config: {host.managed_config} manages the configuration of this install"
        raise PermissionError(message)
    now = load_config()
    changes = dict(_differences(now, config, (), keep=merge_existing))
    context = plugin_context()
    for path in changes if context is not None else ():
        if path[0] == "plugins" and (len(path) < 2 or path[1] in ("enabled", "disabled", "entries")):
            message = f"save_config: a plugin may not change {'.'.join(path)}"
            raise PermissionError(message)
    if not changes:
        return

    def change(tree: Any) -> None:
        for path, value in changes.items():
            if value is _ABSENT:
                take_out(tree, path)
            else:
                put(tree, path, value)

    edit_config(host.home / "config.yaml", change)


def cfg_get(config: Any, *keys: str, default: Any = None) -> Any:
    """What stands at a path of keys; ``default`` where there is no such path.

    Example:
        >>> cfg_get({"memory": {"provider": None}}, "memory", "provider", default="x") is None
        True
        >>> cfg_get(None, "memory", default="x")
        'x'
    """
    node = config
    for key in keys:
        if not isinstance(node, Mapping) or key not in node:
            return default
        node = node[key]
    return default if node is None and not keys else node


def get_env_value(name: str) -> str | None:
    """A variable of the process, else of the home's ``.env``; None when neither sets it."""
    return current_host().environment.get(name) or None


def save_env_value(name: str, value: str) -> None:
    """Set a variable in the home's ``.env``.

    Raises:
        ConfigError: It cannot be written; nothing was changed.
    """
    write_env(current_host().home / ".env", {name: value})


def get_config_path() -> Any:
    """``config.yaml`` of the current home."""
    return current_host().home / "config.yaml"


def get_env_path() -> Any:
    """``.env`` of the current home."""
    return current_host().home / ".env"


def _shown(node: Any, path: KeyPath) -> Any:
    if isinstance(node, Mapping):
        return {key: _shown(value, (*path, str(key))) for key, value in node.items()}
    if isinstance(node, list):
        return [_shown(value, (*path, str(number))) for number, value in enumerate(node)]
    is_host_own = path and path[0] not in OPEN_SECTIONS and ROOT.child(path[0]) is not None
    return "" if is_host_own and isinstance(node, str) and is_secret(path) else node


def _differences(now: Any, wanted: Mapping[str, Any], path: KeyPath, *, keep: bool) -> Iterator[tuple[KeyPath, Any]]:
    """Where ``wanted`` differs from ``now``: each path with its new value, or with ``_ABSENT``."""
    for key, value in wanted.items():
        old = now.get(key, _ABSENT) if isinstance(now, Mapping) else _ABSENT
        here = (*path, str(key))
        if isinstance(value, Mapping) and isinstance(old, Mapping):
            yield from _differences(old, value, here, keep=keep)
        elif value != old:
            yield here, value
    if not keep and isinstance(now, Mapping):
        yield from (((*path, str(key)), _ABSENT) for key in now if key not in wanted)
