"""One plugin as the host knows it: where it is, and how it stands."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from hermes_core.plugins.installed import Entry
    from hermes_core.plugins.manifest import Manifest

TIERS = ("bundled", "legacy", "entrypoint", "user", "project", "program")
"""Where plugins come from, in rising order of intent: a later tier overrides an earlier one. The last
one is what the embedding program offers itself."""


@dataclass(kw_only=True, eq=False)
class Plugin:
    """A plugin row.

    Attributes:
        key: Unique id: the name, or ``<category>/<folder>`` for a nested one.
        tier: One of ``TIERS``.
        order: Place in discovery order; unique.
        manifest: What it says of itself.
        folder: The directory, or single file, it is loaded from; None for an installed package.
        entry_point: What an installed package points to; None for a directory.
        group: The entry-point group; ``""`` for a directory.
        state: ``off``, ``ready``, ``loaded`` or ``failed``.
        reason: Why it is off or failed.
        remedy: The command or edit that changes that.
        module: The name a folder is imported under, once it is.
    """

    key: str
    tier: str
    order: int
    manifest: Manifest
    folder: Path | None = None
    entry_point: Entry | None = field(default=None, repr=False)
    group: str = ""
    state: str = "ready"
    reason: str = ""
    remedy: str = ""
    module: str = ""

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
    def is_data(self) -> bool:
        """Whether it is a folder without code: its manifest is all there is."""
        return self.folder is not None and self.folder.is_dir() and not (self.folder / "__init__.py").exists()

    @property
    def is_active(self) -> bool:
        """Whether it may load, or has loaded."""
        return self.state in ("ready", "loaded")

    @cached_property
    def version(self) -> str:
        """Of its manifest, else of the distribution it came in; ``""`` when neither says."""
        return self.manifest.version or (self.entry_point.version if self.entry_point is not None else "")

    @cached_property
    def source(self) -> str:
        """Distribution and version, or path (a link with its target)."""
        if self.entry_point is not None:
            return f"{self.entry_point.distribution} {self.entry_point.version}"
        if self.folder is None:
            return "this program"
        return f"{self.folder} -> {self.folder.resolve()}" if self.folder.is_symlink() else str(self.folder)
