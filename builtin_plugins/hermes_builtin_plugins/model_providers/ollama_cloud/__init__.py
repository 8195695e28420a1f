"""Ollama's cloud: thinking by an effort of its own words."""

from collections.abc import Iterable, Mapping
from typing import Any

from hermes_core import PluginContext, ProviderProfile, hookimpl

EFFORTS = {word: word for word in ("none", "low", "medium", "high")} | dict.fromkeys(("xhigh", "max", "ultra"), "max")


class OllamaCloudProfile(ProviderProfile):
    """Hosted models at ollama.com."""

    def build_api_kwargs_extras(
        self,
        *,
        reasoning_config: Mapping[str, Any] | None = None,
        supports_reasoning: bool = False,
        **context: Any,
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        config = reasoning_config or {}
        word = "none" if config.get("enabled") is False else str(config.get("effort") or "").lower()
        effort = EFFORTS.get(word) if supports_reasoning else None
        return {}, {"reasoning_effort": effort} if effort else {}


@hookimpl
def hermes_provider_profiles(ctx: PluginContext) -> Iterable[ProviderProfile]:
    yield ctx.declared_profile(OllamaCloudProfile)
