"""Finding plugins: folders, legacy files and entry points, as rows; nothing is imported."""

from __future__ import annotations

import json
import logging
from importlib.machinery import PathFinder
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hermes_core.errors import ConfigError
from hermes_core.plugins.installed import GROUPS, Entry, entry_points
from hermes_core.plugins.manifest import FILE_NAMES, Manifest, parse_manifest, read_manifest
from hermes_core.plugins.plugin import Plugin

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


log = logging.getLogger(__name__)

DISTRIBUTION = "hermes-plugin-host"
"""Our own; its entry points name the folders of the bundled tier."""

CATEGORY_KINDS = {"model-providers": "model-provider", "memory": "exclusive"}
"""Folders whose children may do without a manifest, and the kind those get."""

INDEX = "index.json"
"""Beside the bundled plugins: all their manifests in one file, so that a start needs no YAML."""


def discover(home: Path, project: Path | None = None) -> list[Plugin]:
    """All plugins there are, lowest tier first; a broken manifest is a row with state ``failed``.

    Args:
        home: The Hermes home.
        project: The directory whose ``.hermes/plugins`` counts too, or None.
    """
    found = entry_points(home / "cache" / "entry-points.json")
    bundled = [entry for entry in found if entry.distribution == DISTRIBUTION]
    installed = [entry for entry in found if entry.distribution != DISTRIBUTION]
    rows = [row for entry in bundled for row in _bundled(entry)]
    rows += _legacy(home / "providers")
    rows += [_installed(entry) for entry in installed]
    rows += _folders(home / "plugins", "user")
    if project is not None:
        rows += _folders(project / ".hermes" / "plugins", "project")
    for order, row in enumerate(rows):
        row.order = order
    return rows


def manifest_index(root: Path) -> dict[str, Any]:
    """Every manifest below ``root``, by the path of its folder; what ``INDEX`` holds."""
    return {
        folder.relative_to(root).as_posix(): data
        for folder in sorted(path.parent for name in FILE_NAMES for path in root.glob(f"*/*/{name}"))
        if (data := read_manifest(folder)) is not None
    }


def _bundled(entry: Entry) -> Iterator[Plugin]:
    """The plugins in the folder of a package of ours; dashes stand for the underscores of a module's name."""
    for root in _package_folders(entry.module):
        index: dict[str, Any] = json.loads((root / INDEX).read_text(encoding="utf-8"))
        for relative, data in index.items():
            category, _, name = relative.replace("_", "-").partition("/")
            yield _row(
                root / relative, data, key=f"{category}/{name}", tier="bundled", kind=CATEGORY_KINDS.get(category)
            )


def _legacy(folder: Path) -> Iterator[Plugin]:
    """Single-file providers, the oldest form."""
    for path in _children(folder):
        if path.suffix == ".py" and not path.name.startswith(("_", ".")):
            yield _row(path, {}, key=f"providers/{path.stem}", tier="legacy", kind="model-provider")


def _folders(root: Path, tier: str) -> Iterator[Plugin]:
    """The plugins below a plugins folder: its children, and the children of those without a manifest."""
    for child in _children(root):
        if not child.is_dir() or child.name.startswith("__"):
            continue
        if _has_manifest(child):
            yield _from_folder(child, key="", tier=tier)
            continue
        kind = CATEGORY_KINDS.get(child.name)
        for nested in _children(child):
            if not nested.is_dir() or nested.name.startswith(("_", ".")):
                continue
            if _has_manifest(nested) or (kind and (nested / "__init__.py").is_file()):
                yield _from_folder(nested, key=f"{child.name}/{nested.name}", tier=tier, kind=kind)


def _from_folder(folder: Path, *, key: str, tier: str, kind: str | None = None) -> Plugin:
    try:
        return _row(folder, read_manifest(folder) or {}, key=key, tier=tier, kind=kind)
    except ConfigError as error:
        return _broken(error, key=key or folder.name, tier=tier, folder=folder)


def _row(folder: Path, data: Mapping[str, Any], *, key: str, tier: str, kind: str | None = None) -> Plugin:
    """A row from a manifest's mapping; a flat plugin's key is its name."""
    name = key.rpartition("/")[2] or folder.name
    manifest_path = str(folder / FILE_NAMES[0])
    try:
        manifest = parse_manifest(data, path=manifest_path, default_name=name, default_kind=kind or "standalone")
    except ConfigError as error:
        return _broken(error, key=key or folder.name, tier=tier, folder=folder)
    return Plugin(key=key or manifest.name, tier=tier, order=0, manifest=manifest, folder=folder)


def _installed(entry: Entry) -> Plugin:
    """A row for an entry point; a ``plugin.yaml`` in its package speaks for it."""
    category, kind = GROUPS[entry.group]
    key = category + entry.name
    data: Mapping[str, Any] = {}
    try:
        for folder in _package_folders(entry.module):
            data = read_manifest(folder) or data
        manifest = parse_manifest(data, path=entry.value, default_name=entry.name, default_kind=kind)
    except ConfigError as error:
        row = _broken(error, key=key, tier="entrypoint")
    else:
        row = Plugin(key=key, tier="entrypoint", order=0, manifest=manifest)
    row.entry_point, row.group = entry, entry.group
    return row


def _broken(error: ConfigError, *, key: str, tier: str, folder: Path | None = None) -> Plugin:
    log.warning("plugin manifest refused plugin=%s error=%s", key, error)
    manifest = Manifest(name=key.rpartition("/")[2])
    return Plugin(
        key=key, tier=tier, order=0, manifest=manifest, folder=folder,
        state="failed", reason=str(error), remedy=error.hint,
    )  # fmt: skip


def _package_folders(module: str) -> list[Path]:
    """Where a module's package lies, without importing it; none for a single file."""
    top, *below = module.split(".")
    try:
        spec = find_spec(top)
    except (ImportError, ValueError):
        return []
    name = top
    for part in below:
        if spec is None or spec.submodule_search_locations is None:
            return []
        name = f"{name}.{part}"
        spec = PathFinder.find_spec(name, list(spec.submodule_search_locations))
    return [Path(folder) for folder in (spec.submodule_search_locations or ())] if spec else []


def _has_manifest(folder: Path) -> bool:
    return any((folder / name).is_file() for name in FILE_NAMES)


def _children(folder: Path) -> list[Path]:
    """The folder's entries by name; none where there is no folder, one warning where it cannot be read."""
    try:
        return sorted(folder.iterdir())
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        log.warning("plugin folder skipped path=%s error=%s", folder, error.strerror)
        return []
