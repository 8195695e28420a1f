"""One plugin as the host knows it: where it is, and how it stands."""

from __future__ import annotations

import os
from functools import cached_property
from typing import TYPE_CHECKING

from hermes_core.config.environment import stamp
from hermes_core.errors import PluginError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from hermes_core.config.environment import Stamp
    from hermes_core.plugins.installed import Entry
    from hermes_core.plugins.manifest import Manifest

TIERS = ("bundled", "legacy", "entrypoint", "user", "project", "program", "config")
"""Where plugins come from, in rising order of intent: a later tier overrides an earlier one. The last
two are what the embedding program offers itself, and what the operator wrote into the configuration."""


class Plugin:
    """A plugin row.

    Attributes:
        key: Unique id: the name, or ``<category>/<folder>`` for a nested one.
        tier: One of ``TIERS``.
        order: Place in discovery order; unique.
        manifest: What it says of itself.
        location: The directory, or single file, it is loaded from; ``""`` for an installed package.
        entry_point: What an installed package points to; None for a directory.
        state: ``off``, ``ready``, ``loaded`` or ``failed``.
        reason: Why it is off or failed.
        remedy: The command or edit that changes that.
        module: The name a folder is imported under, once it is.
        may_retry: Whether it failed in an earlier process only, and may be tried again in this one.
        is_unchosen: Whether nothing but ``memory.provider``, which names another one, keeps it from loading.
    """

    state: str = "ready"
    reason: str = ""
    remedy: str = ""
    module: str = ""
    may_retry: bool = False
    is_unchosen: bool = False

    # Written out: importing `dataclasses`, and `inspect` with it, would slow every start of the command line.
    def __init__(
        self,
        *,
        key: str,
        tier: str,
        manifest: Manifest,
        order: int = 0,
        location: str = "",
        entry_point: Entry | None = None,
    ) -> None:
        self.key = key
        self.tier = tier
        self.manifest = manifest
        self.order = order
        self.location = location
        self.entry_point = entry_point

    def __repr__(self) -> str:
        return f"Plugin(key={self.key!r}, tier={self.tier!r}, source={self.source!r}, state={self.state!r})"

    @property
    def name(self) -> str:
        """What people call it."""
        return self.manifest.name

    @property
    def kind(self) -> str:
        """Its kind, as its manifest says."""
        return self.manifest.kind

    @property
    def description(self) -> str:
        """What it is for, in one line."""
        return self.manifest.description

    @property
    def rank(self) -> tuple[int, int]:
        """Its place among all plugins, lowest first."""
        return TIERS.index(self.tier), self.order

    @property
    def ids(self) -> frozenset[str]:
        """The words that configuration may call it by."""
        return frozenset((self.key, self.name))

    @property
    def group(self) -> str:
        """The entry-point group; ``""`` for a directory."""
        return self.entry_point.group if self.entry_point is not None else ""

    @property
    def code(self) -> str:
        """The file that is executed when a directory or single file is imported."""
        return self.location if self.location.endswith(".py") else f"{self.location}{os.sep}__init__.py"

    @property
    def is_data(self) -> bool:
        """Whether it is a folder without code, or written in the configuration: its manifest is all there is."""
        if self.tier == "config":
            return True
        return bool(self.location) and os.path.isdir(self.location) and not os.path.exists(self.code)

    @property
    def is_active(self) -> bool:
        """Whether it may load, or has loaded."""
        return self.state == "loaded" or self.is_untried

    @property
    def is_untried(self) -> bool:
        """Whether it may load, and nothing was tried in this process."""
        return self.state == "ready" or self.may_retry

    @property
    def identity(self) -> str:
        """What the index knows its code by."""
        return self.location or ":".join((self.entry_point or ())[:3])

    def code_stamps(self) -> list[Stamp]:
        """What changes when its code does, as far as that can be told cheaply."""
        if self.entry_point is None:
            return [stamp(self.location)] if self.location.endswith(".py") else _module_stamps(self.location)
        from hermes_core.plugins.discovery import module_file

        file = module_file(self.entry_point.module)
        folder, name = os.path.split(file)
        return _module_stamps(folder) if name == "__init__.py" else [stamp(file)]

    @cached_property
    def version(self) -> str:
        """Of its manifest, else of the distribution it came in; ``""`` when neither says."""
        return self.manifest.version or (self.entry_point.version if self.entry_point is not None else "")

    @cached_property
    def source(self) -> str:
        """Distribution and version, or path (a link with its target)."""
        if self.entry_point is not None:
            return f"{self.entry_point.distribution} {self.entry_point.version}"
        if not self.location:
            return "this program"
        linked = os.path.islink(self.location)
        return f"{self.location} -> {os.path.realpath(self.location)}" if linked else self.location


def explain_absence(
    plugins: Sequence[Plugin], name: str, shown: str, offers: Callable[[Manifest], Iterable[str]]
) -> None:
    """Raise an error that names the plugin which declares ``name`` but is off or failed, if there is one.

    Args:
        plugins: All there are.
        name: What is missing.
        shown: How the user wrote it.
        offers: Picks, from a manifest, the names of its kind.

    Raises:
        PluginError: Says why the plugin does not offer it, and what changes that.
    """
    for row in reversed(plugins):
        if row.state in ("off", "failed") and name in offers(row.manifest):
            message = f"{shown} belongs to plugin {row.key!r}, which is {row.state}: {row.reason}"
            raise PluginError(message, plugin=row.key, source=row.source, hint=row.remedy)


def _module_stamps(folder: str) -> list[Stamp]:
    """The stamps of the modules that lie in a package's folder, and in the folders below it."""
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return [None]
    stamps: list[Stamp] = []
    for name in names:
        path = f"{folder}{os.sep}{name}"
        if name.endswith(".py"):
            stamps.append(stamp(path))
        elif name.isidentifier() and name != "__pycache__" and not os.path.islink(path):
            stamps += _module_stamps(path)
    return stamps
