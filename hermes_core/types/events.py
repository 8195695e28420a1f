"""What notices tell plugins about: sessions, turns and tool calls."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, kw_only=True)
class Session:
    """A conversation.

    Attributes:
        id: Unique in its home.
        platform: Where it takes place: ``cli``, ``api``, a gateway's name.
        previous_id: The session it follows, after a switch.
        reason: Why it started, switched or ended.
    """

    id: str
    platform: str = ""
    previous_id: str = ""
    reason: str = ""


@dataclass(frozen=True, kw_only=True)
class Turn:
    """One exchange of a session; ``answer`` is ``""`` until it has ended."""

    session: Session
    number: int
    text: str
    answer: str = ""


@dataclass(frozen=True, kw_only=True)
class ToolCall:
    """A tool the model asked for."""

    id: str
    name: str
    args: Mapping[str, Any] = field(default_factory=dict)
    session: Session | None = None
