"""``hermes run``: a plugin's slash command from the shell."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from hermes_core.cli.output import add_json_flag, print_json, print_rows, print_text
from hermes_core.cli.session import open_host
from hermes_core.errors import HermesError

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from hermes_core.host import Host


INTERMIXED = True
"""Options may stand among the words."""


def add_arguments(parser: ArgumentParser) -> None:
    """Arguments of the command."""
    parser.add_argument("command", nargs="?", help="the slash command, such as /tldr; without it, all are listed")
    parser.add_argument("args", nargs="*", help="its arguments; standard input when there are none and it is piped")
    parser.add_argument("--file", metavar="FILE", help="read the arguments from a file")
    add_json_flag(parser)


def run(args: Namespace) -> int:
    """Run it, or list what there is to run."""
    with open_host() as host:
        if args.command is None:
            return _list(host, as_json=args.json)
        text = host.run_command(args.command, _raw_args(args))
    if args.json:
        print_json({"command": args.command, "text": text})
    elif text:
        print_text(text)
    return 0


def _raw_args(args: Namespace) -> str:
    if args.args:
        return " ".join(args.args)
    return read_text(args.file) if args.file else read_piped()


def read_text(path: str) -> str:
    """The text in a file the user named.

    Raises:
        HermesError: It cannot be read.
    """
    try:
        return Path(path).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise HermesError(f"cannot read {path}: {reason}", hint="name a readable text file") from error


def read_piped() -> str:
    """Standard input when it is piped, else ``""``; text is UTF-8 whatever the locale says.

    Raises:
        HermesError: It is no text.
    """
    if sys.stdin is None or sys.stdin.isatty():
        return ""
    try:
        return sys.stdin.buffer.read().decode("utf-8-sig")
    except UnicodeError as error:
        raise HermesError("standard input is not UTF-8 text", hint="pipe a text in, or name a --file") from error


def _list(host: Host, *, as_json: bool) -> int:
    columns = ("name", "args_hint", "description", "plugin")
    rows = [{column: getattr(command, column) for column in columns} for command in host.commands.values()]
    if as_json:
        print_json(rows)
    else:
        print_rows(rows, columns)
    return 0
