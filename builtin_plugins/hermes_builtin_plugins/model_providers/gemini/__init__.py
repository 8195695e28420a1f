"""Gemini: how a model is told to think, on the native surface and on the OpenAI-compatible one."""

from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import urlsplit

from hermes_core import PluginContext, ProviderProfile, gemini_thinking, hookimpl

HOST = "generativelanguage.googleapis.com"


class GeminiProfile(ProviderProfile):
    """Google's AI Studio."""

    def get_api_mode(self, model: str, base_url: str = "") -> str:
        host, is_compatible = _place(base_url)
        return "gemini" if host == HOST and not is_compatible else ""

    def build_extra_body(
        self,
        *,
        session_id: str | None = None,
        model: str = "",
        base_url: str = "",
        reasoning_config: Mapping[str, Any] | None = None,
        **context: Any,
    ) -> dict[str, Any]:
        compatible = _place(base_url or "") == (HOST, True)
        config = gemini_thinking(model or "", reasoning_config, snake_case=compatible)
        if not config:
            return {}
        return {"extra_body": {"google": {"thinking_config": config}}} if compatible else {"thinking_config": config}


def _place(url: str) -> tuple[str, bool]:
    """An address's host, and whether it is of an OpenAI-compatible surface."""
    parts = urlsplit(url)
    return parts.hostname or "", parts.path.rstrip("/").endswith("/openai")


@hookimpl
def hermes_provider_profiles(ctx: PluginContext) -> Iterable[ProviderProfile]:
    yield ctx.declared_profile(GeminiProfile)
