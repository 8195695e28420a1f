"""Keeping secrets out of everything the host writes or raises."""

from __future__ import annotations

import json
import logging
from urllib.parse import quote

REDACTED = "[redacted]"
_MINIMUM_LENGTH = 4  # a shorter value would blank ordinary words, and is no usable key either

PLACEHOLDERS = frozenset(
    "* ** *** changeme your_api_key your_api_key_here your-api-key placeholder example dummy null none".split()
)
"""What people write where a key will stand one day."""

_secrets: set[str] = set()
_longest_first: tuple[str, ...] | None = ()


def register_secret(value: str) -> None:
    """Remember a resolved secret; ``redact`` blanks it from now on, in the whole process."""
    global _longest_first  # noqa: PLW0603 - one memory a process, whatever hosts it has
    if len(value) >= _MINIMUM_LENGTH and value.lower() not in PLACEHOLDERS and value not in _secrets:
        escaped = json.dumps(value)[1:-1]  # as a server may quote it: in JSON, or in an address
        _secrets.update((value, escaped, escaped.replace("/", "\\/"), quote(value), quote(value, safe="")))
        _longest_first = None


def redact(text: str) -> str:
    """``text`` without any secret that the host has resolved.

    Example:
        >>> register_secret("hunter22")
        >>> redact("the key is hunter22")
        'the key is [redacted]'
    """
    global _longest_first  # noqa: PLW0603 - as above
    secrets = _longest_first
    if secrets is None:  # the longest first: one secret may begin with another
        secrets = _longest_first = tuple(sorted(_secrets.copy(), key=len, reverse=True))
    for secret in secrets:
        if secret in text:
            text = text.replace(secret, REDACTED)
    return text


class RedactingFormatter(logging.Formatter):
    """Formats a log record, its traceback included, without any secret."""

    def format(self, record: logging.LogRecord) -> str:
        return redact(super().format(record))
