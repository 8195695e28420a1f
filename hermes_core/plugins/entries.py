"""``plugins.entries.<id>``: what the operator set for one plugin, and allows it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from hermes_core.config.settings import expand
from hermes_core.config.truth import is_true
from hermes_core.errors import ConfigError, PluginContractError

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from hermes_core.config.settings import Config

CAPABILITIES = {
    "tools.override": ("allow_tool_override",),
    "llm.provider_override": ("llm", "allow_provider_override"),
    "llm.model_override": ("llm", "allow_model_override"),
    "llm.agent_id_override": ("llm", "allow_agent_id_override"),
    "llm.profile_override": ("llm", "allow_profile_override"),
    "llm.task_override": ("llm", "allow_task_override"),
    "gateway.platform_actions": ("allow_platform_actions",),
}
"""What an operator may grant → the flag in the plugin's entry that grants it."""

SETTINGS = ("settings", "config")
"""Where a plugin's own settings stand in its entry; the older name is read, and never written."""

_PLACE = ("plugins", "entries")

SETTING_TYPES: dict[str, tuple[type, ...]] = {
    **dict.fromkeys(("str", "string", "secret"), (str,)),
    **dict.fromkeys(("int", "integer"), (int,)),
    **dict.fromkeys(("float", "number"), (int, float)),
    **dict.fromkeys(("bool", "boolean"), (bool,)),
    **dict.fromkeys(("list", "array"), (list,)),
    **dict.fromkeys(("dict", "object"), (dict,)),
}
"""What a ``config_schema`` calls a type → what such a value is in Python; True and False are no numbers."""

_KEY = re.compile(r"[\w-]+(\.[\w-]+)*")


def entry_of(config: Config, *ids: str) -> tuple[str, Mapping[str, Any]]:
    """The first of these ids that has an entry, and the entry; the first id, and nothing, where none has.

    Example:
        >>> from hermes_core.config.settings import Config
        >>> entry_of(Config({"plugins": {"entries": {"tldr": {"a": 1}}}}), "commands/tldr", "tldr")
        ('tldr', {'a': 1})
    """
    entries = config.section(*_PLACE)
    known_as = next((name for name in ids if name in entries), ids[0])
    return known_as, config.section(*_PLACE, known_as)


def is_granted(entry: Mapping[str, Any], capability: object, given: Collection[str] = ()) -> bool:
    """Whether an entry grants a capability.

    Its flag decides. Where that is not set, one that ``granted_capabilities`` names, or that is ``given``, is granted,
    but for those of the ``llm`` section: the trust gate goes by their flags alone.

    Example:
        >>> is_granted({"granted_capabilities": ["tools.override"]}, "tools.override")
        True
        >>> is_granted({"granted_capabilities": ["tools.override"], "allow_tool_override": False}, "tools.override")
        False
    """
    if not isinstance(capability, str) or capability not in CAPABILITIES:
        return False
    *section, flag = CAPABILITIES[capability]
    node = entry.get(section[0]) if section else entry
    if isinstance(node, Mapping) and flag in node:
        return is_true(node[flag])
    names = entry.get("granted_capabilities")
    listed = [names] if isinstance(names, str) else names if isinstance(names, list) else []
    granted = {name.strip().lower() for name in listed if isinstance(name, str)}
    return not section and (capability in given or capability in granted)


def setting_path(key: object, plugin_id: str) -> list[str]:
    """The parts of a plugin's own dotted key.

    Raises:
        PluginContractError: It is no such key, or leads out of the plugin's own settings.

    Example:
        >>> setting_path("limits.daily", "acme")
        ['limits', 'daily']
    """
    if not isinstance(key, str) or not _KEY.fullmatch(key) or key.startswith("plugins."):
        message = f"plugin {plugin_id!r}: {key!r} is no key of its own settings, such as 'limits.daily'"
        raise PluginContractError(message, plugin=plugin_id, hint="leave out where in config.yaml they stand")
    return key.split(".")


def setting_problems(schema: Mapping[str, Mapping[str, Any]], config: Config, *ids: str) -> list[str]:
    """What is wrong with a plugin's settings by its ``config_schema``: the key, and what it should be.

    Example:
        >>> from hermes_core.config.settings import Config
        >>> config = Config({"plugins": {"entries": {"acme": {"settings": {"limit": "many"}}}}})
        >>> setting_problems({"limit": {"type": "int"}}, config, "acme")
        ['plugins.entries.acme.settings.limit must be of type int, got str']
    """
    known_as, _ = entry_of(config, *ids)
    now, before = (config.section(*_PLACE, known_as, name) for name in SETTINGS)
    settings = {**before, **now}
    problems = []
    for key, field in schema.items():
        kind = field.get("type")
        known = SETTING_TYPES.get(kind) if isinstance(kind, str) else None
        value = settings.get(key)
        if value is None:
            problem = "is missing" if is_true(field.get("required")) and field.get("default") is None else ""
        else:
            fits = not known or (isinstance(value, known) and (bool in known or not isinstance(value, bool)))
            problem = "" if fits else f"must be of type {kind}, got {type(value).__name__}"
        if problem:
            problems.append(f"{'.'.join(_PLACE)}.{known_as}.{SETTINGS[0]}.{key} {problem}")
    return problems


def json_copy(value: object, key: str, plugin_id: str) -> Any:
    """A copy of what a plugin wants kept, in JSON's own types.

    Raises:
        PluginContractError: JSON cannot hold it; names the key.
    """
    try:
        return json.loads(json.dumps(value, allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        message = f"plugin {plugin_id!r}: the value of {key!r} must be one that JSON can hold: {error}"
        raise PluginContractError(message, plugin=plugin_id) from error


def refuse_variables(value: object, key: str, plugin_id: str) -> None:
    """Keep a plugin from having ``${NAME}`` expanded in its own settings: that may be somebody else's secret.

    Raises:
        PluginContractError: The value refers to a variable.
    """

    def refuse(name: str) -> str:
        message = f"plugin {plugin_id!r}: the value of {key!r} may not refer to ${{{name}}}"
        raise PluginContractError(message, plugin=plugin_id, hint="the operator may write that into config.yaml")

    expand(value, refuse)


def write_setting(path: Path, parts: list[str], value: object) -> None:
    """Write a value to a place in ``config.yaml``; all else in it stays as it is.

    Raises:
        ConfigError: The file cannot be read or written, or holds something else on the way to that place.
    """

    def change(tree: Any) -> None:
        for depth, part in enumerate(parts[:-1], 1):
            if tree.get(part) is None:
                tree[part] = {}
            tree = tree[part]
            if not isinstance(tree, dict):
                key = ".".join(parts[:depth])
                message = f"cannot change {path}: {key} must be a mapping, not {type(tree).__name__}"
                raise ConfigError(message, path=path, key=key, hint="correct it by hand; nothing was written")
        tree[parts[-1]] = value

    from hermes_core.config.edit import edit_config

    edit_config(path, change)
