"""Warnings that are said once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hermes_core.config.redact import redact

if TYPE_CHECKING:
    import logging

_said: set[str] = set()


def warn_once(log: logging.Logger, message: str, *values: object) -> None:
    """Log a warning, once a process."""
    text = redact(message % values)
    if text not in _said:
        _said.add(text)
        log.warning("%s", text)
