"""Entries of a credential pool: as ``auth.json`` has them, and as the environment and the configuration give them."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache
from operator import itemgetter
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias
from zlib import crc32

if TYPE_CHECKING:
    from hermes_core.auth.keys import Credential
    from hermes_core.auth.store import AuthStore, Tree

_FIRST, _BEHIND = -1, 10**6
"""The priority of what is not stored: a key that the operator wrote down goes first, the environment's last."""

_JWT = re.compile(r"[\w-]+\.([\w-]+)\.[\w-]*")

NEVER_REFUSED: Mapping[str, Any] = MappingProxyType(
    dict.fromkeys(
        (
            "last_status",
            "last_status_at",
            "last_error_code",
            "last_error_reason",
            "last_error_message",
            "last_error_reset_at",
        )
    )
)
"""The fields that say how an entry fared, of one that was never refused; a stored entry has all of them."""

STATE_SOURCES = ("device_code", "oauth")
"""Sources whose tokens stand in the provider's state, ``providers.<id>``, and not in the pool alone."""

Fields: TypeAlias = Mapping[str, Any]

NOTHING: Fields = MappingProxyType({})


class Entry(NamedTuple):
    """One entry of a pool.

    Attributes:
        id: Its name in the pool; six letters and digits, as a rule.
        label: What people call it.
        source: Where its value comes from.
        kind: ``api_key`` or ``oauth``.
        value: What is sent; ``""`` when its source does not give it now.
        refresh_token: What a new access token is got with; ``""`` when there is none.
        client_id: The client that the tokens were given to, or ``""`` for the provider's usual one.
        expires_at: When the value ends, in seconds since 1970; None when it does not, or nobody knows.
        base_url: The address it is stored for, or ``""``.
        fields: As ``auth.json`` has it; without a secret when the value comes from elsewhere.
        store: Where it is stored, or would be.
        is_stored: Whether it is.
        is_suppressed: Whether the operator took its source out of use.
    """

    id: str
    label: str
    source: str
    store: AuthStore
    kind: str = "api_key"
    value: str = ""
    refresh_token: str = ""
    client_id: str = ""
    expires_at: float | None = None
    base_url: str = ""
    fields: Mapping[str, Any] = NEVER_REFUSED
    is_stored: bool = False
    is_suppressed: bool = False

    def __repr__(self) -> str:
        return f"Entry(id={self.id!r}, source={self.source!r})"

    @property
    def is_borrowed(self) -> bool:
        """Whether its value comes from the environment or the configuration, and so is never stored."""
        return is_borrowed(self.source)


def is_borrowed(source: str) -> bool:
    """Whether a value of this source is never stored.

    Example:
        >>> [is_borrowed(source) for source in ("env:ACME_API_KEY", "config:model.api_key", "manual", "device_code")]
        [True, True, False, False]
    """
    return source.startswith(("env:", "config:"))


def stored_entry(
    fields: Fields, store: AuthStore, pool: str, *, state: Fields = NOTHING, newer: Fields = NOTHING
) -> Entry:
    """An entry of ``auth.json``.

    Args:
        fields: As they are stored.
        store: Where.
        pool: The pool's name.
        state: The provider's state; the tokens in it are those of an entry that came from it.
        newer: Fields that are not stored yet.
    """
    source = text_of(fields.get("source")) or "manual"
    fields = {**fields, **newer}
    live = fields
    if source in STATE_SOURCES and tokens_of(state).get("access_token"):
        live = {**tokens_of(state), **newer}
    value, expires_at = ("", None) if is_borrowed(source) else _runtime_token(live)
    refresh_token = text_of(live.get("refresh_token"))
    return Entry(
        id=row_id(fields, pool),
        label=text_of(fields.get("label")) or source,
        source=source,
        store=store,
        kind="oauth" if refresh_token or fields.get("auth_type") == "oauth" else "api_key",
        value=value,
        refresh_token=refresh_token,
        client_id=text_of(live.get("client_id")),
        expires_at=expires_at,
        base_url=text_of(fields.get("base_url")),
        fields=_held_against(value, fields),
        is_stored=True,
    )


def found_entry(key: Credential, store: AuthStore, pool: str, fields: Fields = NOTHING) -> Entry:
    """An entry for a key of the environment or the configuration, and what is known of it."""
    source = key.source
    return Entry(
        id=text_of(fields.get("id")) or entry_id(pool, source),
        label=text_of(fields.get("label")) or source.partition(":")[2],
        source=source,
        store=store,
        value=key.value,
        fields=_held_against(key.value, fields) if fields else NEVER_REFUSED,
        is_stored="source" in fields,
    )


def _held_against(value: str, fields: Fields) -> Fields:
    """An entry's fields; what is held against it counts as long as it is the same key or token."""
    told = fields.get("secret_fingerprint")
    return {**fields, **NEVER_REFUSED} if told and value and told != fingerprint(value) else fields


def state_entry(state: Fields, store: AuthStore, pool: str, newer: Mapping[str, Fields] = NOTHING) -> list[Entry]:
    """The entry of a login in a provider's state that has no row of its own, if it holds a token."""
    if not tokens_of(state).get("access_token"):
        return []
    source = STATE_SOURCES[0]
    id, label = entry_id(pool, source), text_of(state.get("label")) or "login"  # noqa: A001 - as the row calls it
    row = {**NEVER_REFUSED, "id": id, "source": source, "auth_type": "oauth", "label": label}
    fresh = newer.get(id, NOTHING)
    return [stored_entry(row, store, pool, state=state, newer=fresh)._replace(is_stored=False)]


def line_up(
    pool: str,
    found: Iterable[Credential],
    store: AuthStore,
    tree: Mapping[str, Any],
    *,
    newer: Mapping[str, Fields] = NOTHING,
    suppressed: Collection[str] = (),
) -> list[Entry]:
    """Every entry of a pool in order of preference.

    First what the configuration holds, then what is stored, by priority, then what the environment holds and
    is not stored, then a login in the provider's state.

    Args:
        pool: The pool's name.
        found: Keys of the configuration and the environment, in order.
        store: Where the pool is stored.
        tree: What is stored there.
        newer: Fields that are not stored yet, by entry.
        suppressed: Sources that the operator took out of use.
    """
    if not tree and not newer:
        return [found_entry(key, store, pool) for key in found]
    state, others = state_of(tree, pool), {key.source: key for key in found}
    ranked: list[tuple[int, Entry]] = []
    for row in rows_of(tree, pool):
        fresh = newer.get(row_id(row, pool), {})
        key = others.pop(text_of(row.get("source")), None)
        if key is not None:
            entry = found_entry(key, store, pool, {**row, **fresh})
        else:
            entry = stored_entry(row, store, pool, state=state, newer=fresh)
        ranked.append((priority_of(entry.fields), entry))
    rest = [found_entry(key, store, pool, newer.get(entry_id(pool, key.source), {})) for key in others.values()]
    if not any(entry.source in STATE_SOURCES for _, entry in ranked):
        rest += state_entry(state, store, pool, newer)
    ranked += [(priority_of(entry.fields, _usual_priority(entry)), entry) for entry in rest]
    ranked.sort(key=itemgetter(0))
    return [
        entry._replace(is_suppressed=True) if suppressed and entry.source in suppressed else entry
        for _, entry in ranked
    ]


def _usual_priority(entry: Entry) -> int:
    return _FIRST if entry.source.startswith("config:") else _BEHIND


def priority_of(row: Mapping[str, Any], usual: int = 0) -> int:
    """A row's priority, 0 first."""
    found = row.get("priority")
    return found if isinstance(found, int) and not isinstance(found, bool) else usual


def rows_of(tree: Mapping[str, Any], pool: str) -> list[Tree]:
    """The rows of a pool that can be read; they are the tree's own."""
    rows = (tree.get("credential_pool") or {}).get(pool)
    return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []


def state_of(tree: Mapping[str, Any], pool: str) -> Tree:
    """A provider's state; it is the tree's own, unless there is none."""
    state = (tree.get("providers") or {}).get(pool)
    return state if isinstance(state, dict) else {}


def row_id(row: Mapping[str, Any], pool: str) -> str:
    """The id of a row, also of one that has none: somebody may have written it by hand."""
    source = text_of(row.get("source"))
    return text_of(row.get("id")) or entry_id(pool, source if is_borrowed(source) else f"{source} {row.get('label')}")


def tokens_of(state: Mapping[str, Any]) -> Mapping[str, Any]:
    """The fields of a provider's state that hold its tokens, wherever they stand in it."""
    nested = state.get("tokens")
    return {**state, **nested} if isinstance(nested, Mapping) else state


def _runtime_token(fields: Mapping[str, Any]) -> tuple[str, float | None]:
    """What an entry sends, and when that ends: its agent key if it has one, else its key or access token."""
    from hermes_core.auth.cooldown import read_moment

    agent_key = text_of(fields.get("agent_key"))
    if agent_key:
        return agent_key, read_moment(fields.get("agent_key_expires_at"))
    token = text_of(fields.get("access_token"))
    for name in ("expires_at", "expires_at_ms"):
        moment = read_moment(fields.get(name))
        if moment is not None:
            return token, moment
    return token, _expiry_in(token)


@lru_cache(256)
def entry_id(pool: str, source: str) -> str:
    """The id of an entry that no store gave one: the same in every process."""
    return f"{crc32(f'{pool} {source}'.encode()):08x}"[-6:]


def fingerprint(value: str) -> str:
    """What tells whether a key is still the same, and nothing of the key.

    Example:
        >>> fingerprint("k-1")
        'sha256:7c35c5a1785d2070'
    """
    from hashlib import sha256

    return f"sha256:{sha256(value.encode()).hexdigest()[:16]}"


def _expiry_in(token: str) -> float | None:
    """When a JSON web token says that it ends; it is the server who checks its signature, not we."""
    found = _JWT.fullmatch(token)
    if found is None:
        return None
    try:
        claims = json.loads(base64.urlsafe_b64decode(found[1] + "=="))
    except (ValueError, RecursionError):
        return None
    from hermes_core.auth.cooldown import read_moment

    return read_moment(claims.get("exp")) if isinstance(claims, dict) else None


def text_of(value: object) -> str:
    """A field that holds text, trimmed; ``""`` when it holds none."""
    return value.strip() if isinstance(value, str) else ""
