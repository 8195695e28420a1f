"""The entry points of installed packages."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, NamedTuple

from hermes_core.config.environment import stamp

if TYPE_CHECKING:
    from hermes_core.plugins.index import Index

GROUPS = {
    "hermes": ("", "standalone"),
    "hermes_agent.plugins": ("", "standalone"),
    "hermes_agent.model_providers": ("model-providers/", "model-provider"),
    "hermes_agent.memory_providers": ("memory/", "exclusive"),
    "hermes.memory_provider": ("memory/", "exclusive"),
    "hermes.memory_providers": ("memory/", "exclusive"),
}
"""Entry-point group → the category its keys get, and the kind when no manifest says."""


class Entry(NamedTuple):
    """An entry point, and the distribution that declares it."""

    group: str
    name: str
    value: str
    distribution: str
    version: str

    @property
    def module(self) -> str:
        """The module it names, without the attribute behind the colon."""
        return self.value.partition(":")[0].strip()

    def load(self) -> Any:
        """Import what it names."""
        from importlib_metadata import EntryPoint

        return EntryPoint(name=self.name, value=self.value, group=self.group).load()


def entry_points(index: Index) -> list[Entry]:
    """The entry points of ``GROUPS``, in the order of ``sys.path``; a distribution counts where it is first found.

    What lies in an entry of ``sys.path`` is looked at once, and again when that folder has changed.
    """
    home_of: dict[str, str] = {}
    found: list[Entry] = []
    for path in dict.fromkeys(sys.path):
        now = stamp(path or ".")
        if now is None:
            continue
        entries = index.recall("entry points", path, [now], _entries)
        if entries is None:
            entries = _look(path)
            index.remember("entry points", path, [now], entries)
        found += [entry for entry in entries if home_of.setdefault(entry.distribution, path) == path]
    return found


def _entries(held: list[Any]) -> list[Entry]:
    """Entry points out of the index; refuses any that this version could not have written."""
    entries = [Entry(*entry) for entry in held]
    if not all(entry.group in GROUPS and all(isinstance(field, str) for field in entry) for entry in entries):
        message = "not an entry point of ours"
        raise ValueError(message)
    return entries


def _look(path: str) -> list[Entry]:
    """What is installed in one entry of ``sys.path``."""
    import importlib_metadata

    found: list[Entry] = []
    for distribution in importlib_metadata.distributions(path=[path]):
        found += [
            Entry(entry.group, entry.name, entry.value, distribution.name, distribution.version)
            for entry in distribution.entry_points
            if entry.group in GROUPS
        ]
    return sorted(found)
