"""Importing one plugin; when that fails, nothing of it stays behind."""

from __future__ import annotations

import importlib
import importlib.util
import sys
import threading
from contextlib import contextmanager
from types import ModuleType
from typing import TYPE_CHECKING, Any

from hermes_core.errors import PluginLoadError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hermes_core.plugins.context import PluginContext
    from hermes_core.plugins.plugin import Plugin

NAMESPACE = "hermes_plugins"
"""The synthetic package below which directory plugins are imported."""

_names = threading.Lock()

_self_registered: dict[str, list[Any]] = {}
"""Module → the profiles it registered while it was imported, for hosts that find it imported already."""


def import_target(plugin: Plugin, context: PluginContext) -> Any:
    """Import what the plugin's row points to: its folder's module, or its entry point's object."""
    entry = plugin.entry_point
    if entry is None:
        return _import_location(plugin)
    registered = context.registrations.profiles
    if entry.module in sys.modules:  # its import is over, so what it registered then is registered again
        registered.extend(_self_registered.get(entry.module, ()))
        return entry.load()
    target = entry.load()
    _self_registered[entry.module] = list(registered)
    return target


@contextmanager
def leaving_nothing_on_failure(plugin: Plugin) -> Iterator[None]:
    """Drop the modules the plugin brought into ``sys.modules`` when the code inside raises."""
    before = set(sys.modules)
    try:
        yield
    except BaseException:  # a plugin may raise SystemExit, and Ctrl-C may come: neither leaves half a module
        root = plugin.module if plugin.entry_point is None else plugin.entry_point.module.partition(".")[0]
        forget_modules(root, keep=before)
        plugin.module = ""
        raise


def forget_modules(root: str, keep: set[str]) -> None:
    """Take a module, and those below it, out of ``sys.modules``, but for those in ``keep``."""
    for name in [*sys.modules]:
        if root and name not in keep and _is_in(name, root):
            del sys.modules[name]


def forget_package(module: str, others: Sequence[str]) -> None:
    """Have the package that an entry point's module lies in imported anew, and nothing that it merely imports.

    Where other entry points lie in it too, its helpers may be theirs: then that is the module alone, with those
    below it, and never what the others point to.

    Args:
        module: The entry point's module.
        others: The modules of other entry points that are in use.
    """
    parts = module.split(".")
    above = [".".join(parts[:depth]) for depth in range(1, len(parts))]
    own = (name for name in above if getattr(sys.modules.get(name), "__file__", None))  # others share a namespace
    root = next(own, module)
    if any(_is_in(other, root) for other in others):
        root = module
    forget_modules(root, keep={name for name in sys.modules if any(_is_in(name, other) for other in others)})
    importlib.invalidate_caches()


def _is_in(module: str, package: str) -> bool:
    return module == package or module.startswith(f"{package}.")


def _import_location(plugin: Plugin) -> ModuleType:
    """Import a directory as a package of its own, or a single file as a module."""
    if plugin.is_data:
        message = f"there is no {plugin.code}, and the manifest has no profile that would do without code"
        raise PluginLoadError(message, plugin=plugin.key, source=plugin.source)
    if NAMESPACE not in sys.modules:
        namespace = ModuleType(NAMESPACE)
        namespace.__path__ = []
        sys.modules[NAMESPACE] = namespace
    name = plugin.module = _take_name(plugin.key)
    spec = importlib.util.spec_from_file_location(
        name,
        plugin.code,
        submodule_search_locations=None if plugin.code == plugin.location else [plugin.location],
    )
    if spec is None or spec.loader is None:
        message = f"plugin {plugin.key!r} cannot be imported from {plugin.location}"
        raise PluginLoadError(message, plugin=plugin.key, source=plugin.source)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _take_name(key: str) -> str:
    """Take a module name for ``key`` that no other plugin, and no other host in this process, has taken."""
    base = f"{NAMESPACE}.{key.replace('/', '__').replace('-', '_').replace('.', '_')}"
    name, number = base, 2
    with _names:
        while name in sys.modules:
            name, number = f"{base}_{number}", number + 1
        sys.modules[name] = ModuleType(name)
    return name
