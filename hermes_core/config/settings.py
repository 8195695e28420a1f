"""``config.yaml``: read, healed, expanded, and read again when it changes."""

from __future__ import annotations

import logging
import re
import shutil
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from hermes_core.config.environment import Environment, Stamp, stamp
from hermes_core.config.redact import register_secrets_in
from hermes_core.errors import ConfigError, describe

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from hermes_core.config.kinds import Kind
    from hermes_core.config.providers import ProviderEntry

log = logging.getLogger(__name__)

Tree = dict[str, Any]
MAX_VALUES = 200_000
MAX_DEPTH = 100
MAX_BITS = 1024
_REFERENCE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_QUOTED = re.compile(r"""(?<=\s)(["'])(?!<)[^"']{2,}\1""")


class Config(NamedTuple):
    """One reading of the configuration.

    Attributes:
        tree: Everything, merged and expanded.
        providers: What it says of providers, as rows.
        error: Why ``config.yaml`` cannot be read now, while ``tree`` is the last good one; else None.
    """

    tree: Mapping[str, Any] = MappingProxyType({})
    error: ConfigError | None = None
    providers: tuple[ProviderEntry, ...] = ()

    def __repr__(self) -> str:
        return f"Config(error={self.error!r})"

    def get(self, *keys: str, default: Any = None) -> Any:
        """The value at a path of keys; ``default`` where a key or a mapping is missing.

        Example:
            >>> Config(tree={"a": {"b": None}}).get("a", "b", default=1) is None
            True
        """
        node: Any = self.tree
        for key in keys:
            if not isinstance(node, Mapping) or key not in node:
                return default
            node = node[key]
        return node

    def value(self, *keys: str) -> Any:
        """The value of a known key as the host uses it; its default where it is missing, or of the wrong kind.

        Example:
            >>> Config(tree={"logging": {"max_size_mb": "many"}}).value("logging", "max_size_mb")
            5
        """
        from hermes_core.config.keypath import default_of, find_key

        key, found = find_key(keys), self.get(*keys)
        read = None if key is None or found is None else key.kind.read(found)
        return default_of(keys) if read is None else read

    def section(self, *keys: str) -> Mapping[str, Any]:
        """The mapping at a path of keys; an empty one where there is none."""
        found = self.get(*keys)
        return found if isinstance(found, Mapping) else {}

    def text(self, *keys: str) -> str:
        """The string at a path of keys, trimmed; ``""`` where there is none."""
        found = self.get(*keys)
        return found.strip() if isinstance(found, str) else ""


def merge(base: Mapping[str, Any], over: Mapping[str, Any]) -> Tree:
    """``over`` laid on ``base``: mappings merge, all else replaces; null leaves a mapping alone.

    Example:
        >>> merge({"a": {"x": 1}, "b": [1]}, {"a": {"y": 2}, "b": [2]})
        {'a': {'x': 1, 'y': 2}, 'b': [2]}
    """
    merged = dict(base)
    for key, value in over.items():
        below = merged.get(key)
        if isinstance(below, Mapping):
            if value is None:
                continue
            if isinstance(value, Mapping):
                merged[key] = merge(below, value)
                continue
        merged[key] = value
    return merged


def heal(tree: Mapping[str, Any]) -> Tree:
    """Older spellings in today's: root keys that belong to the model section, and aliases of keys.

    An alias stays beside the key it stands for, so that what is laid over it later wins.

    Example:
        >>> heal({"model": "m", "provider": "acme"})
        {'model': {'default': 'm', 'provider': 'acme'}}
    """
    if not tree:
        return {}
    from hermes_core.config.keys import OF_THE_MODEL, ROOT

    section = tree.get("model")
    healed: Tree = _unaliased(ROOT, {**tree, "model": {"default": section}} if isinstance(section, str) else tree)
    moved = {new: value for old, new in OF_THE_MODEL.items() if (value := healed.pop(old, None))}
    if moved:
        section = healed.get("model")
        own = section if isinstance(section, Mapping) else {}
        healed["model"] = {**own, **{key: value for key, value in moved.items() if not own.get(key)}}
    return healed


def _unaliased(kind: Kind, node: Any) -> Any:
    """``node`` with each key that is blank, or missing, taken from its first alias that is not."""
    if isinstance(node, list) and kind.items is not None:
        return [_unaliased(kind.items, item) for item in node]
    if not isinstance(node, Mapping) or not (kind.keys or kind.each):
        return node
    known = {word: kind.child(word) for word in node if isinstance(word, str)}
    found = {
        word: value if (key := known.get(word)) is None else _unaliased(key.kind, value) for word, value in node.items()
    }
    for key in kind.keys:
        if key.aliases and found.get(key.name) in (None, ""):
            value = next((found[alias] for alias in key.aliases if found.get(alias) not in (None, "")), None)
            if value is not None:
                found[key.name] = value
    return found


def expand(node: Any, look_up: Callable[[str], str]) -> Any:
    """``node`` with each ``${NAME}`` in a string replaced; an unset name stays as it is written.

    Example:
        >>> expand({"key": "${A}-${B}"}, {"A": "1"}.get)
        {'key': '1-${B}'}
    """
    if isinstance(node, str):
        return _REFERENCE.sub(lambda match: look_up(match[1]) or match[0], node) if "${" in node else node
    if isinstance(node, Mapping):
        return {key: expand(value, look_up) for key, value in node.items()}
    if isinstance(node, list):
        return [expand(value, look_up) for value in node]
    return node


def references(text: str) -> list[str]:
    """The variables that a text refers to.

    Example:
        >>> references("${A}/x/${B_2}$C")
        ['A', 'B_2']
    """
    return _REFERENCE.findall(text) if "${" in text else []


def read_yaml(path: Path) -> Tree:
    """The mapping in a YAML file; an empty file is an empty mapping.

    Raises:
        ConfigError: It cannot be read, is no YAML, or is no mapping; names the line.
        FileNotFoundError: There is no such file.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise
    except OSError as error:
        message = f"cannot read {path}: {error.strerror or type(error).__name__}"
        raise ConfigError(message, path=path, hint="make the file readable; nothing in it was changed") from error
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
    else:
        return parse_yaml(text, path)
    message = f"cannot read {path}, line {line}: it is not UTF-8 text"
    raise ConfigError(message, path=path, line=line, hint="save it as UTF-8; nothing in it was changed")


def parse_yaml(text: str, path: Path) -> Tree:
    """The mapping in a YAML text; ``path`` is where it stands.

    Raises:
        ConfigError: It is no YAML, or no mapping; names the line.
    """
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    tree, broken, line, hint = None, "", None, "mend the file"
    try:
        tree = yaml.load(text, loader)  # noqa: S506 - both loaders are the safe ones
        _check_size(tree, MAX_VALUES)
    except yaml.YAMLError as error:
        line, broken = yaml_problem(error, text)
    except (ValueError, RecursionError) as error:
        broken = describe(error)
    if not broken and not isinstance(tree, dict | None):
        broken, hint = f"it must hold a mapping, not a {type(tree).__name__}", "write `key: value` lines"
    if broken:  # raised here, so that the error does not lead to the parser's, which may hold a secret of the file's
        place = "" if line is None else f", line {line}"
        message = f"cannot read {path}{place}: {broken}"
        raise ConfigError(message, path=path, line=line, hint=f"{hint}; nothing in it was changed")
    register_secrets_in(tree)
    return tree or {}


def yaml_problem(error: Exception, text: str) -> tuple[int | None, str]:
    """The line on which a YAML parser failed in ``text``, and why, without what it quotes of a value."""
    mark = getattr(error, "problem_mark", None)
    at = getattr(error, "position", None)
    line = mark.line if mark else text.count("\n", 0, at) if isinstance(at, int) else None
    problem = getattr(error, "problem", None) or getattr(error, "reason", None) or "it is not YAML"
    return None if line is None else line + 1, _QUOTED.sub("…", problem.splitlines()[0])


class _Reading(NamedTuple):
    """What was read: the files' trees as they last could be, why one cannot be now, and what came of them."""

    config: Config = Config()
    stamps: tuple[Any, ...] = ("never", "never")
    trees: tuple[Mapping[str, Any], ...] = ({}, {})
    errors: tuple[ConfigError | None, ...] = (None, None)
    references: Mapping[str, str] = MappingProxyType({})


class ConfigFile:
    """The configuration of one home, kept current.

    Later layers win: the file, the program's ``overlay``, the administrator's managed file.

    Args:
        home: The home whose ``config.yaml`` counts.
        environment: What ``${NAME}`` is looked up in.
        overlay: A mapping of the embedding program's; it is never written.

    Raises:
        ConfigError: The overlay is larger or deeper than a file may be.
    """

    def __init__(self, home: Path, environment: Environment, overlay: Mapping[str, Any] | None = None) -> None:
        self.path = home / "config.yaml"
        self.managed_path = environment.managed / "config.yaml"
        self._environment = environment
        self._overlay = dict(overlay or {})
        try:
            _check_size(self._overlay, MAX_VALUES)
        except ValueError as error:
            raise ConfigError(f"cannot use the program's configuration: {error}", hint="give it less") from error
        self._last = _Reading()  # one value, replaced as a whole: threads that read at once do not mix

    @property
    def managed(self) -> Path | None:
        """The administrator's file, when there is one."""
        return self.managed_path if self.managed_path.exists() else None

    @property
    def is_file_alone(self) -> bool:
        """Whether the files say everything: no program's overlay, and no ``${NAME}`` seen so far."""
        return not self._overlay and not self._last.references

    @property
    def last(self) -> Config:
        """The configuration as it was last read; nothing is looked at to say so."""
        return self._last.config

    def stamps(self) -> tuple[Stamp, Stamp]:
        """What changes when a file does."""
        return stamp(self.path), stamp(self.managed_path)

    def current(self) -> Config:
        """The configuration as it is now; the same object until a file or a ``${NAME}`` changes."""
        last, stamps = self._last, self.stamps()
        if stamps != last.stamps or (last.references and last.references != self._values(last.references)):
            last = self._last = self._read(stamps, last)
        return last.config

    def as_written(self) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
        """All layers merged, and the administrator's alone, with every ``${NAME}`` as it is written."""
        self.current()
        user, managed = self._last.trees
        return merge(merge(heal(user), heal(self._overlay)), heal(managed)), heal(managed)

    def source_of(self, key: str) -> str:
        """The file that says what stands under a dotted key; ``this program`` where the overlay does."""
        from hermes_core.config.keypath import look, split_key

        (user, managed), path = self._last.trees, split_key(key)
        layers = ((managed, str(self.managed_path)), (self._overlay, "this program"), (user, str(self.path)))
        return next((source for tree, source in layers if look(tree, path) is not None), str(self.path))

    def key_variables(self) -> set[str]:
        """The variables that keys are taken from: those that are named, and those that secrets refer to."""
        from hermes_core.config.keypath import is_secret, texts
        from hermes_core.config.kinds import VARIABLE

        found: set[str] = set()
        for kind, text, path in texts(self.as_written()[0]):
            found |= {text} if kind is VARIABLE else {*references(text)} if is_secret(path) else set()
        return found

    def _values(self, names: Iterable[str]) -> dict[str, str]:
        look_up = self._environment.credentials()
        return {name: look_up(name) for name in names}

    def _read(self, stamps: tuple[Stamp, ...], last: _Reading) -> _Reading:
        """Read what has changed and merge the layers; a file that cannot be read stands as it last could."""
        files = []
        for number, path in enumerate((self.path, self.managed_path)):
            tree, error = last.trees[number], last.errors[number]
            if stamps[number] != last.stamps[number]:
                try:
                    tree, error = read_yaml(path), None
                except FileNotFoundError:
                    tree, error = {}, None
                except ConfigError as broken:
                    error = broken
                    self._report(broken)
            files.append((tree, error))
        (user, user_error), (managed, managed_error) = files
        look_up = self._environment.credentials()
        references: dict[str, str] = {}

        def remember(name: str) -> str:
            value = references[name] = look_up(name)
            register_secrets_in({name.upper(): value})
            return value

        tree = {}
        for layer in (user, self._overlay, managed):
            tree = merge(tree, expand(heal(layer), remember))
        register_secrets_in(tree)
        config = Config(tree=tree, error=user_error or managed_error)
        if tree.get("providers") or tree.get("custom_providers"):
            from hermes_core.config.providers import provider_entries

            config = config._replace(providers=provider_entries(config))
        return _Reading(config, stamps, (user, managed), (user_error, managed_error), references)

    def _report(self, error: ConfigError) -> None:
        log.warning("%s; the last good configuration stays in use, and no plugin override is allowed", error)
        if error.path == str(self.path):
            backup = self.path.with_name(self.path.name + ".broken")
            try:
                backup.touch(mode=0o600)
                shutil.copyfile(self.path, backup)
            except OSError:
                log.debug("no backup of the broken configuration path=%s", backup)


def _check_size(node: Any, left: int, depth: int = 0) -> int:
    """How many values are left of the ones a file may hold; aliases count wherever they stand.

    Raises:
        ValueError: There are too many, they are nested too deep, or a number is one that Python refuses to write.
    """
    if left <= 0 or depth > MAX_DEPTH:
        message = f"it holds more than {MAX_VALUES} values, or is nested deeper than {MAX_DEPTH}"
        raise ValueError(message)
    children = node.values() if isinstance(node, Mapping) else node if isinstance(node, list | tuple | set) else ()
    for leaf in (node, *node) if isinstance(node, Mapping) else (node,):
        if isinstance(leaf, int) and leaf.bit_length() > MAX_BITS:
            message = f"it holds a whole number of more than {MAX_BITS} bits"
            raise ValueError(message)
    for child in children:
        left = _check_size(child, left - 1, depth + 1)
    return left
