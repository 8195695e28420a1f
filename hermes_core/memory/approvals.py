"""Writes that wait for the user, and suspicious entries that the user has looked at and wants to keep."""

from __future__ import annotations

import json
import logging
import secrets
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from hermes_core.config.files import only_writer_of, replace_file
from hermes_core.errors import ConfigError, MemoryFileError, MemoryWriteError, near
from hermes_core.memory.changes import Operation
from hermes_core.memory.entries import digest

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

log = logging.getLogger(__name__)

MAX_PENDING = 100
MAX_BYTES = 4 * 2**20


class Pending(NamedTuple):
    """A write that waits.

    Attributes:
        id: What ``hermes memory approve`` takes.
        created_at: When it was asked for, ISO 8601 in UTC.
        target: ``memory`` or ``user``.
        operations: What it would do.
        metadata: Who asked for it.
        threats: Ids of what is suspicious in it; such a write has to be confirmed on top.
    """

    id: str
    created_at: str
    target: str
    operations: tuple[Operation, ...]
    metadata: Mapping[str, Any]
    threats: tuple[str, ...] = ()


class Approvals:
    """The writes that wait, in ``memories/pending.json``; several processes may use it at once."""

    def __init__(self, folder: Path) -> None:
        self._file = _JsonFile(folder / "pending.json")

    def all(self) -> list[Pending]:
        """Every write that waits, oldest first.

        Raises:
            MemoryFileError: The file cannot be read.
        """
        return [_pending(key, row) for key, row in self._file.read().items()]

    def stage(
        self, target: str, operations: Sequence[Operation], metadata: Mapping[str, Any], threats: Sequence[str] = ()
    ) -> Pending:
        """Keep a write until the user decides; one that waits already is not kept twice.

        Raises:
            MemoryWriteError: Too many wait.
            MemoryFileError: The file cannot be read or written.
        """
        new = Pending(secrets.token_hex(4), _now(), target, tuple(operations), metadata, tuple(threats))
        with self._file.change() as held:
            for key, row in held.items():
                old = _pending(key, row)
                if (old.target, old.operations) == (new.target, new.operations):
                    return old
            if len(held) >= MAX_PENDING:
                message = f"{len(held)} writes wait for the user already"
                raise MemoryWriteError(message, reason="denied", hint="the user decides with `hermes memory pending`")
            held[new.id] = {
                "created_at": new.created_at,
                "target": target,
                "operations": [operation._asdict() for operation in operations],
                "metadata": {key: str(value) for key, value in metadata.items()},
                "threats": [*threats],
            }
        return new

    @contextmanager
    def taking(self, pending_id: str) -> Iterator[Pending]:
        """Take a write out, unless the block raises; nobody else can take it meanwhile.

        Raises:
            MemoryWriteError: No such write waits.
            MemoryFileError: The file cannot be read or written.
        """
        with self._file.change() as held:
            if pending_id not in held:
                message = f"no write {pending_id!r} waits for approval{near(pending_id, held)}"
                raise MemoryWriteError(message, reason="no_match", hint="run `hermes memory pending`")
            yield _pending(pending_id, held.pop(pending_id))


class Confirmations:
    """Fingerprints of suspicious entries that the user wants to keep, in ``memories/confirmed.json``."""

    def __init__(self, folder: Path) -> None:
        self._file = _JsonFile(folder / "confirmed.json")

    def holds(self, entry: str) -> bool:
        """Whether the user has confirmed this very text; no, while the file cannot be read."""
        try:
            return digest(entry) in self._file.read()
        except MemoryFileError as error:
            log.warning("%s; no suspicious entry counts as confirmed", error)
            return False

    def add(self, entry: str, threats: Sequence[str]) -> None:
        """Note that the user has confirmed a text, when, and what was suspicious in it.

        Raises:
            MemoryFileError: The file cannot be read or written.
        """
        with self._file.change() as held:
            held[digest(entry)] = {"confirmed_at": _now(), "threats": [*threats]}
        log.info("memory entry confirmed by the user entry=%s threats=%s", digest(entry)[:8], ",".join(threats))


class _JsonFile:
    """A JSON object in a file; one that cannot be read is never overwritten."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def read(self) -> dict[str, Any]:
        try:
            with self._path.open("rb") as file:
                content = file.read(MAX_BYTES + 1)
            held = json.loads(content) if len(content) <= MAX_BYTES else None
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise self._failed("read", error.strerror or type(error).__name__) from error
        except (ValueError, RecursionError):
            held = None
        if not isinstance(held, dict) or not all(isinstance(row, dict) for row in held.values()):
            raise self._failed("read", "it is not what this program wrote there")
        return held

    @contextmanager
    def change(self) -> Iterator[dict[str, Any]]:
        """Give the object to change; it is written when that changed it."""
        try:
            with only_writer_of(self._path):
                held = self.read()
                before = json.dumps(held)
                yield held
                if json.dumps(held) != before:
                    replace_file(self._path, json.dumps(held, ensure_ascii=False, indent=1).encode())
        except ConfigError as error:
            raise MemoryFileError(str(error), path=self._path, hint=error.hint) from error

    def _failed(self, verb: str, reason: str) -> MemoryFileError:
        message = f"cannot {verb} {self._path}: {reason}"
        return MemoryFileError(message, path=self._path, hint="mend it, or move it away; nothing in it was changed")


def _pending(key: str, row: Mapping[str, Any]) -> Pending:
    wishes = [wish for wish in row.get("operations") or () if isinstance(wish, dict)]
    metadata = row.get("metadata")
    return Pending(
        id=key,
        created_at=str(row.get("created_at") or ""),
        target=str(row.get("target") or ""),
        operations=tuple(Operation(*(str(wish.get(name) or "") for name in Operation._fields)) for wish in wishes),
        metadata=metadata if isinstance(metadata, dict) else {},
        threats=tuple(map(str, row.get("threats") or ())),
    )


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
