"""OpenAI: a developer's message in place of the system's for its newer models, and a list without the odd ones."""

from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import urlsplit

from hermes_core import PluginContext, ProviderProfile, hookimpl

WITH_DEVELOPER = ("gpt-5", "codex")


class OpenAIProfile(ProviderProfile):
    """OpenAI's platform."""

    def build_api_kwargs_extras(
        self,
        *,
        reasoning_config: Mapping[str, Any] | None = None,
        model: str = "",
        api_mode: str = "chat_completions",
        messages: list[dict[str, Any]] | None = None,
        **context: Any,
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        if api_mode != self.api_mode or not any(name in model.lower() for name in WITH_DEVELOPER):
            return {}, {}
        first, *rest = messages or [{}]
        if first.get("role") != "system":
            return {}, {}
        return {}, {"messages": [{**first, "role": "developer"}, *rest]}

    def fetch_models(
        self, *, api_key: str | None = None, base_url: str | None = None, timeout: float = 8.0
    ) -> list[str] | None:
        listed = super().fetch_models(api_key=api_key, base_url=base_url, timeout=timeout)
        is_own = urlsplit(base_url or self.base_url).hostname == urlsplit(self.base_url).hostname
        if listed is None or not is_own:
            return listed
        return [model for model in self.fallback_models if model in listed]  # it lists voices and pictures too


@hookimpl
def hermes_provider_profiles(ctx: PluginContext) -> Iterable[ProviderProfile]:
    yield ctx.declared_profile(OpenAIProfile)
