"""The half of a host by which its memory, and the tools of its plugins, are reached."""

from __future__ import annotations

import threading
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from hermes_core.config.settings import Config
    from hermes_core.memory.builtin import BuiltinMemory
    from hermes_core.memory.catalog import MemoryCatalog
    from hermes_core.memory.manager import MemoryManager
    from hermes_core.memory.provider import MemoryProvider
    from hermes_core.plugins.plugin import Plugin
    from hermes_core.plugins.registry import PluginRegistry
    from hermes_core.tools.registry import ToolRegistry
    from hermes_core.types.contributions import Tool


class HostMemory:
    """What a host offers of memory and of tools; nothing is imported before it is used."""

    home: Path
    _registry: PluginRegistry

    if TYPE_CHECKING:

        def config(self) -> Config:
            """The configuration as it is now."""

    def memory_provider(self, name: str) -> MemoryProvider:
        """A memory provider, not initialised; its plugin is loaded, and no other one.

        Raises:
            MemoryProviderError: There is none of this name, or it may not load, or cannot be made.
        """
        return self._memory_catalog.get(name).provider

    def memory_providers(self) -> dict[str, MemoryProvider]:
        """Every memory provider that can be made, by name; all their plugins are loaded."""
        return {name: found.provider for name, found in self._memory_catalog.all().items()}

    @property
    def memory_plugins(self) -> dict[str, Plugin]:
        """Name → the row of the plugin that is asked for this memory provider; nothing is imported."""
        return self._memory_catalog.rows()

    @cached_property
    def builtin_memory(self) -> BuiltinMemory:
        """``MEMORY.md`` and ``USER.md`` of this home; set its ``ask`` where somebody can be asked."""
        from hermes_core.memory.builtin import BuiltinMemory

        return BuiltinMemory(self.home, self.config)

    @property
    def memory(self) -> MemoryManager:
        """The memory manager, with the provider that ``memory.provider`` chooses and those of ``memory.also``.

        It is empty when nothing is chosen, or what is chosen cannot be used, which is warned of; its ``stats`` say
        why. Call ``initialize_all`` when a session begins. Writes of the built-in memory reach it by themselves.
        """
        with vars(self).setdefault("_memory_lock", threading.RLock()):
            return self._memory

    @cached_property
    def _memory(self) -> MemoryManager:
        from hermes_core.memory.configured import configured_manager

        return configured_manager(self._memory_catalog, self.config(), self.home, self.builtin_memory.store)

    def _close_memory(self) -> None:
        """Close the manager, if there ever was one."""
        if "_memory" in vars(self):
            self.memory.shutdown_all()

    @cached_property
    def tools(self) -> ToolRegistry:
        """What a model may call: the tools of plugins, and those of the memory provider."""
        from hermes_core.tools.plugin_tools import plugin_tools
        from hermes_core.tools.registry import ToolRegistry

        def of_memory() -> list[Tool]:
            return self.memory.tools()  # asked for only when something is called, or shown

        return ToolRegistry(lambda: plugin_tools(self._registry), of_memory)

    @cached_property
    def _memory_catalog(self) -> MemoryCatalog:
        from hermes_core.memory.catalog import MemoryCatalog

        return MemoryCatalog(self._registry)
