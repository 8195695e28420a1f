"""The half of ``ctx`` by which a plugin asks the host for something."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from hermes_core.config.paths import profile_name
from hermes_core.config.settings import Config
from hermes_core.errors import PluginContractError
from hermes_core.plugins.debug import warn_once
from hermes_core.plugins.entries import (
    SETTINGS,
    entry_of,
    is_granted,
    json_copy,
    refuse_variables,
    setting_path,
    write_setting,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from hermes_core.llm.client import PluginLlm
    from hermes_core.plugins.context import HostServices
    from hermes_core.plugins.plugin import Plugin
    from hermes_core.plugins.state import PluginState

ProfileT = TypeVar("ProfileT")

_NOTHING = object()


class PluginServices:
    """What a plugin may ask for.

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

    def get_config(self, key: str, default: Any = None) -> Any:
        """One of the plugin's own settings, ``plugins.entries.<id>.settings.<key>``, as a copy.

        A memory provider's may also stand in ``memory.<name>.<key>``; those go first.

        Args:
            key: Dotted, relative to the plugin's settings: ``limits.daily``.
            default: What to give when neither the operator nor the manifest's ``config_schema`` says.

        Raises:
            PluginContractError: The key leads out of the plugin's own settings.

        Example:
            >>> def register(ctx):
            ...     greeting = ctx.get_config("greeting", "hello")
        """
        from copy import deepcopy

        parts = setting_path(key, self.plugin_id)
        _, entry = self._entry()
        places = [(Config(entry), section) for section in SETTINGS]
        if self.manifest.kind == "exclusive":
            places.insert(0, (Config(self._host.config().section("memory")), self.manifest.name))
        for config, section in places:
            value = config.get(section, *parts, default=_NOTHING)
            if value is not _NOTHING:
                return deepcopy(value)
        schema = self.manifest.manifest.config_schema
        declared = schema[key].get("default") if key in schema else None
        return default if declared is None else deepcopy(declared)

    def set_config(self, key: str, value: Any) -> None:
        """Write one of the plugin's own settings to ``config.yaml``; comments and style of the file stay.

        Args:
            key: As for ``get_config``.
            value: What JSON can hold.

        Raises:
            PluginContractError: The key leads out of the plugin's own settings, or the value cannot be written.
            PermissionError: The administrator manages the configuration.
            ConfigError: The file cannot be read or written; nothing in it was changed.
        """
        parts = setting_path(key, self.plugin_id)
        plain = json_copy(value, key, self.plugin_id)
        refuse_variables(plain, key, self.plugin_id)
        managed = self._host.managed_config
        if managed is not None:
            message = f"plugin {self.plugin_id!r}: set_config: {managed} manages the configuration of this install"
            raise PermissionError(message)
        known_as, _ = self._entry()
        write_setting(self.home / "config.yaml", ["plugins", "entries", known_as, SETTINGS[0], *parts], plain)

    @cached_property
    def state(self) -> PluginState:
        """What the plugin keeps between runs: ``ctx.state.get(key, default)`` and ``ctx.state.set(key, value)``."""
        from hermes_core.plugins.state import PluginState, data_folder

        return PluginState(data_folder(self.home, self.plugin_id) / "state.json", self.plugin_id)

    def has_plugin(self, plugin_id: str) -> bool:
        """Whether a plugin, by key or name, is loaded, or will be when it is first needed."""
        return any(row.state in ("loaded", "ready") and plugin_id in row.ids for row in self._host.plugins)

    def has_capability(self, capability: str) -> bool:
        """Whether the operator grants this plugin a capability, such as ``llm.model_override``.

        One that this host does not know is not granted. Nothing is while ``config.yaml`` cannot be read,
        but for ``tools.override`` to a bundled plugin.
        """
        _, entry = self._entry() if self._host.config().error is None else ("", {})
        return is_granted(entry, capability, ("tools.override",) if self.manifest.tier == "bundled" else ())

    def dispatch_tool(self, tool_name: str, args: Mapping[str, Any], **context: Any) -> str:
        """Call a tool of any plugin, or of the memory provider, and return its result, as a rule JSON.

        A call that fails gives JSON with an ``error``, as does the name of a tool that there is not.
        """
        return self._host.tools.dispatch(tool_name, args, **context)

    def inject_message(self, content: str, role: str = "user", **_newer: Any) -> bool:  # noqa: ARG002 - published
        """Put a message into the running conversation; False when there is none, as in this host."""
        warn_once("message not injected plugin=%s reason=no conversation is running", self.plugin_id)
        return False

    def _entry(self) -> tuple[str, Mapping[str, Any]]:
        return entry_of(self._host.config(), self.plugin_id, self.manifest.name)
