"""What a provider's own setup takes from the original's, under its names; see ``docs/memory-providers.md``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hermes_core.cli.asking import ask_secret
from hermes_core.cli.picker import Option, ask, choose
from hermes_core.config.env_file import write_env
from hermes_core.errors import ConfigError, HermesError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

__all__ = [
    "_CANCELLED",
    "_curses_select",
    "_print_cancelled_setup",
    "_prompt",
    "_write_env_vars",
    "cmd_setup_provider",
]

_CANCELLED = -1
"""What ``_curses_select`` gives when the user leaves."""


def _prompt(label: str, default: str | None = None, secret: bool = False) -> str:
    """Ask for a text, or for a secret that is not shown; a blank answer stands for ``default``."""
    return (ask_secret(label, str) or str(default or "")) if secret else ask(label, str(default or ""))


def _curses_select(
    title: str, items: Sequence[Any], default: int = 0, *, cancel_returns: int | None = None, **_newer: Any
) -> int:
    """Have one of several lines chosen, each a text or a text with its description; its place, from 0."""
    pairs = [(item, "") if isinstance(item, str) else (*map(str, item), "") for item in items]
    options = [Option(pair[0], pair[1]) for pair in pairs]
    try:
        chosen = choose(title, options, default=options[default].value)
        return [option.value for option in options].index(chosen)
    except (KeyboardInterrupt, HermesError):
        return default if cancel_returns is None else cancel_returns


def _print_cancelled_setup(*_args: Any) -> None:
    """Say that nothing was saved."""
    print("cancelled; nothing was saved")  # noqa: T201 - a provider's setup talks to its user


def _write_env_vars(env_path: Path, env_writes: Mapping[str, str]) -> None:
    """Set variables in a ``.env`` file; one whose name or value cannot be written is passed over with a line."""
    for name, value in env_writes.items():
        try:
            write_env(env_path, {name: value})
        except ConfigError as error:
            print(f"not saved: {error}")  # noqa: T201 - a provider's setup talks to its user


def cmd_setup_provider(name: str) -> int:
    """Run ``hermes memory setup NAME``; its exit code."""
    from hermes_core.cli import main

    return main(["memory", "setup", name])
