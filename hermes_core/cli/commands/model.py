"""``hermes model``: which provider and model answer; shown, chosen from lists, or set in one line."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from hermes_core.cli.choice import write
from hermes_core.cli.choosing import given, pick
from hermes_core.cli.outcome import current, outcome, report
from hermes_core.cli.output import add_json_flag, print_fields, print_json, print_text
from hermes_core.cli.picker import is_interactive
from hermes_core.cli.session import open_host

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from hermes_core.host import Host

HOW = "change it with `hermes model PROVIDER MODEL`, or run `hermes model` on a terminal"


def add_arguments(parser: ArgumentParser) -> None:
    """Arguments of the command."""
    parser.add_argument(
        "where", nargs="?", metavar="provider", help="its name or an alias; nothing to choose from lists"
    )
    parser.add_argument("what", nargs="?", metavar="model", help="the model's id; the provider's first when left out")
    parser.add_argument("--provider", help="as the first argument")
    parser.add_argument("--model", help="as the second argument; alone it keeps the provider")
    parser.add_argument("--base-url", metavar="URL", help="the address of a server of your own")
    parser.add_argument("--key-stdin", action="store_true", help="read a key from standard input, and store it in .env")
    add_json_flag(parser)


def run(args: Namespace) -> int:
    """Show it, or change it."""
    provider, model = args.where or args.provider or "", (args.what or args.model or "").strip()
    asked = any((provider, model, args.base_url, args.key_stdin))
    with open_host() as host:
        if not asked and (args.json or not is_interactive()):
            return _show(host, as_json=args.json)
        try:
            choice = given(host, args, provider, model) if asked else pick(host)
        except KeyboardInterrupt:
            print("\nnothing was written", file=sys.stderr)
            return 130
        written = write(host, choice)
        if args.json:
            print_json(outcome(written))
        else:
            report(host, choice, written)
    return 0


def _show(host: Host, *, as_json: bool) -> int:
    """What answers now, and how to change that."""
    shown = current(host)
    if as_json:
        print_json(shown)
    else:
        print_fields(shown)
        print_text(HOW)
    return 0
