"""What one home knows of credentials: where they are stored, and how those in use fare."""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter
from typing import TYPE_CHECKING, Any

from hermes_core.auth.entries import NOTHING, line_up, rows_of, state_of
from hermes_core.auth.pool import BRIEFLY, CredentialPool
from hermes_core.auth.store import AuthStore
from hermes_core.config.settings import Config
from hermes_core.errors import ConfigError, OAuthError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from concurrent.futures import Future

    from hermes_core.auth.entries import Entry
    from hermes_core.auth.keys import Credential
    from hermes_core.auth.oauth import Send
    from hermes_core.auth.store import Tree
    from hermes_core.config.environment import Environment
    from hermes_core.providers.profile import ProviderProfile
    from hermes_core.types.wire import HttpRequest, HttpResponse

log = logging.getLogger(__name__)

_NO_CONFIG = Config()


class Credentials:
    """The credentials of one home.

    A home below ``profiles/`` reads those of its root for providers of which it has none itself; what
    becomes of an entry is written where it is stored.

    Args:
        environment: The home's; keys are looked up in it.
        send: Sends a request to a token endpoint and waits for the answer, that many seconds at most.
        clock: Tells the time in seconds since 1970.

    Attributes:
        stores: The home's own ``auth.json``, then its root's.
        leases: How many use an entry now, by pool and id.
        flights: Refreshes under way, by pool and id.
        lock: Guards ``leases``, ``flights`` and what is not written yet; never held for long.
    """

    def __init__(
        self, environment: Environment, send: Send | None = None, clock: Callable[[], float] = time.time
    ) -> None:
        home = environment.path.parent
        self.environment = environment
        self.send = send or _no_network
        self.clock = clock
        self.stores = [AuthStore(home)]
        if home.parent.name == "profiles":
            self.stores.append(AuthStore(home.parent.parent))
        self.lock = threading.RLock()
        self.leases: Counter[tuple[str, str]] = Counter()
        self.flights: dict[tuple[str, str], Future[Credential]] = {}
        self._unwritten: dict[str, tuple[CredentialPool, Mapping[str, Tree]]] = {}
        self._saving = threading.Lock()

    @property
    def store(self) -> AuthStore:
        """The home's own ``auth.json``; what is new goes there."""
        return self.stores[0]

    def pool(
        self,
        profile: ProviderProfile,
        found: Sequence[Credential] = (),
        *,
        address: str = "",
        config: Config = _NO_CONFIG,
    ) -> CredentialPool:
        """The credentials of one provider.

        Args:
            profile: The provider's.
            found: Keys of the configuration and the environment, in order of preference.
            address: Where a call goes.
            config: Says how one of several is chosen, and how long a refused one rests.
        """
        return CredentialPool(self, profile, found, address=address, config=config)

    def line_up(self, pool: CredentialPool, tree: Tree | None = None) -> list[Entry]:
        """A pool's entries as they are now; as ``tree`` has them, when it is given."""
        store, stored = self._place_of(pool.name)
        return line_up(
            pool.name,
            pool.found,
            store,
            stored if tree is None else tree,
            newer=self._newer(pool.name),
            suppressed=_suppressed(pool.name, stored if store is self.store else self.store.read()),
        )

    def store_of(self, pool: str) -> AuthStore:
        """Where a pool is stored: at home, unless only the root has anything of it."""
        return self._place_of(pool)[0]

    def _place_of(self, pool: str) -> tuple[AuthStore, Mapping[str, Any]]:
        """Where a pool is stored, and what is there."""
        first = self.store, self.store.read()
        for store, tree in (first, *((other, other.read()) for other in self.stores[1:])):
            if rows_of(tree, pool) or state_of(tree, pool):
                return store, tree
        return first

    def mentions(self, pool: str) -> bool:
        """Whether a store says anything of a pool, be it that a source is out of use."""
        _, tree = self._place_of(pool)
        return bool(rows_of(tree, pool) or state_of(tree, pool) or _suppressed(pool, self.store.read()))

    def remember(self, pool: CredentialPool, changes: Mapping[str, Tree]) -> None:
        """Let fields of entries, by id, count from now on in this process; ``save`` writes them."""
        with self.lock:
            known = self._newer(pool.name)
            merged = {entry: {**known.get(entry, {}), **fields} for entry, fields in changes.items()}
            self._unwritten[pool.name] = pool, {**known, **merged}

    def save(self, wait: float) -> None:
        """Write what has been remembered; what cannot be written now waits for the next time.

        Args:
            wait: Seconds to wait for other writers.
        """
        from hermes_core.auth.rows import drop_dead, materialise, write_changes

        if not self._saving.acquire(timeout=wait):  # somebody is at it, and will not be much longer
            return
        try:
            with self.lock:
                unwritten = [*self._unwritten.items()]
            for name, (pool, changes) in unwritten:
                ordered = self.line_up(pool)
                try:
                    with self.store_of(name).changing(wait) as tree:
                        materialise(tree, name, ordered)
                        write_changes(tree, name, changes)
                        drop_dead(tree, name, self.clock())
                except ConfigError as error:
                    log.debug("how credentials fare is not written yet provider=%s error=%s", name, error)
                    continue
                with self.lock:
                    if self._unwritten.get(name, (None, None))[1] is changes:
                        del self._unwritten[name]
        finally:
            self._saving.release()

    def forget(self, pool: str) -> None:
        """Drop what has been remembered of a pool."""
        with self.lock:
            self._unwritten.pop(pool, None)

    def close(self) -> None:
        """Write what has been remembered."""
        if self._unwritten:
            self.save(BRIEFLY)

    def _newer(self, pool: str) -> Mapping[str, Tree]:
        """Fields that are not written yet, by entry."""
        found = self._unwritten.get(pool)
        return found[1] if found else NOTHING


def _suppressed(pool: str, tree: Mapping[str, Any]) -> Sequence[Any]:
    """The sources of a pool that the operator took out of use."""
    sources = (tree.get("suppressed_sources") or NOTHING).get(pool)
    return sources if isinstance(sources, list) else ()


def _no_network(_request: HttpRequest, _timeout: float) -> HttpResponse:
    raise OAuthError("there is no way to a token endpoint here", provider="", hint="use a Host's credentials")
