"""The command-line tree of a memory provider: a ``cli.py`` beside it, found by convention."""

from __future__ import annotations

import importlib.util
import os
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

from hermes_core.errors import PluginLoadError, describe
from hermes_core.plugins.discovery import package_folders
from hermes_core.types.contributions import CliCommand

if TYPE_CHECKING:
    from collections.abc import Callable

    from hermes_core.plugins.plugin import Plugin

NAMESPACE = "hermes_memory_cli"
"""The synthetic package below which ``cli.py`` files are imported, each in an empty package of its own."""


def provider_folder(row: Plugin) -> str:
    """The folder that a memory provider's code lies in, without importing it; ``""`` for a single file."""
    if row.entry_point is not None:
        return str(next(iter(package_folders(row.entry_point.module)), ""))
    return row.location if os.path.isdir(row.location) else ""


def cli_file(row: Plugin) -> str:
    """The ``cli.py`` of a provider; ``""`` when it has none."""
    folder = provider_folder(row)
    path = f"{folder}{os.sep}cli.py"
    return path if folder and os.path.isfile(path) else ""


def cli_command(row: Plugin, name: str) -> CliCommand | None:
    """The command-line tree of a provider, called as the provider is; None when it has none.

    Its ``cli.py`` is imported, and nothing else of it. ``<name>_command`` there, with underscores for dashes, or
    ``command``, is called with the parsed arguments, unless ``register_cli`` has set a ``func``.

    Raises:
        PluginLoadError: The file cannot be imported, or has no ``register_cli``.
    """
    path = cli_file(row)
    if not path:
        return None
    try:
        module = _import(path, name)
        setup: Callable[..., Any] = module.register_cli
    except (Exception, SystemExit) as error:
        message = f"plugin {row.key!r}: its cli.py cannot be used: {describe(error)}"
        raise PluginLoadError(message, plugin=row.key, source=row.source, hint=f"look into {path}") from error
    handlers = [f"{name}_command", f"{name.replace('-', '_')}_command", "command"]
    return CliCommand(
        name=name,
        help=row.description or f"Manage {name} memory plugin",
        setup_fn=setup,
        handler_fn=next((found for word in handlers if callable(found := getattr(module, word, None))), None),
        plugin=row.key,
    )


def _import(path: str, name: str) -> ModuleType:
    """Import one file of a package, without the package's own code; its relative imports work."""
    shell = f"{NAMESPACE}.{name.replace('-', '_').replace('.', '_')}"
    for package, folders in ((NAMESPACE, []), (shell, [os.path.dirname(path)])):
        sys.modules[package] = ModuleType(package)
        sys.modules[package].__path__ = folders
    spec = importlib.util.spec_from_file_location(f"{shell}.cli", path)
    if spec is None or spec.loader is None:
        message = f"cannot import {path}"
        raise ImportError(message)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[spec.name]
        raise
    return module
