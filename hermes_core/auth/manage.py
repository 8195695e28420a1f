"""What an operator does to a pool: add a key or a login, take one out, let one be used again."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

from hermes_core.auth.entries import NEVER_REFUSED, STATE_SOURCES, priority_of, row_id, rows_of, state_of
from hermes_core.auth.keys import is_usable, odd_character
from hermes_core.auth.rows import drop_tokens, list_of, materialise, renumber, token_fields, write_changes
from hermes_core.config.redact import register_secret
from hermes_core.errors import HermesError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hermes_core.auth.entries import Entry
    from hermes_core.auth.oauth import OAuthSettings, Tokens
    from hermes_core.auth.pool import CredentialPool
    from hermes_core.auth.store import Tree

KEY_SOURCE = "manual"
LOGIN_SOURCE = "manual:device_code"
USUAL_LOGIN = "login"
"""The label of a provider's login when nobody gives one; logging in again renews it."""


def add_key(pool: CredentialPool, value: str, *, label: str = "", base_url: str = "", first: bool = False) -> Entry:
    """Store a key, behind the others unless it is to be ``first``.

    Args:
        pool: The provider's.
        value: The key.
        label: What to call it; ``manual-1`` and so on when empty.
        base_url: The address it is for; needed where the provider has none of its own.
        first: Whether it goes before the others.

    Raises:
        HermesError: It is no key, is there already, or the label is taken; or the provider takes none.
        ConfigError: The store cannot be read or written.
    """
    value = value.strip()
    register_secret(value)
    _check_key(pool, value)
    if not (pool.profile.base_url or pool.profile.hostname):
        base_url = base_url or pool.address
        if not base_url:
            message = f"provider {pool.name!r} has no address of its own, so the key needs one"
            raise HermesError(message, hint="give --base-url, or set model.base_url first")
    row: Tree = {"label": _free_label(pool, label), "auth_type": "api_key", "source": KEY_SOURCE, "access_token": value}
    if base_url:
        row["base_url"] = base_url
    return _stored(pool, row, first=first)


def add_login(pool: CredentialPool, settings: OAuthSettings, tokens: Tokens, label: str = "") -> Entry:
    """Store the tokens of a login; one of the same label is renewed, and keeps its place.

    Raises:
        ConfigError: The store cannot be read or written.
    """
    row: Tree = {
        "label": label or USUAL_LOGIN,
        "auth_type": "oauth",
        "source": LOGIN_SOURCE,
        **({"client_id": settings.client_id} if settings.client_id else {}),
        **token_fields(tokens, {}),
    }
    return _stored(pool, row, makes_active=True)


def remove(pool: CredentialPool, names: Iterable[str]) -> list[Entry]:
    """Take entries out of use: what is stored is deleted, what comes from elsewhere is passed over from now on.

    Args:
        pool: The provider's.
        names: Their ids, labels or sources.

    Raises:
        UnknownAuthProfileError: There is no such entry, or there are several.
        ConfigError: The store cannot be read or written.
    """
    gone = [pool.find(name) for name in names]
    for store in {entry.store for entry in gone}:
        ids = {entry.id for entry in gone if entry.store is store}
        with store.changing() as tree:
            rows = list_of(tree, "credential_pool", pool.name)
            rows[:] = [row for row in rows if not (isinstance(row, dict) and row_id(row, pool.name) in ids)]
            if any(entry.source in STATE_SOURCES for entry in gone if entry.store is store):
                drop_tokens(state_of(tree, pool.name))
    passed_over = [entry.source for entry in gone if entry.is_borrowed and entry.value]
    left = [entry for entry in pool.entries() if entry.kind == "oauth" and entry.value]
    with pool.owner.store.changing() as tree:
        if passed_over:
            sources = list_of(tree, "suppressed_sources", pool.name)
            sources += [source for source in passed_over if source not in sources]
        if tree.get("active_provider") == pool.name and not left:
            tree["active_provider"] = None
    return gone


def logins(pool: CredentialPool) -> list[Entry]:
    """The entries that a login made."""
    return [entry for entry in pool.entries() if entry.kind == "oauth" and not entry.is_borrowed]


def reset(pool: CredentialPool, name: str = "") -> list[Entry]:
    """Hold nothing against an entry any more, or against any: it neither rests nor is passed over.

    A login that has ended needs a new one all the same.

    Raises:
        UnknownAuthProfileError: There is no such entry, or there are several.
        ConfigError: The store cannot be read or written.
    """
    chosen = [pool.find(name)] if name else pool.entries()
    held = [entry for entry in chosen if entry.fields.get("last_status") not in (None, "ok") and entry.value]
    passed_over = [entry for entry in chosen if entry.is_suppressed]
    pool.owner.forget(pool.name)
    for store in {entry.store for entry in held}:
        with store.changing() as tree:
            write_changes(tree, pool.name, {entry.id: NEVER_REFUSED for entry in held})
    if passed_over:
        with pool.owner.store.changing() as tree:
            sources = list_of(tree, "suppressed_sources", pool.name)
            sources[:] = [source for source in sources if source not in {entry.source for entry in passed_over}]
    return [*held, *(entry for entry in passed_over if entry not in held)]


def _check_key(pool: CredentialPool, value: str) -> None:
    odd = odd_character(value)
    if odd:
        message = f"the key holds the character U+{ord(odd):04X}, which no key can; nothing was stored"
        raise HermesError(message, hint="copy the key again, without blanks and look-alike letters")
    if not is_usable(value):
        message = "there is no key" if not value else "this is no key: it is too short, or a placeholder"
        raise HermesError(message, hint="paste the key itself; nothing was stored")
    if pool.profile.auth_type == "none":
        raise HermesError(f"provider {pool.name!r} takes no credential", hint="run `hermes providers list`")
    same = next((entry for entry in pool.entries() if entry.value == value), None)
    if same is not None:
        message = f"this key is there already: {same.label!r} ({same.source})"
        raise HermesError(message, hint=f"run `hermes auth list {pool.name}`")


def _free_label(pool: CredentialPool, label: str) -> str:
    taken = {entry.label.casefold() for entry in pool.entries()}
    if label.casefold() in taken:
        message = f"provider {pool.name!r} has a credential called {label!r} already"
        raise HermesError(message, hint="choose another --label")
    return label or next(name for number in range(1, 10**6) if (name := f"manual-{number}") not in taken)


def _stored(pool: CredentialPool, row: Tree, *, first: bool = False, makes_active: bool = False) -> Entry:
    """Write a row into the home's own store; a login's takes the place of the one it renews."""
    ordered = pool.entries()
    with pool.owner.store.changing() as tree:
        rows = materialise(tree, pool.name, ordered)
        old = next((known for known in rows_of(tree, pool.name) if makes_active and _is_same_login(known, row)), None)
        if old is None:
            old = {"id": _new_id(rows_of(tree, pool.name), pool.name)}
            rows.append(old)
            renumber(rows, lambda known: ((known is old) is not first, priority_of(known)))
        made: str = old["id"]
        write_changes(tree, pool.name, {made: {**NEVER_REFUSED, **row}})
        if makes_active:
            tree["active_provider"] = pool.name
    return next(entry for entry in pool.entries() if entry.id == made)


def _is_same_login(known: Tree, row: Tree) -> bool:
    return bool(known.get("source") == row["source"] and str(known.get("label")).casefold() == row["label"].casefold())


def _new_id(rows: Iterable[Tree], pool: str) -> str:
    taken = {row_id(row, pool) for row in rows}
    return next(name for name in iter(lambda: secrets.token_hex(3), "") if name not in taken)
