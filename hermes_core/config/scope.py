"""Secrets that count in one context alone, for a program that serves several people."""

from __future__ import annotations

from contextvars import ContextVar, Token
from typing import TYPE_CHECKING, TypeAlias

from hermes_core.errors import UnscopedSecretError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

Scope: TypeAlias = "Mapping[str, str] | None"

_scope: ContextVar[Scope] = ContextVar("hermes_secret_scope", default=None)
_multiplexing = False

SHARED = frozenset({"HOME", "LANG", "PATH", "SHELL", "TERM", "TMPDIR", "TZ", "USER"})
"""Variables that are nobody's secret; those that begin with ``HERMES_`` are none either."""


def set_secret_scope(secrets: Mapping[str, str]) -> Token[Scope]:
    """Let ``secrets`` be looked up first in this context; hand the token to ``reset_secret_scope``.

    A thread does not inherit the context of the one that starts it: run its work in a copy.

    Example:
        >>> token = set_secret_scope({"ACME_API_KEY": "k-of-ann"})
        >>> scoped("ACME_API_KEY", lambda name: "k-of-the-process")
        'k-of-ann'
        >>> reset_secret_scope(token)
        >>> scoped("ACME_API_KEY", lambda name: "k-of-the-process")
        'k-of-the-process'
    """
    return _scope.set(dict(secrets))


def reset_secret_scope(token: Token[Scope]) -> None:
    """Undo ``set_secret_scope``."""
    _scope.reset(token)


def current_secret_scope() -> Scope:
    """The context's secrets, or None outside any scope."""
    return _scope.get()


def set_multiplexing(on: bool) -> None:
    """Say whether this process serves several people: then a scope alone gives secrets, and nothing behind it."""
    global _multiplexing  # noqa: PLW0603 - it is the process that serves them
    _multiplexing = on


def scoped(name: str, look_up: Callable[[str], str]) -> str:
    """A secret of the context's scope, else what ``look_up`` finds.

    Raises:
        UnscopedSecretError: The process serves several people, and no scope says whose secret is meant.
    """
    scope = _scope.get()
    if (scope is None and not _multiplexing) or name in SHARED or name.startswith("HERMES_"):
        return look_up(name)
    if scope is None:
        message = f"{name} was asked for outside any secret scope, in a process that serves several people"
        raise UnscopedSecretError(message, hint="call set_secret_scope() round the work that is done for one of them")
    value = scope.get(name)
    if value is None:
        return "" if _multiplexing else look_up(name)
    return value.strip()
