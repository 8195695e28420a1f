"""The files of the built-in memory: one writer at a time, nothing lost, and every change told to who listens."""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from contextlib import contextmanager
from difflib import SequenceMatcher
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from hermes_core.config.files import only_writer_of, replace_file
from hermes_core.config.redact import redact
from hermes_core.errors import ConfigError, MemoryFileError, MemoryWriteError, describe
from hermes_core.memory.changes import Change, apply
from hermes_core.memory.entries import MARK, Document, join, parse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from hermes_core.memory.changes import Operation

log = logging.getLogger(__name__)

FILES = {"memory": "MEMORY.md", "user": "USER.md"}
"""Target → its file: the agent's notes, and what it knows of the user."""
LIMITS = {"memory": 2200, "user": 1375}
"""Target → how many characters its file may hold, unless configured."""
MAX_BYTES = 2**20
MAX_BACKUPS = 5
_BY_HAND = MappingProxyType({"write_origin": "edited_outside"})


class MemoryWrite(NamedTuple):
    """A change that is on disk.

    Attributes:
        action: ``add``, ``replace`` or ``remove``.
        target: ``memory`` or ``user``.
        content: The entry; ``""`` for one that was removed.
        previous: The entry that gave way; ``""`` for one that was added.
        metadata: Who wrote it: ``write_origin``, ``session_id``, ``tool_call_id`` and the like.
    """

    action: str
    target: str
    content: str
    previous: str
    metadata: Mapping[str, Any]


class Written(NamedTuple):
    """What a write came to.

    Attributes:
        outcomes: What each operation has changed; None for one that found everything as it should be.
        entries: The entries after it.
    """

    outcomes: tuple[Change | None, ...]
    entries: tuple[str, ...]

    @property
    def changes(self) -> list[Change]:
        """What has changed."""
        return [change for change in self.outcomes if change is not None]


class MemoryStore:
    """``MEMORY.md`` and ``USER.md`` below a home's ``memories`` folder.

    Several processes and threads may use it at once. What changes while nobody listens, by hand or by another
    program, is told at the first write or ``notice_edits`` of one that has a listener.

    Args:
        home: The home.
        limits: Target → characters its file may hold.

    Example:
        >>> from pathlib import Path
        >>> from tempfile import mkdtemp
        >>> from hermes_core.memory.changes import Operation
        >>> store = MemoryStore(Path(mkdtemp()))
        >>> stop = store.subscribe(lambda write: print(write.action, write.content))
        >>> store.apply("user", [Operation("add", "likes tea")]).entries
        add likes tea
        ('likes tea',)
    """

    def __init__(self, home: Path, limits: Mapping[str, int] = LIMITS) -> None:
        self.folder = home / "memories"
        self.limits = {**LIMITS, **limits}
        self._listeners: list[Callable[[MemoryWrite], None]] = []
        self._untold: deque[MemoryWrite] = deque()
        self._writing = threading.Lock()
        self._telling = threading.RLock()

    def path(self, target: str) -> Path:
        """The file of a target."""
        return self.folder / FILES[target]

    def entries(self, target: str) -> tuple[str, ...]:
        """The entries there are now; none when there is no file.

        Raises:
            MemoryFileError: The file cannot be read.
        """
        return self.read(target).entries

    def read(self, target: str) -> Document:
        """The file as it is now.

        Raises:
            MemoryFileError: It cannot be read.
        """
        return _read(self.path(target))

    def subscribe(self, listener: Callable[[MemoryWrite], None]) -> Callable[[], None]:
        """Have every change told to ``listener``, in order, once it is on disk; returns what ends that."""
        self._listeners.append(listener)

        def stop() -> None:
            if listener in self._listeners:
                self._listeners.remove(listener)

        return stop

    def apply(self, target: str, operations: Sequence[Operation], metadata: Mapping[str, Any] | None = None) -> Written:
        """Do all of the operations, or none, and write the file if that changes it.

        Raises:
            MemoryWriteError: One cannot be done, there is no room, or rewriting the file would lose something.
            MemoryFileError: The file cannot be read or written.
        """
        path, limit = self.path(target), self.limits[target]
        with self._only_writer(target) as found:
            if any(operation.action != "add" for operation in operations):
                self._check_rewritable(path, found, limit)
            after, outcomes = apply(found.entries, operations, limit)
            written = Written(tuple(outcomes), tuple(after))
            if changes := written.changes:
                adds_only = all(change.action == "add" for change in changes)
                added = [change.content for change in changes]
                text = join([*filter(None, [found.text]), *added]) if adds_only else join(after)
                try:
                    replace_file(path, text.replace("\n", found.newline).encode())
                except OSError as error:
                    raise _failed("write", path, error) from error
                self._record(target, after, changes, metadata)
        self.tell()
        return written

    def reset(self, target: str, metadata: Mapping[str, Any] | None = None) -> int:
        """Delete the file of a target; returns how many entries are gone. One that cannot be read is deleted too."""
        with self._only_writer(target, must_read=False) as found:
            try:
                self.path(target).unlink(missing_ok=True)
            except OSError as error:
                raise _failed("delete", self.path(target), error) from error
            self._notice(target, (), metadata or {})
        self.tell()
        return len(found.entries)

    def notice_edits(self) -> None:
        """Tell listeners what has changed since one was last told; without any, it waits."""
        for target in FILES if self._listeners else ():
            try:
                with self._only_writer(target):
                    pass
            except MemoryFileError as error:
                log.warning("%s", error)
        self.tell()

    def tell(self) -> None:
        """Tell listeners what they have not been told yet."""
        with self._telling:
            while self._untold:
                write = self._untold.popleft()
                for listener in [*self._listeners]:
                    try:
                        listener(write)
                    except KeyboardInterrupt:
                        raise
                    except BaseException as error:  # noqa: BLE001 - a listener's fault must not undo what is written
                        log.warning("memory write not mirrored target=%s error=%s", write.target, _shown(error))

    @contextmanager
    def _only_writer(self, target: str, *, must_read: bool = True) -> Iterator[Document]:
        """Keep other writers out; gives the file as it is, its edits noticed."""
        path = self.path(target)
        try:
            with self._writing, only_writer_of(path):
                try:
                    found = _read(path)
                except MemoryFileError:
                    if must_read:
                        raise
                    found = Document()
                else:
                    self._notice(target, found.entries)
                yield found
        except ConfigError as error:
            raise MemoryFileError(str(error), path=path, hint=error.hint) from error

    def _record(
        self, target: str, entries: Sequence[str], changes: Sequence[Change], metadata: Mapping[str, Any] | None
    ) -> None:
        """Queue what has changed, and note that it will have been told; without a listener, neither."""
        if self._listeners:
            replace_file(self._told(target), join(entries).encode())
            said = {key: value for key, value in (metadata or {}).items() if value not in (None, "")}
            self._untold.extend(MemoryWrite(change.action, target, *change[1:], said) for change in changes)

    def _told(self, target: str) -> Path:
        """The file of the entries that listeners know of."""
        return self.folder / f".{FILES[target]}.told"

    def _notice(self, target: str, entries: Sequence[str], metadata: Mapping[str, Any] = _BY_HAND) -> None:
        """Queue what differs from the entries last told; the first look at a file is no edit."""
        try:
            last: Sequence[str] | None = parse(self._told(target).read_bytes()).entries
        except (OSError, UnicodeDecodeError):
            last = None
        if last != entries:
            changes = [] if last is None else _edits(last, entries)
            self._record(target, entries, changes, metadata)

    def _check_rewritable(self, path: Path, found: Document, limit: int) -> None:
        longest = max(map(len, found.entries), default=0)
        if not found.is_free and longest <= limit:
            return
        why = "an entry in it is longer than the whole file may be" if longest > limit else "it was edited by hand"
        remedy = (
            f"separate the entries of {path} by a line of {MARK} alone, without blank lines around it, none twice, "
            f"none longer than {limit:,} characters"
        )
        raise MemoryWriteError(
            f"{path.name} is not in the form this tool writes ({why}), so rewriting it could lose something",
            reason="drift",
            hint=remedy,
            details={
                "drift_backup": str(_back_up(path)),
                "remediation": f"nothing was changed. Entries can still be added; for anything else, ask the user to "
                f"{remedy}.",
            },
        )


def _edits(before: Sequence[str], after: Sequence[str]) -> list[Change]:
    """How one list of entries became another."""
    found: list[Change] = []
    for _, i1, i2, j1, j2 in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        gone = [entry for entry in before[i1:i2] if entry not in after]
        new = [entry for entry in after[j1:j2] if entry not in before]
        both = min(len(gone), len(new))
        found += [Change("replace", content, previous) for previous, content in zip(gone, new, strict=False)]
        found += [Change("remove", "", entry) for entry in gone[both:]]
        found += [Change("add", entry) for entry in new[both:]]
    return found


def _read(path: Path) -> Document:
    try:
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        return Document()
    except OSError as error:
        raise _failed("read", path, error) from error
    if len(content) > MAX_BYTES:
        message = f"cannot read {path}: it is larger than {MAX_BYTES // 2**20} MiB"
        raise MemoryFileError(message, path=path, hint="shorten it; nothing in it was changed")
    try:
        return parse(content)
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        message = f"cannot read {path}, line {line}: it is not UTF-8 text"
        raise MemoryFileError(message, path=path, hint="save it as UTF-8; nothing in it was changed") from error


def _back_up(path: Path) -> Path:
    """Copy a file beside itself, unless the newest copy is the same; only the newest few are kept."""
    content = path.read_bytes()
    copies = sorted(path.parent.glob(f"{path.name}.bak.*"), key=_age)
    if copies and copies[-1].read_bytes() == content:
        return copies[-1]
    stamp = max(int(time.time()), *(int(_age(copy)) + 1 for copy in copies[-1:]), 0)
    new = path.with_name(f"{path.name}.bak.{stamp}")
    replace_file(new, content)
    for old in [*copies, new][:-MAX_BACKUPS]:
        old.unlink(missing_ok=True)
    return new


def _age(backup: Path) -> float:
    stamp = backup.suffix[1:]
    return float(stamp) if stamp.isdecimal() else 0.0


def _failed(verb: str, path: Path, error: OSError) -> MemoryFileError:
    message = f"cannot {verb} {path}: {error.strerror or type(error).__name__}"
    return MemoryFileError(message, path=path, hint="nothing in it was changed; look at its permissions")


def _shown(error: BaseException) -> str:
    return " ".join(redact(describe(error)).split())
