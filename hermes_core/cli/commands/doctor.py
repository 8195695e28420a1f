"""``hermes doctor``: what is wrong, and what helps."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from hermes_core.cli.checks import ERROR, OK, WARNING, examine, last_lines
from hermes_core.cli.output import add_json_flag, print_json, print_line
from hermes_core.host import Host

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace


def add_arguments(parser: ArgumentParser) -> None:
    """Arguments of the command."""
    parser.add_argument("--offline", action="store_true", help="ask no provider whether it answers")
    add_json_flag(parser)


def run(args: Namespace) -> int:
    """Look at everything; 1 when something is broken."""
    logger, silence = logging.getLogger("hermes_core"), logging.NullHandler()
    logger.addHandler(silence)  # what the host warns of is found, and said once
    try:
        with Host.load(export_env=True, allow_downloads=True, say=lambda _: None) as host:
            found = examine(host, offline=args.offline)
            lines = last_lines(host.home / "logs" / "errors.log")
    finally:
        logger.removeHandler(silence)
    if args.json:
        print_json({"findings": [finding._asdict() for finding in found], "log": lines})
    else:
        for finding in found:
            print_line(f"{finding.level:<7}  {finding.area}: {finding.message}")
            if finding.remedy and finding.level != OK:
                print_line(f"         {finding.remedy}")
        counts = {level: sum(finding.level == level for finding in found) for level in (ERROR, WARNING)}
        print_line(f"{counts[ERROR]} broken, {counts[WARNING]} to look at")
    return int(any(finding.level == ERROR for finding in found))
