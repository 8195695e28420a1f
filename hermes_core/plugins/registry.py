"""The plugins of one host: loaded when needed, asked in pluggy's order, blamed by name."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from hermes_core.config.redact import redact
from hermes_core.config.scrub import scrub
from hermes_core.errors import HermesError, PluginContractError, describe
from hermes_core.plugins.adapters import take_up
from hermes_core.plugins.context import HostServices, PluginContext
from hermes_core.plugins.contract import check_contract
from hermes_core.plugins.current import running
from hermes_core.plugins.debug import trace, warn_once
from hermes_core.plugins.entries import setting_problems
from hermes_core.plugins.lending import LendingLock
from hermes_core.plugins.listener import Listener
from hermes_core.plugins.loader import forget_modules, import_target, leaving_nothing_on_failure
from hermes_core.plugins.manifest import PROFILES
from hermes_core.plugins.order import PLAIN, TRYFIRST, TRYLAST, Implementation, call_position
from hermes_core.plugins.versions import fits
from hermes_core.plugins.watch import LoadWatch

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pluggy

    from hermes_core.plugins.index import Index
    from hermes_core.plugins.plugin import Plugin

log = logging.getLogger(__name__)

SLOW_SECONDS = 1.0
"""Loading a plugin should take less; one that takes longer is named."""


class PluginRegistry:
    """Loads plugins and asks them.

    Args:
        plugins: All rows, lowest tier first, their states set.
        services: What contexts need of the host.
        index: Remembers what was learned of plugins by loading them.
    """

    def __init__(self, plugins: Sequence[Plugin], services: HostServices, index: Index) -> None:
        self.plugins = list(plugins)
        self.index = index
        self.generation = 0
        self._services = services
        self.lock = LendingLock()
        _registries.add(self)
        self._contexts: dict[Plugin, PluginContext] = {}
        self._in_transit: set[Plugin] = set()
        self._watch = LoadWatch(SLOW_SECONDS, self._still_loading)
        self._calls: dict[str, list[Implementation]] = {}
        self._listeners: dict[str, list[Listener]] = {}
        self._offered: dict[Plugin, dict[Callable[..., Any], Any]] = {}
        self._complete: dict[str, list[tuple[Implementation, Any]]] = {}

    @cached_property
    def pm(self) -> pluggy.PluginManager:
        """The pluggy manager that knows the specifications and every loaded plugin."""
        import pluggy
        from hermes_hookspecs import PROJECT, SPECS

        manager = pluggy.PluginManager(PROJECT)
        for specs in SPECS:
            manager.add_hookspecs(specs)
        return manager

    def find(self, name: str) -> Plugin | None:
        """The row with this key, else the one of the highest tier with this name."""
        by_name = None
        for plugin in self.plugins:
            if plugin.key == name:
                return self._winner(plugin.key) or plugin
            if plugin.name == name:
                by_name = plugin
        return by_name

    def context(self, plugin: Plugin) -> PluginContext:
        """The plugin's context; the same one each time."""
        if plugin not in self._contexts:
            self._contexts[plugin] = PluginContext(plugin, self._services)
        return self._contexts[plugin]

    def offered_more(self, context: PluginContext) -> None:
        """A plugin has registered something; one that is loaded already has it seen at once."""
        with running(context), self.lock:
            plugin = context.manifest
            if plugin.state == "loaded" and self._contexts.get(plugin) is context:
                self._expose(plugin, context)
            self.changed()

    def changed(self) -> None:
        """Forget what was derived from registrations; they have changed."""
        self.generation += 1
        self._calls.clear()
        self._listeners.clear()
        self._complete.clear()

    def need(self, surface: str) -> None:
        """Load every plugin that may answer ``surface`` and has not been tried yet."""
        for plugin in self.plugins:
            if plugin.is_untried and plugin.manifest.may_answer(surface):
                self.load(plugin)

    def load(self, plugin: Plugin) -> bool:
        """Import and register one plugin, all or nothing; whether it is loaded now.

        What it raises, ``SystemExit`` included, becomes its row's reason. ``KeyboardInterrupt``
        goes through.
        """
        with self.lock:
            if plugin.state == "loaded":
                return True
            if not plugin.is_untried or plugin in self._in_transit or (plugin.manifest.profiles and plugin.is_data):
                return False
            shadow = self._shadowed_by(plugin)
            if shadow is not None:
                plugin.state, plugin.reason = "off", f"shadowed by {shadow.tier} plugin {shadow.source}"
                plugin.remedy = f"take away {shadow.source}"
                return False
            self._in_transit.add(plugin)
            self._load_required(plugin)
            started = time.monotonic()
            try:
                with self._watch.over(plugin):
                    self._load(plugin)
            except BaseException as error:
                self._contexts.pop(plugin, None)
                self._failed(plugin, error, time.monotonic() - started)
                if isinstance(error, KeyboardInterrupt):
                    raise
            else:
                self._loaded(plugin, time.monotonic() - started)
            finally:
                self._in_transit.discard(plugin)
                self.changed()
            return plugin.state == "loaded"

    def adopt(self, plugin: Plugin) -> PluginContext:
        """Take in a plugin that needs no loading: the embedding program itself."""
        with self.lock:
            context = self.context(plugin)
            self._commit(plugin, context)
            plugin.state = "loaded"
            self.plugins.append(plugin)
            self.changed()
            return context

    def implementations(self, hook: str) -> list[Implementation]:
        """The loaded implementations of ``hook``, in the order they are called."""
        found = self._calls.get(hook)
        if found is None:
            rows = {str(plugin.order): plugin for plugin in self.plugins if plugin.state == "loaded"}
            found = []
            for impl in getattr(self.pm.hook, hook).get_hookimpls() if rows else ():
                plugin = rows.get(impl.plugin_name.partition("|")[0])
                if plugin is None:
                    continue
                band = TRYFIRST if impl.tryfirst else TRYLAST if impl.trylast else PLAIN
                arguments = (*impl.argnames, *impl.kwargnames)
                found.append(Implementation(plugin, call_position(plugin.rank, band), arguments, impl.function))
            found.sort(key=lambda impl: impl.position)
            self._calls[hook] = found
        return found

    def offers(self, hook: str, *, load: bool = True) -> list[tuple[Implementation, Any]]:
        """What every implementation of an offer hook returned, in call order.

        Each is called once, and then remembered. It gets its own ``ctx``. One that raises is reported
        and passed over; an iterator is consumed here, where blame is at hand.

        Args:
            hook: Name of an offer hook.
            load: Whether plugins that may implement it are loaded first.
        """
        with self.lock:
            if load and hook in self._complete:
                return self._complete[hook]
            if load:
                self.need(hook)
            seen = None
            while seen != self.generation:  # a hook may register something, which then counts too
                seen, found = self.generation, []
                for impl in self.implementations(hook):
                    offered = self._offered.setdefault(impl.plugin, {})
                    if impl.function not in offered:
                        offered[impl.function] = None  # for a lookup from within the call
                        offered[impl.function] = self._call(impl, hook)
                    if offered[impl.function] is not None:
                        found.append((impl, offered[impl.function]))
            if load:
                self._complete[hook] = found
            return found

    def _call(self, impl: Implementation, hook: str, **arguments: Any) -> Any:
        context = self.context(impl.plugin)
        try:
            with running(context), self.lock.lent(context):
                value = impl.call({**arguments, "ctx": context})
                value = list(value) if isinstance(value, Iterator) else value
            trace.debug("call hook=%s plugin=%s returned=%s", hook, impl.plugin.key, type(value).__name__)
            return value
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - plugin boundary: the other plugins still answer
            self.blame(impl.plugin, hook, error)
            return None

    def items(
        self, hook: str, kind: Callable[[Any], bool], *, load: bool = True
    ) -> Iterator[tuple[Implementation, Any]]:
        """The single items that plugins offer by ``hook``; what is none is reported, and passed over.

        Args:
            hook: Name of an offer hook.
            kind: Tells an item from what is none.
            load: Whether plugins that may implement it are loaded first.
        """
        for impl, offered in self.offers(hook, load=load):
            items = offered if isinstance(offered, list | tuple | set | frozenset) else [offered]
            for item in items:
                if kind(item):
                    yield impl, item
                else:
                    message = f"it returned {type(item).__name__}, which is no offer of this hook"
                    self.blame(impl.plugin, hook, PluginContractError(message, plugin=impl.plugin.key))

    def listeners(self, hook: str) -> list[Listener]:
        """The implementations of a hook that is called with arguments; plugins that may have one are loaded."""
        with self.lock:
            if hook not in self._listeners:
                self.need(hook)
                self._listeners[hook] = [Listener(self, impl, hook) for impl in self.implementations(hook)]
            return self._listeners[hook]

    def blame(self, plugin: Plugin, place: str, error: BaseException) -> None:
        """Record that a loaded plugin's code failed in ``place``, and warn of it once."""
        reason = redact(f"{place} raised {describe(error)}")
        if plugin.reason != reason:
            plugin.reason = reason
            warn_once("plugin failed plugin=%s source=%s %s", plugin.key, plugin.source, reason)

    def recall_failures(self) -> None:
        """Show what failed in an earlier process as failed; it is tried again when it is needed."""
        for plugin in self.plugins:
            if plugin.state == "ready" and self.index.knows("failures", plugin.identity):
                failure = self.index.recall("failures", plugin.identity, plugin.code_stamps(), list)
                if failure is not None and len(failure) == 2:
                    plugin.state, plugin.may_retry = "failed", True
                    plugin.reason, plugin.remedy = map(str, failure)

    def unload(self, plugin: Plugin) -> None:
        """Take back all that a loaded plugin offered, run its ``on_unload``, and drop its modules.

        Callbacks run last registered first; one that raises is reported, and the others still run.
        """
        with self.lock:
            if plugin.state != "loaded" or plugin in self._in_transit:
                return
            self._in_transit.add(plugin)
            context = self.context(plugin)
            try:
                for callback in reversed(context.registrations.on_unload):
                    try:
                        with running(context), self.lock.lent(context):
                            callback()
                    except KeyboardInterrupt:
                        raise
                    except BaseException as error:  # noqa: BLE001 - plugin boundary: the others still unload
                        self.blame(plugin, "on_unload", error)
            finally:
                self._in_transit.discard(plugin)
            for target in (*context.registrations.natives, context.registrations):
                if self.pm.is_registered(target):
                    self.pm.unregister(target)
            self._offered.pop(plugin, None)
            self._contexts.pop(plugin)
            forget_modules(plugin.module, keep=set())
            plugin.module, plugin.state = "", "ready"
            self.changed()

    def unload_all(self) -> None:
        """Unload every plugin, last found first."""
        for plugin in reversed(self.plugins):
            self.unload(plugin)

    @staticmethod
    def entry_modules() -> list[str]:
        """The modules of the entry points that are loaded, by any host of this process."""
        rows = [row for registry in _registries.copy() for row in registry.plugins if row.state == "loaded"]
        return [row.entry_point.module for row in rows if row.entry_point is not None]

    def _load(self, plugin: Plugin) -> None:
        context = self.context(plugin)
        schema = plugin.manifest.config_schema
        if schema:
            for problem in setting_problems(schema, self._services.config(), plugin.key, plugin.name):
                warn_once("config.yaml: %s", problem)
        with leaving_nothing_on_failure(plugin), running(context):
            with self.lock.lent(context):
                take_up(import_target(plugin, context), context)
            self._commit(plugin, context)

    def _load_required(self, plugin: Plugin) -> None:
        """Load what it asks to have loaded before it; it goes on without what cannot be."""
        for name, versions in plugin.manifest.requires_plugins.items():
            other = self.find(name)
            if other is None or not (other in self._in_transit or self.load(other)):
                problem = f"is {other.state}: {other.reason}" if other is not None else "is found nowhere"
            elif not fits(other.version, versions):
                problem = f"{versions} is {other.version}"
            else:
                continue
            warn_once("plugin %s requires plugin %s, which %s", plugin.key, name, problem)

    def _loaded(self, plugin: Plugin, seconds: float) -> None:
        plugin.state, plugin.reason, plugin.remedy, plugin.may_retry = "loaded", "", "", False
        self.index.forget("failures", plugin.identity)
        log.debug("plugin loaded plugin=%s source=%s seconds=%.2f", plugin.key, plugin.source, seconds)
        if seconds > SLOW_SECONDS:
            warn_once("plugin slow to load plugin=%s source=%s seconds=%.1f", plugin.key, plugin.source, seconds)
            self.index.save()

    def _commit(self, plugin: Plugin, context: PluginContext) -> None:
        """Hand the plugin's objects to pluggy; on a breach of the contract, none of them stays."""
        registered: list[object] = []
        try:
            for number, target in enumerate(context.registrations.natives):
                if not self.pm.is_registered(target):  # two entry points of one package may name one module
                    check_contract(self.pm, plugin, target)
                    registered.append(target)
                    self.pm.register(target, name=f"{plugin.order}|{number}")
            self._expose(plugin, context)
        except BaseException:  # looking into a plugin's object may run its code
            for target in filter(self.pm.is_registered, registered):
                self.pm.unregister(target)
            raise

    def _expose(self, plugin: Plugin, context: PluginContext) -> None:
        """Hand the plugin's ledger to pluggy as it is now."""
        ledger, name = context.registrations, f"{plugin.order}|ledger"
        if self.pm.get_plugin(name) is ledger:
            self.pm.unregister(ledger)
        if dir(ledger):
            self.pm.register(ledger, name=name)

    def _still_loading(self, plugin: Plugin) -> None:
        """Note it while it hangs: should the process be ended, the next list still says why."""
        warn_once("plugin still loading after %g s plugin=%s source=%s", SLOW_SECONDS, plugin.key, plugin.source)
        reason = f"was still loading after {SLOW_SECONDS:g} s, and never finished"
        remedy = f"hermes plugins disable {plugin.key}"
        self.index.remember("failures", plugin.identity, plugin.code_stamps(), [reason, remedy])
        self.index.save()

    def _failed(self, plugin: Plugin, error: BaseException, seconds: float) -> None:
        after = f" after {seconds:.0f} s" if seconds > SLOW_SECONDS else ""
        plugin.state, plugin.reason, plugin.may_retry = "failed", redact(describe(error)) + after, False
        plugin.remedy = (
            isinstance(error, HermesError) and redact(error.hint)
        ) or f"hermes plugins disable {plugin.key}"
        self.index.remember("failures", plugin.identity, plugin.code_stamps(), [plugin.reason, plugin.remedy])
        self.index.save()
        warn_once("plugin failed to load plugin=%s source=%s error=%s", plugin.key, plugin.source, plugin.reason)
        scrub(error)
        log.debug("plugin failed to load plugin=%s", plugin.key, exc_info=error)

    def _winner(self, key: str) -> Plugin | None:
        return next((row for row in reversed(self.plugins) if row.key == key and row.is_active), None)

    def _shadowed_by(self, plugin: Plugin) -> Plugin | None:
        """The plugin of the same key that takes its place; providers compete by profile name instead."""
        if plugin.kind == "model-provider" or PROFILES in plugin.manifest.surfaces:
            return None
        winner = self._winner(plugin.key)
        return winner if winner is not None and winner is not plugin and self.load(winner) else None


_registries: WeakSet[PluginRegistry] = WeakSet()


def _renew_locks() -> None:
    """In a forked child, the thread that held a lock is not there to release it."""
    for registry in _registries:
        registry.lock = LendingLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_locks)
