"""A program that calls a model in every way and writes down all it is shown; run by tests: ``leaks.py HOME``.

Its own log takes everything from everybody, its plugin tells what it finds in the home's files and the environment.
"""

from __future__ import annotations

import asyncio
import dataclasses
import logging
import sys
import traceback
from pathlib import Path

CASES = ("200", "400", "401", "403", "error", "html", "headers", "schema")
SCHEMA = {"type": "object", "required": ["never"]}


def everything_in(value: object, seen: set | None = None, *, variables: bool = False) -> str:
    """All the text that can be reached from a value: its repr, its text, its parts, its causes and their tracebacks.

    With ``variables``, tracebacks are shown with those of every function.
    """
    seen = set() if seen is None else seen
    if id(value) in seen:
        return ""
    seen.add(id(value))
    if isinstance(value, (str, int, float, bool, type(None), type)):
        return str(value)
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    parts = [repr(value), str(value), f"{value}"]
    below: list[object] = []
    if isinstance(value, dict):
        below += [*value.keys(), *value.values()]
    elif isinstance(value, (list, tuple, set, frozenset)):
        below += value
    if dataclasses.is_dataclass(value):
        below.append(dataclasses.asdict(value))
    if isinstance(value, BaseException):
        parts += traceback.TracebackException.from_exception(value, capture_locals=variables).format()
        below += [value.args, value.__cause__, value.__context__, getattr(value, "__notes__", ())]
        below += [getattr(value, name, None) for name in ("object", "request", "response", "doc", "filename")]
    below += vars(value).values() if hasattr(value, "__dict__") else ()
    return " ".join([*parts, *(everything_in(part, seen, variables=variables) for part in below)])


def attempt(host, method: str, case: str) -> object:
    """Make one call; what it gives or raises."""
    keywords = {"messages": [{"role": "user", "content": case}]}
    if method.endswith("_structured"):
        keywords = {"instructions": "Do it.", "input": [{"type": "text", "text": case}]}
        keywords |= {"json_schema": SCHEMA} if case == "schema" else {}
    function = getattr(host.llm("a-plugin"), method)
    try:
        if method.startswith("a"):
            return asyncio.run(function(**keywords, purpose=case))
        return function(**keywords, purpose=case)
    except Exception as error:
        logging.getLogger("program").exception("a call failed")
        return error


def main(home: Path) -> None:
    """Call, and print."""
    logging.basicConfig(level=logging.DEBUG, filename=home / "program.log")
    logging.captureWarnings(True)
    from hermes_core import Host

    with Host.load(home) as host:
        print(host.commands)  # noqa: T201 - now a plugin fails that tells all it knows
        for method in ("complete", "complete_structured", "acomplete", "acomplete_structured"):
            for case in CASES:
                print(method, case, everything_in(attempt(host, method, case), variables=True))  # noqa: T201
        print([(row.key, row.state, row.reason, row.remedy) for row in host.plugins])  # noqa: T201
        print([host, host.config(), host.engine, host.environment, host.providers, *host.providers])  # noqa: T201


if __name__ == "__main__":
    main(Path(sys.argv[1]))
