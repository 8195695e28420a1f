"""Finding plugins: folders, legacy files and entry points, as rows; nothing is imported."""

from __future__ import annotations

import json
import logging
import os
from functools import cache
from importlib.machinery import PathFinder
from importlib.util import find_spec
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hermes_core.config.environment import stamp
from hermes_core.errors import ConfigError
from hermes_core.plugins.debug import warn_once
from hermes_core.plugins.installed import GROUPS, Entry, entry_points
from hermes_core.plugins.manifest import Manifest
from hermes_core.plugins.manifest_file import kind_of, manifest_file, parse_manifest, read_manifest
from hermes_core.plugins.plugin import Plugin

if TYPE_CHECKING:
    from collections.abc import Iterator
    from importlib.machinery import ModuleSpec

    from hermes_core.config.environment import Stamp
    from hermes_core.plugins.index import Index

log = logging.getLogger(__name__)

DISTRIBUTION = "hermes-plugin-host"
"""Our own; its entry points name the folders of the bundled tier."""

UNTOLD_GROUP = "hermes_agent.plugins"
"""The entry-point group that says nothing of what is in it, as a folder does not."""

CATEGORY_KINDS = {"model-providers": "model-provider", "memory": "exclusive"}
"""Folders whose children may do without a manifest, and the kind those get."""

INDEX = "index.json"
"""Beside the bundled plugins: all their manifests in one file, checked, so that a start needs no YAML and no check."""


def discover(home: Path, index: Index, project: Path | None = None, bundled: str = "") -> list[Plugin]:
    """All plugins there are, lowest tier first; a broken manifest is a row with state ``failed``.

    Args:
        home: The Hermes home.
        index: Remembers manifests and entry points between starts.
        project: The directory whose ``.hermes/plugins`` counts too, or None.
        bundled: A folder of plugins in place of those that come with this package, or ``""``.
    """
    entries = entry_points(index)
    ours = [entry for entry in entries if entry.distribution == DISTRIBUTION]
    rows = [*_folders(bundled, "bundled", index)] if bundled else [row for entry in ours for row in _bundled(entry)]
    rows += _legacy(f"{home}{os.sep}providers")
    rows += [_installed(entry, index) for entry in entries if entry.distribution != DISTRIBUTION]
    rows += _folders(f"{home}{os.sep}plugins", "user", index)
    if project is not None and not _same(project / ".hermes", home):
        rows += _folders(str(project / ".hermes" / "plugins"), "project", index)
    taken = {row.name for row in rows if row.tier == "bundled"}
    first: dict[tuple[str, str], Plugin] = {}
    for order, row in enumerate(rows):
        row.order = order
        if row.name in taken and row.state != "failed":
            _refuse_impostor(row)
        if row.tier in ("user", "project") and row.state != "failed":
            _refuse_double(row, first.setdefault((row.tier, row.key), row))
    return rows


def _refuse_impostor(row: Plugin) -> None:
    """A folder may not pass for a bundled plugin under another folder's name: it would be enabled with that one.

    A provider may: it competes by its profile's name, and need not be enabled.
    """
    folder = os.path.basename(row.location)
    if row.tier in ("user", "project") and row.key == row.name != folder and row.kind != "model-provider":
        row.state, row.reason = "failed", f"calls itself {row.name!r}, as a bundled plugin does, but lies in {folder!r}"
        row.remedy = f"rename the folder, or name: in {row.location}{os.sep}plugin.yaml"


def _refuse_double(row: Plugin, first: Plugin) -> None:
    """A key stands for one folder of a tier: what the operator allows one is not another's."""
    if row is not first:
        row.state, row.reason = "failed", f"{row.location} calls itself {row.key!r}, as {first.location} does"
        row.remedy = f"choose another name: in {row.location}{os.sep}plugin.yaml, or remove one of the folders"


def _same(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)
    except OSError:
        return False


def manifest_index(root: Path) -> dict[str, Any]:
    """Every manifest below ``root``, checked, by the path of its folder; what ``INDEX`` holds."""
    found = {}
    for folder in sorted(root.glob("*/*")):
        file, _ = manifest_file(str(folder))
        if file:
            category, name = folder.parent.name.replace("_", "-"), folder.name.replace("_", "-")
            kind = CATEGORY_KINDS.get(category, "standalone")  # never told by their code, which is not read
            manifest = parse_manifest(read_manifest(file), path=file, default_name=name, default_kind=kind)
            found[folder.relative_to(root).as_posix()] = json.loads(json.dumps(_packed(manifest)))
    return found


def _bundled(entry: Entry) -> Iterator[Plugin]:
    for root in package_folders(entry.module):
        for relative, key, manifest in _bundled_manifests(str(root)):
            yield Plugin(key=key, tier="bundled", manifest=manifest, location=f"{root}{os.sep}{relative}")


@cache
def _bundled_manifests(root: str) -> list[tuple[str, str, Manifest]]:
    """Folder, key and manifest of each plugin in a package of ours, which does not change while we run.

    Dashes stand for the underscores of a module's name.
    """
    data: dict[str, Any] = json.loads(Path(root, INDEX).read_text(encoding="utf-8"))
    return [(folder, folder.replace("_", "-"), Manifest(**fields)) for folder, fields in data.items()]


def _legacy(root: str) -> Iterator[Plugin]:
    """Single-file providers, the oldest form."""
    for child in _children(root):
        stem, suffix = os.path.splitext(child.name)
        if suffix == ".py" and stem[0] != "_":
            manifest = Manifest(name=stem, kind="model-provider")
            yield Plugin(key=f"providers/{stem}", tier="legacy", manifest=manifest, location=child.path)


def _folders(root: str, tier: str, index: Index) -> Iterator[Plugin]:
    """The plugins below a plugins folder: its children, and the children of those without a manifest."""
    for child in _children(root):
        if not _is_folder(child):
            continue
        row = _folder(child, tier, index)
        if row is not None:
            yield row
            continue
        kind = CATEGORY_KINDS.get(child.name, "")
        for nested in _children(child.path):
            if _is_folder(nested) and not (kind and nested.name[0] == "_"):  # a base that providers share
                row = _folder(nested, tier, index, category=child.name, kind=kind)
                if row is not None:
                    yield row


def _folder(folder: os.DirEntry[str], tier: str, index: Index, *, category: str = "", kind: str = "") -> Plugin | None:
    """A folder's row; None when it is no plugin.

    In a category with a kind, code alone makes a plugin; elsewhere code that gives a memory provider away does.
    """
    key = f"{category}/{folder.name}" if category else ""
    file, found = manifest_file(folder.path)
    if found is None:
        code = f"{folder.path}{os.sep}__init__.py"
        kind = kind if os.path.isfile(code) else ""
        if not category and kind_of(_beginning(code)) == "exclusive":
            kind = "exclusive"
        if not kind:
            return None
        manifest = Manifest(name=folder.name, kind=kind, is_kind_guessed=not category)
        return Plugin(key=key or folder.name, tier=tier, manifest=manifest, location=folder.path)
    read = _manifest(file, found, index, default_name=folder.name, default_kind=kind)
    if isinstance(read, ConfigError):
        return _broken(read, key=key or folder.name, tier=tier, location=folder.path)
    return Plugin(key=key or read.name, tier=tier, manifest=read, location=folder.path)


def _installed(entry: Entry, index: Index) -> Plugin:
    """A row for an entry point; a ``plugin.yaml`` in its package speaks for it."""
    category, kind = GROUPS[entry.group]
    key = category + entry.name
    manifest: Manifest | ConfigError = Manifest(name=entry.name, kind=kind)
    for folder in package_folders(entry.module):
        file, found = manifest_file(str(folder))
        if found is not None:
            told = "" if entry.group == UNTOLD_GROUP else kind
            manifest = _manifest(file, found, index, default_name=entry.name, default_kind=told)
    if isinstance(manifest, ConfigError):
        row = _broken(manifest, key=key, tier="entrypoint")
    else:
        row = Plugin(key=key, tier="entrypoint", manifest=manifest)
    row.entry_point = entry
    return row


def _manifest(file: str, found: Stamp, index: Index, *, default_name: str, default_kind: str) -> Manifest | ConfigError:
    """A manifest, or what is wrong with it, from the index while the file is unchanged.

    One that says no kind is judged by the code beside it, and then holds while that is unchanged too.
    """
    known = index.recall("manifests", file, [found], _unpacked)
    if known is not None:
        return known
    code = f"{os.path.dirname(file)}{os.sep}__init__.py"
    seen = stamp(code)
    known = index.recall("manifests", file, [found, seen], _unpacked)
    if known is not None:
        return known
    stamps: list[Stamp] = [found]
    try:
        data = read_manifest(file)
        if data.get("kind") is None:
            stamps.append(seen)
        manifest: Manifest | ConfigError = parse_manifest(
            data, path=file, default_name=default_name, default_kind=default_kind, code=_beginning(code)
        )
    except ConfigError as error:
        log.warning("plugin manifest refused: %s", error)
        manifest = error
    unreadable = isinstance(manifest, ConfigError) and isinstance(manifest.__cause__, OSError)
    if not unreadable:  # a file's mode may change without its stamp
        index.remember("manifests", file, stamps, _packed(manifest))
    return manifest


def _beginning(code: str) -> str:
    """As much of a module as is looked at to tell what kind of plugin it is."""
    if not os.path.isfile(code):  # reading a pipe would never end
        return ""
    try:
        with open(code, encoding="utf-8", errors="replace") as file:
            return file.read(8192)
    except OSError:
        return ""


def _packed(manifest: Manifest | ConfigError) -> dict[str, Any]:
    """What the index keeps of a manifest: the fields that say something."""
    if isinstance(manifest, ConfigError):
        return {"refused": [str(manifest), manifest.key, manifest.hint]}
    usual = Manifest(name="")._asdict()
    return {key: value for key, value in manifest._asdict().items() if value != usual[key]}


def _unpacked(held: dict[str, Any]) -> Manifest | ConfigError:
    if "refused" in held:
        message, key, hint = held["refused"]
        return ConfigError(message, key=key, hint=hint)
    return Manifest(**held)


def _broken(error: ConfigError, *, key: str, tier: str, location: str = "") -> Plugin:
    row = Plugin(key=key, tier=tier, manifest=Manifest(name=key.rpartition("/")[2]), location=location)
    row.state, row.reason, row.remedy = "failed", str(error), error.hint
    return row


def package_folders(module: str) -> list[Path]:
    """Where a module's package lies, without importing it; none for a single file."""
    spec = _spec_of(module)
    return [Path(folder) for folder in (spec.submodule_search_locations or ())] if spec else []


def module_file(module: str) -> str:
    """The file a module is in, without importing it; ``""`` when it cannot be told."""
    spec = _spec_of(module)
    return (spec.origin or "") if spec else ""


def _spec_of(module: str) -> ModuleSpec | None:
    top, *below = module.split(".")
    try:
        spec = find_spec(top)
    except (ImportError, ValueError):
        return None
    for part in below:
        if spec is None or spec.submodule_search_locations is None:
            return None
        # by its last name alone: for a folder without code, the finder would look for its parent among the imported
        spec = PathFinder.find_spec(part, list(spec.submodule_search_locations))
    return spec


def _is_folder(entry: os.DirEntry[str]) -> bool:
    """Whether it is a folder, or leads to one; a warning where that cannot be told."""
    try:
        return entry.is_dir()
    except OSError as error:  # a link that leads to itself
        warn_once("plugin folder skipped path=%s error=%s", entry.path, error.strerror)
        return False


_name = attrgetter("name")


def _children(folder: str) -> list[os.DirEntry[str]]:
    """The folder's entries by name, but hidden and Python's own; one warning where it cannot be read."""
    try:
        with os.scandir(folder) as entries:
            return sorted((entry for entry in entries if not entry.name.startswith((".", "__"))), key=_name)
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        warn_once("plugin folder skipped path=%s error=%s", folder, error.strerror)
        return []
