"""The one rule for what counts as true."""

from __future__ import annotations

TRUE_WORDS = frozenset({"1", "true", "yes", "on"})


def is_true(value: object) -> bool:
    """True for ``True``, the number 1 and the words true, yes, on, 1; false for everything else.

    Security flags and environment flags both use it, so a quoted ``"false"`` never opens a gate.

    Example:
        >>> [is_true(value) for value in (True, " Yes ", 1, "false", 2, [True])]
        [True, True, True, False, False, False]
    """
    if isinstance(value, str):
        return value.strip().lower() in TRUE_WORDS
    return isinstance(value, bool | int | float) and value == 1
