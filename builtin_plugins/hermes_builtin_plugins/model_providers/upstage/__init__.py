"""Upstage Solar: reasoning by an effort, but for the small models."""

from collections.abc import Iterable, Mapping
from typing import Any

from hermes_core import PluginContext, ProviderProfile, hookimpl

WITHOUT_REASONING = ("solar-mini", "syn-pro")
EFFORTS = {"": "medium", "minimal": None, "low": "low", "medium": "medium"}
"""Efforts it is sent, by the word asked for; every other word is high."""


class UpstageProfile(ProviderProfile):
    """Solar models."""

    def build_api_kwargs_extras(
        self, *, reasoning_config: Mapping[str, Any] | None = None, model: str = "", **context: Any
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        config = reasoning_config or {}
        if config.get("enabled") is False or any(name in model.lower() for name in WITHOUT_REASONING):
            return {}, {}
        effort = EFFORTS.get(str(config.get("effort") or "").lower(), "high")
        return {}, {"reasoning_effort": effort} if effort else {}


@hookimpl
def hermes_provider_profiles(ctx: PluginContext) -> Iterable[ProviderProfile]:
    yield ctx.declared_profile(UpstageProfile)
