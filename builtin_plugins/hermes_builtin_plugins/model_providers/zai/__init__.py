"""Z.AI: thinking as a switch from GLM 4.5 on, with an effort from 5.2 on."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from hermes_core import PluginContext, ProviderProfile, hookimpl

VERSION = re.compile(r"glm-(\d+)(?:\.(\d+))?")
WITH_EFFORT = ("glm-5.2", "glm-5-2", "glm-5p2")
HIGHEST = ("xhigh", "max", "ultra")


VISION = re.compile(r"glm-[\d.]+v\b")
"""Models that see; they refuse a limit of their answer."""


class ZaiProfile(ProviderProfile):
    """GLM models."""

    def default_vision_model(self) -> str | None:
        return "glm-5v-turbo"

    def build_api_kwargs_extras(
        self, *, reasoning_config: Mapping[str, Any] | None = None, model: str = "", **context: Any
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        name = model.lower()
        body, top = self._reasoning(name, reasoning_config)
        return body, {**top, "max_tokens": None} if VISION.match(name) else top

    def _reasoning(
        self, name: str, reasoning_config: Mapping[str, Any] | None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        takes_effort = any(spelling in name for spelling in WITH_EFFORT)
        if not isinstance(reasoning_config, Mapping) or not (takes_effort or _thinks(name)):
            return {}, {}
        if reasoning_config.get("enabled") is False:
            return {"thinking": {"type": "disabled"}}, {}
        effort = str(reasoning_config.get("effort") or "none").lower()
        top = {"reasoning_effort": "max" if effort in HIGHEST else "high"} if takes_effort and effort != "none" else {}
        return {"thinking": {"type": "enabled"}}, top


def _thinks(name: str) -> bool:
    found = VERSION.match(name)
    return found is not None and (int(found[1]), int(found[2] or 0)) >= (4, 5)


@hookimpl
def hermes_provider_profiles(ctx: PluginContext) -> Iterable[ProviderProfile]:
    yield ctx.declared_profile(ZaiProfile)
