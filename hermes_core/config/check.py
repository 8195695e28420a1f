"""What is wrong in a home's ``config.yaml`` and ``.env``: each problem with its file, line, key and remedy."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, NamedTuple

from hermes_core.config.env_file import parse_env
from hermes_core.config.keypath import find_key, is_reference, is_secret, join_key, looks_secret, split_key, texts
from hermes_core.config.keys import ROOT
from hermes_core.config.kinds import ADDRESS, HEADERS, WHO, Kind, called
from hermes_core.config.providers import provider_entries
from hermes_core.config.settings import Config, expand, heal, read_yaml, references
from hermes_core.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator
    from pathlib import Path

    from hermes_core.config.environment import Environment
    from hermes_core.config.keypath import KeyPath

ERROR, WARNING = "error", "warning"
NEAR = 0.75
"""How alike an unknown key and a known one are when the one is taken for a slip of the other."""

_SECRET_HEADERS = ("auth", "key", "token", "secret", "cookie", "password")


class Problem(NamedTuple):
    """One thing that is wrong.

    ``level`` is ``error`` (something does not work as it is written) or ``warning``; ``code`` says of what
    sort it is, for programs; ``line`` counts from 1, or is None where there is none. No value is in any text.
    """

    level: str
    code: str
    file: str
    line: int | None
    key: str
    message: str
    remedy: str


class Finding(NamedTuple):
    """A problem, before it is known where in the file it is."""

    level: str
    code: str
    path: KeyPath
    message: str
    remedy: str

    def at(self, file: Path, line: int | None) -> Problem:
        """The problem, in its place."""
        return Problem(self.level, self.code, str(file), line, join_key(self.path), self.message, self.remedy)


def check_home(
    home: Path, environment: Environment, providers: Collection[str] = (), words: Collection[str] = ()
) -> list[Problem]:
    """Every problem in the files that configure a home; the administrator's are among them.

    Args:
        home: The home.
        environment: What ``${NAME}`` is looked up in.
        providers: Names of the providers that are there without this configuration; an entry for one of
            them needs no address.
        words: Every name and alias of a provider. Where there are none, they are not checked.
    """
    found: list[Problem] = []
    for file in (home / "config.yaml", environment.managed / "config.yaml"):
        found += check_config(file, environment.credentials(), providers, words)
    for file in (home / ".env", environment.managed / ".env"):
        found += check_env(file)
    return found


def check_config(
    file: Path, look_up: Callable[[str], str], providers: Collection[str] = (), words: Collection[str] = ()
) -> list[Problem]:
    """Every problem in one ``config.yaml``; none when there is no such file."""
    try:
        tree = read_yaml(file)
        lines, findings = _lines_of(file.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        return []
    except ConfigError as error:
        message = str(error).partition(str(file))[2].partition(": ")[2]
        return [Finding(ERROR, "unreadable", (), message, error.hint).at(file, error.line)]
    findings += find_problems(tree, look_up, providers, words)
    if any(found.code == "plain-secret" for found in findings):
        findings += _open_to_others(file)
    return sorted(
        (found.at(file, _line(lines, found.path)) for found in findings), key=lambda problem: problem.line or 0
    )


def check_env(file: Path) -> list[Problem]:
    """Every problem in one ``.env``; none when there is no such file."""
    try:
        values, odd = parse_env(file.read_bytes())
    except FileNotFoundError:
        return []
    except OSError as error:
        return [Finding(ERROR, "unreadable", (), f"{error.strerror}", "make the file readable").at(file, None)]
    strange = Finding(ERROR, "odd-line", (), "this line makes no sense", "write NAME=value")
    found = [strange.at(file, line) for line in odd]
    return found + [problem.at(file, None) for problem in (_open_to_others(file) if values else ())]


def _open_to_others(file: Path) -> list[Finding]:
    """The problem that a file with secrets may be read by others, if it may."""
    if not file.stat().st_mode & 0o044:
        return []
    return [Finding(WARNING, "open-to-others", (), "it holds secrets, and others may read it", f"chmod 600 {file}")]


def find_problems(
    tree: Mapping[str, Any],
    look_up: Callable[[str], str] = lambda _name: "",
    providers: Collection[str] = (),
    words: Collection[str] = (),
) -> list[Finding]:
    """Every problem that a tree itself shows, with every ``${NAME}`` looked up first.

    Example:
        >>> [(found.level, found.path, found.message) for found in find_problems({"model": {"max_tokens": "many"}})]
        [('error', ('model', 'max_tokens'), 'must be a whole number of at least 1, got text')]
    """
    found = [*_typed(ROOT, expand(tree, look_up), ())]
    for kind, text, path in texts(tree):
        found += _misplaced(text, path)
        found += _unset(kind, text, path, look_up)
    return [*found, *_unreachable(heal(expand(tree, look_up)), providers, words)]


def _typed(kind: Kind, value: Any, path: KeyPath) -> Iterator[Finding]:
    """Values of the wrong kind, unknown keys, and keys that are missing."""
    if value is None or (isinstance(value, str) and references(value)):
        return
    if kind.read(value) is None:
        yield Finding(ERROR, "wrong-kind", path, f"must be {kind.wanted}, got {called(value)}", _remedy(kind, value))
    elif isinstance(value, list) and kind.items is not None:
        for number, item in enumerate(value):
            yield from _typed(kind.items, item, (*path, str(number)))
    elif isinstance(value, Mapping):
        for name, item in value.items():
            below = (*path, str(name))
            key = kind.child(name) if isinstance(name, str) else None
            if key is not None:
                yield from _typed(key.kind, item, below)
            elif not isinstance(name, str):
                message = f"is {called(name)}; a key must be text"
                yield Finding(ERROR, "wrong-kind", below, message, "put the key in quotes")
            elif kind.keys:
                yield from _unknown(kind, name, below)
        for need in kind.needs:
            said = (value.get(word) for key in kind.keys if key.name == need for word in (need, *key.aliases))
            if all(item is None or (isinstance(item, str) and not item.strip()) for item in said):
                yield Finding(ERROR, "missing-key", path, f"lacks {need}", f"add {need}")


def _unknown(kind: Kind, name: str, path: KeyPath) -> Iterator[Finding]:
    near = get_close_matches(name, kind.words, n=1, cutoff=NEAR)
    if near:
        yield Finding(ERROR, "unknown-key", path, f"is no known key; did you mean {near[0]}?", f"write {near[0]}")
    elif not kind.is_open:
        yield Finding(WARNING, "unknown-key", path, "is no known key", "take it out, or see `hermes config schema`")


def _remedy(kind: Kind, value: Any) -> str:
    if kind is ADDRESS:
        return "write it like https://api.example.com/v1; a password goes into api_key"
    if isinstance(value, bool | int | float) and isinstance(kind.read(str(value)), str):
        return "put it in quotes"
    return "correct it, or take it out"


def _misplaced(text: str, path: KeyPath) -> Iterator[Finding]:
    """A secret that is written out, or stands where none belongs."""
    remedy = "write NAME=… to .env and ${NAME} here, or run `hermes auth add`"
    if not is_secret(path):
        if looks_secret(text):
            yield Finding(ERROR, "plain-secret", path, "holds what looks like a key, where none belongs", remedy)
    elif text and not is_reference(text) and (looks_secret(text) or not _is_plain_header(path)):
        yield Finding(WARNING, "plain-secret", path, "is a secret in plain text", remedy)


def _is_plain_header(path: KeyPath) -> bool:
    """Whether a value stands among headers, under a name that promises no secret."""
    above = find_key(path[:-1])
    is_header = above is not None and above.kind is HEADERS
    return is_header and not any(part in path[-1].lower() for part in _SECRET_HEADERS)


def _unset(kind: Kind | None, text: str, path: KeyPath, look_up: Callable[[str], str]) -> Iterator[Finding]:
    """References to variables that are not set; where a key or an address stands, nothing works without."""
    level = ERROR if kind is ADDRESS or is_secret(path) else WARNING
    for name in references(text):
        if not look_up(name):
            message, remedy = f"refers to ${{{name}}}, which is not set", f"set {name}, or write it to .env"
            yield Finding(level, "unset-variable", path, message, remedy)


def _unreachable(tree: Mapping[str, Any], providers: Collection[str], words: Collection[str]) -> Iterator[Finding]:
    """Providers that are written of, and that nobody could reach."""
    own = provider_entries(Config(tree=tree), lambda *_: None)
    known = {*words, "auto", "custom", "main", *(name for row in own for name in row.names)}
    for row in own:
        if not row.base_url and row.slug not in providers and row.place.startswith("providers."):
            message = "has no base_url, and no provider is called so"
            yield Finding(ERROR, "no-address", split_key(row.place), message, "add base_url")
    for kind, text, path in texts(tree) if words else ():
        if kind is WHO and text and text.lower() not in known and not references(text):
            beside = Config(tree=tree).get(*path[:-1], "base_url")
            near = get_close_matches(text.lower(), known, n=1, cutoff=NEAR)
            if not beside:
                remedy = f"did you mean {near[0]}?" if near else "run `hermes providers list`"
                yield Finding(ERROR, "unknown-provider", path, "names no provider", remedy)


def _lines_of(text: str) -> tuple[dict[KeyPath, int], list[Finding]]:
    """The line on which each value's key stands, from 1; and the keys that stand twice."""
    import yaml

    lines: dict[KeyPath, int] = {(): 1}
    twice: list[Finding] = []

    def walk(node: Any, path: KeyPath, inside: frozenset[int]) -> None:
        if id(node) in inside:
            return
        if isinstance(node, yaml.MappingNode):
            names = [str(key.value) for key, _ in node.value]
            for number, (key, value) in enumerate(node.value):
                below = (*path, names[number])
                if names[number] in names[:number] and below in lines:
                    message = f"stands twice, first on line {lines[below]}; this one counts"
                    twice.append(Finding(ERROR, "twice", below, message, "keep one of them"))
                lines[below] = key.start_mark.line + 1
                walk(value, below, inside | {id(node)})
        elif isinstance(node, yaml.SequenceNode):
            for number, item in enumerate(node.value):
                lines[*path, str(number)] = item.start_mark.line + 1
                walk(item, (*path, str(number)), inside | {id(node)})

    walk(yaml.compose(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader)), (), frozenset())
    return lines, twice


def _line(lines: Mapping[KeyPath, int], path: KeyPath) -> int | None:
    """The line of a path, or of the nearest thing above it that has one; None for the whole file."""
    while path and path not in lines:
        path = path[:-1]
    return lines.get(path) if path else None
