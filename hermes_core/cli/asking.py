"""Asking for what has to be of some kind, and reading secrets so that they are never shown."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, TypeVar

from hermes_core.cli.output import print_line
from hermes_core.cli.picker import ask
from hermes_core.errors import HermesError

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")
MAX_PIPED = 64 * 1024


def ask_until(question: Callable[[], str], read: Callable[[str], T]) -> T:
    """Ask until ``read`` takes the answer; what it says against one is shown.

    Args:
        question: Asks, and returns the answer as it was typed.
        read: Makes a value of it; raises HermesError when it cannot.

    Raises:
        KeyboardInterrupt: The question was called off.
        HermesError: The terminal was closed, or would show the secret.
    """
    while True:
        answer = question()
        try:
            return read(answer)
        except HermesError as error:
            print_line(f"  {error}" + (f" ({error.hint})" if error.hint else ""))


def ask_value(label: str, read: Callable[[str], T], default: str = "") -> T:
    """Ask for a value; ``read`` gets ``default`` for a blank answer."""
    return ask_until(lambda: ask(label, default), read)


def ask_secret(label: str, read: Callable[[str], T]) -> T:
    """Ask for a secret, which is not shown; ``read`` gets ``""`` for a blank answer."""
    return ask_until(lambda: _typed_secret(f"{label} (it is not shown): ").strip(), read)


def read_secret(label: str) -> str:
    """A secret from the terminal, where it is not shown, or from a pipe.

    Raises:
        HermesError: The terminal would show it, or the pipe holds no text.
    """
    if sys.stdin is not None and sys.stdin.isatty():
        return _typed_secret(f"{label} (it is not shown): ")
    if sys.stdin is None:
        raise HermesError("there is no key", hint="type it at a terminal, or pipe it in")
    try:
        return sys.stdin.buffer.read(MAX_PIPED).decode("utf-8-sig")
    except UnicodeError:
        raise HermesError("standard input is not UTF-8 text", hint="pipe the key alone in") from None


def _typed_secret(prompt: str) -> str:
    import getpass
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("error", getpass.GetPassWarning)
        try:
            return getpass.getpass(prompt)
        except getpass.GetPassWarning as error:
            raise HermesError("this terminal would show the key", hint="pipe it in instead") from error
        except EOFError as error:
            raise HermesError("there is no key", hint="paste it, and press Enter") from error
