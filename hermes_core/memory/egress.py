"""What leaves for a memory provider holds no secrets: it may live on somebody else's machine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from hermes_core.config.redact import REDACTED, redact
from hermes_core.config.secret_patterns import is_secret_name

_LONG_ENOUGH = 6
"""What is shorter is an ordinary word somewhere else."""


def without_secrets(value: Any) -> Any:
    """A copy of ``value`` with every secret in its texts blanked, however deep they lie.

    A secret that gives itself away in one text is blanked in all of them. What is neither text, list, tuple nor
    mapping is handed on as it is.

    Example:
        >>> without_secrets(["password=Sesame-1234", {"said": "try Sesame-1234"}])
        ['password=[redacted]', {'said': 'try [redacted]'}]
    """
    found: set[str] = set()
    clean = _walk(value, lambda text: redact(text, found), found)
    telling = sorted((secret for secret in found if len(secret) >= _LONG_ENOUGH), key=len, reverse=True)
    return _walk(clean, lambda text: _blanked(text, telling), found) if telling else clean


def _blanked(text: str, secrets: list[str]) -> str:
    for secret in secrets:
        text = text.replace(secret, REDACTED)
    return text


def _walk(value: Any, clean: Callable[[str], str], found: set[str]) -> Any:
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, Mapping):
        return {key: _field(key, item, clean, found) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_walk(item, clean, found) for item in value]
    return value


def _field(key: Any, value: Any, clean: Callable[[str], str], found: set[str]) -> Any:
    if isinstance(key, str) and isinstance(value, str) and value != REDACTED and value and is_secret_name(key):
        found.add(value)
        return REDACTED
    return _walk(value, clean, found)
