"""OpenCode's two services: one address, and for each model the wire format its vendor speaks."""

from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import urlsplit

from hermes_core import PluginContext, ProviderProfile, hookimpl

HOST = "opencode.ai"
HIGHEST = ("xhigh", "max", "ultra")
USUAL = ("low", "medium", "high")
GLM_WITH_EFFORT = ("glm-5.2", "glm-5-2", "glm-5p2")

Extras = tuple[dict[str, Any], dict[str, Any]]


class ZenProfile(ProviderProfile):
    """Models paid as you go."""

    formats: Mapping[str, str] = {
        "claude-": "anthropic_messages",
        "qwen": "anthropic_messages",
        "gpt-": "codex_responses",
    }
    """Beginnings of models' names → the wire format they are asked in; the others by chat completions."""

    def get_api_mode(self, model: str, base_url: str = "") -> str:
        name = bare(model)
        return next((mode for start, mode in self.formats.items() if name.startswith(start)), "chat_completions")

    def get_base_url(self, base_url: str, *, api_mode: str = "", **context: Any) -> str:
        url = base_url.rstrip("/")
        is_ours = urlsplit(url).hostname == HOST  # what a proxy's paths are, only its owner knows
        needs_version = is_ours and api_mode != "anthropic_messages" and not url.endswith("/v1")
        return f"{url}/v1" if needs_version else base_url

    def build_api_kwargs_extras(
        self, *, reasoning_config: Mapping[str, Any] | None = None, model: str = "", **context: Any
    ) -> Extras:
        body, top = self.reasoning(bare(model), reasoning_config if isinstance(reasoning_config, Mapping) else None)
        return body, {**top, "model": model.rpartition("/")[2]} if "/" in model else top

    def reasoning(self, name: str, config: Mapping[str, Any] | None) -> Extras:
        """What a model, by its bare name, is told of reasoning."""
        return {}, {}


class GoProfile(ZenProfile):
    """Open models by subscription."""

    formats: Mapping[str, str] = {"minimax-": "anthropic_messages", "qwen": "anthropic_messages"}

    def get_max_tokens(self, model: str) -> int | None:
        return 131072 if bare(model) == "mimo-v2.5-pro" else super().get_max_tokens(model)

    def reasoning(self, name: str, config: Mapping[str, Any] | None) -> Extras:
        if any(spelling in name for spelling in GLM_WITH_EFFORT):
            return _glm(config)
        if name.startswith("kimi-k2"):
            return _kimi(config)
        if name == "deepseek-reasoner" or (name.startswith("deepseek-v") and not name.startswith("deepseek-v3")):
            return _deepseek(config)
        return {}, {}


def bare(model: str) -> str:
    """A model's name without its vendor, in lower case."""
    return model.rpartition("/")[2].lower()


def _glm(config: Mapping[str, Any] | None) -> Extras:
    effort = _effort(config)
    if config is None or config.get("enabled") is False or effort in ("", "none"):
        return {}, {}
    return {}, {"reasoning_effort": "max" if effort in HIGHEST else "high"}


def _kimi(config: Mapping[str, Any] | None) -> Extras:
    return ({}, {}) if config is None else _switch_or_effort(config, highest="high")


def _deepseek(config: Mapping[str, Any] | None) -> Extras:
    return _switch_or_effort(config or {}, highest="max")


def _switch_or_effort(config: Mapping[str, Any], *, highest: str) -> Extras:
    """A thinking switch or an effort, never both: the two together are refused."""
    effort = _effort(config)
    if config.get("enabled") is False:
        return {"thinking": {"type": "disabled"}}, {}
    if effort in USUAL or effort in HIGHEST:
        return {}, {"reasoning_effort": highest if effort in HIGHEST else effort}
    return {"thinking": {"type": "enabled"}}, {}


def _effort(config: Mapping[str, Any] | None) -> str:
    return str((config or {}).get("effort") or "").lower()


@hookimpl
def hermes_provider_profiles(ctx: PluginContext) -> Iterable[ProviderProfile]:
    yield ctx.declared_profile(ZenProfile, "opencode-zen")
    yield ctx.declared_profile(GoProfile, "opencode-go")
