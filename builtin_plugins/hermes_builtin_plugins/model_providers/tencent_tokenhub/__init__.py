"""Tencent TokenHub: reasoning by an effort that is always said."""

from collections.abc import Iterable, Mapping
from typing import Any

from hermes_core import PluginContext, ProviderProfile, hookimpl

EFFORTS = ("low", "medium", "high")


class TokenHubProfile(ProviderProfile):
    """Hunyuan models."""

    def build_api_kwargs_extras(
        self, *, reasoning_config: Mapping[str, Any] | None = None, **context: Any
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        config = reasoning_config or {}
        effort = str(config.get("effort") or "").lower()
        if config.get("enabled") is False or effort == "none":
            return {}, {}
        return {}, {"reasoning_effort": effort if effort in EFFORTS else "high"}


@hookimpl
def hermes_provider_profiles(ctx: PluginContext) -> Iterable[ProviderProfile]:
    yield ctx.declared_profile(TokenHubProfile)
