"""How Gemini models are told to think, whoever serves them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

_HIGH = dict.fromkeys(("high", "xhigh", "max", "ultra"), "high")
LEVELS = {"flash": ({"minimal": "low", "low": "low", **_HIGH}, "medium"), "pro": (_HIGH, "low")}
"""How much a Gemini 3 is to think: by kind of model, the levels of efforts, and that of all others."""


def gemini_thinking(
    model: str, reasoning_config: Mapping[str, Any] | None, *, snake_case: bool = False
) -> dict[str, Any]:
    """What Google calls ``thinkingConfig``; empty to leave a model its own way.

    Args:
        model: Its id, with or without ``google/``; models other than Gemini's are not told anything.
        reasoning_config: ``{"enabled": bool, "effort": str}``, or None.
        snake_case: Name the fields as the OpenAI-compatible surface does.

    Example:
        >>> from hermes_core import gemini_thinking
        >>> gemini_thinking("gemini-3-pro-preview", {"enabled": True, "effort": "medium"})
        {'includeThoughts': True, 'thinkingLevel': 'low'}
        >>> gemini_thinking("google/gemini-2.5-flash", {"enabled": False}, snake_case=True)
        {'include_thoughts': False}
    """
    name = re.sub(r"^(google|gemini|models)/", "", model.lower())
    if reasoning_config is None or not name.startswith("gemini"):
        return {}
    effort = str(reasoning_config.get("effort") or "").lower()
    is_off = reasoning_config.get("enabled") is False or effort == "none"
    found: dict[str, Any] = {"include_thoughts" if snake_case else "includeThoughts": not is_off}
    kind = next((kind for kind in LEVELS if kind in name and name.startswith("gemini-3")), None)
    if kind is not None and not is_off:
        known, otherwise = LEVELS[kind]
        found["thinking_level" if snake_case else "thinkingLevel"] = known.get(effort, otherwise)
    return found
