"""The route of calls that choose nothing, planned anew only when something it was planned by has changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from hermes_core.config.environment import Reads
from hermes_core.llm.plan import MAIN
from hermes_core.llm.trust import Overrides
from hermes_core.providers.profile import ProviderProfile

if TYPE_CHECKING:
    from hermes_core.auth.pool import CredentialPool
    from hermes_core.config.environment import Environment
    from hermes_core.config.settings import Config
    from hermes_core.llm.plan import Planner
    from hermes_core.llm.route import Route
    from hermes_core.providers.catalog import ProviderCatalog


class _Kept(NamedTuple):
    """A route, and what it was planned by: one reading of the configuration, the plugins, variables, the profile."""

    route: Route
    pool: CredentialPool
    config: Config
    generation: int
    reads: Reads
    profile: dict[str, Any]

    def holds(self, config: Config, generation: int) -> bool:
        """Whether it would be planned so again, whatever credential is chosen."""
        is_same = self.config is config and self.generation == generation
        return is_same and vars(self.route.profile) == self.profile and self.reads.hold()

    def __repr__(self) -> str:
        return f"_Kept({self.route!r})"


class UsualRoute:
    """The route of calls that choose nothing.

    It is kept where the configuration says which provider is asked, and no code says at which address: then it depends
    on nothing but the configuration, the plugins, the profile's fields and the variables that were looked up. Which
    credential is used is asked anew each time.
    """

    def __init__(self, planner: Planner, catalog: ProviderCatalog, environment: Environment) -> None:
        self._planner = planner
        self._catalog = catalog
        self._environment = environment
        self._kept: _Kept | None = None

    def plan(self, config: Config) -> Route:
        """The route as it is now; raises what ``Planner.route`` does."""
        kept, generation = self._kept, self._catalog.generation
        if kept is not None and kept.holds(config, generation):
            credential = kept.pool.select()
            if credential is not None:
                return kept.route._replace(credential=credential)
        reads = Reads(self._environment)
        route = self._planner.reading(reads).route(config, Overrides())
        profile, is_named = route.profile, config.text("model", "provider").lower() not in MAIN
        is_written = profile.base_url or config.text("model", "base_url")
        is_plain = getattr(profile.get_hostname, "__func__", None) is ProviderProfile.get_hostname
        asks_nobody = is_named and is_written and is_plain
        if asks_nobody and route.model and route.pool is not None:
            self._kept = _Kept(route, route.pool, config, generation, reads, dict(vars(profile)))
        return route
