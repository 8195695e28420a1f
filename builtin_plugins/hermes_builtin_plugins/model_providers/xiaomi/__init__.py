"""Xiaomi MiMo: models' names in lower case alone, and one model that sees."""

from collections.abc import Iterable, Mapping
from typing import Any

from hermes_core import PluginContext, ProviderProfile, hookimpl


class XiaomiProfile(ProviderProfile):
    """MiMo models."""

    def default_vision_model(self) -> str | None:
        return "mimo-v2.5"

    def build_api_kwargs_extras(
        self, *, reasoning_config: Mapping[str, Any] | None = None, model: str = "", **context: Any
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        return {}, {"model": model.lower()} if model != model.lower() else {}


@hookimpl
def hermes_provider_profiles(ctx: PluginContext) -> Iterable[ProviderProfile]:
    yield ctx.declared_profile(XiaomiProfile)
