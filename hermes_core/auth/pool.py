"""The credentials of one provider: which one is used now, and what becomes of one that was refused."""

from __future__ import annotations

import logging
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from hermes_core.auth.entries import NEVER_REFUSED, fingerprint
from hermes_core.auth.keys import NO_CREDENTIAL, Credential, is_usable, key_variables, odd_character
from hermes_core.config.truth import is_number
from hermes_core.errors import ExhaustedCredentialsError, MissingCredentialError, UnknownAuthProfileError, near
from hermes_core.plugins.debug import warn_once
from hermes_core.providers.foreign import opens_endpoint
from hermes_core.types.address import host_of

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from hermes_core.auth.credentials import Credentials
    from hermes_core.auth.entries import Entry
    from hermes_core.auth.store import Tree
    from hermes_core.config.settings import Config
    from hermes_core.providers.profile import ProviderProfile

log = logging.getLogger(__name__)

STRATEGIES = ("fill_first", "round_robin", "random", "least_used")
"""Which of several credentials is used: the first; each in turn; any; the one used least so far."""

COOLDOWN = 3600.0
"""Seconds a refused credential rests, when neither its provider nor the configuration says."""

BRIEFLY = 0.25
"""Seconds that writing down how a credential fares may wait for other writers; else it is written later."""


class Standing(NamedTuple):
    """How an entry stands.

    Attributes:
        word: ``ok``; ``resting``; ``dead`` or ``expired``: only a new login helps; ``missing``: its source gives no
            value now; ``unusable``: the value is no key; ``double``: an earlier entry holds the same one;
            ``elsewhere``: it is stored for another address; ``suppressed``: the operator took it out of use.
        until: When it may be used again, in seconds since 1970; 0 when that is not a matter of time.
    """

    word: str
    until: float = 0.0


class CredentialPool:
    """The credentials of one provider, at one address, as they are now. Cheap to make; make one a call.

    Args:
        owner: The home's credentials.
        profile: The provider's.
        found: Keys of the configuration and the environment, in order of preference.
        address: Where a call goes.
        config: Says how one of several is chosen, and how long a refused one rests.

    Example:
        >>> from pathlib import Path
        >>> from hermes_core.auth.credentials import Credentials
        >>> from hermes_core.config.environment import Environment
        >>> from hermes_core.providers.profile import ProviderProfile
        >>> home = Credentials(Environment(Path("/nonexistent"), {}))
        >>> keys = [Credential("k-first-1", "env:FIRST_KEY"), Credential("k-second-1", "env:SECOND_KEY")]
        >>> pool = home.pool(ProviderProfile("acme", env_vars=("FIRST_KEY", "SECOND_KEY")), keys)
        >>> first = pool.select()
        >>> first.source, pool.select(exclude={first.id}).source
        ('env:FIRST_KEY', 'env:SECOND_KEY')
    """

    def __init__(
        self,
        owner: Credentials,
        profile: ProviderProfile,
        found: Sequence[Credential],
        *,
        address: str,
        config: Config,
    ) -> None:
        self.profile = profile
        self.name = profile.name.lower()
        self.owner = owner
        self.found = found
        self.address = address
        self._config = config

    def __repr__(self) -> str:
        return f"CredentialPool({self.name!r})"

    @property
    def strategy(self) -> str:
        """Which of several is used; one of ``STRATEGIES``."""
        chosen = self._config.get("credential_pool_strategies", self.profile.name)
        return chosen if isinstance(chosen, str) and chosen in STRATEGIES else STRATEGIES[0]

    def select(self, exclude: Collection[str] = (), pinned: str = "", *, lease: bool = False) -> Credential | None:
        """The credential to use now; None when none is left. It never blocks, and reads no file that has not changed.

        Refresh it first if it ``is_stale``.

        Args:
            exclude: Ids of those that have been tried.
            pinned: The id of the only one that will do, or ``""``.
            lease: Take, of several, one that the fewest others use now; hand it back with ``release``.
        """
        entries = [] if self.profile.auth_type == "none" else self.entries()
        available = [
            entry
            for entry, standing in self.standings(entries)
            if standing.word == "ok" and entry.id not in exclude and pinned in ("", entry.id)
        ]
        if not available:
            is_open = not entries and not pinned and NO_CREDENTIAL.id not in exclude and not self._needs_one
            return NO_CREDENTIAL if is_open else None
        with self.owner.lock:
            if lease:
                users = [self.owner.leases[self.name, entry.id] for entry in available]
                available = [entry for entry, count in zip(available, users, strict=True) if count == min(users)]
            entry = available[0] if len(available) == 1 else self._chosen(available, entries)
            if lease:
                self.owner.leases[self.name, entry.id] += 1
        return self.credential_of(entry)

    def release(self, credential: Credential) -> None:
        """Hand back a credential that was leased."""
        with self.owner.lock:
            left = self.owner.leases[self.name, credential.id] - 1
            self.owner.leases[self.name, credential.id] = max(left, 0)

    def mark(
        self,
        credential: Credential,
        status: int,
        headers: Mapping[str, str] = MappingProxyType({}),
        body: bytes | str = b"",
    ) -> None:
        """Let a credential rest that its provider refused. It counts at once; writing it down may block briefly.

        A login whose token was revoked is dead until somebody logs in again. A key that has been changed
        meanwhile is left alone.

        Args:
            credential: The refused one.
            status: Of the answer: 401, 402, 403 or 429.
            headers: Of the answer, their names in lower case.
            body: Of the answer.
        """
        from hermes_core.auth.cooldown import error_code, reset_moment
        from hermes_core.auth.oauth import TERMINAL

        entry = next((entry for entry in self.entries() if entry.id == credential.id), None)
        if entry is None or entry.value != credential.value:
            return
        now, reason = self.owner.clock(), error_code(body)
        is_dead = entry.kind == "oauth" and status == 401 and reason in TERMINAL
        fields: Tree = {
            **NEVER_REFUSED,
            "last_status": "dead" if is_dead else "exhausted",
            "last_status_at": now,
            "last_error_code": status,
            "last_error_reason": reason or None,
            "last_error_reset_at": None if is_dead else reset_moment(headers, body, now),
            "secret_fingerprint": fingerprint(entry.value),
        }
        log.info("credential rests provider=%s id=%s status=%s", self.name, entry.id, status)
        self.owner.remember(self, {entry.id: fields})
        self.owner.save(BRIEFLY)

    def refresh(self, credential: Credential, timeout: float | None = None) -> Credential:
        """Fresh tokens for a login: the ones somebody else got meanwhile, else new ones from the token endpoint.

        Threads and processes that ask at once share one request. It goes on when the caller has no more
        time, so that what the endpoint gives is never lost. Blocks.

        Args:
            credential: A stale one, or one that the provider refused.
            timeout: Seconds to wait; as long as it takes when None.

        Raises:
            OAuthError: The endpoint refused or could not be reached; ``relogin_required`` says what helps.
            TimeoutError: It takes longer than ``timeout``.
        """
        from hermes_core.auth.refresh import refresh

        return refresh(self, credential, timeout)

    def find(self, name: str) -> Entry:
        """The entry that goes by an id, a label in any case, or a source.

        Raises:
            UnknownAuthProfileError: None does, or several do.
        """
        entries = self.entries()
        word = name.strip().casefold()
        for key in ("id", "label", "source"):
            matches = [entry for entry in entries if getattr(entry, key).casefold() == word]
            if len(matches) == 1:
                return matches[0]
            if matches:
                ids = ", ".join(entry.id for entry in matches)
                message = f"{len(matches)} stored credentials of provider {self.name!r} are called {name!r}: {ids}"
                raise UnknownAuthProfileError(message, provider=self.name, hint="name one by its id")
        message = f"no stored credential of provider {self.name!r} is called {name!r}"
        message += near(name, [entry.label for entry in entries])
        raise UnknownAuthProfileError(message, provider=self.name, hint=f"run `hermes auth list {self.name}`")

    def refusal(self, pinned: str = "") -> MissingCredentialError:
        """The error that says why nothing can be selected, and what helps."""
        name, now = self.name, self.owner.clock()
        standings = [(entry, how) for entry, how in self.standings(self.entries()) if pinned in ("", entry.id)]
        waits = [how.until for _, how in standings if how.word == "resting"]
        if waits:
            seconds = max(min(waits) - now, 0.0)
            message = f"every credential of provider {name!r} rests: the first for {seconds:.0f} s more"
            hint = f"wait, add another with `hermes auth add {name}`, or run `hermes auth reset {name}`"
            return ExhaustedCredentialsError(message, retry_after=seconds, provider=name, hint=hint)
        words = {how.word for _, how in standings}
        if words & {"dead", "expired"}:
            message = f"the login at provider {name!r} has ended"
            return MissingCredentialError(message, provider=name, hint=f"run `hermes auth login {name}`")
        if "suppressed" in words:
            message = f"every credential of provider {name!r} was taken out of use"
            return MissingCredentialError(message, provider=name, hint=f"run `hermes auth reset {name}`")
        logs_in = bool(self.profile.oauth.get("device_url"))  # else a token can be stored, and no login begun
        message = f"no credential for provider {name!r}"
        hint = f"run `hermes auth {'login' if logs_in else 'add'} {name}`"
        names = key_variables(self.profile.env_vars)
        if "elsewhere" in words:
            message += f" at {host_of(self.address)!r}: the stored ones are for another address"
        elif names:
            message += f": none of {', '.join(names)} holds a usable key"
            hint = f"set {' or '.join(names)} in the environment or in .env, {hint}, or choose the embedded model"
        return MissingCredentialError(message, provider=name, hint=hint)

    def entries(self) -> list[Entry]:
        """Every entry, in order of preference."""
        return self.owner.line_up(self)

    def standings(self, entries: Sequence[Entry]) -> list[tuple[Entry, Standing]]:
        """How each entry stands."""
        seen: set[str] = set()
        found = []
        for entry in entries:
            found.append((entry, Standing(self._word(entry, seen))))
            seen.add(entry.value)
        refused = [number for number, (entry, how) in enumerate(found) if how.word == "ok" and _was_refused(entry)]
        if refused:
            from hermes_core.auth.cooldown import resting_until

            cooldown = read_cooldown(self._config.get("credential_pool_cooldown"))
            is_only_one = sum(standing.word == "ok" for _, standing in found) == 1
            now = self.owner.clock()
            for number in refused:
                entry = found[number][0]
                until = resting_until(entry.fields, is_only_one=is_only_one, cooldown=cooldown)
                if until > now:
                    found[number] = entry, Standing("resting", until)
        return found

    def _word(self, entry: Entry, seen: Collection[str]) -> str:
        """How an entry stands, whether it rests or not."""
        if entry.is_suppressed:
            return "suppressed"
        if entry.fields.get("last_status") == "dead":
            return "dead"
        is_written = entry.source.startswith("config:") and bool(entry.value)  # meant, however odd: `api_key: none`
        if not (is_written or is_usable(entry.value)) or odd_character(entry.value):
            return "unusable" if entry.value else "missing"
        if entry.value in seen:
            return "double"
        if self._address_of(entry) is None:
            return "elsewhere"
        ended = entry.kind == "oauth" and entry.expires_at is not None and entry.expires_at <= self.owner.clock()
        return "expired" if ended and not self._can_refresh(entry) else "ok"

    def _address_of(self, entry: Entry) -> str | None:
        """Where an entry goes in place of the call's address, ``""`` for nowhere else; None: it may not go at all."""
        own = self.profile.base_url or (f"https://{self.profile.hostname}" if self.profile.hostname else "")
        if entry.is_borrowed:  # it was found for the address
            return ""
        if not own:
            return "" if entry.base_url and host_of(entry.base_url) == host_of(self.address) else None
        is_own = not entry.base_url or entry.base_url.rstrip("/") == own.rstrip("/")
        return "" if is_own else entry.base_url

    @property
    def _needs_one(self) -> bool:
        """Whether the provider wants a credential at all."""
        profile = self.profile
        if profile.auth_type == "none" or profile.is_local or opens_endpoint(profile):
            return False
        return bool(profile.oauth or profile.auth_type.startswith("oauth") or key_variables(profile.env_vars))

    def _can_refresh(self, entry: Entry) -> bool:
        return bool(entry.refresh_token and self.profile.oauth.get("token_url"))

    def credential_of(self, entry: Entry) -> Credential:
        """An entry as it is sent."""
        is_stale = False
        if entry.expires_at is not None and self._can_refresh(entry):
            from hermes_core.auth.oauth import settings_of

            early, lifetime = settings_of(self.profile).skew, entry.fields.get("expires_in")
            if is_number(lifetime) and lifetime > 0:  # a short one is not refreshed at every call
                early = min(early, lifetime / 2)
            is_stale = entry.expires_at - early <= self.owner.clock()
        return Credential(
            entry.value,
            entry.source,
            id=entry.id,
            label=entry.label,
            kind=entry.kind,
            base_url=self._address_of(entry) or "",
            is_stale=is_stale,
        )

    def _chosen(self, available: Sequence[Entry], entries: Sequence[Entry]) -> Entry:
        """One of several, by the strategy."""
        strategy = self.strategy
        if strategy == "random":
            from secrets import choice

            return choice(available)
        if strategy == "round_robin":
            chosen = available[0]
            turned = [*(entry for entry in entries if entry is not chosen), chosen]
            self.owner.remember(self, {entry.id: {"priority": number} for number, entry in enumerate(turned)})
            return chosen
        if strategy == "least_used":
            chosen = min(available, key=_uses)
            self.owner.remember(self, {chosen.id: {"request_count": _uses(chosen) + 1}})
            return chosen
        return available[0]


def _was_refused(entry: Entry) -> bool:
    return entry.fields.get("last_status") == "exhausted"


def _uses(entry: Entry) -> int:
    count = entry.fields.get("request_count")
    return count if isinstance(count, int) else 0


def read_cooldown(value: object) -> float:
    """Seconds from a number or text, an hour from None; what is neither, or below zero, is an hour, with a warning.

    Example:
        >>> [read_cooldown(value) for value in (0, "90", 2.5)]
        [0.0, 90.0, 2.5]
    """
    if value is None:
        return COOLDOWN
    try:
        seconds = float(value) if isinstance(value, str) else value
    except ValueError:
        seconds = None
    if is_number(seconds) and seconds >= 0:
        return float(seconds)
    warn_once("config.yaml: credential_pool_cooldown must be a number of seconds, got %r; it is an hour", value)
    return COOLDOWN
