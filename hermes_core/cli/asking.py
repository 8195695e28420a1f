"""Asking at the terminal, and reading secrets so that they are never shown."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, TypeVar

from hermes_core.cli.output import print_line, print_text
from hermes_core.config.truth import as_bool
from hermes_core.errors import HermesError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

T = TypeVar("T")
MAX_PIPED = 64 * 1024


class Cancelled(HermesError):  # noqa: N818 - nothing went wrong
    """The user ended the questions."""


def can_ask() -> bool:
    """Whether somebody sits at a terminal."""
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout))


def ask(label: str, read: Callable[[str], T], shown_default: str = "") -> T:
    """Ask until the answer can be read; a blank one stands for what ``read`` makes of ``""``.

    Raises:
        Cancelled: The user pressed Ctrl-D.
    """
    prompt = f"{label} [{shown_default}]: " if shown_default else f"{label}: "
    while True:
        try:
            return read(_line(prompt))
        except Cancelled:
            raise
        except HermesError as error:
            print_line(f"  {error}" + (f" ({error.hint})" if error.hint else ""))


def confirm(question: str, *, default: bool) -> bool:
    """Ask for yes or no.

    Raises:
        Cancelled: The user pressed Ctrl-D.
    """

    def read(text: str) -> bool:
        word = text.strip().lower()
        said = {"": default, "y": True, "n": False}.get(word, as_bool(word))
        if said is None:
            raise HermesError("answer yes or no")
        return said

    return ask(question, read, "Y/n" if default else "y/N")


def choose(label: str, options: Sequence[tuple[str, str]], default: int) -> int:
    """Have one of several options chosen, by its number or its name; returns its place.

    Args:
        label: What is chosen.
        options: Name and description of each.
        default: The place of the one that a blank answer stands for.

    Raises:
        Cancelled: The user pressed Ctrl-D.
    """
    width = max(len(name) for name, _ in options)
    for number, (name, line) in enumerate(options, 1):
        print_line(f"  {number:>2}  {name:<{width}}  {line}".rstrip())
    names = [name.lower() for name, _ in options]

    def read(text: str) -> int:
        word = text.strip().lower()
        if not word:
            return default
        if word in names:
            return names.index(word)
        if word.isdecimal() and 1 <= int(word) <= len(options):
            return int(word) - 1
        raise HermesError(f"choose a number from 1 to {len(options)}")

    return ask(label, read, str(default + 1))


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


def ask_secret(label: str, read: Callable[[str], Any]) -> Any:
    """Ask for a secret until it can be read; a blank one stands for what ``read`` makes of ``""``."""
    while True:
        try:
            return read(_typed_secret(f"{label} (it is not shown): "))
        except Cancelled:
            raise
        except HermesError as error:
            print_text(f"  {error}")


def _typed_secret(prompt: str) -> str:
    import getpass
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("error", getpass.GetPassWarning)
        try:
            return getpass.getpass(prompt)
        except getpass.GetPassWarning as error:
            raise Cancelled("this terminal would show the key", hint="pipe it in instead") from error
        except EOFError as error:
            raise Cancelled("there is no key", hint="paste it, and press Enter") from error


def _line(prompt: str) -> str:
    try:
        return input(prompt)
    except EOFError:
        print_text("")
        raise Cancelled("cancelled; nothing was saved") from None
    except UnicodeError:
        raise HermesError("that is no text") from None
