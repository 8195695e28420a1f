"""The models that can be chosen now: asked of the providers at once, kept for an hour, and never without an answer."""

from __future__ import annotations

import logging
import queue
import socket
import threading
import time
from contextvars import copy_context
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from hermes_core.config.redact import redact
from hermes_core.errors import HermesError, ProviderError, ProviderHookError, describe
from hermes_core.llm.plan import Planner
from hermes_core.llm.request import call_hook
from hermes_core.llm.tls import tls_context
from hermes_core.llm.wire.select import mandated
from hermes_core.providers.foreign import copied
from hermes_core.providers.model_cache import ModelCache
from hermes_core.providers.model_list import Inquiry, inquiry, usable_ids
from hermes_core.types.address import host_of
from hermes_core.types.models import ModelList
from hermes_core.types.wire import merged_headers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from hermes_core.auth.keys import Credential
    from hermes_core.llm.engine import LaneHost
    from hermes_core.llm.route import Endpoint
    from hermes_core.providers.profile import ProviderProfile
    from hermes_core.providers.row import ProviderRow

log = logging.getLogger(__name__)

SECONDS = 8.0
"""How long one provider may take."""

SPARE_SECONDS = 2.0
"""How much longer is waited for a provider whose own code takes its time."""

KNOCK_SECONDS = 0.5
"""How long a server on this machine may take to accept a connection."""


class ModelLists:
    """The model lists of one host, as its configuration is now.

    Args:
        host: The host.
        clock: Seconds since 1970.
        seconds: How long one provider may take.
    """

    def __init__(self, host: LaneHost, clock: Callable[[], float] = time.time, seconds: float = SECONDS) -> None:
        self._seconds = seconds
        self._catalog = host.providers
        self._config = host.config()
        self._planner = Planner.of(host)
        self._cache = ModelCache(host.home, clock)

    def answering(self) -> list[str]:
        """The providers that would answer now: with a key, without need of one, or with a server on this machine."""
        word = self._planner.configured(self._config)
        main = self._catalog.resolve(word)
        found, local = [word] if word and not main else [], []
        for row in self._catalog:
            if row.unavailable:
                continue
            if row.name == main or row.tier == "config":
                found.append(row.name)
            elif row.is_local:
                local.append(row)
            elif row.auth_type == "none" or self._has_key(row):
                found.append(row.name)
        return sorted({*found, *self._reachable(local)})

    def get(self, name: str, *, refresh: bool = False, ask: bool = True) -> ModelList:
        """One provider's list; whatever goes wrong, it is told in the list.

        Args:
            name: The provider's name or an alias.
            refresh: Whether a list that was kept will not do.
            ask: Whether the provider may be asked at all.

        Raises:
            UnknownProviderError: There is no such provider, and no address for it.
            ProviderDisabledError: It is switched off.
        """
        place = self._planner.endpoint(self._config, name)
        profile, credential = place.profile, place.pool.select()
        why = profile.unavailable or ("" if credential is not None else str(place.pool.refusal()))
        if not ask or not profile.supports_health_check or profile.unavailable or (why and not profile.models_url):
            return _without(place, why)
        key = "" if credential is None else credential.value
        place = _moved(place, "" if credential is None else credential.base_url, key)
        address = place.base_url
        secrets = [key, *place.headers.values()]
        kept = self._cache.read(profile.name, address, secrets)
        if (
            kept is not None and kept.is_fresh and not (refresh or profile.is_local)
        ):  # of one's own server, models change
            return _listed(place, kept.models, "cache", age=kept.age)
        models, problem = _ask(place, credential, self._seconds)
        if models:
            self._cache.write(profile.name, address, secrets, models)
            return _listed(place, models, "live", age=0.0)
        if kept is not None:
            return _listed(place, kept.models, "stale", problem, age=kept.age)
        return _without(place, why or problem)

    def collect(
        self,
        names: Sequence[str],
        *,
        refresh: bool = False,
        ask: Callable[[str], bool] = bool,
        told: Callable[[ModelList], None] = lambda _: None,
    ) -> list[ModelList]:
        """The lists of several providers, asked at once; one that fails or hangs costs the others nothing.

        Args:
            names: Canonical names; the lists come in their order.
            refresh: Whether lists that were kept will not do.
            ask: Which of them may be asked.
            told: Called with each list as it comes.
        """
        answers: queue.SimpleQueue[tuple[str, ModelList]] = queue.SimpleQueue()

        def one(name: str) -> None:
            try:
                found = self.get(name, refresh=refresh, ask=ask(name))
            except Exception as error:  # noqa: BLE001 - a broken provider is a row, and no more
                found = ModelList(name, reason=redact(describe(error)))
            answers.put((name, found))

        found: dict[str, ModelList] = {}
        end = time.monotonic() + self._seconds + SPARE_SECONDS
        for _ in _started(one, names):
            try:
                name, answer = answers.get(timeout=max(end - time.monotonic(), 0))
            except queue.Empty:
                break
            found[name] = answer
            told(answer)
        late = ModelList("", reason=f"no answer within {self._seconds + SPARE_SECONDS:g} s")
        return [found.get(name) or late._replace(provider=name) for name in names]

    def _has_key(self, row: ProviderRow) -> bool:
        try:
            return self._planner.usable(self._config, row) is not None
        except HermesError as error:  # a key that is none; it is told where that provider is asked for
            log.debug("no usable key provider=%s error=%s", row.name, error)
            return False

    def _reachable(self, rows: Iterable[ProviderRow]) -> list[str]:
        """Those whose address on this machine somebody answers at; of several at one address, the first."""
        places: dict[str, str] = {}
        for row in rows:
            try:
                address = self._planner.endpoint(self._config, row.name).base_url
            except ProviderError as error:
                log.debug("no address provider=%s error=%s", row.name, error)
                continue
            places.setdefault(address.replace("localhost", "127.0.0.1", 1).rstrip("/"), row.name)
        open_places: queue.SimpleQueue[tuple[str, bool]] = queue.SimpleQueue()
        started = _started(lambda address: open_places.put((address, is_listening(address))), [*places])
        return [places[address] for address, is_open in (open_places.get() for _ in started) if is_open]


def is_listening(address: str) -> bool:
    """Whether somebody accepts connections at a URL.

    Example:
        >>> is_listening("http://127.0.0.1:1/v1"), is_listening("no address")
        (False, False)
    """
    try:
        parts = urlsplit(address)
        port = parts.port or {"http": 80, "https": 443}[parts.scheme]
        with socket.create_connection((parts.hostname, port), timeout=KNOCK_SECONDS):
            return True
    except (OSError, ValueError, KeyError):
        return False


def _started(work: Callable[[str], None], names: Sequence[str]) -> Iterator[threading.Thread]:
    """A thread of its own for each; one that hangs does not keep the program from ending."""
    threads = [threading.Thread(target=copy_context().run, args=(work, name), daemon=True) for name in names]
    for thread in threads:
        thread.start()
    return iter(threads)


def _moved(place: Endpoint, base_url: str, api_key: str) -> Endpoint:
    """Where a provider is asked with a key, which may have an address of its own, or be another one's by its form."""
    place = place._replace(base_url=base_url or place.base_url)
    profile, context = place.profile, {"model": "", "api_mode": place.api_mode, "api_key": api_key}
    try:
        moved = call_hook(profile.name, "get_base_url", str, profile.get_base_url, place.base_url, **context)
    except ProviderHookError as error:
        log.warning("%s", error)
        return place
    if moved in ("", place.base_url):
        return place
    return place._replace(base_url=moved, api_mode=mandated(moved) or place.api_mode)


def _ask(place: Endpoint, credential: Credential | None, seconds: float) -> tuple[list[str], str]:
    """What the provider lists, or why it lists nothing."""
    address = place.base_url
    asked = Inquiry()
    token = inquiry.set(asked)
    try:
        if credential is not None and credential.is_stale:
            credential = place.pool.refresh(credential, seconds)
        asked.tls = tls_context(place.tls) if address.startswith("https:") else None
        profile = _as_configured(place)
        key = credential.value if credential is not None and credential.value else None
        hook, wanted = profile.fetch_models, list | tuple | None
        found = call_hook(
            profile.name, "fetch_models", wanted, hook, api_key=key, base_url=address or None, timeout=seconds
        )
    except (HermesError, TimeoutError) as error:
        return [], redact(describe(error))
    finally:
        inquiry.reset(token)
    models = usable_ids(found or ())
    return models, "" if models else asked.problem or "the provider has no list"


def _as_configured(place: Endpoint) -> ProviderProfile:
    """The profile with what the operator configured: its wire format, its headers, and its own address for the list."""
    profile = copied(place.profile)
    profile.api_mode = place.api_mode
    profile.default_headers = merged_headers(profile.default_headers, place.headers)
    if place.base_url and profile.base_url and host_of(place.base_url) != host_of(profile.base_url):
        profile.models_url = ""  # it is the list of another server, to which this key does not belong
    return profile


def _listed(
    place: Endpoint, models: Sequence[str], source: str, reason: str = "", *, age: float | None = None
) -> ModelList:
    recommended = usable_ids(place.profile.fallback_models)
    known = {model.lower() for model in recommended}
    merged = (*recommended, *(model for model in models if model.lower() not in known))
    return ModelList(place.profile.name, merged, source, age, reason, place.base_url)


def _without(place: Endpoint, reason: str) -> ModelList:
    return _listed(place, (), "fallback" if usable_ids(place.profile.fallback_models) else "none", reason)
