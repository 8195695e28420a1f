"""``hermes auth``: the keys and logins of this home. No key is ever an argument, and none is ever shown."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from hermes_core.auth import manage
from hermes_core.auth.keys import key_variables
from hermes_core.cli.asking import read_secret
from hermes_core.cli.output import add_json_flag, print_fields, print_json, print_rows, print_text
from hermes_core.cli.session import open_host
from hermes_core.config.redact import CONFIGURED
from hermes_core.errors import HermesError, UnknownProviderError
from hermes_core.llm.plan import Planner
from hermes_core.providers.profile import ProviderProfile

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Iterator

    from hermes_core.auth.entries import Entry
    from hermes_core.auth.oauth import DeviceCode
    from hermes_core.auth.pool import CredentialPool, Standing
    from hermes_core.host import Host

COLUMNS = ("provider", "id", "label", "kind", "source", "status", "until", "key")


def add_arguments(parser: ArgumentParser) -> None:
    """Arguments of the command."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="action")
    for action, line in {
        "list": "every key and login there is, and how it fares",
        "status": "what a call would use now; exit code 1 when there is nothing",
        "add": "store a key: typed unseen, or read from a pipe",
        "login": "log in with a code that you confirm in a browser",
        "logout": "forget the logins of a provider",
        "remove": "take a key or login out of use",
        "reset": "use what rests, or was taken out of use, again",
    }.items():
        one = actions.add_parser(action, help=line)
        if action in ("list", "status", "reset"):
            one.add_argument("provider", nargs="?", help="its name or an alias; every one when left out")
        else:
            one.add_argument("provider", help="its name or an alias")
        if action in ("remove", "logout", "reset"):
            one.add_argument("entry", nargs=None if action == "remove" else "?", help="one by its id, label or source")
        if action in ("add", "login"):
            one.add_argument("--label", default="", help="what to call it")
        if action == "add":
            one.add_argument("--base-url", default="", metavar="URL", help="the address it is for")
            one.add_argument("--first", action="store_true", help="use it before the others")
        add_json_flag(one)


def run(args: Namespace) -> int:
    """Do what was asked."""
    with open_host() as host:
        rows = _Rows(host)
        if args.action == "list":
            _show(args, [*rows.of(args.provider)])
            return 0
        if args.action == "status":
            return _status(args, rows)
        if args.action == "reset" and args.provider is None:
            pools = [*rows.pools()]
            _report(args, [rows.row(pool, entry) for pool in pools for entry in manage.reset(pool)], "used again")
            return 0
        pool = rows.pool(args.provider)
        if args.action == "add":
            key = read_secret(f"key for {pool.name}")
            made = manage.add_key(pool, key, label=args.label, base_url=args.base_url, first=args.first)
            _report(args, [rows.row(pool, made)], "stored")
        elif args.action == "login":
            _report(args, [rows.row(pool, _log_in(pool, args.label))], "logged in")
        elif args.action == "reset":
            chosen = manage.reset(pool, args.entry or "")
            _report(args, [rows.row(pool, entry) for entry in chosen], "used again")
        else:
            _remove(args, rows, pool)
    return 0


def _remove(args: Namespace, rows: _Rows, pool: CredentialPool) -> None:
    if args.action == "remove":
        chosen = [pool.find(args.entry)]
    else:
        chosen = manage.logins(pool)
        if args.entry:
            found = pool.find(args.entry)
            chosen = [entry for entry in chosen if entry.id == found.id]
        if not chosen:
            message = f"there is no login at provider {pool.name!r}"
            raise HermesError(message, hint=f"run `hermes auth list {pool.name}`; keys are taken out with `remove`")
    gone = manage.remove(pool, [entry.id for entry in chosen])
    _report(args, [rows.row(pool, entry) for entry in gone], "taken out")


class _Rows:
    """The host's pools, and their entries as lists show them."""

    def __init__(self, host: Host) -> None:
        self.host = host
        self.config = host.config()
        self.planner = Planner.of(host)

    def pool(self, name: str) -> CredentialPool:
        """A provider's pool; a store may know more providers than there are now."""
        try:
            return self.planner.pool(self.config, name)
        except UnknownProviderError:
            if not self.host.credentials.mentions(name.lower()):
                raise
            return self.host.credentials.pool(ProviderProfile(name.lower()))

    def pools(self) -> Iterator[CredentialPool]:
        """The pools there is anything in; no plugin is imported to find out."""
        host = self.host
        stored = {name for store in host.credentials.stores for name in store.names()}
        for row in host.providers:
            variables = key_variables(row.env_vars)
            if row.name in stored or any(map(host.environment.credential, variables)) or self._is_main(row.name):
                yield self.pool(row.name)
        for name in sorted(stored - {row.name for row in host.providers}):
            yield self.pool(name)

    def _is_main(self, name: str) -> bool:
        return name == self.host.providers.resolve(self.config.text("model", "provider"))

    def of(self, name: str | None) -> Iterator[dict[str, Any]]:
        """The rows of one provider, or of all."""
        for pool in [self.pool(name)] if name else self.pools():
            for entry, standing in pool.standings(pool.entries()):
                yield _row(pool, entry, standing)

    def row(self, pool: CredentialPool, wanted: Entry) -> dict[str, Any]:
        """One entry's row, as it stands now or, when it is gone, as it stood."""
        standings = pool.standings(pool.entries())
        found = next(((entry, how) for entry, how in standings if entry.id == wanted.id), None)
        return _row(pool, *found) if found else _row(pool, wanted, None)


def _row(pool: CredentialPool, entry: Entry, standing: Standing | None) -> dict[str, Any]:
    fields = entry.fields
    return {
        "provider": pool.name,
        "id": entry.id,
        "label": entry.label,
        "kind": entry.kind,
        "source": entry.source,
        "status": standing.word if standing else "gone",
        "until": _iso(standing.until) if standing else "",
        "key": CONFIGURED if entry.value else "",
        "base_url": entry.base_url,
        "expires_at": _iso(entry.expires_at or 0.0),
        "last_error_code": fields.get("last_error_code"),
        "last_error_reason": fields.get("last_error_reason"),
        "stored_in": str(entry.store.path) if entry.is_stored else "",
    }


def _iso(moment: float) -> str:
    return datetime.fromtimestamp(moment, UTC).isoformat(timespec="seconds") if moment else ""


def _show(args: Namespace, rows: list[dict[str, Any]]) -> None:
    if args.json:
        print_json(rows)
    else:
        print_rows(rows, COLUMNS)


def _report(args: Namespace, rows: list[dict[str, Any]], what: str) -> None:
    if args.json:
        print_json(rows)
    for row in [] if args.json else rows:
        print_text(f"{row['provider']}: {row['label']} ({row['source']}, {row['id']}) {what}")
    if not rows and not args.json:
        print_text("nothing to do")


def _status(args: Namespace, rows: _Rows) -> int:
    """What a call would use, and the exit code that says whether there is anything."""
    name = args.provider or rows.planner.active(rows.config)
    pool = rows.pool(name)
    chosen = pool.select()
    problem = rows.host.credentials.store.error
    shown = {
        "provider": pool.name,
        "ready": chosen is not None,
        "uses": "" if chosen is None else chosen.label or chosen.source,
        "source": "" if chosen is None else chosen.source,
        "kind": "" if chosen is None else chosen.kind,
        "must_be_refreshed": chosen is not None and chosen.is_stale,
        "strategy": pool.strategy,
        "credentials": len(pool.entries()),
        "why_not": "" if chosen is not None else str(pool.refusal()),
        "remedy": "" if chosen is not None else pool.refusal().hint,
        "problem": "" if problem is None else str(problem),
    }
    if args.json:
        print_json(shown)
    else:
        print_fields(shown)
    return int(chosen is None)


def _log_in(pool: CredentialPool, label: str) -> Entry:
    from hermes_core.auth.oauth import begin_login, finish_login, settings_of

    settings = settings_of(pool.profile)
    begun = begin_login(settings, pool.owner.send)
    _tell(begun)
    return manage.add_login(pool, settings, finish_login(settings, begun, pool.owner.send), label)


def _tell(begun: DeviceCode) -> None:
    """What the user has to do, on standard error: the result alone goes to standard output."""
    minutes = max(round(begun.expires_in / 60), 1)
    lines = f"open {begun.address}\nand confirm the code {begun.user_code} within {minutes} min; waiting …"
    print(lines, file=sys.stderr, flush=True)
