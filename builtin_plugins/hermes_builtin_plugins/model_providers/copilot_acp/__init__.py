"""The Copilot CLI: listed, so that who looks for it learns why it is not used; nothing can be asked of it."""

from collections.abc import Iterable

from hermes_core import PluginContext, ProviderProfile, hookimpl


class CopilotAcpProfile(ProviderProfile):
    """An agent behind a command."""

    def fetch_models(
        self, *, api_key: str | None = None, base_url: str | None = None, timeout: float = 8.0
    ) -> list[str] | None:
        return None


@hookimpl
def hermes_provider_profiles(ctx: PluginContext) -> Iterable[ProviderProfile]:
    yield ctx.declared_profile(CopilotAcpProfile)
