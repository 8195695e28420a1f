"""Changing ``config.yaml`` so that a person still recognises it: comments, order and style stay."""

from __future__ import annotations

import io
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hermes_core.config.settings import read_yaml
from hermes_core.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable

LOCK_SECONDS = 15.0


def edit_config(path: Path, change: Callable[[Any], None]) -> None:
    """Apply ``change`` to the mapping in a YAML file, and write the file if that changed it.

    The write is atomic, waits for other writers, keeps the file's mode and owner, and goes through a
    link to the file it leads to.

    Args:
        path: The file; made when it is missing.
        change: Changes the mapping in place.

    Raises:
        ConfigError: The file cannot be read, so nothing is written; or it cannot be written.
    """
    from filelock import FileLock, Timeout

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(f"{path}.lock", timeout=LOCK_SECONDS):
            before = _read_text(path)
            after = _changed(before, change)
            if after != before:
                _replace(path, after)
    except Timeout as error:
        message = f"cannot write {path}: another program has held its lock for {LOCK_SECONDS:g} s"
        raise ConfigError(message, path=path, hint=f"end it, or remove {path}.lock") from error
    except OSError as error:
        message = f"cannot write {path}: {error.strerror or type(error).__name__}"
        raise ConfigError(message, path=path, hint="make the file and its folder writable") from error


def _read_text(path: Path) -> str:
    try:
        read_yaml(path)
    except FileNotFoundError:
        return ""
    return path.read_bytes().decode("utf-8")


def _changed(text: str, change: Callable[[Any], None]) -> str:
    from ruamel.yaml import YAML
    from ruamel.yaml.comments import CommentedMap
    from ruamel.yaml.util import load_yaml_guess_indent

    bom = "\ufeff" if text.startswith("\ufeff") else ""
    newline = "\r\n" if "\r\n" in text else "\n"
    plain = text.removeprefix(bom).replace("\r\n", "\n")
    yaml = YAML()
    yaml.preserve_quotes = True
    yaml.width = 2**20
    _, indent, offset = load_yaml_guess_indent(plain)
    yaml.indent(mapping=2, sequence=indent or 2, offset=offset or 0)
    tree = yaml.load(plain)
    if tree is None:
        tree = CommentedMap()
    change(tree)
    out = io.StringIO()
    yaml.dump(tree, out)
    return bom + out.getvalue().replace("\n", newline)


def _replace(path: Path, text: str) -> None:
    target = path.resolve()
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(text.encode("utf-8"))
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            found = target.stat()
            os.chmod(name, found.st_mode & 0o7777)
            if hasattr(os, "chown") and os.geteuid() == 0:
                os.chown(name, found.st_uid, found.st_gid)
        os.replace(name, target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
