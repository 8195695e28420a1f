"""Questions on a terminal: one of several, a line of text, yes or no. Nothing is done before they are all answered."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, NamedTuple

from hermes_core.config.redact import one_line, redact_known
from hermes_core.errors import HermesError

if TYPE_CHECKING:
    from collections.abc import Sequence

SHOWN = 20
"""How many options a numbered list shows at once."""

OWN = "\0own"
"""Stands for an answer that is not among the options."""


class Option(NamedTuple):
    """One thing to choose: its value, and what is said of it."""

    value: str
    note: str = ""

    @property
    def said(self) -> str:
        """What is said of it, as it is shown."""
        return one_line(redact_known(self.note))

    @property
    def line(self) -> str:
        """How it is shown in a list of lines."""
        return f"{one_line(redact_known(self.value)):<30}  {self.said}".rstrip()


def is_interactive() -> bool:
    """Whether somebody can be asked: both ends are a terminal."""
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout))


def choose(question: str, options: Sequence[Option], *, default: str = "", own: str = "") -> str:
    """The value of the option that is chosen. One types to narrow them down.

    Args:
        question: What is asked.
        options: What there is.
        default: The value that Enter alone means.
        own: Asks for an answer of one's own; ``""`` when it must be one of the options.

    Raises:
        KeyboardInterrupt: The question was called off.
        HermesError: The terminal was closed.
    """
    try:
        import questionary
    except ImportError:
        return _numbered(question, options, default, own)
    choices = [questionary.Choice(option.value, option.value, description=option.said) for option in options]
    if own:
        choices.append(questionary.Choice(f"({own})", OWN))
    known = next((choice for choice in choices if choice.value == default), None)
    asked = questionary.select(
        question, choices, default=known, use_search_filter=True, use_jk_keys=False, instruction="(type to filter)"
    )
    keys: Any = asked.application.key_bindings
    keys.add("c-d", eager=True)(lambda event: event.app.exit(exception=EOFError))
    chosen = str(_ask(asked))
    return ask(own) if chosen == OWN else chosen


def ask(question: str, default: str = "") -> str:
    """A line of text, trimmed; ``default`` when it is empty.

    Raises:
        KeyboardInterrupt: The question was called off.
        HermesError: The terminal was closed.
    """
    shown = f"{question} [{default}]: " if default else f"{question}: "
    try:
        return input(shown).strip() or default
    except EOFError:
        raise HermesError("the question was not answered", hint="nothing was written; try again") from None


def confirm(question: str, *, default: bool = True) -> bool:
    """Yes or no; Enter alone means ``default``."""
    while True:
        word = ask(f"{question} ({'Y/n' if default else 'y/N'})").lower()
        if word in ("", "y", "yes", "n", "no"):
            return default if not word else word.startswith("y")
        print("answer y or n")


def _ask(question: object) -> object:
    try:
        return question.unsafe_ask()  # type: ignore[attr-defined]
    except EOFError:
        raise HermesError("the question was not answered", hint="nothing was written; try again") from None


def _numbered(question: str, options: Sequence[Option], default: str, own: str) -> str:
    """The same by number: a word narrows the list down, and a value may be typed whole."""
    left = list(options)
    while True:
        for number, option in enumerate(left[:SHOWN], 1):
            print(f"{number:>4}  {option.line}")
        if len(left) > SHOWN:
            print(f"      … and {len(left) - SHOWN} more: type a part of the name")
        word = ask(f"{question}: a number, or a part of the name", default)
        if word.isdecimal() and 1 <= int(word) <= min(len(left), SHOWN):
            return left[int(word) - 1].value
        if any(option.value == word for option in options):
            return word
        found = [option for option in options if word.lower() in option.line.lower()]
        if len(found) == 1 and word:
            return found[0].value
        if not found and word and own and confirm(f"{word!r} is not among them; take it as it is?"):
            return word
        if not found:
            print(f"nothing holds {word!r}")
        left = found or list(options)
