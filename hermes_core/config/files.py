"""Writing a person's file: one writer at a time, in one step, with the mode, owner and link it has."""

from __future__ import annotations

import os
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from hermes_core.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterator

LOCK_SECONDS = 15.0


@contextmanager
def only_writer_of(path: Path) -> Iterator[None]:
    """Wait for other writers of a file, and keep them out; its folder is made.

    Raises:
        ConfigError: Another program keeps its lock, or it cannot be written; says which, and what to do.
    """
    from filelock import FileLock, Timeout

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(f"{path}.lock", timeout=LOCK_SECONDS):
            yield
    except Timeout as error:
        message = f"cannot write {path}: another program has held its lock for {LOCK_SECONDS:g} s"
        raise ConfigError(message, path=path, hint=f"end it, or remove {path}.lock") from error
    except OSError as error:
        message = f"cannot write {path}: {error.strerror or type(error).__name__}"
        raise ConfigError(message, path=path, hint="make the file and its folder writable") from error


def replace_file(path: Path, content: bytes) -> None:
    """Write a file so that a reader, or a crash, sees the old content or the new one; a new file is private.

    Raises:
        OSError: It cannot be written; the old content stays.
    """
    target = path.resolve()
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            found = target.stat()
            os.chmod(name, found.st_mode & 0o7777)
            if hasattr(os, "chown") and os.geteuid() == 0:
                os.chown(name, found.st_uid, found.st_gid)
        os.replace(name, target)
    except BaseException:  # an interrupt too leaves no half of a file behind
        Path(name).unlink(missing_ok=True)
        raise
