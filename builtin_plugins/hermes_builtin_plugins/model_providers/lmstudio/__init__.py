"""LM Studio: one address however it is written, and an effort for the models that list it."""

from collections.abc import Iterable, Mapping
from typing import Any

from hermes_core import EndpointHost, PluginContext, ProviderProfile, hookimpl

OPTIONS = {"off": "none", "on": "medium"}
"""What a model calls its ways of reasoning → the effort that stands for it; the others are efforts."""

CLAMPED = {"max": "xhigh", "ultra": "xhigh"}


class LMStudioProfile(ProviderProfile):
    """The server of the desktop program."""

    def get_base_url(self, base_url: str, **context: Any) -> str:
        return f"{root_of(base_url)}/v1"

    def open_endpoint(self, host: EndpointHost) -> tuple[str, str] | None:
        from .models import reasoning_options

        root = root_of(host.base_url or self.base_url)
        known = self.__dict__.setdefault("_options", {})
        if root not in known and (options := reasoning_options(root, host.api_key)) is not None:
            known[root] = options
        return None

    def build_api_kwargs_extras(
        self,
        *,
        reasoning_config: Mapping[str, Any] | None = None,
        model: str = "",
        base_url: str = "",
        **context: Any,
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        if reasoning_config is None:
            return {}, {}
        options = self.__dict__.get("_options", {}).get(root_of(base_url or self.base_url), {}).get(model, ())
        allowed = {OPTIONS.get(option, option) for option in options}
        asked = str(reasoning_config.get("effort") or "medium").lower()
        effort = "none" if reasoning_config.get("enabled") is False else CLAMPED.get(asked, asked)
        return {}, {"reasoning_effort": effort} if effort in allowed else {}


def root_of(base_url: str) -> str:
    """The server's address without the path of any of its APIs."""
    url = base_url.rstrip("/")
    for ending in ("/v1", "/api"):
        url = url.removesuffix(ending)
    return url


@hookimpl
def hermes_provider_profiles(ctx: PluginContext) -> Iterable[ProviderProfile]:
    yield ctx.declared_profile(LMStudioProfile)
