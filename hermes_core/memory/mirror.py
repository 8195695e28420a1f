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
    batch = args.get("operations")
    is_batch = isinstance(batch, list) and bool(batch)
    told = outcome.get("operations") if is_batch else [outcome]
    for number, operation in enumerate(batch if is_batch else [args]):  # type: ignore[arg-type]
        if not isinstance(operation, Mapping) or operation.get("action") not in ACTIONS:
            continue
        more = told[number] if isinstance(told, list) and number < len(told) else {}
        more = more if isinstance(more, Mapping) else {}
        if more.get("changed") is False:
            continue
        action, content = str(operation["action"]), operation.get("content")
        given = {
            "old_text": operation.get("old_text"),
            "previous_content": more.get("replaced_entry") or more.get("removed_entry"),
        }
        yield Write(
            action,
            str(args.get("target") or "memory"),
            content if isinstance(content, str) and action != "remove" else "",
            {**known, **{key: value for key, value in given.items() if value}},
        )


def _mapping(result: Any) -> Mapping[str, Any]:
    try:
        found = json.loads(result) if isinstance(result, str | bytes) else result
    except ValueError:
        return {}
    return found if isinstance(found, Mapping) else {}
