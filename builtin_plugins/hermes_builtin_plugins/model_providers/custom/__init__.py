"""A local or private OpenAI-compatible server: Ollama's context size, and thinking switched by effort."""

from collections.abc import Iterable, Mapping
from typing import Any

from hermes_core import PluginContext, ProviderProfile, hookimpl


class CustomProfile(ProviderProfile):
    """The configured endpoint, or a local server at its usual address."""

    def build_api_kwargs_extras(
        self,
        *,
        reasoning_config: Mapping[str, Any] | None = None,
        ollama_num_ctx: int | None = None,
        settings: Mapping[str, Any] | None = None,
        **context: Any,
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        size = ollama_num_ctx or (settings or {}).get("ollama_num_ctx")
        body: dict[str, Any] = {"options": {"num_ctx": size}} if size else {}
        if reasoning_config is None:
            return body, {}
        effort = str(reasoning_config.get("effort") or "").lower()
        if effort == "none" or reasoning_config.get("enabled") is False:
            return {**body, "think": False}, {"reasoning_effort": "none"}
        return body, {"reasoning_effort": effort} if effort else {}

    def fetch_models(
        self, *, api_key: str | None = None, base_url: str | None = None, timeout: float = 8.0
    ) -> list[str] | None:
        root = base_url or self.base_url
        return super().fetch_models(api_key=api_key, base_url=root, timeout=timeout) if root else None


@hookimpl
def hermes_provider_profiles(ctx: PluginContext) -> Iterable[ProviderProfile]:
    for name in ("custom", "ollama-local", "vllm-local", "llamacpp-local"):
        yield ctx.declared_profile(CustomProfile, name)
