"""Doing without a parameter that a provider refuses: sent once more without it, and remembered."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from hermes_core.llm.request import plain_message

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hermes_core.errors import ProviderStatusError
    from hermes_core.types.wire import WireRequest

MOST_CHANGES = 3
"""Parameters that one call tries to do without."""

_REFUSED = re.compile(
    r"unsupported|not support|n.t support|unknown|unrecogni[sz]ed|unexpected|not permitted|not allowed|deprecated"
    r"|invalid (?:parameter|argument|field)|not a valid|extra (?:inputs|fields)|no longer|only the default"
    r"|cannot be (?:set|used|specified)|must (?:be )?(?:omit|not be)|remove (?:the|this)|not accepted|does not accept",
    re.IGNORECASE,
)


def change_for(error: ProviderStatusError, request: WireRequest) -> str:
    """What to change about a request that was refused; ``""`` when nothing is known to help.

    Example:
        >>> from hermes_core.errors import InvalidRequestError
        >>> from hermes_core.types.wire import WireRequest
        >>> request = WireRequest(base_url="https://api.acme.test", model="m", messages=[], temperature=0.5)
        >>> change_for(InvalidRequestError("Unsupported parameter: 'temperature'", status_code=400), request)
        'temperature'
    """
    if error.status_code not in (400, 422):
        return ""
    text = f"{error} {error.body}"
    refused = bool(_REFUSED.search(text))
    if request.max_tokens is not None and _names(text, "max_tokens", "max_completion_tokens"):
        if request.max_tokens_field == "max_tokens" and _names(text, "max_completion_tokens"):
            return "max_completion_tokens"
        if refused and _names(text, request.max_tokens_field):
            return "max_tokens"
    wanted = request.response_format
    if wanted is not None and _names(text, "grammar", "response_format", "json_schema", "json_object"):
        if _names(text, "grammar") and _loosened(wanted) != wanted:  # a server that makes a grammar of the schema
            return "loose_schema"
        return "json_object" if wanted["type"] == "json_schema" else "response_format"
    if refused and request.temperature is not None and _names(text, "temperature"):
        return "temperature"
    for name in request.extra:
        if refused and _names(text, name):
            return f"extra:{name}"
    if any(_is_tool_list(message) for message in request.messages):
        return "tool_text"  # servers word this one in any way they like
    return ""


def changed(request: WireRequest, changes: Iterable[str]) -> WireRequest:
    """A request with changes that ``change_for`` named."""
    for change in changes:
        kind, _, name = change.partition(":")
        if kind == "max_completion_tokens":
            request = request._replace(max_tokens_field=kind)
        elif kind == "max_tokens":
            request = request._replace(max_tokens=None)
        elif kind == "loose_schema":
            request = request._replace(response_format=_loosened(request.response_format))
        elif kind == "json_object":
            request = request._replace(response_format={"type": kind})
        elif kind == "response_format":
            request = request._replace(response_format=None)
        elif kind == "temperature":
            request = request._replace(temperature=None)
        elif kind == "extra":
            request = request._replace(extra={key: value for key, value in request.extra.items() if key != name})
        elif kind == "tool_text":
            request = request._replace(
                messages=[plain_message(message, tool_lists=False) for message in request.messages]
            )
    return request


def _loosened(schema: Any) -> Any:
    """A schema without what many a grammar cannot say, ``pattern`` and ``format``; properties of that name stay."""
    if isinstance(schema, Mapping):
        loose = ("pattern", "format")
        return {
            name: _loosened(value) for name, value in schema.items() if name not in loose or not isinstance(value, str)
        }
    return [_loosened(item) for item in schema] if isinstance(schema, list | tuple) else schema


def _names(text: str, *names: str) -> bool:
    """Whether the text names one of them, as a word of its own."""
    return any(re.search(rf"(?<![\w.]){re.escape(name)}(?!\w)", text) for name in names)


def _is_tool_list(message: dict[str, Any]) -> bool:
    return message.get("role") == "tool" and isinstance(message.get("content"), list)
