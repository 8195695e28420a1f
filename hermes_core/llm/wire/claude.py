"""What differs between versions of Claude, wherever it is served; every rule is a bound on the version."""

from __future__ import annotations

import re
from typing import NamedTuple

_VERSION = re.compile(r"claude-(?:[a-z]+-)*?v?(\d+)(?:[-.](\d{1,2}))?(?!\d)")
_NEWEST = (99, 0)

_LAST_SAMPLED = (4, 6)
_FIRST_ADAPTIVE = (4, 6)
_FIRST_STRUCTURED = (4, 5)

_BUDGETS = {"minimal": 4000, "low": 4000, "medium": 8000, "high": 16000}
_BUDGET_BEYOND = 32000
_EFFORTS = {"minimal": "low", "low": "low", "medium": "medium", "high": "high", "xhigh": "xhigh"}
_EFFORT_BEYOND = "max"
_EFFORTS_4_6 = {**_EFFORTS, "xhigh": "high"}
ANSWER_TOKENS = 4096
"""What is left for the answer, at least, when thinking has a budget."""


class Thinking(NamedTuple):
    """How a request asks a Claude to think: with a budget in tokens, or, when that is 0, with an effort."""

    budget: int = 0
    effort: str = ""


def version(model: str) -> tuple[int, int] | None:
    """A Claude's version, None for other models; one whose name holds no version counts as the newest.

    Example:
        >>> [version(name) for name in ("claude-3-5-sonnet-20241022", "anthropic/claude-opus-4.7", "gpt-5")]
        [(3, 5), (4, 7), None]
    """
    name = model.lower()
    if "claude" not in name:
        return None
    found = _VERSION.search(name)
    return (int(found[1]), int(found[2] or 0)) if found else _NEWEST


def is_sampled(model: str) -> bool:
    """Whether a temperature may be sent; Claudes after 4.6 refuse it."""
    return (version(model) or _LAST_SAMPLED) <= _LAST_SAMPLED


def forces_tools(model: str) -> bool:
    """Whether a tool call may be forced: the newest Claudes always think, and refuse it then."""
    return is_sampled(model)


def takes_prefill(model: str) -> bool:
    """Whether a conversation may end with the assistant's words, to be gone on with."""
    return (version(model) or (0, 0)) < _FIRST_ADAPTIVE


def decodes_schemas(model: str) -> bool:
    """Whether the API can hold a Claude to a JSON schema."""
    return (version(model) or (0, 0)) >= _FIRST_STRUCTURED


def thinking(model: str, enabled: bool, effort: str) -> Thinking | None:
    """How to ask for thinking; None to ask for nothing: switched off, no Claude, or one that does not think."""
    found = version(model)
    if found is None or found < (3, 7) or not enabled or "haiku" in model.lower():
        return None
    if found < _FIRST_ADAPTIVE:
        return Thinking(budget=_BUDGETS.get(effort or "medium", _BUDGET_BEYOND))
    efforts = _EFFORTS_4_6 if found == _FIRST_ADAPTIVE else _EFFORTS
    return Thinking(effort=efforts.get(effort or "medium", _EFFORT_BEYOND))
