"""Kimi: reasoning as a thinking switch or as an effort, never both, and a coding endpoint of its own."""

from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import urlsplit

from hermes_core import PluginContext, ProviderProfile, hookimpl

EFFORTS = ("low", "medium", "high")
CODING_ONLY_MODEL = "k3"


class KimiProfile(ProviderProfile):
    """Moonshot's platform."""

    def build_api_kwargs_extras(
        self, *, reasoning_config: Mapping[str, Any] | None = None, **context: Any
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        config = reasoning_config if isinstance(reasoning_config, Mapping) else {}
        if config.get("enabled") is False:
            return {"thinking": {"type": "disabled"}}, {}
        if config.get("effort") in EFFORTS:
            return {}, {"reasoning_effort": config["effort"]}
        return {"thinking": {"type": "enabled"}}, {}

    def fetch_models(
        self, *, api_key: str | None = None, base_url: str | None = None, timeout: float = 8.0
    ) -> list[str] | None:
        base = (base_url or self.base_url).rstrip("/")
        coding = _is_coding_endpoint(base)
        if coding and base.endswith("/coding"):
            base += "/v1"
        models = super().fetch_models(api_key=api_key, base_url=base, timeout=timeout)
        if models is None or coding:
            return models
        return [model for model in models if model.lower() != CODING_ONLY_MODEL]


def _is_coding_endpoint(url: str) -> bool:
    parts = urlsplit(url)
    return (
        (parts.scheme, parts.netloc.removesuffix(":443")) == ("https", "api.kimi.com")
        and parts.path in ("/coding", "/coding/v1")
        and not (parts.query or parts.fragment)
    )


@hookimpl
def hermes_provider_profiles(ctx: PluginContext) -> Iterable[ProviderProfile]:
    yield ctx.declared_profile(KimiProfile)
