"""The entry points of installed packages, remembered per ``sys.path`` entry until it changes."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from typing import TYPE_CHECKING, Any, NamedTuple

from hermes_core.config.environment import stamp

if TYPE_CHECKING:
    from pathlib import Path

GROUPS = {
    "hermes": ("", "standalone"),
    "hermes_agent.plugins": ("", "standalone"),
    "hermes_agent.model_providers": ("model-providers/", "model-provider"),
    "hermes_agent.memory_providers": ("memory/", "exclusive"),
    "hermes.memory_provider": ("memory/", "exclusive"),
    "hermes.memory_providers": ("memory/", "exclusive"),
}
"""Entry-point group → the category its keys get, and the kind when no manifest says."""

FORMAT = 1


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


def entry_points(cache: Path) -> list[Entry]:
    """The entry points of ``GROUPS``, in the order of ``sys.path``; a distribution counts where it is first found.

    Args:
        cache: A JSON file that is read, and written when a ``sys.path`` entry has changed. It may be
            deleted at any time; where it cannot be written, every call looks afresh.
    """
    known = _read(cache)
    current: dict[str, Any] = {}
    for path in dict.fromkeys(sys.path):
        now = stamp(path or ".")
        if now is not None:
            before = known.get(path)
            unchanged = before is not None and before["stamp"] == list(now)
            current[path] = before if unchanged else {"stamp": list(now), "entries": _look(path)}
    if current != known:
        _write(cache, current)
    home_of: dict[str, str] = {}
    found = [(path, Entry(*entry)) for path, remembered in current.items() for entry in remembered["entries"]]
    return [entry for path, entry in found if home_of.setdefault(entry.distribution, path) == path]


def _look(path: str) -> list[Entry]:
    """What is installed in one ``sys.path`` entry."""
    import importlib_metadata

    found: list[Entry] = []
    for distribution in importlib_metadata.distributions(path=[path]):
        found += [
            Entry(entry.group, entry.name, entry.value, distribution.name, distribution.version)
            for entry in distribution.entry_points
            if entry.group in GROUPS
        ]
    return sorted(found)


def _read(cache: Path) -> dict[str, Any]:
    try:
        held = json.loads(cache.read_text(encoding="utf-8"))
        paths: dict[str, Any] = held["paths"] if held["format"] == FORMAT else {}
        for remembered in paths.values():
            [Entry(*map(str, entry)) for entry in remembered["entries"]]
            list(remembered["stamp"])
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return {}
    return paths


def _write(cache: Path, paths: dict[str, Any]) -> None:
    """Replace the file in one step, so that other processes read the old one or the new one."""
    text = json.dumps({"format": FORMAT, "paths": paths})
    try:
        cache.parent.mkdir(exist_ok=True)  # no parents: looking at a home does not make one
        handle, name = tempfile.mkstemp(prefix=".entry-points-", dir=cache.parent)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(name, cache)
    except OSError:
        return
