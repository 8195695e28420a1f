"""The half of a host by which its memory is reached."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from hermes_core.config.settings import Config
    from hermes_core.memory.builtin import BuiltinMemory
    from hermes_core.memory.catalog import MemoryCatalog
    from hermes_core.memory.provider import MemoryProvider
    from hermes_core.plugins.plugin import Plugin
    from hermes_core.plugins.registry import PluginRegistry


class HostMemory:
    """What a host offers of memory; nothing is imported before it is used."""

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

    @cached_property
    def _memory_catalog(self) -> MemoryCatalog:
        from hermes_core.memory.catalog import MemoryCatalog

        return MemoryCatalog(self._registry)
