"""MiniMax: two surfaces at one host, and reasoning that comes apart from the answer on one of them."""

from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import urlsplit

from hermes_core import PluginContext, ProviderProfile, hookimpl

NAMES = ("minimax", "minimax-cn", "minimax-oauth")
OPENAI_ROOT = ("api.minimax.io", "/v1")
SPLITTING = ("minimax-m3", "minimax/minimax-m3")
"""Models that give their reasoning apart."""


class MiniMaxProfile(ProviderProfile):
    """The vendor's own API, or its mainland's."""

    def get_api_mode(self, model: str, base_url: str = "") -> str:
        return "chat_completions" if _root(base_url)[1] == "/v1" else ""

    def get_base_url(self, base_url: str, *, api_mode: str = "", **context: Any) -> str:
        root, question, query = base_url.partition("?")
        root = root.rstrip("/")
        if api_mode == "anthropic_messages" or not root.endswith("/anthropic"):
            return base_url
        return f"{root.removesuffix('/anthropic')}/v1{question}{query}"

    def build_api_kwargs_extras(
        self,
        *,
        reasoning_config: Mapping[str, Any] | None = None,
        model: str = "",
        base_url: str = "",
        **context: Any,
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        if _root(base_url or "") != OPENAI_ROOT or (model or "").lower() not in SPLITTING:
            return {}, {}
        if reasoning_config is None:
            return {"reasoning_split": True}, {}
        is_off = isinstance(reasoning_config, Mapping) and reasoning_config.get("enabled") is False
        return {"reasoning_split": True, "thinking": {"type": "disabled" if is_off else "adaptive"}}, {}


def _root(url: str) -> tuple[str, str]:
    """An address's host and path."""
    parts = urlsplit(url)
    return parts.hostname or "", parts.path.rstrip("/").lower()


@hookimpl
def hermes_provider_profiles(ctx: PluginContext) -> Iterable[ProviderProfile]:
    for name in NAMES:
        yield ctx.declared_profile(MiniMaxProfile, name)
