"""Warnings that are said once."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import logging

_said: set[str] = set()


def warn_once(log: logging.Logger, message: str, *values: object) -> None:
    """Log a warning, once a process."""
    text = message % values
    if text not in _said:
        _said.add(text)
        log.warning("%s", text)
