"""What can be done to a list of entries, decided without touching a file."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from hermes_core.errors import MemoryWriteError
from hermes_core.memory.entries import MARK, entry_id, join, plain, usage

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

ACTIONS = ("add", "replace", "remove")
PREVIEW_LETTERS = 80


class Operation(NamedTuple):
    """One wish: ``old_text`` is a part of the entry that is meant, or its id."""

    action: str
    content: str = ""
    old_text: str = ""


class Change(NamedTuple):
    """One thing that came about; ``previous`` is the entry that gave way, or ``""``."""

    action: str
    content: str = ""
    previous: str = ""


def read_operations(args: Mapping[str, Any]) -> list[Operation]:
    """The operations in a tool's arguments: those of the list ``operations``, or the one they name themselves.

    Raises:
        MemoryWriteError: An argument is missing or of no use.
    """
    batch = args.get("operations")
    if batch is None or batch == []:
        return [_operation(args)]
    if not isinstance(batch, list):
        raise MemoryWriteError("operations must be a list of objects", reason="invalid")
    found = []
    for number, item in enumerate(batch, 1):
        with _numbered(number, of_several=True):
            if not isinstance(item, Mapping):
                raise MemoryWriteError("it must be an object with an action", reason="invalid")
            found.append(_operation(item))
    return found


@contextmanager
def _numbered(number: int, *, of_several: bool) -> Iterator[None]:
    """Have an error name the operation of a batch that it is about."""
    try:
        yield
    except MemoryWriteError as error:
        if of_several:
            error.args = (f"operation {number}: {error}",)
        raise


def _operation(args: Mapping[str, Any]) -> Operation:
    action = args.get("action")
    if action not in ACTIONS:
        message = f"unknown action {action!r}: use {', '.join(ACTIONS)}" if action else "action is missing"
        raise MemoryWriteError(message, reason="invalid", hint=f"the actions are {', '.join(ACTIONS)}")
    content = "" if action == "remove" else _text(args, "content")
    if action != "remove" and not content:
        raise MemoryWriteError(f"{action} needs content", reason="invalid")
    if any(line.strip() == MARK for line in content.split("\n")):
        message = f"content holds a line of nothing but {MARK}, which separates entries"
        raise MemoryWriteError(message, reason="invalid", hint="write it otherwise, or add two entries")
    return Operation(action, content, "" if action == "add" else _text(args, "old_text"))


def _text(args: Mapping[str, Any], name: str) -> str:
    value = args.get(name)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise MemoryWriteError(f"{name} must be text, not a {type(value).__name__}", reason="invalid")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise MemoryWriteError(f"{name} is no valid Unicode text", reason="invalid") from None
    return plain(value)


def apply(entries: Sequence[str], operations: Sequence[Operation], limit: int) -> tuple[list[str], list[Change | None]]:
    """The entries after all operations, and what each has changed; nothing is changed when one cannot be done.

    Args:
        entries: The entries now.
        operations: What to do, in this order.
        limit: How many characters the text of all entries may have at the end.

    Raises:
        MemoryWriteError: An entry is not found, or several are, or there is no room.

    Example:
        >>> apply(["likes tea"], [Operation("replace", "likes coffee", "tea")], 100)
        (['likes coffee'], [Change(action='replace', content='likes coffee', previous='likes tea')])
    """
    after: list[str] = list(entries)
    changes: list[Change | None] = []
    for number, operation in enumerate(operations, 1):
        try:
            with _numbered(number, of_several=len(operations) > 1):
                changes.append(_do(after, operation))
        except MemoryWriteError as error:
            if error.reason == "no_match":
                error.details.update(listing(entries, limit))
            raise
    needed = len(join(after))
    if needed > limit and needed > len(join(entries)):
        message = f"there is no room: {needed:,} of {limit:,} characters would be used"
        raise MemoryWriteError(
            message,
            reason="full",
            hint="replace or remove entries first, in the same call if you like: operations takes several",
            details=listing(entries, limit),
        )
    return after, changes


def _do(entries: list[str], operation: Operation) -> Change | None:
    """Change the list in place; None when it is already as it should be."""
    action, content, old_text = operation
    if action == "add":
        if content in entries:
            return None
        entries.append(content)
        return Change("add", content)
    place = _find(entries, old_text, action)
    previous = entries[place]
    if action == "remove" or (content in entries and content != previous):
        del entries[place]  # what replaces it is there already
        return Change("remove", "", previous)
    entries[place] = content
    return None if content == previous else Change("replace", content, previous)


def _find(entries: Sequence[str], old_text: str, action: str) -> int:
    if not old_text:
        message = f"{action} needs old_text: a part of the entry that is meant, or its id"
        raise MemoryWriteError(message, reason="no_match")
    for whole in ([entry_id(entry) for entry in entries], entries):
        if old_text in whole:
            return whole.index(old_text)
    places = [number for number, entry in enumerate(entries) if old_text in entry]
    if len(places) == 1:
        return places[0]
    if not places:
        raise MemoryWriteError(f"no entry contains {old_text!r}", reason="no_match")
    found = [entries[place] for place in places]
    raise MemoryWriteError(
        f"{len(found)} entries contain {old_text!r}",
        reason="ambiguous",
        hint="give more of the entry, or its id",
        details={"matches": [_preview(entry) for entry in found], "match_ids": [entry_id(entry) for entry in found]},
    )


def listing(entries: Sequence[str], limit: int) -> dict[str, Any]:
    """The entries and their ids, for the model to choose from, and how full the file is."""
    ids = [entry_id(entry) for entry in entries]
    return {"current_entries": [*entries], "entry_ids": ids, "usage": usage(len(join(entries)), limit)}


def _preview(entry: str) -> str:
    line = " ".join(entry.split())
    return line if len(line) <= PREVIEW_LETTERS else line[: PREVIEW_LETTERS - 1] + "…"
