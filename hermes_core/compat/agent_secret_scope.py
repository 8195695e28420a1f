"""Secrets of one context, under the original's names; they are looked up in the current host's home."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hermes_core.compat import hosts as _hosts  # noqa: F401 - makes the default host known
from hermes_core.config.redact import register_secret
from hermes_core.config.scope import current_secret_scope, reset_secret_scope, set_secret_scope
from hermes_core.errors import UnscopedSecretError
from hermes_core.plugins import current

if TYPE_CHECKING:
    from typing import TypeVar

    T = TypeVar("T")

__all__ = [
    "UnscopedSecretError",
    "current_secret_scope",
    "get_secret",
    "get_secret_str",
    "reset_secret_scope",
    "set_secret_scope",
]


def get_secret(name: str, default: T = None) -> str | T:  # type: ignore[assignment]
    """A secret: of the context's scope, of the home's ``.env``, of the process, or ``default``.

    Raises:
        UnscopedSecretError: The process serves several people, and no scope says whose is meant.
    """
    value: str = current.host().environment.credential(name)
    register_secret(value)
    return value or default


def get_secret_str(name: str, default: str = "") -> str:
    """As ``get_secret``; always text."""
    return get_secret(name, default)
