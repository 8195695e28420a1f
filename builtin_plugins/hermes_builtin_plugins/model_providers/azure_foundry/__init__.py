"""Azure Foundry: newer OpenAI models speak the Responses API there, and a token of Entra may stand for the key."""

from collections.abc import Iterable
from urllib.parse import urlsplit

from hermes_core import EndpointHost, MissingCredentialError, PluginContext, ProviderProfile, hookimpl

RESPONDING = ("codex", "gpt-5", "o1", "o3", "o4")
"""Beginnings of the names of models that speak it."""


class FoundryProfile(ProviderProfile):
    """A resource of one's own."""

    def get_api_mode(self, model: str, base_url: str = "") -> str:
        if urlsplit(base_url).path.rstrip("/").endswith(("/anthropic", "/anthropic/v1")):
            return "anthropic_messages"
        return "codex_responses" if model.rpartition("/")[2].lower().startswith(RESPONDING) else ""

    def open_endpoint(self, host: EndpointHost) -> tuple[str, str] | None:
        if host.settings.get("auth_mode") == "entra_id":
            from .entra import access_token

            return host.base_url, access_token(host)
        if not host.api_key:
            hint = f"set {self.env_vars[0]}, run `hermes auth add {self.name}`, or set model.auth_mode: entra_id"
            raise MissingCredentialError(f"no credential for provider {self.name!r}", provider=self.name, hint=hint)
        return None


@hookimpl
def hermes_provider_profiles(ctx: PluginContext) -> Iterable[ProviderProfile]:
    yield ctx.declared_profile(FoundryProfile)
