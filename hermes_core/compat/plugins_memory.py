"""Finding memory providers, under the original's names; they are those of the current host."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hermes_core.compat.hosts import current_host
from hermes_core.errors import HermesError, describe
from hermes_core.memory.cli_file import cli_command, provider_folder

if TYPE_CHECKING:
    from hermes_core.memory.provider import MemoryProvider

__all__ = [
    "discover_memory_providers",
    "discover_plugin_cli_commands",
    "find_provider_dir",
    "list_memory_provider_names",
    "load_memory_provider",
]

log = logging.getLogger(__name__)


def list_memory_provider_names() -> list[str]:
    """The names of all memory providers, sorted; nothing is imported."""
    return sorted(current_host().memory_plugins)


def discover_memory_providers() -> list[tuple[str, str, bool]]:
    """Name, description and availability of every memory provider; each of their plugins is loaded."""
    found = []
    for name, row in current_host().memory_plugins.items():
        provider = load_memory_provider(name)
        found.append((name, row.description, provider is not None and _is_available(name, provider)))
    return found


def load_memory_provider(name: str) -> MemoryProvider | None:
    """Make the provider of this name; None, with a warning that says why, when that cannot be done."""
    try:
        return current_host().memory_provider(name)
    except HermesError as error:
        log.warning("memory provider not loaded name=%s error=%s", name, describe(error))
        return None


def find_provider_dir(name: str) -> Path | None:
    """The folder of a provider, without importing it; None when there is none."""
    row = current_host().memory_plugins.get(name)
    folder = provider_folder(row) if row is not None else ""
    return Path(folder) if folder else None


def discover_plugin_cli_commands() -> list[dict[str, Any]]:
    """The command-line tree of the active memory provider: none, or one mapping of its name, help and functions."""
    host = current_host()
    name = host.config().text("memory", "provider")
    row = host.memory_plugins.get(name)
    try:
        command = cli_command(row, name) if row is not None else None
    except HermesError as error:
        log.warning("%s", describe(error))
        return []
    if command is None:
        return []
    fields = "name", "help", "description", "setup_fn", "handler_fn", "plugin"
    return [{field: getattr(command, field) for field in fields}]


def _is_available(name: str, provider: Any) -> bool:
    try:
        return bool(provider.is_available())
    except (Exception, SystemExit) as error:  # noqa: BLE001 - plugin boundary: the others are still told
        log.warning("memory provider cannot say whether it is available name=%s error=%s", name, describe(error))
        return False
