"""A ``.env`` file: read as python-dotenv reads it, and written so that it reads back as it was meant."""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING

from hermes_core.config.files import only_writer_of, replace_file
from hermes_core.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PLAIN = re.compile(r"[A-Za-z0-9_./:@%+,=-]*")
_BEFORE_NAME = re.compile(r"\s*(export[^\S\r\n]+)?")
_NOTE = re.compile(r"[^\S\r\n]+#[^'\"\r\n]*$")
_BOM = "\ufeff"


def parse_env(content: bytes) -> tuple[dict[str, str], list[int]]:
    r"""What a file sets, the last line of a name counts, and the lines that make no sense, from 1.

    Example:
        >>> parse_env(b"export A=1 # note\nB='x y'\nC D")
        ({'A': '1', 'B': 'x y'}, [3])
    """
    from dotenv.parser import parse_stream

    text = content.decode("utf-8-sig", errors="replace").replace("\r\n", "\n").replace("\r", "\n")
    values: dict[str, str] = {}
    odd = []
    for binding in parse_stream(io.StringIO(text)):
        if binding.key and binding.value is not None:
            values[binding.key] = binding.value
        elif binding.error:
            blank = len(binding.original.string) - len(binding.original.string.lstrip())
            odd.append(binding.original.line + binding.original.string.count("\n", 0, blank))
    return values, odd


def write_env(path: Path, changes: Mapping[str, str | None]) -> None:
    """Set variables in a ``.env`` file, or take out those whose value is None; every other line stays as it is.

    The write is atomic, waits for other writers, and keeps the file's mode and owner; a new file is
    readable by its owner alone.

    Raises:
        ConfigError: A name is none, a value cannot be written so that it reads back the same, or the file
            cannot be read or written. Nothing is written then, and no value is in the message.

    Example:
        >>> from pathlib import Path
        >>> from tempfile import mkdtemp
        >>> path = Path(mkdtemp(), ".env")
        >>> write_env(path, {"ACME_API_KEY": "k-1", "GREETING": "it's me"})
        >>> print(path.read_text(), end="")
        ACME_API_KEY=k-1
        GREETING="it's me"
    """
    for name in changes:
        if not _NAME.fullmatch(name):
            message = f"{name!r} is no name of a variable"
            raise ConfigError(message, path=path, hint="use letters, digits and underscores, no digit first")
    with only_writer_of(path):
        before = path.read_bytes() if path.exists() else b""
        after = before
        for name, value in changes.items():
            after = _changed(after, name, value, path)
        if after != before:
            replace_file(path, after)


def _changed(content: bytes, name: str, value: str | None, path: Path) -> bytes:
    """The file with one variable set or taken out."""
    expected = {key: old for key, old in parse_env(content)[0].items() if key != name}
    if value is not None:
        expected[name] = value
    try:
        changed = _spliced(content.decode("utf-8", errors="surrogateescape"), name, value)
        written = changed.encode("utf-8", errors="surrogateescape")
        fits = parse_env(written)[0] == expected and "\0" not in (value or "")
    except UnicodeEncodeError:
        fits = False
    if not fits:
        message = f"cannot write {name} to {path}: the file would not read back as it was meant"
        raise ConfigError(message, path=path, key=name, hint="set it in the environment; nothing was written")
    return written


def _spliced(text: str, name: str, value: str | None) -> str:
    from dotenv.parser import parse_stream

    newline = "\r\n" if "\r\n" in text else "\n"
    found = list(parse_stream(io.StringIO(text.removeprefix(_BOM), newline="")))
    lines = [binding.original.string for binding in found]
    places = [number for number, binding in enumerate(found) if binding.key == name]
    if value is None:
        for place in places:
            lines[place] = lines[place][: -len(lines[place].lstrip())]  # the blank lines before it
    elif places:
        old = lines[places[-1]]
        body = old.rstrip("\r\n")
        head, note = _BEFORE_NAME.match(old), _NOTE.search(body)
        lines[places[-1]] = "".join(
            (head[0] if head else "", f"{name}={_quoted(value)}", note[0] if note else "", old[len(body) :])
        )
    else:
        if lines and not lines[-1].endswith(("\n", "\r")):
            lines.append(newline)
        lines.append(f"{name}={_quoted(value)}{newline}")
    return (_BOM if text.startswith(_BOM) else "") + "".join(lines)


def _quoted(value: str) -> str:
    if _PLAIN.fullmatch(value):
        return value
    if not {"'", "\\"} & {*value}:
        return f"'{value}'"
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
