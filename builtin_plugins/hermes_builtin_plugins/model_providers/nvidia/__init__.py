"""NVIDIA's hosted models are told who asks; a NIM of one's own is not."""

from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import urlsplit

from hermes_core import PluginContext, ProviderProfile, hookimpl

ORIGIN = {"X-BILLING-INVOKE-ORIGIN": "hermes_core"}


class NvidiaProfile(ProviderProfile):
    """The hosted models, or a NIM."""

    def build_api_kwargs_extras(
        self, *, reasoning_config: Mapping[str, Any] | None = None, base_url: str = "", **context: Any
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        is_hosted = urlsplit(base_url or "").hostname == urlsplit(self.base_url).hostname
        return {}, {"extra_headers": {**ORIGIN}} if is_hosted else {}


@hookimpl
def hermes_provider_profiles(ctx: PluginContext) -> Iterable[ProviderProfile]:
    yield ctx.declared_profile(NvidiaProfile)
