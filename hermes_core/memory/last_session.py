"""How memory did in the last session of a home: for whoever asks later, in another process."""

from __future__ import annotations

import json
import logging
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from hermes_core.config.files import replace_file

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

log = logging.getLogger("hermes_core.memory")

FILE = "cache/memory.json"
"""Below the home; safe to delete."""


def keep(home: Path, stats: Mapping[str, Any]) -> None:
    """Keep what a manager's ``stats`` say at its end; a home that cannot be written is left alone."""
    path = home / FILE
    try:
        path.parent.mkdir(exist_ok=True)
        text = json.dumps({"ended": datetime.now(UTC).isoformat(timespec="seconds"), **stats}, ensure_ascii=True)
        replace_file(path, text.encode())
    except OSError as error:
        log.debug("memory statistics not kept path=%s error=%s", path, error.strerror)


def last_session(home: Path) -> dict[str, Any]:
    """What was kept last: ``ended``, and the ``stats`` of the manager; nothing when there is none to be read."""
    try:
        found = json.loads((home / FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def troubles(session: Mapping[str, Any]) -> list[str]:
    """What went wrong in it, a line a provider; each says what was not kept, and why.

    Example:
        >>> stats = {"name": "notes", "turns_failed": 2, "turns_refused": 0, "recall_timeouts": 1, "reason": "no disk"}
        >>> troubles({"providers": [stats], "refused": {"older": "it is not available"}})
        ['notes: 2 turns not stored, 1 recall too late: no disk', 'older: not used: it is not available']
    """
    providers, refused = session.get("providers"), session.get("refused")
    lines = []
    for row in providers if isinstance(providers, list) else ():
        lost = _number(row, "turns_failed") + _number(row, "turns_refused")
        counts = [(lost, "turn", "not stored"), (_number(row, "recall_timeouts"), "recall", "too late")]
        counts.append((_number(row, "tool_failures"), "tool call", "failed"))
        said = [f"{count} {noun}{'s' * (count != 1)} {what}" for count, noun, what in counts if count]
        reason = row.get("reason") if isinstance(row, dict) else ""
        if said or reason:
            lines.append(": ".join(filter(None, (str(row.get("name")), ", ".join(said), reason))))
    lines += [f"{name}: not used: {why}" for name, why in (refused if isinstance(refused, dict) else {}).items()]
    shutdown = session.get("shutdown")
    left = _number(shutdown, "abandoned_writes") + _number(shutdown, "active_tasks")
    return lines + ([f"{left} tasks were not done when the program ended"] if left else [])


def _number(row: Any, name: str) -> int:
    value = row.get(name) if isinstance(row, dict) else 0
    return value if isinstance(value, int) else 0
