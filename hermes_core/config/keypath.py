"""Paths through ``config.yaml``: what the table of keys says of them, and how people write them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from hermes_core.config.keys import OF_THE_MODEL, OTHER_TASK_TIMEOUT, ROOT, TASK_TIMEOUTS
from hermes_core.config.kinds import Key, Kind
from hermes_core.config.secret_patterns import blank_shapes, is_secret_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

KeyPath = tuple[str, ...]
"""Where a value stands: the keys that lead to it; an item of a list goes by its number."""

# compiled when they are first needed: this module is loaded wherever a configuration is read
_SEGMENT = r"""(?:"(?P<double>[^"]*)"|'(?P<single>[^']*)'|(?P<plain>[^."']+))(?P<more>\.|$)"""
_REFERENCE_ALONE = r"\s*(Bearer\s+)?\$\{[A-Za-z_][A-Za-z0-9_]*\}\s*"


def find_key(path: Sequence[str]) -> Key | None:
    """The known key that stands at a path, under its own name or an alias; None where anything may stand.

    Example:
        >>> find_key(("providers", "acme", "url")).name
        'base_url'
        >>> find_key(("fallback_providers", "0", "timeout")).kind.wanted
        'a number of seconds above 0'
    """
    key = Key("", ROOT)
    for word in path:
        found = key.kind.child(word)
        if found is None:
            return None
        key = found
    return key


def default_of(path: Sequence[str]) -> Any:
    """What counts at a path when nothing is written there; None when that is nothing.

    Example:
        >>> default_of(("auxiliary", "vision", "timeout")), default_of(("logging", "backup_count"))
        (120.0, 3)
    """
    if len(path) == 3 and path[0] == "auxiliary" and path[2] == "timeout":
        return TASK_TIMEOUTS.get(path[1], OTHER_TASK_TIMEOUT)
    key = find_key(path)
    return key.default if key is not None else None


def canonical(path: Sequence[str]) -> KeyPath:
    """A path with every alias replaced by the key it stands for.

    Example:
        >>> canonical(("model", "api_base")), canonical(("provider",))
        (('model', 'base_url'), ('model', 'provider'))
    """
    if len(path) == 1 and path[0] in OF_THE_MODEL:
        return "model", OF_THE_MODEL[path[0]]
    found: list[str] = []
    kind: Kind | None = ROOT
    for word in path:
        key = kind.child(word) if kind is not None else None
        found.append(word if key is None else key.name)
        kind = None if key is None else key.kind
    return tuple(found)


def look(tree: Any, path: Sequence[str]) -> Any:
    """What stands at a path; None where nothing does.

    Example:
        >>> look({"a": [{"b": 1}]}, ("a", "0", "b"))
        1
    """
    for word in path:
        if isinstance(tree, Mapping):
            tree = tree.get(word)
        else:
            tree = tree[int(word)] if isinstance(tree, list) and word.isdecimal() and int(word) < len(tree) else None
    return tree


def spelled(tree: Mapping[str, Any], path: Sequence[str]) -> KeyPath:
    """Where a file has, or would have, what belongs at a path: under an alias, at the root, or in a bare text.

    Example:
        >>> spelled({"providers": {"acme": {"url": "x"}}}, ("providers", "acme", "base_url"))
        ('providers', 'acme', 'url')
        >>> spelled({"model": "m"}, ("model", "default")), spelled({"provider": "p"}, ("model", "provider"))
        (('model',), ('provider',))
    """
    found: list[str] = []
    node: Any = tree
    kind: Kind | None = ROOT
    for word in path:
        if isinstance(node, str) and kind is not None and kind.text_key == word:
            break
        key = kind.child(word) if kind is not None else None
        words = (word,) if key is None else (key.name, *key.aliases)
        found.append(next((name for name in words if look(node, (name,)) is not None), words[0]))
        node = look(node, found[-1:])
        kind = key.kind if key is not None else None
    if node is None and tuple(path[:-1]) == ("model",):
        return next(((old,) for old, new in OF_THE_MODEL.items() if new == path[-1] and tree.get(old)), tuple(found))
    return tuple(found)


def texts(node: Any, kind: Kind | None = ROOT, path: KeyPath = ()) -> Iterator[tuple[Kind | None, str, KeyPath]]:
    """Every text in a tree, trimmed, with what may stand there, where that is known, and its path.

    Example:
        >>> [(text, path) for _, text, path in texts({"plugins": {"enabled": ["a"]}})]
        [('a', ('plugins', 'enabled', '0'))]
    """
    if isinstance(node, str):
        yield kind, node.strip(), path
    elif isinstance(node, Mapping | list):
        for name, item in node.items() if isinstance(node, Mapping) else enumerate(node):
            key = kind.child(str(name)) if kind is not None else None
            yield from texts(item, key.kind if key is not None else None, (*path, str(name)))


def is_secret(path: Sequence[str]) -> bool:
    """Whether what stands at a path, or around it, must not be shown.

    Example:
        >>> is_secret(("model", "extra_headers", "X-Org")), is_secret(("plugins", "entries", "acme", "token"))
        (True, True)
    """
    known = (find_key(path[: end + 1]) for end in range(len(path)))
    if any(key is not None and key.kind.is_secret for key in known):
        return True
    return find_key(path) is None and bool(path) and is_secret_name(path[-1])


def looks_secret(text: str) -> bool:
    """Whether a text has the form of a well-known kind of key, wherever it stands.

    Example:
        >>> looks_secret("sk-0123456789abcdef"), looks_secret("skillful")
        (True, False)
    """
    return "://" not in text and blank_shapes(text, text.lower(), "") != text


def is_reference(text: str) -> bool:
    """Whether a text is a ``${NAME}`` and nothing else, but for a ``Bearer`` before it.

    Example:
        >>> is_reference("${ACME_API_KEY}"), is_reference("sk-${X}")
        (True, False)
    """
    return bool(re.fullmatch(_REFERENCE_ALONE, text))


def split_key(text: str) -> KeyPath:
    """The path that a dotted key means; a part with dots in it is written in quotes.

    Raises:
        ValueError: It is no dotted key.

    Example:
        >>> split_key('providers.acme.models."gpt-5.4".supports_vision')
        ('providers', 'acme', 'models', 'gpt-5.4', 'supports_vision')
    """
    parts: list[str] = []
    at, more = 0, True
    while more:
        found = re.compile(_SEGMENT).match(text, at)
        if found is None:
            message = f"{text!r} is no key: write it like model.default, a part with dots in quotes"
            raise ValueError(message)
        parts.append(found["plain"] or found["double"] or found["single"] or "")
        at, more = found.end(), bool(found["more"])
    return tuple(parts)


def join_key(path: Iterable[str]) -> str:
    """A path as a dotted key.

    Example:
        >>> join_key(("models", "gpt-5.4"))
        'models."gpt-5.4"'
    """
    return ".".join(_quoted(part) if not part or set(part) & set(".\"'") else part for part in path)


def _quoted(part: str) -> str:
    return f"'{part}'" if '"' in part else f'"{part}"'
