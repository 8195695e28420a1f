"""The memory providers of one host: found without being imported, made when they are asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from hermes_core.config.redact import redact
from hermes_core.errors import MemoryProviderError, PluginContractError, describe, near
from hermes_core.plugins.context import is_memory_provider
from hermes_core.plugins.current import running
from hermes_core.plugins.debug import warn_once
from hermes_core.plugins.manifest import MEMORY

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hermes_core.memory.provider import MemoryProvider
    from hermes_core.plugins.context import PluginContext
    from hermes_core.plugins.plugin import Plugin
    from hermes_core.plugins.registry import PluginRegistry


class Found(NamedTuple):
    """A memory provider, and the context of the plugin it came from."""

    provider: MemoryProvider
    context: PluginContext


class MemoryCatalog:
    """Looks memory providers up by name: the name of a folder or entry point, or the one that a plugin registered."""

    def __init__(self, registry: PluginRegistry) -> None:
        self._registry = registry

    def rows(self) -> dict[str, Plugin]:
        """Name → the plugin that is asked for it first; nothing is imported.

        A plugin of a higher tier goes first, unless it may not load or has failed.
        """
        found: dict[str, Plugin] = {}
        for row in sorted(self._registry.plugins, key=lambda row: row.rank):
            if row.kind == "exclusive" or MEMORY in row.manifest.surfaces:
                name = row.key.rpartition("/")[2]
                if name not in found or _may_load(row):
                    found[name] = row
        return dict(sorted(found.items()))

    def get(self, name: str) -> Found:
        """Make the provider of this name; its plugin is loaded, and no other one.

        Raises:
            MemoryProviderError: There is none, or it may not load, or cannot be made; says why, and what helps.
        """
        wanted = name.strip()
        rows = [row for row in self._registry.plugins if wanted in (row.name, row.key, row.key.rpartition("/")[2])]
        for row in sorted(rows, key=lambda row: row.rank, reverse=True):
            if self._load(row):
                offered = dict(self._offers(row))
                if offered:
                    known_as = wanted if wanted in offered else next(iter(offered))
                    return self._make(wanted, offered[known_as], row)
        for impl, _ in self._registry.offers(MEMORY):
            offered = dict(self._offers(impl.plugin))
            if wanted in offered:
                return self._make(wanted, offered[wanted], impl.plugin)
        raise self._absent(wanted, rows)

    def all(self) -> dict[str, Found]:
        """Every provider that can be made, by name; each of their plugins is loaded.

        One that cannot be made is left out, with a warning that says why.
        """
        names = {
            *self.rows(),
            *(name for impl, _ in self._registry.offers(MEMORY) for name, _ in self._offers(impl.plugin)),
        }
        found: dict[str, Found] = {}
        for name in sorted(names):
            try:
                found[name] = self.get(name)
            except MemoryProviderError as error:
                warn_once("memory provider left out: %s", describe(error))
        return found

    def _load(self, row: Plugin) -> bool:
        """Load the plugin, unless something else than the choice of another one keeps it from it."""
        if row.is_unchosen and row.state == "off":
            row.state, row.reason, row.remedy = "ready", "", ""
        return row.state == "loaded" or self._registry.load(row)

    def _offers(self, row: Plugin) -> Iterator[tuple[str, Callable[[], Any]]]:
        """What a loaded plugin offers: names, and what makes a provider."""
        for impl, offered in self._registry.offers(MEMORY, load=False):
            if impl.plugin is row:
                try:
                    yield from _named(offered)
                except Exception as error:  # noqa: BLE001 - plugin boundary: `name` may be code
                    self._registry.blame(row, MEMORY, error)

    def _make(self, name: str, factory: Callable[[], Any], row: Plugin) -> Found:
        context = self._registry.context(row)
        try:
            with running(context):
                provider = factory()
                own = str(provider.name) if is_memory_provider(provider) else ""
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            message = f"memory provider {name!r} of plugin {row.key!r} cannot be made: {redact(describe(error))}"
            raise MemoryProviderError(message, hint=f"look into {row.source}") from error
        if not is_memory_provider(provider) or isinstance(provider, type):
            message = f"memory provider {name!r} of plugin {row.key!r} is a {type(provider).__name__}, which is none"
            raise MemoryProviderError(message, hint=f"look into {row.source}: it should be a MemoryProvider")
        if own != name.rpartition("/")[2]:
            warn_once("memory provider goes by two names: %r in the configuration, %r in its own code", name, own)
        return Found(cast("MemoryProvider", provider), context)

    def _absent(self, name: str, rows: Iterable[Plugin]) -> MemoryProviderError:
        for row in sorted(rows, key=lambda row: row.rank, reverse=True):
            if row.state == "loaded":
                message = f"plugin {row.key!r} offers no memory provider"
                if row.reason:
                    return MemoryProviderError(f"{message}: {row.reason}", hint=f"look into {row.source}")
                return MemoryProviderError(message, hint=f"{row.source} should call ctx.register_memory_provider")
            message = f"memory provider {name!r} belongs to plugin {row.key!r}, which is {row.state}: {row.reason}"
            return MemoryProviderError(message, hint=row.remedy)
        message = f"no memory provider {name!r}{near(name, self.rows())}"
        return MemoryProviderError(message, hint="`hermes plugins list` shows what is installed")


def _may_load(row: Plugin) -> bool:
    return row.is_active or row.is_unchosen


def _named(offered: Any) -> list[tuple[str, Callable[[], Any]]]:
    """A hook's answer as names and factories.

    Raises:
        PluginContractError: It is neither a mapping of those nor an iterable of providers.
    """
    if isinstance(offered, Mapping):
        if all(callable(factory) for factory in offered.values()):
            return [(str(name), factory) for name, factory in offered.items()]
    elif isinstance(offered, Iterable) and not isinstance(offered, str):
        providers = [*offered]
        if all(is_memory_provider(provider) for provider in providers):
            return [(str(provider.name), lambda provider=provider: provider) for provider in providers]  # type: ignore[misc]
    message = f"it returned {type(offered).__name__}, which is no mapping of names to factories"
    raise PluginContractError(message)
