"""Taking a plugin out of a running host, and putting in what is there now."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hermes_core.errors import PluginError
from hermes_core.plugins.loader import forget_package

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hermes_core.plugins.plugin import Plugin
    from hermes_core.plugins.registry import PluginRegistry


def swap(registry: PluginRegistry, name: str, found: Sequence[Plugin]) -> Plugin | None:
    """Put the rows found now in the place of a plugin, and of those of its key that are not at work.

    Args:
        registry: The plugins as they are.
        name: The plugin's key or name.
        found: Every plugin there is now.

    Returns:
        The row that is to be loaded; None when nothing of that name is left.

    Raises:
        PluginError: It is the embedding program, which is nowhere to be found.
    """
    with registry.lock:
        old = registry.find(name)
        if old is not None and old.tier == "program":
            message = f"cannot reload {name!r}: it is what this program offers itself"
            raise PluginError(message, plugin=name, hint="register it anew by host.program_context()")
        key = old.key if old is not None else next((row.key for row in found if name in row.ids), name)
        come = {(row.tier, row.identity): row for row in found if row.key == key}
        anew = []
        for row in [row for row in registry.plugins if row.key == key]:
            new = come.pop((row.tier, row.identity), None)
            if row is old or new is None or not row.is_active:  # why another one is off may be over
                _replace(registry, row, new)
                anew += [new] if row is old and new is not None else []
        for row in come.values():
            row.order = max((other.order for other in registry.plugins), default=0) + 1
            registry.plugins.append(row)
            anew.append(row)
        registry.plugins.sort(key=lambda row: row.rank)
        registry.changed()
        return max(anew, key=lambda row: row.rank, default=None) or registry.find(key)


def _replace(registry: PluginRegistry, old: Plugin, new: Plugin | None) -> None:
    registry.unload(old)
    if old.entry_point is not None:
        forget_package(old.entry_point.module, registry.entry_modules())
    at = registry.plugins.index(old)
    registry.plugins[at : at + 1] = [new] if new is not None else []
    if new is not None:
        new.order = old.order
