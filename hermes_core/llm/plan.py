"""Which provider, model, address and credential a call goes to."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, Self

from hermes_core.auth.entries import is_borrowed
from hermes_core.auth.keys import (
    Credential,
    all_from_environment,
    for_address,
    from_environment,
    from_section,
    hint_at_keys,
    hosts_of_keys,
    key_variables,
    url_variables,
)
from hermes_core.config.providers import NO_ENTRY
from hermes_core.config.settings import references
from hermes_core.config.tasks import fallback_chain
from hermes_core.errors import MissingCredentialError, ProviderDisabledError, ProviderError, UnknownProviderError, near
from hermes_core.llm import sections
from hermes_core.llm.known import Known
from hermes_core.llm.route import Endpoint, Route, default_model, profile_address
from hermes_core.providers.addresses import preset_for, providers_at
from hermes_core.providers.profile import ProviderProfile
from hermes_core.types.address import host_of, is_loopback
from hermes_core.types.agent import Agent

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from hermes_core.auth.credentials import Credentials
    from hermes_core.auth.pool import CredentialPool
    from hermes_core.config.environment import Environment, Reads
    from hermes_core.config.providers import ProviderEntry
    from hermes_core.config.settings import Config
    from hermes_core.config.tasks import AuxiliaryTask
    from hermes_core.llm.engine import LaneHost
    from hermes_core.llm.trust import Overrides
    from hermes_core.providers.catalog import ProviderCatalog
    from hermes_core.providers.row import ProviderRow


log = logging.getLogger(__name__)

NOBODY = Agent()

OF_A_LOGIN = "_OAUTH_TOKEN"
"""How the name of a variable ends that holds another program's login: it is used, but chooses no provider."""
MAIN = ("", "auto", "main")
"""Words for the provider that every other call goes to."""
ANY_ENDPOINT = "custom"
"""The provider of an address that is nobody's."""


class Planner:
    """Turns what the operator configured, and what a plugin may override, into routes.

    Args:
        catalog: The providers.
        credentials: The home's; its environment is where keys are found.
        say: Shows one line to the operator.
        reads: Looks variables up, where it is to be kept which ones counted; else the environment does.
        known: What was found out already.
    """

    def __init__(
        self,
        catalog: ProviderCatalog,
        credentials: Credentials,
        say: Callable[[str], None],
        *,
        reads: Reads | None = None,
        known: Known | None = None,
    ) -> None:
        self._catalog = catalog
        self._credentials = credentials
        self._environment: Environment | Reads = reads or credentials.environment
        self._say = say
        self._known = known or Known()

    @classmethod
    def of(cls, host: LaneHost) -> Self:
        """The planner of a host as it is now."""
        return cls(host.providers, host.credentials, host.say)

    def reading(self, reads: Reads) -> Planner:
        """A planner that looks variables up by ``reads``, and knows what this one does."""
        return Planner(self._catalog, self._credentials, self._say, reads=reads, known=self._known)

    def route(self, config: Config, overrides: Overrides, agent: Agent = NOBODY) -> Route:
        """The route to try first.

        Args:
            config: What the operator configured.
            overrides: What the plugin wants instead.
            agent: Whose provider and model are used where the plugin names none.

        Raises:
            ProviderError: No provider, model or credential can be found; says what to configure.
        """
        main = self.configured(config)
        if not main and not overrides.provider and config.error is not None:
            raise config.error  # what the user wants is written there, and nothing else may be guessed
        asked = self._asked(overrides.provider or agent.provider)
        task = self.plugin_task(config)
        if task.is_explicit and not (asked or agent.model):
            chosen = overrides.model
            return self.task_route(config, task, main or "auto", model=chosen, auth_profile=overrides.profile)
        requested = asked or main or self._automatic(config)
        is_main = not asked or self._same(requested, main)
        section = config.section("model") if is_main else {}
        return self._route(
            config,
            requested,
            section,
            model=overrides.model or agent.model,
            is_main=is_main,
            auth_profile=overrides.profile,
        )

    def fallbacks(self, config: Config, first: Route | None) -> list[Route]:
        """The routes to ask when the first one fails, each target once; what cannot be asked is left out.

        Args:
            config: What the operator configured.
            first: The route that failed; None when there was none.
        """
        seen, found = {first.identity} if first is not None else set(), list[Route]()
        for row in (*self.plugin_task(config).fallback_chain, *fallback_chain(config)):
            try:
                asked = self._asked(row.provider) or self.active(config)
                route = self._route(config, asked, row._asdict(), model=row.model, place=row.place)
            except ProviderError as error:
                log.info("fallback left out place=%s reason=%s", row.place, error)
                continue
            if route.identity not in seen:
                seen.add(route.identity)
                found.append(route._replace(timeout=row.timeout or route.timeout))
        return found

    def route_to(self, config: Config, name: str) -> Route:
        """The route to a provider at its usual model for side tasks; raises what ``route`` does."""
        return self._route(config, name, {})

    def ranked(self, rank: str) -> list[ProviderRow]:
        """The bundled providers with a place in an automatic choice, ``auto_rank`` or ``vision_rank``, in its order."""
        bundled = [row for row in self._catalog if "bundled" in self._catalog.tiers(row.name)]
        placed = [row for row in bundled if getattr(row, rank) is not None]
        return sorted(placed, key=lambda row: (getattr(row, rank), row.name))

    def plugin_task(self, config: Config) -> AuxiliaryTask:
        """What the configuration says of plugins' calls."""
        return self._known.plugin_task(config)

    def task_route(
        self, config: Config, task: AuxiliaryTask, usual: str, *, model: str = "", auth_profile: str = ""
    ) -> Route:
        """The route of a side task; what it does not say is as at the provider that every call goes to.

        Args:
            config: What the operator configured.
            task: What it says of the task.
            usual: The provider when it names none; ``auto`` to find one.
            model: What beats the task's model.
            auth_profile: The one credential to use.
        """
        main = self.configured(config)
        requested = self._asked(task.provider) or (task.base_url and self._owner(task.base_url)) or usual
        if requested == "auto":
            requested = self._automatic(config)
        said = {key: value for key, value in task._asdict().items() if value}
        place = f"auxiliary.{task.name}"
        if not task.base_url and self._same(requested, main):
            shared = config.section("model")
            place = place if task.api_key or task.key_env else "model"
            said = {**{key: shared[key] for key in shared if not (task.model and key == "supports_vision")}, **said}
        return self._route(config, requested, said, model=model or task.model, place=place, auth_profile=auth_profile)

    def _route(
        self,
        config: Config,
        requested: str,
        section: Mapping[str, Any],
        *,
        model: str = "",
        place: str = "model",
        is_main: bool = False,
        auth_profile: str = "",
    ) -> Route:
        """The route to a provider, by what a section of the configuration says of it.

        Raises:
            ProviderError: It has no address, model or credential.
        """
        entry = self._entry(requested)
        profile, address = self._profile(requested, section, entry, place)
        if profile.unavailable:
            message = f"provider {profile.name!r} cannot be used here: {profile.unavailable}"
            raise ProviderError(message, provider=profile.name, hint="choose another: `hermes providers list`")
        model = model or str(section.get("default") or "") or entry.model
        model = model or default_model(profile, cheap=not is_main)
        pool = self._pool(config, profile, address, section, entry, place)
        pinned = pool.find(auth_profile).id if auth_profile else ""
        credential = pool.select(pinned=pinned)
        if credential is None:
            raise pool.refusal(pinned)
        model = model or self._known.only_model(config, profile, address, credential.value)
        return Route(
            profile=profile,
            provider=profile.name,
            model=model,
            base_url=address,
            credential=credential,
            pool=pool,
            pinned=bool(pinned),
            headers={**sections.headers(section), **entry.extra_headers},
            max_tokens=sections.max_tokens(
                section, entry, self._environment.get("HERMES_MAX_TOKENS") if is_main else ""
            ),
            api_mode=sections.demanded_mode(section, entry),
            accepts_images=sections.accepts_images(profile, section, entry, model),
            reasoning=sections.reasoning(config, self._say),
            extra_body={**entry.extra_body, **sections.mapping(section.get("extra_body"))},
            settings=sections.settings(section, config.section(profile.name)),
            timeout=entry.request_timeout_seconds,
            tls=sections.tls(entry, address, self._environment.first),
        )

    def _entry(self, requested: str) -> ProviderEntry:
        """What the operator wrote of a provider; an empty row when nothing is written.

        Raises:
            ProviderDisabledError: It is switched off.
        """
        entry = self._catalog.entry(requested)
        if entry is None:
            return NO_ENTRY
        if not entry.enabled:
            message = f"provider {requested!r} is switched off: {entry.place}.enabled is false in config.yaml"
            hint = f"hermes config unset {entry.place}.enabled"
            raise ProviderDisabledError(message, provider=requested, hint=hint)
        return entry

    def variable(self, profile: ProviderProfile, name: str) -> str:
        """A variable for a wire that signs, ``""`` when it is not set; what is another provider's is kept back."""
        owners = [row.name for row in self._catalog if name in row.env_vars]
        return self._environment.credential(name) if not owners or profile.name in owners else ""

    def active(self, config: Config) -> str:
        """The name of the provider that a call goes to when nobody asks for another.

        Raises:
            MissingCredentialError: None is configured, and none was found.
        """
        return self.configured(config) or self._automatic(config)

    def configured(self, config: Config) -> str:
        """The configured provider; ``""`` when it is left to be found."""
        name = config.text("model", "provider") or self._environment.get("HERMES_INFERENCE_PROVIDER")
        address = config.text("model", "base_url")
        return self._asked(name) or (address and self._owner(address))

    @staticmethod
    def _asked(word: str) -> str:
        """A provider that is asked for; ``""`` for the one that every other call goes to."""
        name = word.strip().lower()
        return "" if name in MAIN else name

    def _owner(self, address: str) -> str:
        """The provider to use at an address when none is named: whose host it is, one with a key first."""
        found = providers_at(self._catalog, address)
        names = [name for name in found if self._catalog.tiers(name) != {"config"}]  # an entry is asked for by name
        if len(names) > 1:
            variables = {row.name: key_variables(row.env_vars) for row in self._catalog}
            keyed = (
                name
                for name in names
                if self._credentials.mentions(name) or any(all_from_environment(variables[name], self._environment))
            )
            return next(keyed, names[0])
        return names[0] if names else ANY_ENDPOINT

    def _same(self, requested: str, main: str) -> bool:
        canonical = self._catalog.resolve(main)
        return bool(main) and (requested == main or self._catalog.resolve(requested) == canonical != "")

    def _automatic(self, config: Config) -> str:
        """The provider to use when nothing is configured, said once.

        Bundled ones alone count, by rank: the first with a usable key; else the one that was logged in at last;
        else the first that needs none.
        """
        rows = self.ranked("auto_rank")
        for row in rows:
            found = self.usable(config, row)
            if found is not None:
                place = found.source if is_borrowed(found.source) else "auth.json"
                self._say(f"hermes: using {row.name}, found by {place}; set model.provider to choose another")
                return row.name
        active = self._catalog.resolve(self._credentials.store.read().get("active_provider"))
        if active and self.pool(config, active).select() is not None:
            self._say(f"hermes: using {active}, where you logged in; set model.provider to choose another")
            return active
        for row in rows:
            if row.auth_type == "none":
                self._say(
                    f"hermes: no provider is configured and no key was found: {row.name} answers ({row.description}); "
                    "set model.provider in config.yaml to choose another"
                )
                return row.name
        raise MissingCredentialError("no provider is configured, and no credential was found", hint=hint_at_keys(rows))

    def usable(self, config: Config, row: ProviderRow) -> Credential | None:
        """A credential of a provider; its plugin is not imported to find one in the environment."""
        if self._credentials.mentions(row.name):
            found = self.pool(config, row.name).select()
            return found if found is not None and found.value else None
        names = [name for name in key_variables(row.env_vars) if not name.endswith(OF_A_LOGIN)]
        return from_environment(names, self._environment) if row.auth_type == "api_key" else None

    def _profile(
        self, requested: str, section: Mapping[str, Any], entry: ProviderEntry, place: str = "model"
    ) -> tuple[ProviderProfile, str]:
        """The profile of a requested name, and the address to use it at."""
        configured = str(section.get("base_url") or "") or entry.base_url
        for name in references(configured):
            where = place if section.get("base_url") else entry.place
            message = f"config.yaml: {where}.base_url refers to ${{{name}}}, which is not set"
            raise MissingCredentialError(message, provider=requested, hint="set the variable, or write it to .env")
        profile = self._catalog.get(requested)
        if profile is None and configured:
            return ProviderProfile(requested), configured
        if profile is None:
            hint = "run `hermes providers list`, or set model.base_url for a provider of your own"
            message = f"unknown provider {requested!r}{near(requested, self._catalog.words())}"
            raise UnknownProviderError(message, provider=requested, hint=hint)
        configured = configured or self._address_variable(profile)
        preset = None if configured or profile.base_url else self._catalog.get(preset_for(self._catalog, requested))
        configured = configured or (self._address_variable(preset) if preset else "")
        return profile, configured or profile_address(preset or profile)

    def _address_variable(self, profile: ProviderProfile) -> str:
        return next(filter(None, map(self._environment.credential, url_variables(profile.env_vars))), "")

    def pool(self, config: Config, name: str) -> CredentialPool:
        """The credentials of a provider, as a call to it would find them; raises what ``endpoint`` does."""
        return self.endpoint(config, name).pool

    def endpoint(self, config: Config, name: str) -> Endpoint:
        """Where a provider is asked, as a call to it would be.

        Raises:
            UnknownProviderError: There is no such provider, and no address for it.
            ProviderDisabledError: It is switched off.
        """
        word = self._asked(name) or self.active(config)
        section = config.section("model") if self._same(word, self.configured(config)) else {}
        entry = self._entry(word)
        profile, address = self._profile(word, section, entry)
        return Endpoint(
            profile=profile,
            base_url=address,
            pool=self._pool(config, profile, address, section, entry),
            headers={**sections.headers(section), **entry.extra_headers},
            api_mode=sections.api_mode(profile, section, entry, address, ""),
            tls=sections.tls(entry, address, self._environment.first),
        )

    def _pool(
        self,
        config: Config,
        profile: ProviderProfile,
        address: str,
        section: Mapping[str, Any],
        entry: ProviderEntry,
        place: str = "model",
    ) -> CredentialPool:
        names = key_variables(profile.env_vars)
        found: list[Credential | None] = []  # a key goes where it was meant to: to its own address, or the only one
        if section.get("base_url") or entry.base_url or not profile.base_url:
            found.append(from_section(section, place, self._environment))
        if not section.get("base_url"):
            found.append(from_section(entry.credential, entry.place, self._environment))
        found += all_from_environment(names, self._environment)
        if not any(found) and not names and not is_loopback(host_of(address)):
            found.append(for_address(address, hosts_of_keys(self._catalog), self._environment))
        keys = list({key.source: key for key in found if key is not None}.values())
        return self._credentials.pool(profile, keys, address=address, config=config)
