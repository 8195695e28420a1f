"""What a user meant: text worth asking memory about."""

from __future__ import annotations

import re

_WORDS = (
    "yes no ok okay sure thanks y n yep nope yeah nah hi hey hello yo sup continue proceed cool nice great done next "
    "lgtm k"
).split()
_PHRASES = (r"thank\s+you", r"go\s+ahead", r"do\s+it", r"got\s+it")

TRIVIAL_PROMPT_RE = re.compile(rf"\s*+(?:{'|'.join([*_PHRASES, *_WORDS])})[\W_]*+\Z", re.IGNORECASE)
"""Matches a bare greeting or acknowledgement, with any punctuation after it."""

_INVOKED = "[IMPORTANT: The user has invoked the "
_SKILL = "full skill content is loaded below"
_SKILL_INSTRUCTION = "provided the following instruction alongside the skill invocation: "
_BUNDLE = " skill bundle,"
_BUNDLE_INSTRUCTION = re.compile(r"^User instruction: ", re.MULTILINE)
_RUNTIME_NOTE = re.compile(r"^[ \t]*+\[Runtime note:", re.MULTILINE)
_LOADED_AS_PART = re.compile(r"^[ \t]*+\[Loaded as part of the ", re.MULTILINE)


def is_trivial_prompt(text: str | None) -> bool:
    """Whether a prompt asks nothing that memory could help with: blank, a command, or a bare "ok" or "thanks".

    Example:
        >>> is_trivial_prompt("Thank you!"), is_trivial_prompt("/new"), is_trivial_prompt("k8s?")
        (True, True, False)
    """
    stripped = (text or "").strip()
    return not stripped or stripped.startswith("/") or TRIVIAL_PROMPT_RE.match(stripped) is not None


def extract_user_instruction_from_skill_message(text: object) -> str | None:
    """What the user said in a message that a skill was unfolded into; any other text as it is.

    Returns:
        None when the user said nothing besides naming the skill, or ``text`` is no text.
    """
    if not isinstance(text, str) or not text.startswith(_INVOKED):
        return text if isinstance(text, str) else None
    if _SKILL in text:
        _, said, rest = text.rpartition(_SKILL_INSTRUCTION)
        return _up_to(_RUNTIME_NOTE, rest) if said else None
    if _BUNDLE in text:
        found = _BUNDLE_INSTRUCTION.search(text)
        return _up_to(_LOADED_AS_PART, text[found.end() :]) if found else None
    return None


def _up_to(mark: re.Pattern[str], text: str) -> str | None:
    found = mark.search(text)
    return text[: found.start() if found else len(text)].strip() or None
