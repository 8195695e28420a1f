"""The memory manager of a host, as its configuration wants it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hermes_core.errors import MemoryProviderError, describe
from hermes_core.memory.last_session import keep
from hermes_core.memory.limits import Limits
from hermes_core.memory.manager import MemoryManager
from hermes_core.memory.member import BUILTIN

if TYPE_CHECKING:
    from pathlib import Path

    from hermes_core.config.settings import Config
    from hermes_core.memory.catalog import MemoryCatalog
    from hermes_core.memory.store import MemoryStore, MemoryWrite


def configured_manager(catalog: MemoryCatalog, config: Config, home: Path, store: MemoryStore) -> MemoryManager:
    """A manager with the chosen providers that can be used; why one cannot is in its ``stats``.

    Args:
        catalog: Where providers come from.
        config: Says which ones, and what their limits are.
        home: Where they keep their files.
        store: The built-in memory, whose writes they mirror.
    """
    manager = MemoryManager(limits=Limits.of(config), home=home)
    chosen = dict.fromkeys(also_named(config), True) | {config.text("memory", "provider"): False}
    for name, is_read_only in sorted(chosen.items(), key=lambda item: item[1]):
        if name in ("", BUILTIN):
            continue
        try:
            found = catalog.get(name)
        except MemoryProviderError as error:
            manager.refuse(name, f"{describe(error)} ({error.hint})" if error.hint else describe(error))
        else:
            manager.add_provider(found.provider, read_only=is_read_only, must_be_available=True, context=found.context)

    def mirror(write: MemoryWrite) -> None:
        metadata = {"session_id": manager.session_id, "previous_content": write.previous, **write.metadata}
        known = {key: value for key, value in metadata.items() if value}
        manager.on_memory_write(write.action, write.target, write.content, known)

    if manager.providers:
        manager.call_at_end(store.subscribe(mirror))
    if any(chosen):
        manager.call_at_end(lambda: keep(home, manager.stats) if manager.session_id else None)
    return manager


def also_named(config: Config) -> list[str]:
    """The providers that ``memory.also`` has asked beside the active one."""
    found = config.value("memory", "also") or []
    return [name.strip() for name in found if isinstance(name, str) and name.strip()]
