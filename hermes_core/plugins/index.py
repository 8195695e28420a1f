"""What was found out about plugins, remembered in the home until the files it came from change."""

from __future__ import annotations

import json
import os
import threading
from typing import TYPE_CHECKING, Any, TypeVar

from hermes_core.config.redact import redact

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from hermes_core.config.environment import Stamp

T = TypeVar("T")

FORMAT = 1


class Index:
    """A stat-checked memory in one JSON file.

    It may be deleted at any time. Several processes may use it at once: a write replaces the file in
    one step and keeps what others have added meanwhile. Where it cannot be written, nothing is
    remembered, and everything works.

    Args:
        path: The file; ``<home>/cache/plugins.json``.

    Example:
        >>> from pathlib import Path
        >>> index = Index(Path("/nonexistent/plugins.json"))
        >>> index.remember("manifests", "/p/plugin.yaml", [(1, 2, 3)], {"name": "p"})
        >>> index.recall("manifests", "/p/plugin.yaml", [(1, 2, 3)], dict)
        {'name': 'p'}
        >>> index.recall("manifests", "/p/plugin.yaml", [(1, 2, 4)], dict) is None
        True
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._held = _read(path)
        self._changed: dict[str, dict[str, Any]] = {}
        self._saving = threading.Lock()

    @classmethod
    def of(cls, home: Path) -> Index:
        """The index of a home."""
        return cls(home / "cache" / "plugins.json")

    def recall(self, kind: str, key: str, stamps: Sequence[Stamp], build: Callable[[Any], T]) -> T | None:
        """What is remembered about ``key``, if it was remembered with the same stamps; else None.

        ``build`` makes the value of what the file holds; when it cannot, nothing was remembered.
        """
        held = self._held.get(kind, {}).get(key)
        if held is None or held[0] != _flat(stamps):
            return None
        return self.last(kind, key, build)

    def last(self, kind: str, key: str, build: Callable[[Any], T]) -> T | None:
        """What was last remembered about ``key``, current or not; None when nothing was."""
        held = self._held.get(kind, {}).get(key)
        try:
            return build(held[1]) if held is not None else None
        except (TypeError, ValueError, KeyError, AttributeError):
            return None

    def knows(self, kind: str, key: str) -> bool:
        """Whether anything is remembered about ``key``, current or not."""
        return key in self._held.get(kind, ())

    def remember(self, kind: str, key: str, stamps: Sequence[Stamp], value: Any) -> None:
        """Keep ``value``, any JSON but null, for as long as the stamps stay the same; one with a secret is not kept."""
        text = json.dumps(value)
        if redact(text) != text:
            self.forget(kind, key)
            return
        held = [_flat(stamps), value]
        self._held.setdefault(kind, {})[key] = held
        self._changed.setdefault(kind, {})[key] = held

    def forget(self, kind: str, key: str) -> None:
        """Remember nothing about ``key``."""
        if self._held.get(kind, {}).pop(key, None) is not None:
            self._changed.setdefault(kind, {})[key] = None

    def save(self) -> None:
        """Write what has changed since the last time; what lies in folders that are gone is dropped."""
        with self._saving:
            self._save()

    def _save(self) -> None:
        changed, self._changed = self._changed, {}
        if not changed:
            return
        held = _read(self._path)
        for kind, changes in changed.items():
            held.setdefault(kind, {}).update(changes)
        for kind, entries in held.items():
            held[kind] = {key: entry for key, entry in entries.items() if entry is not None and _is_there(key)}
        _write(self._path, {"format": FORMAT, "kinds": held})


def _flat(stamps: Sequence[Stamp]) -> list[int]:
    """Stamps as JSON can hold and compare them."""
    flat: list[int] = []
    for stamp in stamps:
        flat += stamp or (0, 0, 0)
    return flat


def _is_there(key: str) -> bool:
    """Whether the path that a key begins with still exists; a key that is no path always is there."""
    return not os.path.isabs(key) or os.path.exists(key)


def _read(path: Path) -> dict[str, dict[str, Any]]:
    try:
        held = json.loads(path.read_text(encoding="utf-8"))
        kinds: dict[str, dict[str, Any]] = held["kinds"] if held["format"] == FORMAT else {}
        sound = all(len(entry) == 2 for entries in kinds.values() for entry in entries.values())
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return {}
    return kinds if sound else {}


def _write(path: Path, value: object) -> None:
    import tempfile

    try:
        path.parent.mkdir(exist_ok=True)  # no parents: looking at a home does not make one
        handle, name = tempfile.mkstemp(prefix=".index-", dir=path.parent)
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(json.dumps(value, separators=(",", ":")))  # far quicker than json.dump
            os.replace(name, path)
        except OSError:
            os.unlink(name)
    except OSError:
        return
