"""``hermes config``: look at the configuration, change it, and be told what is wrong with it."""

from __future__ import annotations

import json
import logging
import shlex
import subprocess
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from hermes_core.cli.output import add_json_flag, print_json, print_text
from hermes_core.cli.session import send_warnings_to
from hermes_core.config.edit import edit_config, put, read_scalar, readable, refuse_managed, take_out
from hermes_core.config.environment import Environment
from hermes_core.config.keypath import (
    canonical,
    default_of,
    find_key,
    is_reference,
    is_secret,
    join_key,
    look,
    spelled,
    split_key,
)
from hermes_core.config.paths import get_hermes_home
from hermes_core.config.redact import CONFIGURED
from hermes_core.config.secret_patterns import blank_shapes
from hermes_core.errors import ConfigError, HermesError

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from hermes_core.config.check import Finding


def add_arguments(parser: ArgumentParser) -> None:
    """Arguments of the command."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="action")
    for action, line in {
        "check": "say what is wrong in config.yaml and .env, with file, line and remedy",
        "show": "print everything that is configured; secrets are hidden",
        "get": "print one value",
        "set": "change one value, and no other line",
        "unset": "take one value out",
        "edit": "open config.yaml in $VISUAL or $EDITOR, and check it afterwards",
        "path": "print where the files are",
        "schema": "print the JSON Schema of config.yaml, for editors",
    }.items():
        one = actions.add_parser(action, help=line, description=f"{line[0].upper()}{line[1:]}.")
        if action in ("get", "set", "unset"):
            one.add_argument("key", help='dotted, as model.default; a part with dots in quotes: models."gpt-5.4"')
        if action == "set":
            one.add_argument("value", help="as YAML: text, true, 5, null, [a, b] or {a: 1}")
        if action in ("check", "show", "get", "path"):
            add_json_flag(one)


def run(args: Namespace) -> int:
    """Do what was asked."""
    home = get_hermes_home()
    environment = Environment(home)
    action = {"check": _check, "show": _show, "get": _get, "set": _set, "unset": _unset, "edit": _edit, "path": _path}
    if args.action == "schema":
        from hermes_core.config.schema import schema

        print_json(schema())
        return 0
    if args.action in ("show", "get", "set", "unset"):
        send_warnings_to(home)
    return action[args.action](args, home, environment)


def _check(args: Namespace, home: Path, environment: Environment) -> int:
    return _report(home, environment, as_json=args.json)


def _report(home: Path, environment: Environment, *, as_json: bool) -> int:
    """Print what is wrong; 1 when anything does not work as it is written."""
    from hermes_core.config.check import ERROR, check_home
    from hermes_core.host import Host

    logger, silence = logging.getLogger("hermes_core"), logging.NullHandler()
    logger.addHandler(silence)  # what the host warns of is said here, with its line
    try:
        with Host.load(home) as host:
            offered = {name for name in host.providers.names() if host.providers.tiers(name) - {"config"}}
            found = check_home(home, environment, offered, {*host.providers.words()})
    finally:
        logger.removeHandler(silence)
    if as_json:
        print_json([problem._asdict() for problem in found])
    for problem in () if as_json else found:
        place = problem.file if problem.line is None else f"{problem.file}:{problem.line}"
        print_text(f"{place}: {problem.level}: {f'{problem.key} {problem.message}'.strip()}\n    {problem.remedy}")
    if not found and not as_json:
        print_text(f"{home / 'config.yaml'}: nothing is wrong")
    return int(any(problem.level == ERROR for problem in found))


def _show(args: Namespace, home: Path, environment: Environment) -> int:
    _print_value(_hidden(readable(home, environment).as_written()[0], ()), as_json=args.json)
    return 0


def _get(args: Namespace, home: Path, environment: Environment) -> int:
    path = _path_of(args.key)
    value = look(readable(home, environment).as_written()[0], path)
    if value is None:
        value = default_of(path)
    if value is None:
        raise ConfigError(f"{args.key} is not set", key=args.key, hint="run `hermes config show`")
    _print_value(_hidden(value, path), as_json=args.json)
    return 0


def _set(args: Namespace, home: Path, environment: Environment) -> int:
    path = _path_of(args.key)
    file = readable(home, environment)
    key = find_key(path)
    if key is not None and key.kind.text_key and not args.value.lstrip().startswith("{"):
        path = (*path, key.kind.text_key)
        key = find_key(path)
    value = _value(args.value, key.kind.read if key is not None else lambda value: value)
    refuse_managed(file, path)
    for finding in _findings(path, value, environment):
        message = f"{join_key(finding.path)} {finding.message}"
        if finding.code == "plain-secret" or (finding.level == "error" and finding.code != "unset-variable"):
            raise ConfigError(f"{message}; nothing was written", key=args.key, hint=finding.remedy)
        print_text(f"note: {message}: {finding.remedy}")
    edit_config(file.path, lambda tree: put(tree, spelled(tree, path), value))
    print_text(f"{join_key(path)}: {json.dumps(value, ensure_ascii=False, default=str)}")
    return 0


def _unset(args: Namespace, home: Path, environment: Environment) -> int:
    path = _path_of(args.key)
    file = readable(home, environment)
    refuse_managed(file, path)

    def drop(tree: Any) -> None:
        take_out(tree, spelled(tree, path))
        while look(tree, spelled(tree, path)) is not None:  # under another of its names
            take_out(tree, spelled(tree, path))

    edit_config(file.path, drop)
    return 0


def _edit(_args: Namespace, home: Path, environment: Environment) -> int:
    command = environment.variables.get("VISUAL") or environment.variables.get("EDITOR") or ""
    path = home / "config.yaml"
    try:
        words = shlex.split(command)
    except ValueError:
        words = []
    if not words:
        raise HermesError("no editor is configured", hint=f"set VISUAL or EDITOR, or edit {path}")
    try:
        home.mkdir(parents=True, exist_ok=True)
        path.touch(mode=0o600)
        code = subprocess.call([*words, str(path)])  # noqa: S603 - the user's own editor
    except OSError as error:
        message = f"cannot edit {path} with {words[0]!r}: {error.strerror}"
        raise HermesError(message, hint="set VISUAL or EDITOR, and make the file writable") from error
    if code:
        raise HermesError(f"{words[0]!r} ended with {code}", hint=f"look at {path}")
    return _report(home, environment, as_json=False)


def _path(args: Namespace, home: Path, environment: Environment) -> int:
    files = {"config": home / "config.yaml", "env": home / ".env", "managed": environment.managed / "config.yaml"}
    if args.json:
        print_json({name: str(path) for name, path in files.items()})
    else:
        print_text(str(files["config"]))
    return 0


def _path_of(text: str) -> tuple[str, ...]:
    """The path a dotted key means, under the keys' own names.

    Raises:
        ConfigError: It is no dotted key.
    """
    try:
        return canonical(split_key(text))
    except ValueError as error:
        raise ConfigError(str(error), key=text, hint="run `hermes config show` to see the keys") from error


def _value(text: str, read: Callable[[Any], Any]) -> Any:
    """A value as it is meant on the command line: YAML, or the text itself where a text is wanted."""
    import yaml

    parsed: Any = read_scalar(text)
    if text.lstrip()[:1] in ("[", "{", '"', "'"):
        try:
            parsed = yaml.safe_load(text)
        except yaml.YAMLError as error:
            if read(text) is None:
                raise ConfigError("the value is no YAML", hint="put the whole value in quotes") from error
    return parsed if parsed is None or read(parsed) is not None or read(text) is None else text


def _findings(path: Sequence[str], value: Any, environment: Environment) -> list[Finding]:
    """What is wrong with a value at a path, looked at by itself."""
    from hermes_core.config.check import find_problems

    tree: Any = value
    for end in range(len(path) - 1, -1, -1):
        above = find_key(path[:end])
        is_place = path[end].isdecimal() and above is not None and above.kind.items is not None
        tree = [tree] if is_place else {path[end]: tree}
    found = find_problems(tree, environment.credentials())
    return [finding for finding in found if finding.code not in ("missing-key", "no-address")]


def _hidden(node: Any, path: tuple[str, ...]) -> Any:
    """A value without its secrets; a ``${NAME}`` is none."""
    if isinstance(node, Mapping):
        places = {key: (*path, str(key)) for key in node}
        names = {key: canonical(place)[-1] for key, place in places.items()}
        own = [key for key, name in names.items() if name == key or name not in node]  # no alias beside its key
        return {key: _hidden(node[key], places[key]) for key in own}
    if isinstance(node, list):
        return [_hidden(value, (*path, str(number))) for number, value in enumerate(node)]
    if node is not None and is_secret(path) and not (isinstance(node, str) and is_reference(node)):
        return CONFIGURED
    return blank_shapes(node, node.lower(), CONFIGURED) if isinstance(node, str) else node


def _print_value(value: Any, *, as_json: bool) -> None:
    if as_json:
        print_json(value)
    elif isinstance(value, str):
        print_text(value)
    elif isinstance(value, Mapping | list):
        import yaml

        print_text(yaml.safe_dump(value, sort_keys=False, allow_unicode=True, default_flow_style=False).rstrip())
    else:
        print_text(json.dumps(value, default=str))
