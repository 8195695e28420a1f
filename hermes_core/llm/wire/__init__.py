"""Wire formats, one module each: pure encode and decode."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hermes_core.types.wire import ApiMode

OWN = ("chat_completions", "anthropic_messages", "codex_responses", "gemini", "bedrock_converse")
"""The host's own formats: each is a module here, and in it the constant of that name in capitals."""


class Wires(Mapping[str, "ApiMode"]):
    """Wire formats by name: those that plugins offer, then the host's own, imported when first asked for.

    Example:
        >>> Wires({})["chat_completions"].name
        'chat_completions'
    """

    def __init__(self, offered: Mapping[str, ApiMode]) -> None:
        self._offered = offered

    def __getitem__(self, name: str) -> ApiMode:
        if name in self._offered:
            return self._offered[name]
        return _own(name)

    def __iter__(self) -> Iterator[str]:
        yield from dict.fromkeys((*OWN, *self._offered))

    def __len__(self) -> int:
        return len({*OWN, *self._offered})


@cache
def _own(name: str) -> ApiMode:
    if name not in OWN:
        raise KeyError(name)
    mode: ApiMode = getattr(import_module(f"{__name__}.{name}"), name.upper())
    return mode
