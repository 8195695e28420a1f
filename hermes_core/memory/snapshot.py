"""What the system prompt says of the built-in memory: the entries as they were when the session began."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, NamedTuple

from hermes_core.errors import MemoryFileError
from hermes_core.memory.entries import join, usage
from hermes_core.memory.store import FILES
from hermes_core.memory.threats import is_hard, scan

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from hermes_core.memory.store import MemoryStore

log = logging.getLogger(__name__)

RULE = "═" * 46
HEADERS = {"memory": "MEMORY (your personal notes)", "user": "USER PROFILE (who the user is)"}


class Snapshot(NamedTuple):
    """The blocks of a session, which stay as they are whatever is written meanwhile.

    Attributes:
        memory: The block of ``MEMORY.md``, or ``""``.
        user: The block of ``USER.md``, or ``""``.
        problems: What kept a file or an entry out of them, a line each.
    """

    memory: str = ""
    user: str = ""
    problems: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """Both blocks, as the system prompt has them."""
        return "\n\n".join(filter(None, (self.memory, self.user)))


def take(store: MemoryStore, targets: Sequence[str], is_confirmed: Callable[[str], bool]) -> Snapshot:
    """Read the files and render them.

    Args:
        store: The files.
        targets: Which of them the prompt may hold.
        is_confirmed: Whether the user has looked at a suspicious entry, and wants it in.
    """
    blocks: dict[str, str] = {}
    problems = []
    for target in targets:
        try:
            entries = store.entries(target)
        except MemoryFileError as error:
            log.warning("%s; the prompt goes without it", error)
            problems.append(str(error))
            continue
        shown = []
        is_clean = not scan(join(entries))  # as a rule it is, and looking once is cheaper
        for entry in entries:
            threats = [] if is_clean else threats_of(entry, is_confirmed)
            if threats:
                problems.append(f"{FILES[target]}: an entry is kept out of the prompt: {', '.join(threats)}")
                entry = f"[BLOCKED: an entry of {FILES[target]} matches {', '.join(threats)}]"  # noqa: PLW2901
            shown.append(entry)
        blocks[target] = render(target, shown, len(join(entries)), store.limits[target])
    return Snapshot(blocks.get("memory", ""), blocks.get("user", ""), tuple(problems))


def threats_of(entry: str, is_confirmed: Callable[[str], bool]) -> list[str]:
    """What is suspicious in an entry, but for what the user has confirmed."""
    threats = scan(entry)
    return [threat for threat in threats if is_hard(threat)] if threats and is_confirmed(entry) else threats


def render(target: str, entries: Sequence[str], used: int, limit: int) -> str:
    """One block; ``""`` for no entries.

    Example:
        >>> print(render("user", ["likes tea"], 9, 1375).replace("═", "="))
        ==============================================
        USER PROFILE (who the user is) [0% — 9/1,375 chars]
        ==============================================
        likes tea
    """
    if not entries:
        return ""
    return f"{RULE}\n{HEADERS[target]} [{usage(used, limit)}]\n{RULE}\n{join(entries)}"
