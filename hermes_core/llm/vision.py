"""Who is asked when a call has images and its model takes none."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from hermes_core.config.tasks import auxiliary_task
from hermes_core.errors import ProviderError
from hermes_core.llm.request import call_hook

if TYPE_CHECKING:
    from hermes_core.config.settings import Config
    from hermes_core.llm.plan import Planner
    from hermes_core.llm.route import Route

log = logging.getLogger(__name__)


def seeing_route(planner: Planner, config: Config, first: Route) -> Route | None:
    """The route for a call with images that the first one takes none of; None when there is none.

    The operator's ``auxiliary.vision`` counts; then the provider's own vision model; then the first fallback that
    takes images; then, of the providers with a ``vision_rank``, the first for which there is a credential. Blocks.
    """
    task = auxiliary_task(config, "vision")
    if task.is_explicit:
        return planner.task_route(config, task, first.provider)
    model = _vision_model(first)
    if model:
        return first._replace(model=model, accepts_images=True)
    fallbacks = (route for route in planner.fallbacks(config, first) if route.accepts_images)
    return next(fallbacks, None) or _found(planner, config, first)


def _found(planner: Planner, config: Config, first: Route) -> Route | None:
    for row in planner.ranked("vision_rank"):
        if row.name == first.provider:
            continue
        try:
            if planner.usable(config, row) is None:
                continue
            route = planner.route_to(config, row.name)
            model = _vision_model(route)
        except ProviderError as error:
            log.info("no images go to provider=%s reason=%s", row.name, error)
            continue
        if model and route.accepts_images:
            return route._replace(model=model)
    return None


def _vision_model(route: Route) -> str | None:
    hook, key = route.profile.get_vision_model, route.credential.value
    found: str | None = call_hook(route.provider, "get_vision_model", str | None, hook, route.base_url, key)
    return found
