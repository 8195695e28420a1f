"""A log file that threads, forks and other processes write to at once."""

from __future__ import annotations

import errno
import logging
import os
import stat
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from hermes_core.config.redact import RedactingFormatter

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows, where no process can rename a file that another one has open
    fcntl = None  # type: ignore[assignment]

FORM = "%(asctime)s %(levelname)s %(name)s: %(message)s"
_FLAGS = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_NONBLOCK", 0)  # a pipe nobody reads is not waited for


class LogFile(logging.Handler):
    """Appends each record in one write, so that the lines of several writers never mix.

    The file is turned over before it outgrows its size: to ``.1``, that one to ``.2``, and so on. One that
    another process has turned over, or somebody has moved or deleted, is begun anew.

    ``RotatingFileHandler`` will not do: where two processes turn one file over at once, it loses lines.

    Args:
        path: The file; its folder is made with the first line.
        max_bytes: Its size limit.
        backups: How many older files are kept, at least one.
    """

    def __init__(self, path: Path, *, max_bytes: int, backups: int) -> None:
        super().__init__()
        self.baseFilename = os.path.abspath(path)
        self.maxBytes = max_bytes
        self.backupCount = backups
        self.setFormatter(RedactingFormatter(FORM))
        self._file = -1
        self._identity = (0, 0)
        self._is_torn = False
        self._is_broken = False

    def emit(self, record: logging.LogRecord) -> None:
        """Write it."""
        was_broken, self._is_broken = self._is_broken, True
        try:
            self._append(f"{self.format(record)}\n".encode("utf-8", "backslashreplace"))
            self._is_broken = False
        except Exception:  # noqa: BLE001 - as every handler does: whoever logs cannot help it
            if not was_broken:
                self.handleError(record)

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - logging's own name
        """Told when records can no longer be written, once until they can be again; does nothing."""

    def close(self) -> None:
        """Close the file; one more record would open it again."""
        self.acquire()
        try:
            self._let_go()
        finally:
            self.release()
        super().close()

    def _append(self, line: bytes) -> None:
        size = self._size()
        problem = None
        if size and size + len(line) > self.maxBytes:
            try:
                self._turn_over(len(line))
            except OSError as error:  # the line is written all the same
                problem = error
            self._size()
        if self._is_torn:  # the disk was full in the middle of a line
            line = b"\n" + line
        self._is_torn = os.write(self._file, line) < len(line)
        if self._is_torn:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        if problem is not None:
            raise problem

    def _size(self) -> int:
        """Have the file open that is in place now, and tell its size; 0 for what is no regular file."""
        try:
            found = os.stat(self.baseFilename)
        except FileNotFoundError:
            found = None
        if found is None or self._file < 0 or (found.st_dev, found.st_ino) != self._identity:
            self._let_go()
            os.makedirs(os.path.dirname(self.baseFilename), exist_ok=True)
            self._file = os.open(self.baseFilename, _FLAGS, 0o666)
            found = os.fstat(self._file)
            self._identity = found.st_dev, found.st_ino
        return found.st_size if stat.S_ISREG(found.st_mode) else 0

    def _let_go(self) -> None:
        file, self._file = self._file, -1  # in this order: a child forked in between must not write to its number
        if file >= 0:
            os.close(file)

    def _turn_over(self, coming: int) -> None:
        """Move the files on, unless another process is doing so or has just done so."""
        self._let_go()
        path = self.baseFilename
        with _alone_in(os.path.dirname(path)) as is_alone:
            if not is_alone or os.stat(path).st_size + coming <= self.maxBytes:
                return
            for number in range(self.backupCount - 1, 0, -1):
                with suppress(FileNotFoundError):
                    os.replace(f"{path}.{number}", f"{path}.{number + 1}")
            os.replace(path, f"{path}.1")


@contextmanager
def _alone_in(folder: str) -> Iterator[bool]:
    """Whether no other process is turning over a file of the folder; none will, meanwhile. Waits for nobody.

    The lock is the folder's own: it leaves nothing lying about, and ends with whoever holds it.
    """
    if fcntl is None:
        yield True
        return
    lock = os.open(folder, os.O_RDONLY)
    is_alone = False
    try:
        with suppress(BlockingIOError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            is_alone = True
        yield is_alone
    finally:
        if is_alone:  # closing would not do, if a child was forked meanwhile
            fcntl.flock(lock, fcntl.LOCK_UN)
        os.close(lock)
