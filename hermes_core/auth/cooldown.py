"""How long a credential rests: what the provider says about it, and what holds when it says nothing."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from hermes_core.config.truth import is_number

REFUSED_COOLDOWN = 300.0
"""Seconds a credential rests after a 401: somebody may be mending the key."""

ONLY_ONE_COOLDOWN = 60.0
"""The same after a rate limit of the only credential there is: nobody else could answer meanwhile."""

LONGEST = 31 * 86400.0
"""No provider is taken at its word for longer: the limits of a month are the longest there are."""

_MILLISECONDS = 10**11
"""A moment greater than this is in milliseconds: as seconds it would lie 3,000 years ahead."""

_MOMENT = 10**9
"""A number greater than this is a moment, a smaller one a duration."""

_UNITS = {
    word: seconds
    for words, seconds in (
        ("ms millisecond milliseconds", 0.001),
        ("s sec secs second seconds", 1.0),
        ("m min mins minute minutes", 60.0),
        ("h hr hrs hour hours", 3600.0),
        ("d day days", 86400.0),
    )
    for word in words.split()
}
_NUMBER = r"[0-9]{1,15}(?:\.[0-9]{1,9})?"  # bounded, so that no text takes long to look through
_PART = rf"{_NUMBER}\s*(?:{'|'.join(_UNITS)})(?![a-z])"
_PARTS = re.compile(rf"({_NUMBER})\s*([a-z]+)")
_DURATION = re.compile(rf"(?:{_PART}[\s,]*(?:and\s+)?)+|{_NUMBER}(?![0-9])")
_ANNOUNCED = re.compile(
    rf"(?:quotaresetdelay|retrydelay|retry\s+after|(?:again|retry|resets?)\s+in)\W{{0,8}}({_DURATION.pattern})"
)
_ABSOLUTE = frozenset({"reset_at", "resets_at", "retry_until"})
_RELATIVE = frozenset({"retry_after", "retry_after_seconds", "resets_in_seconds"})
_MAX_DEPTH = 6
_MAX_TEXT = 64 * 1024


def read_moment(value: object) -> float | None:
    """Seconds since 1970 from a number of seconds or milliseconds, or from ISO 8601; None when it is no moment.

    Example:
        >>> [read_moment(value) for value in (5, "5", 1_700_000_000_000, "2023-11-14T22:13:20Z", "soon", True)]
        [5.0, 5.0, 1700000000.0, 1700000000.0, None, None]
    """
    if isinstance(value, str):
        try:
            return read_moment(float(value))
        except ValueError:
            return _read_date(value.strip())
    if not is_number(value) or value < 0:
        return None
    return value / 1000 if value > _MILLISECONDS else float(value)


def _read_date(text: str) -> float | None:
    try:
        read = datetime.fromisoformat(text)
        moment = (read if read.tzinfo else read.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None
    return moment if moment >= 0 else None


def read_duration(text: str) -> float | None:
    """Seconds from ``30``, ``30s``, ``1m30s``, ``250ms`` or ``2hr 5min``; None when it is no duration.

    Example:
        >>> [read_duration(text) for text in ("30", "1m30s", "250ms", "2hr 5min", "soon")]
        [30.0, 90.0, 0.25, 7500.0, None]
    """
    text = text.strip().lower()
    if not _DURATION.fullmatch(text):
        return None
    parts = _PARTS.findall(text)
    return sum(float(number) * _UNITS[unit] for number, unit in parts) if parts else float(text)


def reset_moment(headers: Mapping[str, str], body: bytes | str, now: float) -> float | None:
    """When a provider that refused a request says to come back, in seconds since 1970; None when it does not say.

    ``Retry-After`` counts first, then the reset headers of the limits that are used up, then what the body says
    in its fields or in words.

    Args:
        headers: Of the answer, their names in lower case.
        body: Of the answer.
        now: The time.

    Example:
        >>> reset_moment({"retry-after": "30"}, b"", now=1000.0)
        1030.0
        >>> reset_moment({}, b'{"error": {"message": "Rate limit. Please try again in 1m30s."}}', now=1000.0)
        1090.0
    """
    found = read_retry_after(headers.get("retry-after", ""), now)
    if found is None:
        found = _of_limits(headers, now)
    if found is None:
        found = _in_body(body, now)
    return None if found is None else min(max(found, now), now + LONGEST)


def read_retry_after(text: str, now: float) -> float | None:
    """When ``Retry-After`` says to come back, in seconds since 1970; None when it says nothing.

    Example:
        >>> [read_retry_after(text, now=1000.0) for text in ("30", "Thu, 01 Jan 1970 00:20:00 GMT", "soon")]
        [1030.0, 1200.0, None]
    """
    seconds = read_duration(text)
    if seconds is not None or not text:
        return None if seconds is None else now + seconds
    from email.utils import parsedate_to_datetime

    try:
        return max(parsedate_to_datetime(text).timestamp(), now)
    except (ValueError, OverflowError):
        return None


def _of_limits(headers: Mapping[str, str], now: float) -> float | None:
    """The reset headers: of limits that are used up the last, of limits that do not say the first."""
    used_up: list[float] = []
    unknown: list[float] = []
    for name, value in headers.items():
        if "ratelimit" not in name or "reset" not in name:
            continue
        moment = _moment_or_duration(value, now)
        left = headers.get(name.replace("reset", "remaining"))
        if moment is not None and (left is None or left.strip() in ("0", "0.0")):
            (unknown if left is None else used_up).append(moment)
    return max(used_up) if used_up else min(unknown, default=None)


def _moment_or_duration(value: object, now: float) -> float | None:
    seconds = read_duration(value) if isinstance(value, str) else read_moment(value)
    if seconds is None:
        return read_moment(value)
    if seconds > _MOMENT:
        return read_moment(seconds)
    return now + seconds


def _in_body(body: bytes | str, now: float) -> float | None:
    """What the fields of a JSON body say, at any depth, else what its words do."""
    text = (body.decode("utf-8", "replace") if isinstance(body, bytes) else body)[:_MAX_TEXT]
    try:
        fields = dict(_fields(json.loads(text)))
    except (ValueError, RecursionError):
        fields = {}
    found = [read_moment(fields[name]) for name in _ABSOLUTE & fields.keys()]
    found += [_moment_or_duration(fields[name], now) for name in _RELATIVE & fields.keys()]
    moments = [moment for moment in found if moment is not None]
    if not moments:
        moments = [moment for moment in [_of_limits(_texts(fields), now)] if moment is not None]
    if moments:
        return max(moments)
    said = _ANNOUNCED.search(text.lower())
    seconds = read_duration(said[1].rstrip(" ,\n\t").removesuffix("and")) if said else None
    return None if seconds is None else now + seconds


def _fields(node: Any, depth: int = 0) -> Iterator[tuple[str, Any]]:
    """Every field of a JSON value, below lists and objects too."""
    if depth > _MAX_DEPTH:
        return
    if isinstance(node, Mapping):
        for name, value in node.items():
            yield name.lower(), value
            yield from _fields(value, depth + 1)
    elif isinstance(node, list):
        for value in node:
            yield from _fields(value, depth + 1)


def _texts(fields: Mapping[str, Any]) -> dict[str, str]:
    return {name: str(value) for name, value in fields.items() if isinstance(value, str | int | float)}


def resting_until(entry: Mapping[str, Any], *, is_only_one: bool, cooldown: float) -> float:
    """When a stored entry that was refused may be used again, in seconds since 1970; 0 when it was not.

    The only credential there is rests briefly: what a provider says about it counts up to ``cooldown``, and
    after a rate limit without such a word it is a minute.

    Args:
        entry: As ``auth.json`` has it.
        is_only_one: Whether no other credential could answer meanwhile.
        cooldown: Seconds, when the provider does not say.

    Example:
        >>> limited = {"last_status": "exhausted", "last_status_at": 1000, "last_error_code": 429}
        >>> [resting_until(limited, is_only_one=alone, cooldown=3600) for alone in (False, True)]
        [4600.0, 1060.0]
    """
    if entry.get("last_status") != "exhausted":
        return 0.0
    since = read_moment(entry.get("last_status_at")) or 0.0
    reset = read_moment(entry.get("last_error_reset_at"))
    code = entry.get("last_error_code")
    if reset is not None:
        return min(reset, since + cooldown) if is_only_one else reset
    usual = REFUSED_COOLDOWN if code == 401 else cooldown
    return since + (min(usual, ONLY_ONE_COOLDOWN) if is_only_one and code == 429 else usual)


def error_code(body: bytes | str) -> str:
    """The word or number a provider's error goes by, in lower case; ``""`` when it has none.

    Example:
        >>> error_code('{"error": {"code": "token_revoked", "message": "…"}}'), error_code('{"error": "invalid_grant"}')
        ('token_revoked', 'invalid_grant')
    """
    try:
        node = json.loads(body[:_MAX_TEXT])
    except (ValueError, RecursionError):
        return ""
    error = node.get("error", node) if isinstance(node, Mapping) else None
    named = [error.get("code"), error.get("type")] if isinstance(error, Mapping) else [error]
    return next((str(word).lower()[:80] for word in named if isinstance(word, str | int) and word), "")
