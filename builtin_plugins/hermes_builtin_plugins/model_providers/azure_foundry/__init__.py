"""Azure Foundry: newer OpenAI models speak the Responses API there."""

from collections.abc import Iterable
from urllib.parse import urlsplit

from hermes_core import PluginContext, ProviderProfile, hookimpl

RESPONDING = ("codex", "gpt-5", "o1", "o3", "o4")
"""Beginnings of the names of models that speak it."""


class FoundryProfile(ProviderProfile):
    """A resource of one's own."""

    def get_api_mode(self, model: str, base_url: str = "") -> str:
        if urlsplit(base_url).path.rstrip("/").endswith(("/anthropic", "/anthropic/v1")):
            return "anthropic_messages"
        return "codex_responses" if model.rpartition("/")[2].lower().startswith(RESPONDING) else ""


@hookimpl
def hermes_provider_profiles(ctx: PluginContext) -> Iterable[ProviderProfile]:
    yield ctx.declared_profile(FoundryProfile)
