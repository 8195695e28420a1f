"""The one rule for what counts as true, and the one for what counts as a number."""

from __future__ import annotations

import math
from typing import TypeGuard

TRUE_WORDS = frozenset({"1", "true", "yes", "on"})
FALSE_WORDS = frozenset({"0", "false", "no", "off"})


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


def as_bool(value: object) -> bool | None:
    """A switch as it is written: true, false, yes, no, on, off, 1, 0; None for everything else.

    Example:
        >>> [as_bool(value) for value in (False, " Off ", 1, "maybe", None)]
        [False, False, True, None, None]
    """
    if is_true(value):
        return True
    if isinstance(value, str):
        return False if value.strip().lower() in FALSE_WORDS else None
    return False if isinstance(value, bool | int | float) and value == 0 else None


def is_number(value: object) -> TypeGuard[int | float]:
    """Whether ``value`` is a finite number that a float can hold; True and False are none.

    Example:
        >>> [is_number(value) for value in (1, 0.5, True, "1", float("nan"), 10**400)]
        [True, True, False, False, False, False]
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:
        return False
