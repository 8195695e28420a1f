"""DeepSeek: models that think are told so, and how much."""

from collections.abc import Iterable, Mapping
from typing import Any

from hermes_core import PluginContext, ProviderProfile, hookimpl

EFFORTS = {**{word: word for word in ("low", "medium", "high")}, **dict.fromkeys(("xhigh", "max", "ultra"), "max")}
"""Efforts as it calls them; others are left out."""


class DeepSeekProfile(ProviderProfile):
    """The vendor's own API."""

    def build_api_kwargs_extras(
        self, *, reasoning_config: Mapping[str, Any] | None = None, model: str = "", **context: Any
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        if not _thinks(model or ""):
            return {}, {}
        config = reasoning_config if isinstance(reasoning_config, Mapping) else {}
        if config.get("enabled") is False:
            return {"thinking": {"type": "disabled"}}, {}
        effort = EFFORTS.get(str(config.get("effort") or "").lower())
        return {"thinking": {"type": "enabled"}}, {"reasoning_effort": effort} if effort else {}


def _thinks(model: str) -> bool:
    name = model.strip().lower()
    return name == "deepseek-reasoner" or (name.startswith("deepseek-v") and not name.startswith("deepseek-v3"))


@hookimpl
def hermes_provider_profiles(ctx: PluginContext) -> Iterable[ProviderProfile]:
    yield ctx.declared_profile(DeepSeekProfile)
