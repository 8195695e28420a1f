"""``hermes memory show``, ``search``, ``export``, ``import`` and ``reset``: what is kept."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hermes_core.cli.memory.chosen import Chosen, active, active_name
from hermes_core.cli.output import print_line, print_text
from hermes_core.cli.picker import ask, is_interactive
from hermes_core.config.files import replace_file
from hermes_core.config.redact import redact_known
from hermes_core.config.truth import is_number
from hermes_core.errors import HermesError, MemoryProviderError
from hermes_core.memory.entries import entry_id
from hermes_core.memory.store import FILES

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterable, Iterator

    from hermes_core.host import Host

ENTRY_COLUMNS = ("id", "target", "entry", "blocked")
FOUND_COLUMNS = ("source", "id", "when", "text")
_AEONS = 1e11
"""Seconds that a date can still be made of."""


def entry_rows(host: Host, targets: Iterable[str]) -> list[dict[str, Any]]:
    """The entries of the built-in memory, each with its id and what keeps it out of the prompt.

    Raises:
        MemoryFileError: A file cannot be read.
    """
    memory = host.builtin_memory
    return [
        {"id": entry_id(entry), "target": target, "entry": entry, "blocked": memory.threats(entry)}
        for target in targets
        for entry in memory.store.entries(target)
    ]


def found_rows(host: Host, query: str, limit: int, user: str) -> list[dict[str, Any]]:
    """What fits a question: entries that hold every word of it, and what the active provider finds.

    Raises:
        HermesError: The provider, or a file, cannot be read.
    """
    words = query.casefold().split()
    rows = [
        {"source": FILES[row["target"]], "id": row["id"], "when": "", "text": row["entry"]}
        for row in entry_rows(host, FILES)
        if all(word in row["entry"].casefold() for word in words)
    ][:limit]
    name = active_name(host)
    if name:
        with Chosen(host, name).opened(user) as chosen:
            rows += _found_by(chosen, query, limit)
    return rows


def _found_by(chosen: Chosen, query: str, limit: int) -> list[dict[str, Any]]:
    if chosen.has("search"):
        found = chosen.call("search", query, limit)
        return [_row(chosen, row) for row in found]
    text = chosen.call("prefetch", query)
    return [_row(chosen, text)] if isinstance(text, str) and text.strip() else []


def _row(chosen: Chosen, found: object) -> dict[str, Any]:
    if not isinstance(found, Mapping):
        return {"source": chosen.name, "id": "", "when": "", "text": str(found)}
    at = found.get("time")
    when = datetime.fromtimestamp(at, UTC).isoformat(timespec="seconds") if is_number(at) and abs(at) < _AEONS else ""
    return {"source": chosen.name, "when": when, **found}


def export_to(host: Host, path: str | None, user: str) -> int:
    """Write everything that the active provider keeps, as JSON lines; returns how many.

    Raises:
        HermesError: It offers no export, or the file cannot be written.
    """
    chosen = active(host, "export")
    if not chosen.has("export_records"):
        message = f"memory provider {chosen.name!r} offers no export"
        raise MemoryProviderError(message, hint="see what it offers: hermes memory show " + chosen.name)
    with chosen.opened(user):
        lines = _lines(chosen)
        if path is None:
            count = 0
            for count, line in enumerate(lines, 1):  # noqa: B007 - the last one counts
                print_text(line)
            return count
        target = Path(path)
        if target.exists():
            raise HermesError(f"{path} exists already", hint="choose another name; nothing was written")
        written = [*lines]
        try:
            replace_file(target, "".join(f"{line}\n" for line in written).encode())
        except OSError as error:
            raise HermesError(f"cannot write {path}: {error.strerror}", hint="choose another place") from error
        return len(written)


def _lines(chosen: Chosen) -> Iterator[str]:
    records = iter(chosen.call("export_records"))
    end = object()
    while (record := chosen.run("export_records", lambda: next(records, end))) is not end:
        yield redact_known(json.dumps(record, ensure_ascii=False, default=str))


def import_from(host: Host, path: str, target: str, user: str) -> int:
    """Have the active provider keep what a file holds: JSON lines, or the entries of a MEMORY.md; returns how many.

    Raises:
        HermesError: It offers no import, or the file cannot be read.
    """
    chosen = active(host, "import into")
    text = _read(path)
    is_markdown = path.lower().endswith((".md", ".markdown"))
    method = "import_entries" if is_markdown else "import_lines"
    if not chosen.has(method):
        what = "MEMORY.md" if is_markdown else "JSON lines"
        raise MemoryProviderError(f"memory provider {chosen.name!r} imports no {what}", hint="nothing was imported")
    with chosen.opened(user):
        if is_markdown:
            return int(chosen.call(method, text.replace("\r\n", "\n"), target))
        return int(chosen.call(method, text.split("\n")))


def _read(path: str) -> str:
    try:
        content = sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
        return content.decode("utf-8-sig")
    except OSError as error:
        raise HermesError(f"cannot read {path}: {error.strerror}", hint="name a readable file") from error
    except UnicodeDecodeError as error:
        raise HermesError(f"{path} is not UTF-8 text", hint="save it as UTF-8") from error


def reset(host: Host, args: Namespace) -> int:
    """Delete the files of the built-in memory, once the user has said yes.

    Raises:
        HermesError: Nobody could be asked, or a file cannot be deleted.
    """
    store = host.builtin_memory.store
    targets = [*FILES] if args.target == "all" else [args.target]
    there = [target for target in targets if store.path(target).exists()]
    if not there:
        print_line("there is nothing to delete")
        return 0
    names = " and ".join(str(store.path(target)) for target in there)
    if not args.yes:
        if not is_interactive():
            raise HermesError(f"this would delete {names}", hint="say --yes if that is meant")
        if ask(f"Delete {names}? Type yes") != "yes":
            print_line("nothing was deleted")
            return 1
    for target in there:
        store.reset(target)
    provider = active_name(host)
    rest = f"; {provider} is told at the next session, and keeps the rest of what it knows" if provider else ""
    print_line(f"deleted {names}; backups and writes that wait stay{rest}")
    return 0
