"""What a call of the built-in ``memory`` tool changed, told to providers as single writes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

ACTIONS = ("add", "replace", "remove")


class Write(NamedTuple):
    """One committed write, as ``on_memory_write`` is told of it."""

    action: str
    target: str
    content: str
    metadata: dict[str, Any]


def writes(result: Any, args: Mapping[str, Any], metadata: Mapping[str, Any]) -> Iterator[Write]:
    """The writes that a call of the tool has committed.

    Args:
        result: What the tool returned: JSON text, or what it says. Nothing is mirrored unless it says that the
            call succeeded, changed something, and was not put aside for approval.
        args: What it was called with.
        metadata: What is known of the call; empty values are left out.

    Example:
        >>> [*writes('{"success": true}', {"action": "add", "content": "likes tea"}, {"session_id": "s1"})]
        [Write(action='add', target='memory', content='likes tea', metadata={'session_id': 's1'})]
    """
    outcome = _mapping(result)
    if outcome.get("success") is not True or outcome.get("staged") is True or outcome.get("changed") is False:
        return
    known = {key: value for key, value in metadata.items() if value not in (None, "")}
    target = str(args.get("target") or "memory")
    for operation in _operations(outcome, args):
        if not isinstance(operation, Mapping) or operation.get("action") not in ACTIONS:
            continue
        action, content = str(operation["action"]), operation.get("content")
        more = {"old_text": operation.get("old_text"), "previous_content": operation.get("previous")}
        said = content if isinstance(content, str) and action != "remove" else ""
        yield Write(action, target, said, {**known, **{key: value for key, value in more.items() if value}})


def _operations(outcome: Mapping[str, Any], args: Mapping[str, Any]) -> list[Any]:
    """What was done: as the tool says itself, else as it was asked for."""
    batch = args.get("operations")
    if isinstance(batch, list) and batch:
        told = outcome.get("operations")
        return told if isinstance(told, list) else batch
    previous = outcome.get("replaced_entry") or outcome.get("removed_entry")
    return [{**args, "previous": previous}]


def _mapping(result: Any) -> Mapping[str, Any]:
    try:
        found = json.loads(result) if isinstance(result, str | bytes) else result
    except ValueError:
        return {}
    return found if isinstance(found, Mapping) else {}
