"""Changing ``config.yaml`` so that a person still recognises it: comments, order and style stay."""

from __future__ import annotations

import io
from collections.abc import Mapping
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Any

from hermes_core.config.files import only_writer_of, replace_file
from hermes_core.config.keypath import find_key, join_key, look
from hermes_core.config.kinds import MAPPING
from hermes_core.config.settings import ConfigFile, parse_yaml, read_yaml, yaml_problem
from hermes_core.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from hermes_core.config.environment import Environment
    from hermes_core.config.kinds import Kind

_STYLES = ((2, 2, 0), (2, 4, 2), (4, 2, 0), (4, 4, 2), (4, 6, 4))
"""How files are indented: a mapping's keys, a list's values, a list's dashes."""


def readable(home: Path, environment: Environment) -> ConfigFile:
    """The configuration, which can be read.

    Raises:
        ConfigError: It cannot.
    """
    file = ConfigFile(home, environment)
    error = file.current().error
    if error is not None:
        raise error
    return file


def refuse_managed(file: ConfigFile, path: Sequence[str]) -> None:
    """Refuse to write what the administrator's file says, and what would therefore not count.

    Raises:
        ConfigError: It says something there.
    """
    managed = file.as_written()[1]
    for end in range(1, len(path) + 1):
        found = look(managed, path[:end])
        if found is None:
            return
        if end == len(path) or not isinstance(found, Mapping | list):
            message = f"{join_key(path)} is set by the administrator, in {file.managed_path}, which wins"
            raise ConfigError(message, key=join_key(path), hint="ask whoever manages this machine")


def edit_config(path: Path, change: Callable[[Any], None]) -> None:
    """Apply ``change`` to the mapping in a YAML file, and write the file if that changed it.

    The write is atomic, waits for other writers, keeps the file's mode and owner, and goes through a
    link to the file it leads to.

    Args:
        path: The file; made when it is missing.
        change: Changes the mapping in place.

    Raises:
        ConfigError: The file cannot be read, so nothing is written; or it cannot be written; or the change
            would change more than it says, as under an alias.
    """
    from ruamel.yaml.error import YAMLError

    broken = ""
    try:
        with only_writer_of(path):
            before = _read_text(path)
            after = _changed(before, change)
            if after != before:
                _check_meaning(path, before, after, change)
                replace_file(path, after.encode())
    except YAMLError as error:
        line, problem = yaml_problem(error, "")
        broken = f"cannot change {path}{'' if line is None else f', line {line}'}: {problem}"
    if broken:  # raised here, so that the error does not lead to the parser's, which quotes the file
        raise ConfigError(broken, path=path, hint="mend the file, or change it by hand; nothing was written")


def put(tree: Any, path: Sequence[str], value: Any) -> None:
    """Set what stands at a path of keys. Mappings on the way are made; a list takes one item behind its last.

    Raises:
        ConfigError: Something else stands in the way.

    Example:
        >>> tree = {"model": "m"}
        >>> put(tree, ("model", "provider"), "acme")
        >>> tree
        {'model': {'default': 'm', 'provider': 'acme'}}
    """
    node = tree
    for number, word in enumerate(path):
        if isinstance(node, list) and not (word.isdecimal() and int(word) <= len(node)):
            message = f"{join_key(path[:number])} is a list of {len(node)}: {word!r} is no place in it"
            raise ConfigError(message, key=join_key(path), hint="count from 0; the number behind the last adds one")
        key = int(word) if isinstance(node, list) else as_yaml(word)
        is_new = key >= len(node) if isinstance(key, int) else node.get(key) is None
        if number < len(path) - 1:
            is_list = is_new and path[number + 1].isdecimal() and _kind(path[: number + 1]).items is not None
            below: Any = ([] if is_list else {}) if is_new else node[key]
            text_key = _kind(path[: number + 1]).text_key if isinstance(below, str) else ""
            if text_key:
                below = {text_key: below}
            if not isinstance(below, dict | list):
                message = f"{join_key(path[: number + 1])} is no mapping, so nothing can stand below it"
                raise ConfigError(message, key=join_key(path), hint="change it first")
            if is_new or text_key:
                _store(node, key, below)
            node = node[key]
        else:
            _store(node, key, as_yaml(value))


def take_out(tree: Any, path: Sequence[str]) -> None:
    """Drop what stands at a path of keys, and the mappings above it that are empty then.

    Raises:
        ConfigError: Nothing stands there.
    """
    above = [tree]
    for word in path:
        node = above[-1]
        key: Any = int(word) if isinstance(node, list) and word.isdecimal() and int(word) < len(node) else word
        if not isinstance(node, list | dict) or (key == word and (isinstance(node, list) or word not in node)):
            raise ConfigError(f"{join_key(path)} is not set", key=join_key(path), hint="run `hermes config show`")
        above.append(node[key])
    for node, word in zip(reversed(above[:-1]), reversed(path), strict=True):
        del node[int(word) if isinstance(node, list) else word]
        if node or isinstance(node, list):
            break


def as_yaml(value: Any) -> Any:
    """A value to put into a tree; text that YAML would read as something else is quoted."""
    from ruamel.yaml.scalarstring import SingleQuotedScalarString

    if isinstance(value, dict):
        return {as_yaml(key): as_yaml(item) for key, item in value.items()}
    if isinstance(value, list):
        return [as_yaml(item) for item in value]
    if isinstance(value, str) and not isinstance(read_scalar(value), str):
        return SingleQuotedScalarString(value)
    return value


def read_scalar(text: str) -> Any:
    """What a word means in YAML: true, 5, null; or the text itself.

    Example:
        >>> [read_scalar(text) for text in ("yes", "5", "~", "a: b # c", "2026-01-02")]
        [True, 5, None, 'a: b # c', '2026-01-02']
    """
    import yaml

    loader: Any = yaml.SafeLoader("")
    tag = loader.resolve(yaml.ScalarNode, text, (True, False))
    try:
        value = loader.construct_object(yaml.ScalarNode(tag, text))
    except (yaml.YAMLError, ValueError):
        return text
    return value if isinstance(value, bool | int | float | None) else text


def _store(node: Any, key: Any, value: Any) -> None:
    if isinstance(node, list) and key == len(node):
        node.append(value)
    else:
        node[key] = value


def _kind(path: Sequence[str]) -> Kind:
    key = find_key(path)
    return key.kind if key is not None else MAPPING


def _check_meaning(path: Path, before: str, after: str, change: Callable[[Any], None]) -> None:
    """Refuse a text that does not say, as the host reads it, what the old one says with the change."""
    wanted = _unshared(parse_yaml(before, path))
    change(wanted)
    if not _same(parse_yaml(after, path), wanted):
        message = f"cannot change {path}: it would change more than was asked, or would not be read as it was meant"
        hint = "an alias or a merge key may lead there: change it by hand; nothing was written"
        raise ConfigError(message, path=path, hint=hint)


def _unshared(node: Any) -> Any:
    """A copy in which an alias is a value of its own."""
    if isinstance(node, dict):
        return {key: _unshared(value) for key, value in node.items()}
    return [_unshared(item) for item in node] if isinstance(node, list) else node


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same(value, other[key]) for key, value in one.items())
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))
    if isinstance(one, str) and isinstance(other, str):
        return one == other
    return type(one) is type(other) and (one == other or repr(one) == repr(other))


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
    style, usual = _style_of(plain)
    wanted = _dumped(plain, change, style)
    if usual == wanted:
        return text
    changed = _transplanted(plain, usual, wanted)
    return bom + changed.replace("\n", newline)


def _style_of(plain: str) -> tuple[tuple[int, int, int], str]:
    """The indentation that comes closest to a text's own, and the text dumped in it."""
    dumps = ((style, _dumped(plain, lambda _tree: None, style)) for style in _STYLES)
    written = plain.splitlines()

    def likeness(dump: tuple[tuple[int, int, int], str]) -> int:
        return len({*enumerate(written)} & {*enumerate(dump[1].splitlines())})

    return max(dumps, key=likeness)


def _dumped(plain: str, change: Callable[[Any], None], style: tuple[int, int, int]) -> str:
    """The text, changed, as ruamel writes it."""
    from ruamel.yaml import YAML
    from ruamel.yaml.comments import CommentedMap

    yaml = YAML()
    yaml.preserve_quotes = True
    yaml.width = 2**20
    yaml.indent(*style)
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
    place = _places(before, written)
    out: list[str] = []
    done = 0
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if tag == "equal":
            continue
        start = place[i1 - 1] + 1 if i1 - 1 in place else place.get(i1)
        end = start if i1 == i2 else place[i2 - 1] + 1 if i2 - 1 in place else None
        if start is None or end is None:
            return wanted
        near = i1 if i1 < i2 else next((number for number in range(i1 - 1, -1, -1) if _says(before[number])), i1)
        shift = _indent(written[place[near]]) - _indent(before[near]) if near in place else 0
        new = [_shifted(line, shift) for line in after[j1:j2]]
        if start < end:
            end = _without_notes(written, start, end, new)
        else:
            start = end = _before_notes(written, done, start, new[0])
        out += written[done:start] + new
        done = end
    text = "".join(out + written[done:])
    if not plain.endswith("\n") and plain and done < len(written):
        text = text[:-1]
    try:
        same = yaml.safe_load(text) == yaml.safe_load(wanted)
    except yaml.YAMLError:
        same = False
    return text if same else wanted


def _places(before: list[str], written: list[str]) -> dict[int, int]:
    """Which line of a dump is which line of the text; blanks do not count."""
    one, other = (["".join(line.split()) for line in lines] for lines in (before, written))
    place: dict[int, int] = {}
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, one, other, autojunk=False).get_opcodes():
        if tag == "equal" or i2 - i1 == j2 - j1:
            place.update(zip(range(i1, i2), range(j1, j2), strict=True))
    return place


def _says(line: str) -> bool:
    """Whether a line is more than a comment."""
    return bool(line.split("#", maxsplit=1)[0].strip())


def _before_notes(lines: list[str], first: int, at: int, new: str) -> int:
    """Where a new line goes: before the comments that belong to what comes next, and the blank lines before those."""
    start = at
    while start > first and not _says(lines[start - 1]):
        start -= 1
    is_item = new.lstrip().startswith("- ")
    deepest = _indent(new) + (is_item and not (at < len(lines) and lines[at].lstrip().startswith("- ")))
    notes = [number for number in range(start, at) if lines[number].strip() and _indent(lines[number]) < deepest]
    if not notes:
        return at
    while notes[0] > start and not lines[notes[0] - 1].strip():
        notes[0] -= 1
    return notes[0]


def _without_notes(lines: list[str], start: int, end: int, instead: list[str]) -> int:
    """The end of what goes, without the comments and blank lines behind it: they belong to what comes next."""
    while end > start + 1 and not _says(lines[end - 1]) and lines[end - 1] not in instead:
        if lines[end - 1].strip() and _indent(lines[end - 1]) > _indent(lines[start]):
            break
        end -= 1
    return end


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _shifted(line: str, shift: int) -> str:
    return " " * shift + line if shift > 0 else line[min(-shift, _indent(line)) :]
