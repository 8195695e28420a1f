"""Memory in one SQLite file: every turn is kept, and what fits a question is recalled."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from hermes_core import hookimpl

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from hermes_core import MemoryProvider, PluginContext


@hookimpl
def hermes_memory_providers(ctx: PluginContext) -> Mapping[str, Callable[[], MemoryProvider]]:
    """Offer the provider; it is made when ``memory.provider`` names it."""
    from .provider import SqliteMemory

    return {"sqlite": partial(SqliteMemory, ctx.get_config)}
