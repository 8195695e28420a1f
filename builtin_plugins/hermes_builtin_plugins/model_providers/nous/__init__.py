"""The Nous Portal: tags that say who asks, routing preferences, and reasoning as a config."""

from collections.abc import Iterable, Mapping
from typing import Any

from hermes_core import PluginContext, ProviderProfile, __version__, hookimpl

USUAL = {"enabled": True, "effort": "medium"}


class NousProfile(ProviderProfile):
    """The portal's inference API."""

    def default_vision_model(self) -> str | None:
        return self.default_aux_model or None

    def build_extra_body(
        self,
        *,
        session_id: str | None = None,
        conversation: str | None = None,
        provider_preferences: Mapping[str, Any] | None = None,
        **context: Any,
    ) -> dict[str, Any]:
        tags = ["product=hermes_core", f"client=hermes_core-{__version__}"]
        known = conversation or session_id
        body: dict[str, Any] = {"tags": [*tags, f"conversation={known}"] if known else tags}
        if provider_preferences:
            body["provider"] = dict(provider_preferences)
        return body

    def build_api_kwargs_extras(
        self,
        *,
        reasoning_config: Mapping[str, Any] | None = None,
        supports_reasoning: bool = False,
        **context: Any,
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        config = reasoning_config or USUAL
        wanted = supports_reasoning and config.get("enabled") is not False
        return {"reasoning": dict(config)} if wanted else {}, {}


@hookimpl
def hermes_provider_profiles(ctx: PluginContext) -> Iterable[ProviderProfile]:
    yield ctx.declared_profile(NousProfile)
