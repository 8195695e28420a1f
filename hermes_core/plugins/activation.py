"""Who may load: one decision a plugin, made from configuration alone."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from hermes_core.plugins.debug import warn_once
from hermes_core.plugins.discovery import discover
from hermes_core.plugins.versions import HERMES, fits

if TYPE_CHECKING:
    from hermes_core.config.environment import Environment
    from hermes_core.config.settings import ConfigFile
    from hermes_core.plugins.index import Index
    from hermes_core.plugins.manifest import Manifest
    from hermes_core.plugins.plugin import Plugin

log = logging.getLogger(__name__)

NATIVE_GROUP = "hermes"
NOT_CHOSEN = "not chosen: memory.provider selects one memory provider"


def _listed(value: Any, key: str = "") -> frozenset[str]:
    if key and value is not None and not isinstance(value, list):
        log.warning("config.yaml: %s must be a list, got %s; it counts as empty", key, type(value).__name__)
    return frozenset(item for item in value if isinstance(item, str)) if isinstance(value, list) else frozenset()


def _said(held: list[Any]) -> tuple[frozenset[str], frozenset[str], str]:
    enabled, disabled, memory = held
    return _listed(enabled), _listed(disabled), str(memory)


class Activation(NamedTuple):
    """What configuration and environment say about loading plugins."""

    enabled: frozenset[str] = frozenset()
    disabled: frozenset[str] = frozenset()
    memory: str = ""
    safe_mode: bool = False
    autoload: bool = True

    @classmethod
    def of(cls, file: ConfigFile, environment: Environment, index: Index) -> Activation:
        """Read it from where it is written; a malformed list counts as empty.

        What the files say is remembered until they change, so that a start need not parse them.
        """
        key = str(file.path.parent)  # the home, which is there even when the file is not
        held = index.recall("activation", key, file.stamps(), _said) if file.is_file_alone else None
        if held is None:
            config = file.current()
            held = (
                _listed(config.get("plugins", "enabled"), "plugins.enabled"),
                _listed(config.get("plugins", "disabled"), "plugins.disabled"),
                config.text("memory", "provider"),
            )
            if config.error is not None and not config.tree:  # what it said before it broke goes on
                held = index.last("activation", key, _said) or held
            elif file.is_file_alone and config.error is None:
                said = [sorted(held[0]), sorted(held[1]), held[2]]
                index.remember("activation", key, file.stamps(), said)
        return cls(
            *held,
            safe_mode=environment.flag("HERMES_SAFE_MODE"),
            autoload=not environment.flag("HERMES_DISABLE_PLUGIN_AUTOLOAD"),
        )

    def refusal(self, plugin: Plugin) -> tuple[str, str]:
        """Why ``plugin`` may not load, and what changes that; two empty strings when it may."""
        enable = f"hermes plugins enable {plugin.key}"
        ids = plugin.ids
        if self.safe_mode and plugin.tier != "bundled":
            return "safe mode loads bundled plugins alone", "unset HERMES_SAFE_MODE"
        if not self.disabled.isdisjoint(ids):
            return "disabled via config", enable
        if self.memory and self.memory in (plugin.name, plugin.key, plugin.key.rpartition("/")[2]):
            return "", ""
        if plugin.kind == "exclusive":
            return NOT_CHOSEN, f"hermes memory setup {plugin.key.rpartition('/')[2]}"
        if not self.enabled.isdisjoint(ids):
            return "", ""
        if plugin.kind == "model-provider" and plugin.group != NATIVE_GROUP:
            return "", ""
        if plugin.tier == "bundled":
            return ("", "") if plugin.manifest.default_on else ("off by default", enable)
        if plugin.group == NATIVE_GROUP:
            return ("", "") if self.autoload else ("HERMES_DISABLE_PLUGIN_AUTOLOAD is set", enable)
        return "not enabled in config", enable

    def apply(self, plugin: Plugin) -> None:
        """Set the state of a plugin that has not been tried yet.

        One whose kind was only guessed is of the kind its operator takes it for: enabled by name, it is
        an ordinary plugin, and may offer anything.
        """
        if plugin.manifest.is_kind_guessed and not self.enabled.isdisjoint(plugin.ids):
            plugin.manifest = plugin.manifest._replace(kind="standalone")
        reason, remedy = self.refusal(plugin)
        plugin.state = "off" if reason else "ready"
        plugin.is_unchosen = reason == NOT_CHOSEN
        plugin.reason, plugin.remedy = reason, remedy


def missing_env(manifest: Manifest, environment: Environment) -> list[str]:
    """The variables a plugin asks for that are set nowhere."""
    return [name for name in manifest.requires_env if not environment.credential(name)]


def _unmet(manifest: Manifest, environment: Environment) -> tuple[str, str]:
    """What keeps a plugin that may load from loading, and what changes that; two empty strings for nothing."""
    if manifest.requires_hermes and not fits(HERMES, manifest.requires_hermes):
        reason = f"requires Hermes {manifest.requires_hermes}, and this host is compatible with {HERMES}"
        return reason, "install a version of the plugin that goes with this host"
    missing = ", ".join(missing_env(manifest, environment)) if manifest.strict_env else ""
    return (f"not set: {missing}", f"set {missing} in the environment or in .env") if missing else ("", "")


def _working_directory() -> Path | None:
    try:
        return Path.cwd()
    except OSError:  # somebody has removed it
        return None


def find_plugins(home: Path, environment: Environment, file: ConfigFile, index: Index) -> list[Plugin]:
    """Every plugin there is for a home, lowest tier first, its state set; nothing is imported."""
    project = _working_directory() if environment.flag("HERMES_ENABLE_PROJECT_PLUGINS") else None
    rows = discover(home, index, project, environment.variables.get("HERMES_BUNDLED_PLUGINS", ""))
    activation = Activation.of(file, environment, index)
    index.save()
    for row in rows:
        if row.state != "failed":
            activation.apply(row)
        unmet = _unmet(row.manifest, environment) if row.state == "ready" or row.is_unchosen else ("", "")
        if unmet[0]:
            (row.reason, row.remedy), row.state, row.is_unchosen = unmet, "off", False
    known = {word for row in rows for word in row.ids} if activation.enabled else set()
    for name in activation.enabled - known:
        places = f"{home / 'plugins'} and the installed packages"
        warn_once("plugins.enabled names %r, which is found nowhere; looked in %s", name, places)
    return rows
