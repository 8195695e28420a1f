"""``hermes models``: which models there are, and where each list came from."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from hermes_core.cli.output import add_json_flag, print_json, print_line, print_rows
from hermes_core.cli.session import open_host
from hermes_core.llm.model_lists import ModelLists

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from hermes_core.host import Host
    from hermes_core.types.models import ModelList

COLUMNS = ("provider", "count", "from", "first", "reason")
SHOWN = 3
UNITS = ((86400, "d"), (3600, "h"), (60, "min"), (1, "s"))


def add_arguments(parser: ArgumentParser) -> None:
    """Arguments of the command."""
    parser.add_argument("provider", nargs="?", help="list this one's models; without it, every provider is summed up")
    parser.add_argument(
        "--all", action="store_true", help="also the providers that would not answer, as for want of a key"
    )
    parser.add_argument("--refresh", action="store_true", help="ask anew, though a list is less than an hour old")
    add_json_flag(parser)


def run(args: Namespace) -> int:
    """List them."""
    with open_host() as host:
        if args.provider:
            return _one(host, args)
        found = gather(host, refresh=args.refresh, every=args.all)
    if args.json:
        print_json([as_json(answer) for answer in found])
        return 0
    print_rows([_row(answer) for answer in found], COLUMNS)
    return 0


def _one(host: Host, args: Namespace) -> int:
    (found,) = host.models(args.provider, refresh=args.refresh)
    if args.json:
        print_json(as_json(found))
        return int(not found.models)
    for model in found.models:
        print_line(model)
    sys.stdout.flush()
    print(f"{found.provider}: {len(found.models)} models, {came_from(found)}", file=sys.stderr)
    return int(not found.models)


def gather(host: Host, *, refresh: bool = False, every: bool = False) -> list[ModelList]:
    """The lists of the providers that would answer now, asked at once; or of all, the others not asked."""
    lists = ModelLists(host)
    answering = lists.answering()
    names = host.providers.names() if every else answering
    with _progress(len(names)) as tick:
        return lists.collect(names, refresh=refresh, ask={*answering}.__contains__, told=tick)


def came_from(found: ModelList) -> str:
    """Where a list came from, in words.

    Example:
        >>> from hermes_core.types.models import ModelList
        >>> came_from(ModelList("acme", ("m",), "stale", 7300.0, "answered with HTTP 500"))
        '2 h old, as it cannot be had now: answered with HTTP 500'
    """
    words = {
        "live": "asked just now",
        "cache": f"asked {_span(found.age)} ago",
        "stale": f"{_span(found.age)} old, as it cannot be had now",
        "fallback": "recommended by its profile",
        "none": "no list",
    }[found.source]
    return f"{words}: {found.reason}" if found.reason else words


def as_json(found: ModelList) -> dict[str, Any]:
    """A list for programs; its age is in whole seconds."""
    return {**found._asdict(), "age": None if found.age is None else round(found.age)}


def _row(found: ModelList) -> dict[str, Any]:
    more = [] if len(found.models) <= SHOWN else ["…"]
    return {
        "provider": found.provider,
        "count": str(len(found.models)),
        "from": came_from(found._replace(reason="")),
        "first": [*found.models[:SHOWN], *more],
        "reason": found.reason,
    }


def _span(seconds: float | None) -> str:
    whole = max(round(seconds or 0), 0)
    size, unit = next(((size, unit) for size, unit in UNITS if whole >= size), UNITS[-1])
    return f"{whole // size} {unit}"


def _progress(total: int) -> AbstractContextManager[Callable[[object], None]]:
    """What counts the answers: shown while they come, on a terminal alone."""
    if not sys.stderr.isatty() or not total:
        return nullcontext(lambda _: None)
    from hermes_core.cli.progress import counting

    return counting("asking providers", total)
