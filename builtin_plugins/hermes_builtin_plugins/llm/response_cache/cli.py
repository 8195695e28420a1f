"""``hermes response-cache``: the kept answers, seen and deleted by the operator."""

# ruff: noqa: T201 - a command prints

from __future__ import annotations

import json
from datetime import datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from .store import Store


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the verbs."""
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    for verb, help_ in {"status": "say what is kept", "clear": "delete every kept answer"}.items():
        verbs.add_parser(verb, help=help_).add_argument("--json", action="store_true", help="for programs")


def run(arguments: Namespace, store: Store) -> int:
    """Do what was asked; returns the exit code. Errors are raised for the command line to show."""
    if arguments.verb == "clear":
        store.clear()
    answers, size, oldest = store.count()
    since = datetime.fromtimestamp(oldest).astimezone().isoformat(timespec="seconds") if oldest else None
    found = {"path": str(store.path), "answers": answers, "bytes": size, "oldest": since}
    if arguments.json:
        print(json.dumps(found, indent=2))
    else:
        print("\n".join(f"{name:8} {'-' if value is None else value}" for name, value in found.items()))
    return 0
