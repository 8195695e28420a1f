"""Changing ``config.yaml`` so that a person still recognises it: comments, order and style stay."""

from __future__ import annotations

import io
import os
import tempfile
from difflib import SequenceMatcher
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hermes_core.config.settings import read_yaml, yaml_problem
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
    from ruamel.yaml.error import YAMLError

    broken = ""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(f"{path}.lock", timeout=LOCK_SECONDS):
            before = _read_text(path)
            after = _changed(before, change)
            if after != before:
                replace_file(path, after.encode("utf-8"))
    except YAMLError as error:
        broken = f"cannot change {path}{yaml_problem(error, '')}"
    except Timeout as error:
        message = f"cannot write {path}: another program has held its lock for {LOCK_SECONDS:g} s"
        raise ConfigError(message, path=path, hint=f"end it, or remove {path}.lock") from error
    except OSError as error:
        message = f"cannot write {path}: {error.strerror or type(error).__name__}"
        raise ConfigError(message, path=path, hint="make the file and its folder writable") from error
    if broken:  # raised here, so that the error does not lead to the parser's, which quotes the file
        raise ConfigError(broken, path=path, hint="mend the file, or change it by hand; nothing was written")


def _read_text(path: Path) -> str:
    try:
        read_yaml(path)
    except FileNotFoundError:
        return ""
    return path.read_bytes().decode("utf-8")


def _changed(text: str, change: Callable[[Any], None]) -> str:
    bom = "\ufeff" if text.startswith("\ufeff") else ""
    newline = "\r\n" if "\r\n" in text else "\n"
    plain = text.removeprefix(bom).replace("\r\n", "\n")
    usual = _dumped(plain, lambda _tree: None)
    wanted = _dumped(plain, change)
    if usual == wanted:
        return text
    changed = _transplanted(plain, usual, wanted)
    return bom + changed.replace("\n", newline)


def _dumped(plain: str, change: Callable[[Any], None]) -> str:
    """The text, changed, in ruamel's own style."""
    from ruamel.yaml import YAML
    from ruamel.yaml.comments import CommentedMap
    from ruamel.yaml.util import load_yaml_guess_indent

    yaml = YAML()
    yaml.preserve_quotes = True
    yaml.width = 2**20
    _, indent, offset = load_yaml_guess_indent(plain)
    yaml.indent(mapping=indent or 2, sequence=(offset or 0) + 2, offset=offset or 0)
    tree = yaml.load(plain)
    if tree is None:
        tree = CommentedMap()
    before = plain if not tree else ""  # a file of comments alone holds no tree to keep them
    change(tree)
    out = io.StringIO()
    yaml.dump(tree, out)
    text = out.getvalue()
    if before.strip() in ("", "{}"):
        return text if tree else before
    return (before if before.endswith("\n") else f"{before}\n") + text if tree else before


def _transplanted(plain: str, usual: str, wanted: str) -> str:
    """What changed between two dumps, made to the text as it was written.

    So a file in a style that a dump would not keep stays as it is, but for the lines that change. Where that
    cannot be done, the dump has to do.
    """
    import yaml

    written, before, after = (text.splitlines(keepends=True) for text in (plain, usual, wanted))
    if written and not written[-1].endswith("\n"):
        written[-1] += "\n"
    place: dict[int, int] = {}
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, before, written, autojunk=False).get_opcodes():
        if tag == "equal" or i2 - i1 == j2 - j1:
            place.update(zip(range(i1, i2), range(j1, j2), strict=True))
    out: list[str] = []
    done = 0
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if tag == "equal":
            continue
        start = place[i1 - 1] + 1 if i1 - 1 in place else place.get(i1)
        end = start if i1 == i2 else place[i2 - 1] + 1 if i2 - 1 in place else None
        if start is None or end is None:
            return wanted
        near = i1 if i1 < i2 else i1 - 1
        shift = _indent(written[place[near]]) - _indent(before[near]) if near in place else 0
        out += written[done:start] + [_shifted(line, shift) for line in after[j1:j2]]
        done = end
    text = "".join(out + written[done:])
    if not plain.endswith("\n") and plain and done < len(written):
        text = text[:-1]
    try:
        same = yaml.safe_load(text) == yaml.safe_load(wanted)
    except yaml.YAMLError:
        same = False
    return text if same else wanted


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _shifted(line: str, shift: int) -> str:
    return " " * shift + line if shift > 0 else line[min(-shift, _indent(line)) :]


def replace_file(path: Path, content: bytes) -> None:
    """Write a file in one step, so that a crash leaves the old one or the new one.

    It keeps the file's mode and owner; a new one is the owner's alone. A link stays one.

    Raises:
        OSError: It cannot be written, and is as it was.
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
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
