"""``hermes memory pending``, ``approve`` and ``reject``: what the agent wants to remember, and the user decides on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hermes_core.cli.output import print_line
from hermes_core.errors import HermesError
from hermes_core.memory.builtin import describe_operation
from hermes_core.memory.store import FILES

if TYPE_CHECKING:
    from argparse import Namespace

    from hermes_core.host import Host
    from hermes_core.memory.changes import Change

COLUMNS = ("id", "created_at", "target", "change", "threats")


def pending_rows(host: Host) -> list[dict[str, Any]]:
    """The writes that wait, oldest first.

    Raises:
        MemoryFileError: They cannot be read.
    """
    return [
        {
            "id": row.id,
            "created_at": row.created_at,
            "target": row.target,
            "change": [describe_operation(operation) for operation in row.operations],
            "threats": [*row.threats],
            "metadata": dict(row.metadata),
        }
        for row in host.builtin_memory.approvals.all()
    ]


def decide(host: Host, args: Namespace) -> int:
    """Approve or reject writes: those with an id, or all that wait; each is said, and one that fails stops none.

    Raises:
        HermesError: Nothing was named.
    """
    memory = host.builtin_memory
    ids = [row.id for row in memory.approvals.all()] if args.all else args.ids
    if not ids and not args.all:
        raise HermesError("name what to decide on, or say --all", hint="run `hermes memory pending`")
    failed = 0
    for word in ids:
        try:
            if args.action == "reject":
                memory.reject(word)
                print_line(f"{word}: rejected")
                continue
            done = memory.approve(word, is_confirmed=args.confirm)
        except HermesError as error:
            failed += 1
            print_line(f"{word}: {error}" + (f" ({error.hint})" if error.hint else ""))
        else:
            print_line(f"{word}: {_said(done.changes)}")
    if not ids:
        print_line("nothing waits")
    return int(bool(failed))


def _said(changes: list[Change]) -> str:
    words = {"add": "added", "replace": "replaced", "remove": "removed"}
    return ", ".join(f"{words[change.action]}: {change.content or change.previous}" for change in changes) or (
        f"allowed; it is in the prompt of the next session, or was there already ({' or '.join(FILES.values())})"
    )
