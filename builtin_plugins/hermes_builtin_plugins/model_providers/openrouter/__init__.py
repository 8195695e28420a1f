"""OpenRouter: routing preferences, reasoning, and the models that must reason."""

from collections.abc import Iterable, Mapping
from typing import Any

from hermes_core import PluginContext, ProviderProfile, hookimpl

OLDER_CLAUDES = (
    "claude-3",
    *(f"opus-{version}" for version in ("4-0", "4.0", "4-1", "4.1", "4-2025", "4-5", "4.5")),
    *(f"sonnet-{version}" for version in ("4-0", "4.0", "4-2025", "4-5", "4.5")),
    *(f"haiku-{version}" for version in ("4-5", "4.5")),
)
"""Claude models that reason only when asked; every later one always does."""

PARETO = "openrouter/pareto-code"
USUAL_SCORE = 0.65
LONGEST_CACHE = 86_400
"""Seconds."""

GROKS = ("x-ai/grok-", "xai/grok-")


class OpenRouterProfile(ProviderProfile):
    """The aggregator."""

    def default_vision_model(self) -> str | None:
        return self.default_aux_model or None

    def build_extra_body(
        self,
        *,
        session_id: str | None = None,
        provider_preferences: Mapping[str, Any] | None = None,
        model: str = "",
        openrouter_min_coding_score: object = None,
        settings: Mapping[str, Any] | None = None,
        **context: Any,
    ) -> dict[str, Any]:
        body: dict[str, Any] = {"usage": {"include": True}}  # the price of the call comes with the answer
        if session_id:
            body["session_id"] = session_id
        if provider_preferences:
            body["provider"] = dict(provider_preferences)
        if openrouter_min_coding_score is None and settings is not None:
            openrouter_min_coding_score = settings.get("min_coding_score", USUAL_SCORE)
        score = _score(openrouter_min_coding_score)
        if model == PARETO and score is not None:
            body["plugins"] = [{"id": "pareto-router", "min_coding_score": score}]
        return body

    def build_api_kwargs_extras(
        self,
        *,
        reasoning_config: Mapping[str, Any] | None = None,
        supports_reasoning: bool = False,
        model: str = "",
        session_id: str | None = None,
        settings: Mapping[str, Any] | None = None,
        **context: Any,
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        body, top = _reasoning(model, reasoning_config) if supports_reasoning else ({}, {})
        headers = _cache_headers(settings or {})
        if session_id and model.lower().startswith(GROKS):
            headers["x-grok-conv-id"] = session_id
        return body, {**top, "extra_headers": headers} if headers else top

    def fetch_models(
        self, *, api_key: str | None = None, base_url: str | None = None, timeout: float = 8.0
    ) -> list[str] | None:
        return super().fetch_models(timeout=timeout)  # the catalog is public, so no key is sent


def _cache_headers(settings: Mapping[str, Any]) -> dict[str, str]:
    """What asks for the cache of answers: identical requests are then answered once."""
    if str(settings.get("response_cache")).strip().lower() not in ("true", "yes", "on", "1"):
        return {}
    headers, seconds = {"X-OpenRouter-Cache": "true"}, settings.get("response_cache_ttl")
    if isinstance(seconds, int):
        headers["X-OpenRouter-Cache-TTL"] = str(min(max(seconds, 1), LONGEST_CACHE))
    return headers


def _reasoning(model: str, config: Mapping[str, Any] | None) -> tuple[dict[str, Any], dict[str, Any]]:
    if not _always_reasons(model):
        return {"reasoning": dict(config or {"enabled": True, "effort": "medium"})}, {}
    config = config or {}
    effort = config.get("effort")
    wanted = config.get("enabled") is not False and effort not in (None, "", "none")
    return {}, {"verbosity": effort} if wanted else {}


def _always_reasons(model: str) -> bool:
    name = model.lower()
    return ("claude" in name or name.startswith("anthropic/")) and not any(older in name for older in OLDER_CLAUDES)


def _score(value: object) -> float | None:
    try:
        score = float(str(value))
    except ValueError:
        return None
    return score if 0 <= score <= 1 else None


@hookimpl
def hermes_provider_profiles(ctx: PluginContext) -> Iterable[ProviderProfile]:
    yield ctx.declared_profile(OpenRouterProfile)
