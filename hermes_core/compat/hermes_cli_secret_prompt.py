"""Asking for a secret, under the original's name."""

from __future__ import annotations

from getpass import getpass

__all__ = ["masked_secret_prompt"]


def masked_secret_prompt(prompt: str = "") -> str:
    """Ask for a secret on the terminal; nothing of it is shown."""
    return getpass(prompt)
