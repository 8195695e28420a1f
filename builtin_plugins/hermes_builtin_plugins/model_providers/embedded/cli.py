"""``hermes embedded``: the weights of the embedded model, seen and handled by the operator."""

# ruff: noqa: T201 - a command prints

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

from hermes_core import HermesError, MissingCredentialError

from . import weights
from .endpoint import MODEL, library_folder

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from pathlib import Path


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the verbs."""
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    pull = verbs.add_parser("pull", help="download the weights (98 MB) unless they are here")
    pull.add_argument("--force", action="store_true", help="download them again")
    status = verbs.add_parser("status", help="say whether the model could run; exit status 1 if it could not")
    status.add_argument("--json", action="store_true", help="for programs")
    verbs.add_parser("verify", help="compare the weights with their hash")
    verbs.add_parser("remove", help="delete the weights")


def run(arguments: Namespace, home: Path) -> int:
    """Do what was asked; returns the exit code. Errors are raised for the command line to show."""
    path = weights.location(home)
    if arguments.verb == "status":
        return _status(path, as_json=arguments.json)
    if arguments.verb == "pull":
        from .pull import pull

        print(f"{MODEL} is ready: {pull(home, force=arguments.force, say=_say)}")
    elif arguments.verb == "verify":
        weights.verify(path)
        print(f"whole: {path}")
    else:
        freed = weights.remove(home)
        print(f"removed {path} ({freed / 1e6:.0f} MB)" if freed else f"there is nothing at {path}")
    return 0


def status(path: Path) -> dict[str, Any]:
    """What there is, and the first thing that is missing with its remedy."""
    problems: list[HermesError] = []
    try:
        library = library_folder()
    except MissingCredentialError as error:
        library = ""
        problems.append(error)
    try:
        weights.check(path)
    except HermesError as error:
        problems.append(error)
    return {
        "model": MODEL,
        "path": str(path),
        "bytes": path.stat().st_size if path.exists() else 0,
        "library": _library_version() if library else None,
        "ready": not problems,
        "problems": [{"error": str(error), "hint": error.hint} for error in problems],
    }


def _status(path: Path, *, as_json: bool) -> int:
    found = status(path)
    if as_json:
        print(json.dumps(found, indent=2))
    else:
        print(f"model    {found['model']}")
        print(f"weights  {found['path']} ({found['bytes'] / 1e6:.0f} MB)")
        print(f"library  xllamacpp {found['library'] or 'not installed'}")
        print(f"ready    {'yes' if found['ready'] else 'no'}")
        for problem in found["problems"]:
            print(f"\nproblem: {problem['error']}\nhint: {problem['hint']}")
    return 0 if found["ready"] else 1


def _library_version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("xllamacpp")
    except PackageNotFoundError:
        return "of unknown version"


def _say(line: str) -> None:
    print(line, file=sys.stderr)
