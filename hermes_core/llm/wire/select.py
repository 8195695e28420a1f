"""Which wire format an address speaks, where the address itself tells."""

from __future__ import annotations

import re
from functools import lru_cache
from urllib.parse import urlsplit

from hermes_core.types.address import host_of, is_within

BEDROCK = r"(.+\.)?bedrock-runtime(-fips)?\.[a-z0-9-]+\.(vpce\.)?(amazonaws\.com(\.cn)?|api\.aws)"
"""The hosts of Amazon Bedrock, one a region."""

MANDATED = (("api.anthropic.com", "", "anthropic_messages"), ("api.kimi.com", "/coding", "anthropic_messages"))
"""Host, beginning of the path, and the one format that is spoken there."""

USUAL = (
    ("api.x.ai", "", "codex_responses"),
    ("api.openai.com", r".*(codex.*|-pro)", "codex_responses"),
    ("generativelanguage.googleapis.com", "", "gemini"),
)
"""Host, pattern of the model's name if not all, and the format to speak when nobody says."""


@lru_cache(256)
def mandated(base_url: str) -> str:
    """The format that an address demands, whatever is configured; ``""`` when it demands none.

    Example:
        >>> mandated("https://api.anthropic.com/v1"), mandated("https://api.acme.test/v1")
        ('anthropic_messages', '')
    """
    host, path = _host_and_path(base_url)
    if "bedrock-runtime" in host and re.fullmatch(BEDROCK, host):
        return "bedrock_converse"
    return next((mode for known, start, mode in MANDATED if is_within(host, known) and path.startswith(start)), "")


@lru_cache(256)
def usual(base_url: str, model: str) -> str:
    """The format to speak at an address when neither it nor the configuration demands one; ``""`` for no word.

    Example:
        >>> usual("https://api.minimax.io/anthropic", "MiniMax-M2"), usual("https://api.x.ai/v1", "grok-4")
        ('anthropic_messages', 'codex_responses')
    """
    host, path = _host_and_path(base_url)
    if path.endswith(("/anthropic", "/anthropic/v1")):
        return "anthropic_messages"
    if path.endswith("/openai"):
        return ""
    for known, names, mode in USUAL:
        if is_within(host, known) and (not names or re.fullmatch(names, model)):
            return mode
    return ""


def _host_and_path(base_url: str) -> tuple[str, str]:
    host = host_of(base_url)
    return host, urlsplit(base_url).path.rstrip("/") if host else ""
