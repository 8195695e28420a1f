"""``hermes memory``: what is remembered, and by whom."""

from __future__ import annotations

from argparse import SUPPRESS
from typing import TYPE_CHECKING

from hermes_core.cli.output import add_json_flag, print_fields, print_json, print_line, print_rows, print_text
from hermes_core.cli.session import open_host
from hermes_core.errors import HermesError
from hermes_core.memory.store import FILES

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from hermes_core.host import Host

PASSES_ON = True
"""``setup`` takes any ``--key value`` that the provider asks for."""


def add_arguments(parser: ArgumentParser) -> None:
    """Arguments of the command."""
    add_json_flag(parser)
    actions = parser.add_subparsers(dest="action", metavar="action")
    made = {
        action: actions.add_parser(action, help=line, description=f"{line[0].upper()}{line[1:]}.")
        for action, line in {
            "status": "the built-in memory, the active provider, and what leaves this machine; the same without a word",
            "setup": "choose a memory provider, and answer what it asks",
            "list": "every memory provider there is; none is imported",
            "show": "what MEMORY.md and USER.md hold, or what one provider is and asks for",
            "off": "use the built-in memory alone",
            "reset": "delete MEMORY.md and USER.md",
            "search": "look for something in all that is remembered",
            "export": "print what the active provider keeps, as JSON lines",
            "import": "have the active provider keep JSON lines, or the entries of a MEMORY.md",
            "doctor": "say what is wrong, and what helps; exit code 1 when something does not work",
            "pending": "what the agent wants to remember, and waits for you",
            "approve": "let what waits be remembered",
            "reject": "drop what waits",
        }.items()
    }
    _add_setup_arguments(made["setup"])
    made["show"].add_argument("what", nargs="?", help="memory, user, or a provider's name; both files when left out")
    made["reset"].add_argument("--target", choices=("all", *FILES), default="all", help="which file; both when missing")
    made["reset"].add_argument("--yes", "-y", action="store_true", help="do not ask")
    made["search"].add_argument("query", nargs="+", help="words")
    made["search"].add_argument("--limit", type=int, default=10, metavar="N", help="how many of each at most; 10")
    made["export"].add_argument("--output", "-o", metavar="FILE", help="a new file; standard output when missing")
    made["import"].add_argument("file", help="JSON lines, or a file that ends in .md; - for standard input")
    made["import"].add_argument("--target", choices=[*FILES], default="memory", help="what entries of a .md are")
    for action in ("search", "export", "import"):
        made[action].add_argument("--user", default="", metavar="ID", help="of a gateway's user in place of your own")
    for action in ("approve", "reject"):
        made[action].add_argument("ids", nargs="*", metavar="id", help="as `hermes memory pending` shows it")
        made[action].add_argument("--all", action="store_true", help="everything that waits")
    made["approve"].add_argument("--confirm", action="store_true", help="although it looks suspicious")
    for action in ("status", "list", "show", "search", "doctor", "pending"):
        made[action].add_argument("--json", action="store_true", default=SUPPRESS, help="print one JSON value")


def _add_setup_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("name", nargs="?", help="the provider; a list to choose from when left out")
    parser.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="an answer; --KEY VALUE is the same"
    )
    parser.add_argument("--secret-stdin", default="", metavar="KEY", help="read this secret from standard input")
    parser.add_argument("--yes", "-y", action="store_true", help="ask nothing: take defaults, install what is missing")
    parser.add_argument("--no-install", action="store_true", help="install nothing: stop when something is missing")


def run(args: Namespace) -> int:
    """Do what was asked."""
    if args.passed_on and args.action != "setup":
        raise HermesError(f"unrecognized arguments: {' '.join(args.passed_on)}", hint="see hermes memory --help")
    with open_host() as host:
        return _RUN[args.action or "status"](host, args)


def _status(host: Host, args: Namespace) -> int:
    from hermes_core.cli.memory.status import as_text, status

    shown = status(host)
    if args.json:
        print_json(shown)
    else:
        print_fields(as_text(shown))
    return 0


def _setup(host: Host, args: Namespace) -> int:
    from hermes_core.cli.memory.setup import run_setup

    try:
        return run_setup(host, args, _given(args))
    except KeyboardInterrupt:
        print_text("\ncancelled; nothing was saved")
        return 130


def _given(args: Namespace) -> dict[str, str]:
    """The answers on the command line: of ``--set KEY=VALUE``, ``--KEY VALUE`` and ``--KEY``, which means yes."""
    given: dict[str, str] = {}
    for text in args.set:
        key, sign, value = text.partition("=")
        if not sign:
            raise HermesError(f"--set {text} has no value", hint=f"write --set {key}=VALUE")
        given[key.strip()] = value
    words = [*args.passed_on]
    while words:
        word = words.pop(0)
        if not word.startswith("--") or word == "--":
            raise HermesError(f"unrecognized argument: {word}", hint="write --KEY VALUE")
        key, sign, value = word[2:].partition("=")
        if not sign:
            value = words.pop(0) if words and not words[0].startswith("--") else "yes"
        given[key.replace("-", "_")] = value
    return given


def _list(host: Host, args: Namespace) -> int:
    from hermes_core.cli.memory.status import LIST_COLUMNS, list_rows

    _print(list_rows(host), LIST_COLUMNS, args)
    return 0


def _show(host: Host, args: Namespace) -> int:
    from hermes_core.cli.memory.contents import ENTRY_COLUMNS, entry_rows

    if args.what is None or args.what in FILES:
        _print(entry_rows(host, FILES if args.what is None else [args.what]), ENTRY_COLUMNS, args)
        return 0
    from hermes_core.cli.memory.status import provider_details

    shown = provider_details(host, args.what)
    if args.json:
        print_json(shown)
    else:
        settings = [f"{row['key']} ({row['kind']})" for row in shown.pop("settings")]
        print_fields({**shown, "settings": settings, "env": [row["name"] for row in shown["env"]]})
    return 0


def _off(host: Host, _args: Namespace) -> int:
    from hermes_core.cli.memory.setup import turn_off

    return turn_off(host)


def _reset(host: Host, args: Namespace) -> int:
    from hermes_core.cli.memory.contents import reset

    return reset(host, args)


def _search(host: Host, args: Namespace) -> int:
    from hermes_core.cli.memory.contents import FOUND_COLUMNS, found_rows

    _print(found_rows(host, " ".join(args.query), max(args.limit, 1), args.user), FOUND_COLUMNS, args)
    return 0


def _export(host: Host, args: Namespace) -> int:
    from hermes_core.cli.memory.contents import export_to

    count = export_to(host, args.output, args.user)
    if args.output:
        print_line(f"{args.output}: {count} written")
    return 0


def _import(host: Host, args: Namespace) -> int:
    from hermes_core.cli.memory.contents import import_from

    print_line(f"{import_from(host, args.file, args.target, args.user)} new")
    return 0


def _doctor(host: Host, args: Namespace) -> int:
    from hermes_core.cli.memory.doctor import ERROR, examine

    found = examine(host)
    if args.json:
        print_json([finding._asdict() for finding in found])
    for finding in () if args.json else found:
        print_text(f"{finding.place}: {finding.level}: {finding.message}\n    {finding.remedy}")
    if not found and not args.json:
        print_line("nothing is wrong")
    return int(any(finding.level == ERROR for finding in found))


def _pending(host: Host, args: Namespace) -> int:
    from hermes_core.cli.memory.staged import COLUMNS, pending_rows

    _print(pending_rows(host), COLUMNS, args)
    return 0


def _decide(host: Host, args: Namespace) -> int:
    from hermes_core.cli.memory.staged import decide

    return decide(host, args)


_RUN = {
    "status": _status,
    "setup": _setup,
    "list": _list,
    "show": _show,
    "off": _off,
    "reset": _reset,
    "search": _search,
    "export": _export,
    "import": _import,
    "doctor": _doctor,
    "pending": _pending,
    "approve": _decide,
    "reject": _decide,
}


def _print(rows: list[dict[str, object]], columns: tuple[str, ...], args: Namespace) -> None:
    if args.json:
        print_json(rows)
    else:
        print_rows(rows, columns)
