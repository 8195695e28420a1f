"""The order in which implementations of a hook are called: pluggy's own."""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from hermes_core.plugins.plugin import Plugin

TRYFIRST, PLAIN, TRYLAST = range(3)
"""Pluggy's bands, in the order they are called."""


def call_position(rank: tuple[int, int], band: int = PLAIN) -> tuple[int, int, int]:
    """Where pluggy would call an implementation, had all plugins been registered in rank order.

    The last registered is called first; in the trylast band it is called last.

    Example:
        >>> bundled, user = (0, 7), (3, 9)
        >>> call_position(user) < call_position(bundled)
        True
        >>> call_position(user, TRYLAST) > call_position(bundled, TRYLAST)
        True
    """
    tier, order = rank
    return (band, tier, order) if band == TRYLAST else (band, -tier, -order)


class Implementation(NamedTuple):
    """One plugin's implementation of one hook."""

    plugin: Plugin
    position: tuple[int, int, int]
    argnames: Sequence[str]
    function: Callable[..., Any]

    def call(self, known: Mapping[str, Any]) -> Any:
        """Call it with what it asks for by name; another argument, which has a default of its own, is left alone."""
        names = iter(self.argnames)
        leading = [known[name] for name in takewhile(known.__contains__, names)]
        return self.function(*leading, **{name: known[name] for name in names if name in known})
