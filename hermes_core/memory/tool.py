"""The tool ``memory``, by which the model changes the built-in memory."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from hermes_core.errors import MemoryFileError, MemoryWriteError
from hermes_core.memory.approvals import Pending
from hermes_core.memory.changes import ACTIONS, read_operations
from hermes_core.memory.entries import join, usage
from hermes_core.memory.store import FILES

if TYPE_CHECKING:
    from hermes_core.memory.builtin import BuiltinMemory
    from hermes_core.memory.store import Written

NAME = "memory"
MAX_FAILURES = 3
"""How often in a turn the model may fail to make room or to find an entry, before it is told to stop."""
CONTEXT = (
    "write_origin",
    "execution_context",
    "session_id",
    "parent_session_id",
    "platform",
    "task_id",
    "tool_call_id",
)
"""What a caller may say of a call, for those who hear of the write."""

_CONTENT = {"type": "string", "description": "The entry: one fact, short and complete in itself."}
_OLD_TEXT = {"type": "string", "description": "A part of the entry that is meant which no other has, or its id."}
_ACTION = {"type": "string", "enum": [*ACTIONS]}
SCHEMA: dict[str, Any] = {
    "name": NAME,
    "description": (
        "Keep what will matter in later sessions. Target memory is for your own notes (the environment, conventions, "
        "lessons learned), target user for what you know of the user (preferences, role, habits). Save what you are "
        "told to remember, corrections and lasting facts; not what this task alone needs, and nothing secret. Room is "
        "limited: replace or remove what is outdated. What you write is in the prompt from the next session on. Use "
        "operations to change several entries at once; either all of them are done or none."
    ),
    "parameters": {
        "type": "object",
        "properties": {
            "action": _ACTION,
            "target": {"type": "string", "enum": [*FILES], "description": "memory unless it is about the user."},
            "content": {**_CONTENT, "description": f"{_CONTENT['description']} For add and replace."},
            "old_text": {**_OLD_TEXT, "description": f"{_OLD_TEXT['description']} For replace and remove."},
            "operations": {
                "type": "array",
                "description": "Several changes of one target, in place of action, content and old_text.",
                "items": {
                    "type": "object",
                    "properties": {"action": _ACTION, "content": _CONTENT, "old_text": _OLD_TEXT},
                    "required": ["action"],
                },
            },
        },
        "required": ["target"],
    },
}


class MemoryTool:
    """The tool, for one conversation.

    Example:
        >>> from pathlib import Path
        >>> from tempfile import mkdtemp
        >>> from hermes_core.config.settings import Config
        >>> from hermes_core.memory.builtin import BuiltinMemory
        >>> tool = MemoryTool(BuiltinMemory(Path(mkdtemp()), Config))
        >>> json.loads(tool.call({"action": "add", "target": "user", "content": "likes tea"}))["message"]
        'entry added'
    """

    def __init__(self, memory: BuiltinMemory) -> None:
        self._memory = memory
        self._failures = 0

    @property
    def schemas(self) -> list[dict[str, Any]]:
        """What the model is told of the tool; nothing when the built-in memory is switched off."""
        return [SCHEMA] if self._memory.targets else []

    def new_turn(self) -> None:
        """The model may fail anew."""
        self._failures = 0

    def call(self, args: object, **context: Any) -> str:
        """Run a call of the model; whatever happens, the answer is a JSON object with ``success``.

        Args:
            args: What the model sent.
            context: What is known of the call, see ``CONTEXT``; anything else is left out.
        """
        try:
            answer = self._run(args, context)
        except MemoryWriteError as error:
            answer = self._refused(error)
        except MemoryFileError as error:
            answer = {"success": False, "error": str(error), "hint": error.hint}
        else:
            self._failures = 0
        return json.dumps(answer, ensure_ascii=False)

    def _run(self, args: object, context: Mapping[str, Any]) -> dict[str, Any]:
        if not isinstance(args, Mapping):
            raise MemoryWriteError("the arguments must be an object", reason="invalid")
        target = "memory" if args.get("target") is None else args["target"]
        if not isinstance(target, str) or target not in FILES:
            raise MemoryWriteError(f"unknown target {target!r}: use memory or user", reason="invalid")
        operations = read_operations(args)
        metadata = {"write_origin": "assistant_tool", "execution_context": "foreground"}
        metadata |= {key: str(context[key]) for key in CONTEXT if context.get(key)} | {"tool_name": NAME}
        if len(operations) == 1 and operations[0].old_text:
            metadata["old_text"] = operations[0].old_text
        is_background = "background" in (metadata["execution_context"], metadata["write_origin"].partition("_")[0])
        done = self._memory.submit(target, operations, metadata, is_background=is_background)
        if isinstance(done, Pending):
            message = "it waits for the user's approval, and counts once that is given; do not repeat it"
            return {"success": True, "staged": True, "pending_id": done.id, "target": target, "message": message}
        return {**self._written(target, done), **_gone(done, is_batch=isinstance(args.get("operations"), list))}

    def _written(self, target: str, done: Written) -> dict[str, Any]:
        names = {"add": "added", "replace": "replaced", "remove": "removed"}
        counts = {name: [change.action for change in done.changes].count(action) for action, name in names.items()}
        said = [f"{count} entries {name}" if count > 1 else f"entry {name}" for name, count in counts.items() if count]
        return {
            "success": True,
            "done": True,
            "changed": bool(done.changes),
            "target": target,
            "usage": usage(len(join(done.entries)), self._memory.store.limits[target]),
            "entry_count": len(done.entries),
            "message": ", ".join(said) or "nothing to do: it is there already",
            "note": "this is done; do not repeat the call",
        }

    def _refused(self, error: MemoryWriteError) -> dict[str, Any]:
        answer = {"success": False, "error": str(error)} | ({"hint": error.hint} if error.hint else {})
        if error.reason in ("full", "no_match"):
            self._failures += 1
            if self._failures > MAX_FAILURES:
                message = f"{error}; that was try {self._failures}: stop, and go on with the user's request"
                return {"success": False, "done": True, "error": message}
        return {**answer, **error.details}


def _gone(done: Written, *, is_batch: bool) -> dict[str, Any]:
    """The entries that gave way, so that whoever hears of the call can mirror it."""
    names = {"replace": "replaced_entry", "remove": "removed_entry"}
    gone = [
        {names[change.action]: change.previous} if change is not None and change.action in names else {}
        for change in done.outcomes
    ]
    if not is_batch:
        return gone[0]
    return {"operations": [{"changed": bool(change), **row} for change, row in zip(done.outcomes, gone, strict=True)]}
