"""``hermes providers``: which there are, and who offers each."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

from hermes_core.cli.output import add_json_flag, print_fields, print_json, print_rows
from hermes_core.cli.session import open_host
from hermes_core.errors import UnknownProviderError, near
from hermes_core.providers.profile import ProviderProfile

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from hermes_core.host import Host

LIST_COLUMNS = ("name", "aliases", "base_url", "api_mode", "env_vars", "plugin", "tier")
EXPLAIN_COLUMNS = ("status", "tier", "plugin", "source", "reason", "remedy")


def add_arguments(parser: ArgumentParser) -> None:
    """Arguments of the command."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="action")
    listing = actions.add_parser("list", help="every provider there is")
    add_json_flag(listing)
    for action, line in {
        "show": "one provider's profile",
        "explain": "who offers it, who was shadowed, and why",
    }.items():
        one = actions.add_parser(action, help=line)
        one.add_argument("name", help="its name or an alias")
        add_json_flag(one)


def run(args: Namespace) -> int:
    """Do what was asked."""
    with open_host() as host:
        if args.action == "list":
            rows = [row._asdict() for row in host.providers]
            if args.json:
                print_json(rows)
            else:
                print_rows(rows, LIST_COLUMNS)
            return 0
        if args.action == "explain":
            chain = [verdict._asdict() for verdict in host.providers.explain(args.name)]
            if not chain:
                raise _unknown(host, args.name)
            if args.json:
                print_json(chain)
            else:
                print_rows(chain, EXPLAIN_COLUMNS)
            return 0
        profile = host.providers.get(args.name)
        if profile is None:
            raise _unknown(host, args.name)
        shown = {field.name: _plain(getattr(profile, field.name, None)) for field in fields(ProviderProfile)}
        shown["default_headers"] = sorted(shown["default_headers"] or ())
        row = next(row for row in host.providers if row.name == host.providers.resolve(args.name))
        shown |= {"plugin": row.plugin, "tier": row.tier}
    if args.json:
        print_json(shown)
    else:
        print_fields(shown)
    return 0


def _unknown(host: Host, name: str) -> UnknownProviderError:
    if host.providers.entry(name) is not None:
        message = f"provider {name!r} is switched off"
        return UnknownProviderError(message, provider=name, hint=f"run `hermes providers explain {name}`")
    message = f"no provider {name!r}{near(name, host.providers.words())}"
    return UnknownProviderError(message, provider=name, hint="run `hermes providers list`")


def _plain(value: Any) -> Any:
    return value if isinstance(value, str | int | float | bool | tuple | list | dict | None) else repr(value)
