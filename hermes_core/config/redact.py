"""Keeping secrets out of everything the host writes or raises.

A secret is made known where the host reads it, and blanked from then on, however the text that holds it is escaped.
What the host has never read is blanked when it looks like a secret; see ``secret_patterns``.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from functools import lru_cache
from operator import attrgetter
from typing import Any, NamedTuple

from hermes_core.config.secret_patterns import blank_shapes, is_secret_name, is_secret_parameter

REDACTED = "[redacted]"

CONFIGURED = "[configured]"
"""What a list shows in a secret's place."""

PLACEHOLDERS = frozenset(
    "* ** *** changeme your_api_key your_api_key_here your-api-key placeholder example dummy null none".split()
)
"""What people write where a key will stand one day."""

_NO_SECRETS = PLACEHOLDERS | frozenset(
    "password username postgres postgresql lm-studio lm_studio lmstudio llama.cpp no-key no-key-required not-needed "
    "sk-no-key-required redacted configured".split()
)
"""What people write where a server wants any key or password at all; they are ordinary words."""

_SHORT = 8
_UNMISTAKABLE = 20
_HEADER_SECTIONS = ("default_headers", "extra_headers")
# Compiled by `re` when they are first used: the start of the command line needs none of them.
_TELLING_HEADER = r"(?i)auth|key|token|secret|cookie|password"
_REFERENCE = r"\$\{\w+\}"
_SCHEME = r"(?i)(?:bearer|basic|token|apikey)\s+(\S+)"
_RANDOM = r"(?=[a-zA-Z]*\d)(?=\d*[a-zA-Z])[a-zA-Z\d]{20,}"
_CONTROL = r"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]+"


class _Trace(NamedTuple):
    """How a secret is found: a text that holds ``part``, when both are in lower case, may match ``pattern``."""

    part: str
    pattern: str
    length: int


_known: dict[str, _Trace] = {}
_longest_first: list[_Trace] = []


def register_secret(value: str) -> None:
    """Make a secret known; it is blanked from now on, in the whole process.

    What would blank ordinary text is left out: fewer than 4 characters; fewer than 8 that are all letters or all
    digits; a placeholder, or a stand-in such as ``lm-studio``. Other values of fewer than 8 characters are blanked
    only where they stand alone.
    """
    scheme = re.fullmatch(_SCHEME, value)
    secret = scheme[1] if scheme is not None else value.strip()  # a server may repeat it without the word before
    if secret not in _known and _is_telling(secret):
        _known[secret] = _trace(secret)


@lru_cache(256)
def register_address(url: str) -> None:
    """Make known what is secret in an address: its login, some values of its query, a key in its path."""
    from base64 import b64encode
    from urllib.parse import parse_qsl, unquote, urlsplit

    try:
        parts = urlsplit(url)
    except ValueError:
        return
    user, colon, password = map(unquote, parts.netloc.rpartition("@")[0].partition(":"))
    if colon:
        register_secret(password)
        register_secret(b64encode(f"{user}:{password}".encode(errors="replace")).decode())  # as a header sends it
    elif len(user) >= _UNMISTAKABLE:
        register_secret(user)
    for name, value in parse_qsl(parts.query):
        if is_secret_parameter(name):
            register_secret(value)
    for part in parts.path.split("/"):
        if re.search(_RANDOM, part):
            register_secret(unquote(part))


def register_secrets_in(tree: Any, name: str = "") -> None:
    """Make known what is secret in a configuration, going by the names of its keys.

    Args:
        tree: Mappings and lists; ``${NAME}`` in them is no secret, what stands beside it is.
        name: The key that ``tree`` is the value of.
    """
    if isinstance(tree, list):
        for item in tree:
            register_secrets_in(item, name)
    if not isinstance(tree, Mapping):
        return
    for key, value in tree.items():
        word = _text(key)
        if isinstance(value, Mapping | list):
            register_secrets_in(value, word)
        elif "://" in (text := _text(value)):
            register_address(text)
        elif is_secret_name(word) or word == "api" or (name in _HEADER_SECTIONS and re.search(_TELLING_HEADER, word)):
            for part in re.split(_REFERENCE, text):
                register_secret(part)


def _text(value: object) -> str:
    """A value as text; ``""`` for one that cannot be written, which nobody can give away either."""
    try:
        return str(value)
    except Exception:  # noqa: BLE001 - a number may be too long, and an object's own code may raise anything
        return ""


def _is_telling(secret: str) -> bool:
    if len(secret) < _SHORT and (len(secret) < 4 or secret.isalpha() or secret.isdigit()):
        return False
    return secret.lower() not in _NO_SECRETS and re.fullmatch(_REFERENCE, secret) is None


def _trace(secret: str) -> _Trace:
    """Find it as it is, and as JSON, an address, HTML or Python's ``repr`` write it, in one another too."""
    pieces = re.split(r"(?a)([^\w.-])", secret)  # every other one is a character that may be escaped
    pattern = "".join(_escaped(piece) if number % 2 else re.escape(piece) for number, piece in enumerate(pieces))
    if len(secret) < _SHORT:
        pattern = rf"(?<!\w){pattern}(?!\w)"
    return _Trace(max(pieces[::2], key=len).lower(), pattern, len(secret))


def _escaped(character: str) -> str:
    import json

    in_utf8 = character.encode("utf-8", "surrogateescape" if "\udc80" <= character <= "\udcff" else "surrogatepass")
    in_html = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;|&#34;", "'": "&apos;|&#39;|&#x27;", " ": "[+]"}
    forms = [
        rf"\\{{0,7}}{re.escape(character)}",
        rf"\\{{0,7}}{re.escape(json.dumps(character)[1:-1])}",
        "".join(rf"\\{{1,8}}x{byte:02x}" for byte in in_utf8),
        "".join(rf"%(?:25){{0,3}}{byte:02x}" for byte in in_utf8),
        *([in_html[character]] if character in in_html else ()),
    ]
    return f"(?:{'|'.join(forms)})"


def redact(text: str, found: set[str] | None = None) -> str:
    """``text`` without any secret: none the host has read, and none that looks like one.

    Args:
        text: Any text.
        found: Is given each secret that only looked like one.

    Example:
        >>> register_secret("hunter22")
        >>> redact("the key is hunter22, or ?key=0123456789abcdef")
        'the key is [redacted], or ?key=[redacted]'
    """
    low = text.lower()
    return blank_shapes(_without_known(text, low, REDACTED), low, REDACTED, found)


def redact_known(text: str, mark: str = REDACTED) -> str:
    """``text`` without any secret the host has read: for what may well hold examples of others."""
    return _without_known(text, text.lower(), mark)


def redact_answer(body: bytes) -> bytes:
    """A provider's answer without any secret the host has read that is too long to stand there by chance."""
    low = body.lower()
    for secret in _by_length():
        if secret.length < _UNMISTAKABLE:
            break
        if secret.part.encode() in low:
            text = re.sub(secret.pattern, REDACTED, body.decode("utf-8", "surrogateescape"), flags=re.IGNORECASE)
            body = text.encode("utf-8", "surrogateescape")
    return body


def _without_known(text: str, low: str, mark: str) -> str:
    for part, pattern, _ in _by_length():
        if part in low:
            text = re.sub(pattern, mark, text, flags=re.IGNORECASE)
    return text


def _by_length() -> list[_Trace]:
    """The known secrets, the longest first: one may begin with another."""
    global _longest_first  # noqa: PLW0603 - one memory a process, whatever hosts it has
    traces = _longest_first
    if len(traces) != len(_known):  # asked so, a secret that another thread adds meanwhile is not missed later
        traces = _longest_first = sorted(_known.copy().values(), key=attrgetter("length"), reverse=True)
    return traces


def one_line(text: str) -> str:
    """``text`` without line breaks and other characters that a terminal or a reader of lines would act on."""
    return re.sub(_CONTROL, " ", text)


class RedactingFormatter(logging.Formatter):
    """Formats a log record, its traceback included, without any secret; what it says stays on one line."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - logging's own name
        text = super().formatMessage(record)
        return text if text.isprintable() else one_line(redact(text))

    def format(self, record: logging.LogRecord) -> str:
        return redact(super().format(record))


def redact_record(record: logging.LogRecord) -> bool:
    """A filter for the loggers of libraries, whose records go to handlers of others."""
    record.msg, record.args = redact(record.getMessage()), ()
    return True
