"""``hermes compat``: whether programs of this Python find the original's modules without importing this host."""

from __future__ import annotations

import sysconfig
from pathlib import Path
from typing import TYPE_CHECKING

from hermes_core.cli.output import add_json_flag, print_fields, print_json, print_line
from hermes_core.errors import HermesError

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

FILE = "hermes_core_compat.pth"
LINE = 'import importlib.util as u; u.find_spec("hermes_core") and __import__("hermes_core")\n'
"""Python runs it at each start; it does no harm when the host has been uninstalled."""


def add_arguments(parser: ArgumentParser) -> None:
    """Arguments of the command."""
    parser.add_argument(
        "action",
        nargs="?",
        choices=("status", "install", "remove"),
        default="status",
        help="install has every program of this Python find them, remove takes that back; status when missing",
    )
    parser.add_argument(
        "--into", metavar="FOLDER", help="the folder of installed packages; that of this Python when missing"
    )
    add_json_flag(parser)


def run(args: Namespace) -> int:
    """Do what was asked.

    Raises:
        HermesError: The file cannot be written or taken away.
    """
    path = Path(args.into or sysconfig.get_path("purelib")) / FILE
    try:
        if args.action == "install":
            path.write_text(LINE, encoding="utf-8")
        elif args.action == "remove":
            path.unlink(missing_ok=True)
    except OSError as error:
        message = f"cannot {args.action} {path}: {error.strerror}"
        raise HermesError(
            message, hint="use a virtual environment of your own, or name a folder with --into"
        ) from error
    found = {"file": str(path), "installed": path.is_file()}
    if args.json:
        print_json(found)
    elif args.action == "status":
        print_fields({**found, "installed": "yes" if path.is_file() else "no"})
    else:
        print_line(f"{'wrote' if args.action == 'install' else 'took away'} {path}")
    return 0
