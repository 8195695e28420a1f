"""Which of the arguments that the host offers a provider's method takes: older providers know fewer."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
_PLACED = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def fitted(
    method: Callable[..., Any], args: tuple[Any, ...], options: Mapping[str, Any], by_place: str = ""
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments to call ``method`` with.

    Args:
        method: Bound, so without its ``self``. One that cannot be looked into is given everything.
        args: What it is always given, by position.
        options: What it is given under the names that it knows.
        by_place: The option that it is given by position where it has room for one more, and another name for it.

    Example:
        >>> fitted(lambda query: None, ("tea",), {"session_id": "s1"})
        (('tea',), {})
        >>> fitted(lambda action, target, content, extra: None, ("add", "user", "tea"), {"metadata": {}}, "metadata")
        (('add', 'user', 'tea', {}), {})
    """
    try:
        parameters = [*inspect.signature(method).parameters.values()]
    except (TypeError, ValueError):
        return args, dict(options)
    kinds = {parameter.kind for parameter in parameters}
    places = [parameter for parameter in parameters if parameter.kind in _PLACED]
    taken = {parameter.name for parameter in places[: len(args)]}
    known = {parameter.name for parameter in parameters if parameter.kind in _NAMED} - taken
    has_room = len(places) > len(args) or (
        inspect.Parameter.VAR_POSITIONAL in kinds and inspect.Parameter.VAR_KEYWORD not in kinds
    )
    chosen = {name: value for name, value in options.items() if name in known or inspect.Parameter.VAR_KEYWORD in kinds}
    if by_place in options and by_place not in known and has_room:
        args = (*args, options[by_place])
        chosen.pop(by_place, None)
    return args, chosen
