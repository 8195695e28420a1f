"""``hermes usage``: what the model calls used."""

from __future__ import annotations

import re
import sys
import time
from datetime import datetime
from typing import TYPE_CHECKING

from hermes_core.cli.output import add_json_flag, print_json, print_rows
from hermes_core.config.paths import get_hermes_home
from hermes_core.errors import HermesError
from hermes_core.llm.ledger import GROUPS, read_usage_of

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

NUMBERS = ("calls", "failed", "input_tokens", "output_tokens", "total_tokens", "cost_usd", "unpriced")
BAR_CELLS = 30
_UNITS = {"h": 3600, "d": 86400, "w": 7 * 86400}


def add_arguments(parser: ArgumentParser) -> None:
    """Arguments of the command."""
    parser.add_argument("--by", choices=tuple(GROUPS), default="plugin", help="what to sum up by; plugin when missing")
    parser.add_argument(
        "--since",
        default="30d",
        metavar="WHEN",
        help="hours, days or weeks (24h, 30d, 2w), or a date; 30d when missing",
    )
    add_json_flag(parser)


def run(args: Namespace) -> int:
    """Do what was asked."""
    rows = read_usage_of(get_hermes_home(), args.by, _seconds(args.since))
    if args.json:
        print_json(rows)
        return 0
    most = max((row["total_tokens"] for row in rows), default=0)
    for row in rows:
        row["share"] = _bar(row["total_tokens"], most)
        row["cost_usd"] = "" if row["cost_usd"] is None else f"{row['cost_usd']:.4f}"
    print_rows(rows, (args.by, *NUMBERS, *(["share"] if sys.stdout.isatty() else [])))
    return 0


def _bar(tokens: int, most: int) -> str:
    """A bar as long as its share of the longest one; a sliver for anything above nothing."""
    eighths = round(tokens / most * BAR_CELLS * 8) if most else 0
    if tokens:
        eighths = max(eighths, 1)
    return "█" * (eighths // 8) + " ▏▎▍▌▋▊▉"[eighths % 8].strip()


def _seconds(when: str) -> float:
    """A point in time, in seconds since 1970, from how people write it."""
    ago = re.fullmatch(r"(\d{1,6})([hdw])", when.strip())
    if ago:
        return time.time() - int(ago[1]) * _UNITS[ago[2]]
    try:
        return datetime.fromisoformat(when.strip()).timestamp()
    except (ValueError, OverflowError, OSError) as error:
        message = f"--since {when!r} is neither hours, days or weeks nor a date"
        raise HermesError(message, hint="write 24h, 30d, 2w or 2026-11-30") from error
