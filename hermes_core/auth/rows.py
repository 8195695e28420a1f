"""Changing what ``auth.json`` says of one pool; every function works on the tree that ``AuthStore.changing`` gives."""

from __future__ import annotations

import logging
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from hermes_core.auth.cooldown import read_moment
from hermes_core.auth.entries import (
    NEVER_REFUSED,
    STATE_SOURCES,
    fingerprint,
    priority_of,
    row_id,
    rows_of,
    state_of,
    text_of,
)
from hermes_core.auth.store import is_secret
from hermes_core.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from hermes_core.auth.entries import Entry
    from hermes_core.auth.oauth import Tokens
    from hermes_core.auth.store import Tree

log = logging.getLogger(__name__)

TOKEN_FIELDS = ("access_token", "refresh_token")

DEAD_SECONDS = 86400.0
"""How long a dead login is kept, so that the operator can see what became of it."""


def materialise(tree: Tree, pool: str, entries: Sequence[Entry]) -> list[Any]:
    """A pool's rows, with those that are not stored yet added; if there were any, all are numbered as they stand.

    Args:
        tree: The whole tree.
        pool: The pool's name.
        entries: The pool's entries in order of preference.

    Raises:
        ConfigError: What stands there is no list, so nothing may be put in its place.
    """
    rows = list_of(tree, "credential_pool", pool)
    known = {row_id(row, pool) for row in rows_of(tree, pool)}
    missing = [entry for entry in entries if not (entry.is_stored or entry.is_suppressed or entry.id in known)]
    rows += [stored_form(entry) for entry in missing]
    if missing:
        places = {entry.id: number for number, entry in enumerate(entries)}
        renumber(rows, lambda row: (places.get(row_id(row, pool), len(places)), priority_of(row)))
    return rows


def list_of(tree: Tree, section: str, pool: str) -> list[Any]:
    """A pool's list in one of the tree's sections; it is the tree's own, and made when it is missing.

    Raises:
        ConfigError: What stands there is no list, so nothing may be put in its place.
    """
    pools = tree[section] = tree.get(section) or {}
    found = pools.setdefault(pool, [])
    if not isinstance(found, list):
        message = f"auth.json: {section}.{pool} must be a list, not {type(found).__name__}"
        raise ConfigError(message, key=f"{section}.{pool}", hint="mend the file; nothing was written")
    return found


def renumber(rows: list[Any], rank: Callable[[Tree], Any]) -> None:
    """Number rows from 0 in the order of ``rank``."""
    for number, row in enumerate(sorted((row for row in rows if isinstance(row, dict)), key=rank)):
        row["priority"] = number


def token_fields(tokens: Tokens, fields: Mapping[str, Any]) -> Tree:
    """What is written of new tokens, in the spellings that an entry uses."""
    return {
        **NEVER_REFUSED,
        "last_status": "ok",
        "access_token": tokens.access_token,
        "refresh_token": tokens.refresh_token,
        "last_refresh": datetime.now(UTC).isoformat().replace("+00:00", "Z"),
        "last_auth_error": None,
        "agent_key": None,
        **tokens.about,
        **_expiry_fields(tokens.expires_at, fields),
    }


def drop_tokens(state: Tree) -> None:
    """Take the tokens out of a provider's state; the rest of it stays."""
    for place in (state, state.get("tokens")):
        if isinstance(place, dict):
            for name in [name for name in place if name in TOKEN_FIELDS or name == "agent_key"]:
                del place[name]


def write_changes(tree: Tree, pool: str, changes: Mapping[str, Mapping[str, Any]]) -> None:
    """Write fields into rows, by the rows' ids; rows that are gone stay away.

    The tokens of a login that came from the provider's state are written there too.
    """
    for row in rows_of(tree, pool):
        fields = changes.get(row_id(row, pool), {})
        _put(row, fields)
        if row.get("source") in STATE_SOURCES and fields.keys() & {*TOKEN_FIELDS}:
            state = state_of(tree, pool)
            nested = state.get("tokens")
            of_tokens = nested if isinstance(nested, dict) else state
            _put(of_tokens, {name: value for name, value in fields.items() if name in TOKEN_FIELDS})
            of_the_row = {*TOKEN_FIELDS, *NEVER_REFUSED, "secret_fingerprint"}
            _put(state, {name: value for name, value in fields.items() if name not in of_the_row})


def drop_dead(tree: Tree, pool: str, now: float) -> None:
    """Take out the logins of an operator that have been dead for a day; nothing but a new login would help them."""
    rows = rows_of(tree, pool)
    gone = [row for row in rows if row.get("last_status") == "dead" and text_of(row.get("source")).startswith("manual")]
    for row in gone:
        since = read_moment(row.get("last_status_at"))
        if since is not None and since < now - DEAD_SECONDS:
            log.info("a login is gone, dead for a day provider=%s label=%s", pool, row.get("label"))
            tree["credential_pool"][pool].remove(row)


def _put(place: Tree, fields: Mapping[str, Any]) -> None:
    """Set fields; a secret, or what went wrong, that is None is taken out."""
    for name, value in fields.items():
        if value is None and (is_secret(name) or name == "last_auth_error"):
            place.pop(name, None)
        else:
            place[name] = value


def stored_form(entry: Entry) -> Tree:
    """What is stored of an entry that was not yet: no secret, but what tells whether the key is still the same."""
    told = {"secret_fingerprint": fingerprint(entry.value)} if entry.is_borrowed and entry.value else {}
    return {
        "id": entry.id,
        "label": entry.label,
        "auth_type": entry.kind,
        "source": entry.source,
        **NEVER_REFUSED,
        **{name: value for name, value in entry.fields.items() if not is_secret(name)},
        **told,
    }


def _expiry_fields(expires_at: float | None, fields: Mapping[str, Any]) -> Tree:
    """The fields that say when a token ends, in the spellings that an entry uses."""
    iso = None if expires_at is None else datetime.fromtimestamp(expires_at, UTC).isoformat()
    found: Tree = {"expires_at": iso}
    if "expires_at_ms" in fields:
        found["expires_at_ms"] = None if expires_at is None else int(expires_at * 1000)
    return found
