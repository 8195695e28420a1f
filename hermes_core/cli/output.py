"""How commands print: tables for people, JSON for programs."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

from hermes_core.config.redact import redact

if TYPE_CHECKING:
    from argparse import ArgumentParser
    from collections.abc import Iterable, Mapping, Sequence


def add_json_flag(parser: ArgumentParser) -> None:
    """Give a command ``--json``."""
    parser.add_argument("--json", action="store_true", help="print one JSON value")


def print_json(value: Any) -> None:
    """Print one JSON value."""
    print(redact(json.dumps(value, indent=2, ensure_ascii=False, default=str)))


def print_text(text: str) -> None:
    """Print a text as it is."""
    print(redact(text))


def print_rows(rows: Iterable[Mapping[str, Any]], columns: Sequence[str]) -> None:
    """Print some columns of rows: as a table on a terminal, else separated by tabs."""
    cells = [[_cell(row.get(column)) for column in columns] for row in rows]
    if not sys.stdout.isatty():
        for line in [list(columns), *cells]:
            print_text("\t".join(line))
        return
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    for number, column in enumerate(columns):  # the first is what one types next, so it is never cut
        table.add_column(column, no_wrap=number == 0, overflow="fold")
    for line in cells:
        table.add_row(*map(redact, line))
    Console().print(table)


def print_fields(fields: Mapping[str, Any]) -> None:
    """Print a mapping, a field a line; empty ones are left out."""
    width = max(map(len, fields), default=0)
    for name, value in fields.items():
        if value not in ("", None, (), [], {}):
            print_text(f"{name:<{width}}  {_cell(value)}")


def _cell(value: Any) -> str:
    if isinstance(value, dict):
        value = [f"{key} {item}".strip() for key, item in value.items()]
    if isinstance(value, list | tuple):
        return ", ".join(map(_cell, value))
    return "" if value is None else str(value)
