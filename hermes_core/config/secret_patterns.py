"""What secrets look like: their names, and the shapes that give them away where nobody has made them known."""

from __future__ import annotations

import re
from functools import cache, lru_cache

_NAMES = (
    r"(?:(?<!max)(?<!min)(?<!per)(?<!eos)(?<!bos)(?<!pad)(?<!unk)(?<!sep)(?<!cls)(?<!mask)(?<!stop)token"
    r"|secret|passw(?:or)?d|passphrase|passcode|credentials?|authorization"
    r"|(?:api|access|account|admin|app|auth|client|deploy|encryption|license|master|private|secret|service|session"
    r"|shared|signing|storage|subscription)key)$"
)
_KEY_VARIABLE = r"[A-Z][A-Z0-9_]*_KEY(?:_?\d+)?"
_OTHER_KEY_VARIABLE = r"(?:PUBLIC|PRIMARY|FOREIGN|PARTITION|SORT|CACHE)_KEY"


@lru_cache(1024)
def is_secret_name(name: str) -> bool:
    """Whether what bears this name is a secret: a variable, a header, a key of a mapping or of a query.

    Example:
        >>> [is_secret_name(name) for name in ("OPENAI_API_KEY", "x-auth-token", "clientSecret", "MY_KEY_2")]
        [True, True, True, True]
        >>> [is_secret_name(name) for name in ("max_tokens", "key_env", "sort_key", "TOKEN_LIMIT", "monkey")]
        [False, False, False, False, False]
    """
    letters = re.sub(r"[^a-z]+", "", name.lower())
    if _compiled(_NAMES).search(letters):
        return True
    return bool(_compiled(_KEY_VARIABLE).fullmatch(name)) and not _compiled(_OTHER_KEY_VARIABLE).search(name)


def is_secret_parameter(name: str) -> bool:
    """Whether what bears this name in the query of an address is a secret."""
    return is_secret_name(name) or name.lower() in ("key", "sig") or name.lower().endswith("signature")


_START = r"(?:(?<![\w-])|(?<=%[0-9A-Fa-f]{2})|(?<=\\[nrt]))"

_KEY_PREFIXES = {
    r"(?=[A-Za-z_-]*\d[A-Za-z_-]*\d)[\w-]{16,}": "sk-",
    r"[A-Za-z0-9]{20,}": "ghp_ gho_ ghu_ ghs_ ghr_ hf_ gsk_ xai- csk- pplx- fw_ r8_ npm_ lin_api_ dop_v1_",
    r"[\w-]{20,}": "github_pat_ glpat- AIza ya29. nvapi- tvly- pypi-AgE hvs.",
    r"\w{16,}": "sk_live_ sk_test_ rk_live_ rk_test_ whsec_",
    r"[A-Z0-9]{16}\b": "AKIA ASIA",
    r"[\w-]{16,}\.[\w-]{16,}": "SG.",
}
"""What follows a prefix → the prefixes that providers begin their keys with."""

_SHAPES: tuple[tuple[str, str], ...] = (
    *(
        (prefix.lower(), rf"({_START}){re.escape(prefix)}{rest}")
        for rest, prefixes in _KEY_PREFIXES.items()
        for prefix in prefixes.split()
    ),
    ("xox", rf"({_START})xox[a-z]-(?=[\w-]*\d)[\w-]{{10,}}"),  # Slack
    ("eyj", rf"({_START})eyJ[\w-]{{10,}}\.[\w-]{{10,}}(?:\.[\w-]*){{1,3}}"),  # a JSON web token
    (
        "private key-----",
        r"()-----BEGIN [A-Z ]*PRIVATE KEY-----(?=(?:\s|\\[nr])*\w)(?s:.)*?(?:-----END [A-Z ]*-----|\Z)",
    ),
    ("://", r"(://[^\s/?#:@\"'<>]{0,256}:)[^\s/?#\"'<>]+(?=@)"),  # scheme://user:password@
    ("://", r"(://)(?=[\w-]*\d)[\w-]{20,}(?=@)"),  # scheme://token@
    ("bearer", r"((?i:\bbearer)(?:\s+|%20))(?!\w+://)(?=[\w.~+/=:|%-]*\d|[\w.~+/=:|%-]{24})[\w.~+/=:|%-]{8,}"),
    ("basic", r"((?i:\bbasic)(?:\s+|%20))(?=[A-Za-z0-9+/]*[\d=])[A-Za-z0-9+/]{8,}={0,2}"),
    ("cookie", r"((?i:\b(?:set-)?cookie)(?:\\?[\"']?\s?[:=]\s?|[\"'],\s?)[bu]?\\?[\"']?)[\w.-]+=[^\r\n\"'\\]+"),
    ("***", r"((?<![\w*-]))[\w-]{2,}\*{3,}[\w-]{2,}"),  # a key that its provider shows in part
    ("sk-", rf"({_START})sk-[\w-]*(?:\.{{3}}|…)[\w-]{{2,}}"),
)
"""What is in such a text, in lower case → what finds the secret; its first group stays."""
_NAMED_HINT = (
    r"(?:key|token|secret|passwo?r?d|pass(?:phrase|code)|credentials?|authorization|sig(?:nature)?)[\d_]{0,3}"
    r"\\{0,3}[\"']? {0,4}[:=,]"
)
_NAMED = r"""(?x)
    (?P<query> [?&;\#] )? (?P<quoted> \\{0,3}["'] )?
    (?<! [\w.-] ) (?P<name> [A-Za-z] [\w.-]{1,63} )
    (?: \\{0,3}["'] (?P<pair> , [ ] (?= [bu]? \\{0,3}["'] ) ) | \\{0,3}["']? [ \t]{0,4} (?: => | [:=] ) [ \t]{0,4} )
    (?: [bru]? (?P<quote> \\{0,3}["'] ) )?
    (?P<scheme> (?i: bearer | basic | token | digest | negotiate | apikey ) \s+ )?
"""
"""A name and what leads to its value: ``NAME=``, ``"name": "``, ``Name: ``, ``('name', '``, ``?name=``."""

_BARE_VALUE = r"[^\s\"'\\<>{}\[\](),;&|`]+"
_QUOTED_VALUE = r"(?:(?!{quote})[^\r\n])+"
_LITERALS = frozenset(
    "none null nil true false yes empty missing required optional unset undefined invalid string text bearer "
    "password secret token include omit".split()
)
_NO_BEGINNINGS = frozenset(("", *" $<{[*%,)"))  # of a place to fill in, a structure, code
_IDENTIFIER = r"[A-Za-z_.]+"
_ORDINARY = r"[-+]?\d{1,7}|[-+]?\d*\.\d+(?:e[-+]?\d+)?|[A-Z]+|[A-Z]+(?:_[A-Z0-9]+)+"
"""A number, or the name of a variable."""


def blank_shapes(text: str, low: str, mark: str, found: set[str] | None = None) -> str:
    """``text`` with ``mark`` in the place of all that looks like a secret.

    Args:
        text: Any text.
        low: The same in lower case.
        mark: What takes a secret's place.
        found: Is given each secret that was blanked.
    """
    seen: set[str] = set() if found is None else found

    def blank(match: re.Match[str]) -> str:
        seen.add(match[0][len(match[1]) :])
        return match[1] + mark

    for hint, shape in _SHAPES:
        if hint in low:
            text = _compiled(shape).sub(blank, text)
    if _compiled(_NAMED_HINT).search(low):
        text = _blank_named(text, mark, seen)
    seen.discard(mark)
    return text


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """Compiled when a text first asks for it: most programs never need most of them."""
    return re.compile(pattern)


def _blank_named(text: str, mark: str, found: set[str]) -> str:
    """``text`` with ``mark`` in the place of what bears a secret's name; what bears another may hold one that does."""
    out, done, at = [], 0, 0
    while (named := _compiled(_NAMED).search(text, at)) is not None:
        at = named.end("name")
        is_set = text[at] == "="
        in_query = is_set and named["query"] is not None
        is_named = is_secret_parameter(named["name"]) if in_query else is_secret_name(named["name"])
        if not is_named or text[named.end() : named.end() + 1] in _NO_BEGINNINGS:
            continue
        quote = named["quote"]
        shape = _BARE_VALUE if quote is None else _QUOTED_VALUE.format(quote=re.escape(quote))
        value = _compiled(shape).match(text, named.end())
        is_held = named["quoted"] and quote and not named["pair"]
        is_value = bool(is_held or in_query or named["scheme"] or (is_set and named["name"].isupper()))
        if value is not None and _may_be_secret(value[0], is_value=is_value, is_quoted=quote is not None):
            out += [text[done : named.end()], mark]
            found.add(value[0])
            done = at = value.end()
    return "".join([*out, text[done:]])


def _may_be_secret(value: str, *, is_value: bool, is_quoted: bool) -> bool:
    """Whether what follows a secret's name is one.

    Args:
        value: What follows.
        is_value: Whether it surely is a value, and no word of a sentence or piece of code.
        is_quoted: Whether it stands in quotes.
    """
    if len(value) < 4 or value.lower() in _LITERALS or _compiled(_ORDINARY).fullmatch(value):
        return False
    is_code = not is_quoted and _compiled(_IDENTIFIER).fullmatch(value)
    return is_value or any(map(str.isdigit, value)) or (len(value) >= 20 and not is_code)
