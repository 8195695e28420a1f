"""How commands print: tables for people, JSON for programs."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from hermes_core.config.redact import CONFIGURED, one_line, redact_known

if TYPE_CHECKING:
    from argparse import ArgumentParser
    from collections.abc import Iterable, Sequence


def add_json_flag(parser: ArgumentParser) -> None:
    """Give a command ``--json``."""
    parser.add_argument("--json", action="store_true", help="print one JSON value")


def print_json(value: Any) -> None:
    """Print one JSON value; a secret in it is shown as configured, and no more."""
    print(json.dumps(_without_secrets(value), indent=2, ensure_ascii=False))


def print_text(text: str) -> None:
    """Print a text as it is, but for the secrets this host knows; examples of others may well be wanted."""
    print(redact_known(text))


def print_line(text: str) -> None:
    """Print a text as one line, without control characters, and without the secrets this host knows."""
    print(one_line(redact_known(text)))


def print_rows(rows: Iterable[Mapping[str, Any]], columns: Sequence[str]) -> None:
    """Print some columns of rows: as a table on a terminal, else separated by tabs."""
    cells = [[one_line(_cell(row.get(column))) for column in columns] for row in rows]
    if not sys.stdout.isatty():
        for line in [list(columns), *cells]:
            print("\t".join(line))
        return
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    for number, column in enumerate(columns):  # the first is what one types next, so it is never cut
        table.add_column(column, no_wrap=number == 0, overflow="fold")
    for line in cells:
        table.add_row(*line)
    Console(markup=False, emoji=False).print(table)  # a word in brackets is a word


def print_fields(fields: Mapping[str, Any]) -> None:
    """Print a mapping, a field a line; empty ones are left out."""
    width = max(map(len, fields), default=0)
    for name, value in fields.items():
        if value not in ("", None, (), [], {}):
            print(f"{name:<{width}}  {one_line(_cell(value))}")


def _cell(value: Any) -> str:
    if isinstance(value, dict):
        value = [f"{key} {item}".strip() for key, item in value.items()]
    if isinstance(value, list | tuple):
        return ", ".join(map(_cell, value))
    return "" if value is None else redact_known(str(value), CONFIGURED)


def _without_secrets(value: Any) -> Any:
    """What JSON can hold of a value, its texts without secrets."""
    if isinstance(value, Mapping):
        return {_cell(key): _without_secrets(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [*map(_without_secrets, value)]
    return value if isinstance(value, int | float | None) else _cell(value)
