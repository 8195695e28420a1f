"""Choosing one of many on a terminal: what is typed narrows the list down."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from hermes_core.cli.asking import Cancelled, ask, confirm
from hermes_core.cli.output import print_line
from hermes_core.config.redact import one_line, redact_known

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
    def line(self) -> str:
        """How it is shown."""
        return one_line(redact_known(f"{self.value:<30}  {self.note}".rstrip()))


def pick_one(question: str, options: Sequence[Option], *, default: str = "", own: str = "") -> str:
    """The value of the option that is chosen: by moving and typing, or by number without the extra ``chat``.

    Args:
        question: What is asked.
        options: What there is.
        default: The value that Enter alone means.
        own: Asks for an answer of one's own; ``""`` when it must be one of the options.

    Raises:
        KeyboardInterrupt: The question was called off.
        Cancelled: The terminal was closed.
    """
    try:
        import questionary
    except ImportError:
        return _numbered(question, options, default, own)
    choices = [questionary.Choice(option.line, option.value) for option in options]
    if own:
        choices.append(questionary.Choice(f"({own})", OWN))
    known: Any = next((choice for choice in choices if choice.value == default), None)
    asked = questionary.select(
        question, choices, default=known, use_search_filter=True, use_jk_keys=False, instruction="(type to filter)"
    )
    try:
        chosen = str(asked.unsafe_ask())
    except EOFError:
        raise Cancelled("cancelled; nothing was written") from None
    return ask(own, str.strip) if chosen == OWN else chosen


def _numbered(question: str, options: Sequence[Option], default: str, own: str) -> str:
    """The same by number: a word narrows the list down, and a value may be typed whole."""
    left = list(options)
    while True:
        for number, option in enumerate(left[:SHOWN], 1):
            print_line(f"  {number:>2}  {option.line}")
        if len(left) > SHOWN:
            print_line(f"      … and {len(left) - SHOWN} more: type a part of the name")
        word = ask(f"{question}: a number, or a part of the name", lambda text: text.strip() or default, default)
        if word.isdecimal() and 1 <= int(word) <= min(len(left), SHOWN):
            return left[int(word) - 1].value
        if any(option.value == word for option in options):
            return word
        found = [option for option in options if word.lower() in option.line.lower()]
        if len(found) == 1 and word:
            return found[0].value
        if not found and word and own and confirm(f"{word!r} is not among them; take it as it is?", default=True):
            return word
        if not found:
            print_line(f"nothing holds {word!r}")
        left = found or list(options)
