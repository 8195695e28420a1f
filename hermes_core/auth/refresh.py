"""Refreshing a login once, however many threads and processes need it."""

from __future__ import annotations

import logging
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from hermes_core.auth.entries import NEVER_REFUSED, fingerprint
from hermes_core.auth.oauth import REQUEST_SECONDS, refreshed, settings_of
from hermes_core.auth.rows import materialise, token_fields, write_changes
from hermes_core.auth.store import LOCK_SECONDS
from hermes_core.errors import ConfigError, OAuthError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from concurrent.futures import Future

    from hermes_core.auth.entries import Entry
    from hermes_core.auth.keys import Credential
    from hermes_core.auth.oauth import Tokens
    from hermes_core.auth.pool import CredentialPool
    from hermes_core.auth.store import Tree

log = logging.getLogger(__name__)

SHORTEST = 5.0
"""Seconds that a token endpoint is given at least, whatever the operator says."""


def refresh(pool: CredentialPool, credential: Credential, timeout: float | None) -> Credential:
    """See ``CredentialPool.refresh``."""
    return _newer(pool, pool.entries(), credential) or _flight(pool, credential).result(timeout)


def _flight(pool: CredentialPool, credential: Credential) -> Future[Credential]:
    """The one refresh of a login that is under way in this process; begun if there is none."""
    from concurrent.futures import ThreadPoolExecutor

    owner, key = pool.owner, (pool.name, credential.id)

    def fly() -> Credential:
        try:
            return _refreshed(pool, credential)
        finally:
            with owner.lock:
                del owner.flights[key]

    with owner.lock:
        if key not in owner.flights:
            thread = ThreadPoolExecutor(1, "hermes-refresh")
            owner.flights[key] = thread.submit(fly)
            thread.shutdown(wait=False)
        return owner.flights[key]


def _refreshed(pool: CredentialPool, credential: Credential) -> Credential:
    """Refresh a login while no other process can, and write down what came of it."""
    seconds = _patience(pool)
    fields: Tree = {}
    failure: OAuthError | None = None
    try:
        with pool.owner.store_of(pool.name).changing(LOCK_SECONDS + seconds) as tree:
            entries = pool.owner.line_up(pool, tree)
            newer = _newer(pool, entries, credential)
            if newer is not None:
                return newer
            entry = _refreshable(pool, entries, credential)
            try:
                fields = token_fields(_asked(pool, entry, seconds), entry.fields)
            except OAuthError as error:
                newer = _newer(pool, pool.entries(), credential)  # a program without our lock may have been quicker
                if newer is not None:
                    return newer
                if not error.relogin_required:
                    return _still_good(pool, entry, credential, error)
                failure, fields = error, _of_failure(pool, entry, error)
            materialise(tree, pool.name, entries)
            write_changes(tree, pool.name, {entry.id: fields})
    except ConfigError as error:
        if not fields:
            message = f"the login at {pool.name!r} cannot be refreshed: {error}"
            raise OAuthError(message, provider=pool.name, retryable=True, hint=error.hint) from error
        log.warning("the new tokens of a login are in this process alone provider=%s error=%s", pool.name, error)
        pool.owner.remember(pool, {credential.id: fields})
    if failure is not None:
        raise failure
    return pool.credential_of(_refreshable(pool, pool.entries(), credential))


def _newer(pool: CredentialPool, entries: Sequence[Entry], credential: Credential) -> Credential | None:
    """What somebody else got for the login meanwhile, if it can be used."""
    for entry in entries:
        if entry.id == credential.id and entry.value not in ("", credential.value):
            found = pool.credential_of(entry)
            return None if found.is_stale else found
    return None


def _refreshable(pool: CredentialPool, entries: Sequence[Entry], credential: Credential) -> Entry:
    """The login's entry.

    Raises:
        OAuthError: It is gone, or there is nothing to refresh it with.
    """
    entry = next((entry for entry in entries if entry.id == credential.id), None)
    if entry is None or not entry.refresh_token:
        what = "it is gone" if entry is None else "it holds no refresh token"
        message = f"the login at {pool.name!r} cannot be refreshed: {what}"
        hint = f"run `hermes auth login {pool.name}`"
        raise OAuthError(message, provider=pool.name, relogin_required=True, hint=hint)
    return entry


def _patience(pool: CredentialPool) -> float:
    """Seconds that the token endpoint is given."""
    variable = f"HERMES_{pool.name.upper().replace('-', '_')}_REFRESH_TIMEOUT_SECONDS"
    said = pool.owner.environment.get(variable).strip()
    return max(float(said), SHORTEST) if said.isdecimal() else REQUEST_SECONDS


def _asked(pool: CredentialPool, entry: Entry, seconds: float) -> Tokens:
    settings = settings_of(pool.profile)
    log.info("refreshing a login provider=%s id=%s", pool.name, entry.id)
    owner = pool.owner
    return refreshed(
        settings, entry.refresh_token, owner.send, client_id=entry.client_id, timeout=seconds, now=owner.clock
    )


def _still_good(pool: CredentialPool, entry: Entry, credential: Credential, error: OAuthError) -> Credential:
    """The token as it is, where it was only about to end and the endpoint has no time.

    Raises:
        OAuthError: It has ended, or its provider refused it.
    """
    has_ended = entry.expires_at is None or entry.expires_at <= pool.owner.clock()
    if has_ended or not credential.is_stale or not error.retryable:
        raise error
    log.warning("a login was not refreshed and is used as long as it lasts provider=%s error=%s", pool.name, error)
    found = pool.credential_of(entry)
    found.is_stale = False
    return found


def _of_failure(pool: CredentialPool, entry: Entry, error: OAuthError) -> Tree:
    """What is written of a login that has ended: its tokens go."""
    now = pool.owner.clock()
    at = datetime.fromtimestamp(now, UTC).isoformat()
    return {
        **NEVER_REFUSED,
        "last_status": "dead",
        "last_status_at": now,
        "last_error_code": 401,
        "last_error_reason": error.code,
        "last_auth_error": {"code": error.code, "message": str(error), "at": at},
        "access_token": None,
        "refresh_token": None,
        "agent_key": None,
        "secret_fingerprint": fingerprint(entry.value),
    }
