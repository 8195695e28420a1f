"""Anthropic: its address must speak its format, and its model list wants a key."""

from collections.abc import Iterable
from typing import Any
from urllib.parse import urlsplit

from hermes_core import HermesError, PluginContext, ProviderProfile, hookimpl

SPEAKING_HOSTS = ("anthropic.com", "claude.com", "azure.com", "localhost", "127.0.0.1", "::1")
SPEAKING_PATHS = ("/anthropic", "/anthropic/v1")
CODING_HOST, CODING_PATHS = "api.kimi.com", ("/coding", "/coding/v1")


class AnthropicProfile(ProviderProfile):
    """The vendor's own API."""

    def get_base_url(self, base_url: str, **context: Any) -> str:
        if not _speaks(base_url):  # left over from another provider, it would be given this one's key
            message = f"base_url {base_url.partition('?')[0]} is not known to speak the Messages API"
            hint = (
                "unset base_url, or end it in /anthropic; for a gateway: provider custom, api_mode anthropic_messages"
            )
            raise HermesError(message, hint=hint)
        return base_url

    def fetch_models(
        self, *, api_key: str | None = None, base_url: str | None = None, timeout: float = 8.0
    ) -> list[str] | None:
        if not api_key or not _speaks(base_url or self.base_url):
            return None
        return super().fetch_models(api_key=api_key, base_url=base_url, timeout=timeout)


def _speaks(url: str) -> bool:
    parts = urlsplit(url)
    host, path = parts.hostname or "", parts.path.rstrip("/")
    if path.endswith(SPEAKING_PATHS) or (host == CODING_HOST and path in CODING_PATHS):
        return True
    return any(host == known or host.endswith(f".{known}") for known in SPEAKING_HOSTS)


@hookimpl
def hermes_provider_profiles(ctx: PluginContext) -> Iterable[ProviderProfile]:
    yield ctx.declared_profile(AnthropicProfile)
