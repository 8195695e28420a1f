"""Parse, call, print: each command is a module of its own, imported when it is called."""

from __future__ import annotations

import argparse
import os
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

from hermes_core.errors import HermesError, describe

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hermes_core.host import Host
    from hermes_core.types.contributions import CliCommand

COMMANDS = {
    "auth": "List keys and logins, add one, log in, take one out of use",
    "compat": "Let other programs find the original's modules",
    "config": "Look at the configuration, change it, check it",
    "doctor": "Look for what is wrong, and say what helps",
    "llm": "Ask the model something",
    "memory": "See what is remembered, choose a memory provider",
    "model": "Show which provider and model answer, or choose others",
    "models": "List the models that can be chosen",
    "plugins": "List plugins, show one, switch one on or off",
    "providers": "List providers, show one, explain who offers it",
    "run": "Run a plugin's slash command",
    "setup": "Find what can answer, try it out, and set it up",
    "usage": "Sum up what the model calls used",
}
"""Name → one line of help; the module ``hermes_core.cli.commands.<name>`` has the rest."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run ``hermes`` with these arguments and return its exit code.

    Example:
        >>> main(["--version"])
        Traceback (most recent call last):
        SystemExit: 0
    """
    words = list(sys.argv[1:] if argv is None else argv)
    _make_output_robust()
    try:
        code = _run(words)
        sys.stdout.flush()
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        _drop_output()
        return 0
    except HermesError as error:
        fail(error)
        return 1
    except OSError as error:
        if error.filename is not None:  # something else could not be read or written; the message names it
            fail(error)
            return 1
        _drop_output()
        fail(error, "cannot write the output: ")
        return 1
    return code


def _make_output_robust() -> None:
    """A stream that is closed takes everything; one with a narrow encoding shows the rest as escapes."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115 - for the rest of the process
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def _drop_output() -> None:
    """Nobody reads on, so what is still buffered must not fail once more at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def fail(error: BaseException, place: str = "") -> None:
    """Tell the operator what went wrong, in a line or two, without any secret."""
    from hermes_core.config.redact import one_line, redact

    print(f"error: {place}{' '.join(one_line(redact(describe(error))).split())}", file=sys.stderr)
    hint = getattr(error, "hint", "")
    if hint:
        print(f"hint: {one_line(redact(hint))}", file=sys.stderr)


def _run(words: list[str]) -> int:
    chosen = words[0] if words else ""
    if chosen in COMMANDS:
        module = import_module(f"hermes_core.cli.commands.{chosen}")
        parser = argparse.ArgumentParser(prog=f"hermes {chosen}", description=f"{COMMANDS[chosen]}.")
        module.add_arguments(parser)
        parse = parser.parse_intermixed_args if getattr(module, "INTERMIXED", False) else parser.parse_args
        if getattr(module, "PASSES_ON", False):
            args, rest = parser.parse_known_args(words[1:])
            args.passed_on = rest
        else:
            args = parse(words[1:])
        return int(module.run(args) or 0)
    if chosen and not chosen.startswith("-"):
        return _run_plugin_command(chosen, words)
    parser = _parser({} if chosen == "--version" else _declared_commands())
    parser.parse_args(words)
    parser.print_help()
    return 0


def _parser(plugin_commands: Mapping[str, str]) -> argparse.ArgumentParser:
    from hermes_core.version import __version__

    lines = {**plugin_commands, **COMMANDS}
    width = max(map(len, lines))
    commands = "".join(f"\n  {name:<{width}}  {lines[name]}".rstrip() for name in sorted(lines))
    parser = argparse.ArgumentParser(
        prog="hermes",
        usage="hermes [-h] [--version] command ...",
        description="The Hermes plugin host.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog=f"commands:{commands}",
    )
    parser.add_argument("--version", action="version", version=f"hermes {__version__}")
    return parser


def _declared_commands() -> dict[str, str]:
    """The command-line trees that active plugins declare; nothing is imported to tell."""
    from hermes_core.config.environment import Environment
    from hermes_core.config.paths import get_hermes_home
    from hermes_core.config.settings import ConfigFile
    from hermes_core.plugins.activation import find_plugins
    from hermes_core.plugins.index import Index

    home = get_hermes_home()  # no host is loaded: for a list of names it would take half of the time
    environment = Environment(home)
    file = ConfigFile(home, environment)
    found = find_plugins(home, environment, file, Index.of(home))
    rows = [row for row in found if row.is_active]
    trees = {name: line for row in rows for name, line in row.manifest.cli_commands.items()}
    memory = file.current().text("memory", "provider").rpartition("/")[2]
    if memory:
        from hermes_core.memory.cli_file import cli_file

        own = [row for row in rows if row.kind == "exclusive" and row.key.rpartition("/")[2] == memory]
        if any(map(cli_file, own[-1:])):
            trees[memory] = own[-1].description or f"Manage {memory} memory plugin"
    return {name: line for name, line in trees.items() if name not in COMMANDS}


def _memory_command(host: Host, name: str) -> CliCommand | None:
    """The tree of the active memory provider, if it is called so; only its ``cli.py`` is imported."""
    row = host.memory_plugins.get(name)
    if row is None:
        return None
    from hermes_core.memory.cli_file import cli_command, cli_file

    is_active = host.config().text("memory", "provider").rpartition("/")[2] == name
    if is_active and row.is_active:
        return cli_command(row, name)
    if cli_file(row) and not is_active:
        message = f"hermes {name} belongs to memory provider {name!r}, which is not the active one"
        raise HermesError(message, hint=f"run `hermes memory setup {name}`")
    return None


def _run_plugin_command(name: str, words: list[str]) -> int:
    """Build the one tree that was asked for, and call it."""
    from hermes_core.cli.session import open_host
    from hermes_core.errors import near
    from hermes_core.plugins.plugin import explain_absence

    with open_host() as host:
        own = _memory_command(host, name)
        found = {name: own} if own is not None else host.cli_commands
        if name not in found:
            explain_absence(host.plugins, name, f"hermes {name}", lambda manifest: manifest.cli_commands)
            known = [*COMMANDS, *found]
            message = f"no command {name!r}{near(name, known)}"
            raise HermesError(message, hint="run `hermes --help`")
        command = found[name]
        parser = argparse.ArgumentParser(prog=f"hermes {name}", description=command.description or command.help)
        try:
            command.setup_fn(parser)
            if command.handler_fn is not None and parser.get_default("func") is None:
                parser.set_defaults(func=command.handler_fn)
            args = parser.parse_args(words[1:])
            handler: Any = getattr(args, "func", None)
            if handler is None:
                parser.print_help()
                return 2
            return int(handler(args) or 0)
        except (HermesError, BrokenPipeError):
            raise
        except Exception as error:  # noqa: BLE001 - plugin boundary: its command failed, and is named
            fail(error, f"hermes {name} (plugin {command.plugin}): ")
            return 1
