"""Taking secrets out of an error before anybody outside the host gets to see it."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from hermes_core.config.redact import redact

if TYPE_CHECKING:
    from types import TracebackType

OWN_FRAMES = ("hermes_core.", "httpcore", "h11", "anyio")
"""Modules that handle keys; what their functions held when they failed is forgotten."""

IN_SLOTS = ("object", "reason", "filename", "filename2", "strerror", "text", "msg", "name", "path", "code", "value")
"""Attributes that some of Python's own errors keep outside their ``__dict__``."""


def scrub(error: BaseException) -> None:
    """Take every secret out of an error and the errors behind it, in place.

    Their arguments, notes and attributes are redacted, and the variables of the host's own frames are cleared, since
    there are tools that print or send them with a traceback. A plugin's frames and objects are left alone.
    """
    found, seen = [error], set[int]()
    while found:
        current = found.pop()
        if id(current) in seen:
            continue
        seen.add(id(current))
        found += [cause for cause in (current.__cause__, current.__context__) if cause is not None]
        found += getattr(current, "exceptions", ())
        with suppress(Exception):
            current.args = _clean(current.args)
        for name in (*vars(current), *IN_SLOTS):
            with suppress(Exception):
                value = getattr(current, name)
                cleaned = _clean(value)
                if cleaned != value:
                    setattr(current, name, cleaned)
        _clear(current.__traceback__)


def _clean(value: Any) -> Any:
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, bytes | bytearray):
        text = value.decode("latin-1")
        return value if redact(text) == text else redact(text).encode("latin-1")
    if isinstance(value, dict):
        return {_clean(key): _clean(item) for key, item in value.items()}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*map(_clean, value))
    if type(value) in (tuple, list, set, frozenset):
        return type(value)(map(_clean, value))
    return value


def _clear(traceback: TracebackType | None) -> None:
    while traceback is not None:
        if traceback.tb_frame.f_globals.get("__name__", "").startswith(OWN_FRAMES):
            with suppress(RuntimeError):  # it is still running
                traceback.tb_frame.clear()
        traceback = traceback.tb_next
