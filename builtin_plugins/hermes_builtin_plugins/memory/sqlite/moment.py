"""Times as people write them before a message, and as they are shown and searched for."""

from __future__ import annotations

from datetime import datetime
from functools import lru_cache

_FORMATS = (
    "%d %B %Y %H:%M", "%d %B %Y", "%d %b %Y %H:%M", "%d %b %Y", "%B %d, %Y", "%Y/%m/%d %H:%M", "%Y/%m/%d (%a) %H:%M",
    "%d.%m.%Y %H:%M", "%d.%m.%Y",
)  # fmt: skip


@lru_cache(4096)
def read_time(text: str) -> float | None:
    """Seconds since 1970; None for what is no date.

    Example:
        >>> read_time("8 May 2023 13:56") == read_time("2023-05-08T13:56")
        True
        >>> read_time("chapter 4") is None
        True
    """
    text = text.strip()
    try:
        return datetime.fromisoformat(text).timestamp()
    except (ValueError, OverflowError):
        pass
    for form in _FORMATS:
        try:
            return datetime.strptime(text, form).timestamp()  # noqa: DTZ007 - local time is meant
        except (ValueError, OverflowError):
            continue
    return None


@lru_cache(4096)
def show_day(at: float) -> str:
    """The local date, as it stands above recalled messages.

    Example:
        >>> show_day(read_time("2023-05-08T13:56"))
        '8 May 2023'
    """
    try:
        moment = datetime.fromtimestamp(at)  # noqa: DTZ006 - local time is meant
    except (ValueError, OverflowError, OSError):
        return ""
    return f"{moment.day} {moment:%B %Y}"
