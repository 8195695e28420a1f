"""Kimi: reasoning as a thinking switch or as an effort, never both, and a coding endpoint of its own."""

from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import urlsplit

from hermes_core import PluginContext, ProviderProfile, hookimpl

NAMES = ("kimi-coding", "kimi-coding-cn")
EFFORTS = ("low", "medium", "high")
CODING_KEY, CODING_URL, CODING_ONLY_MODEL = "sk-kimi-", "https://api.kimi.com/coding", "k3"


class KimiProfile(ProviderProfile):
    """Moonshot's platform."""

    def get_base_url(self, base_url: str, *, api_key: str = "", **context: Any) -> str:
        is_usual = base_url.rstrip("/") == self.base_url
        return CODING_URL if is_usual and api_key.startswith(CODING_KEY) else base_url

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
    for name in NAMES:
        yield ctx.declared_profile(KimiProfile, name)
