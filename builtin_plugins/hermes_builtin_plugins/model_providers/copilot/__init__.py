"""GitHub Copilot: a wire format and efforts by model, and two headers that say what a request is."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from hermes_core import MissingCredentialError, PluginContext, ProviderProfile, hookimpl

EFFORTS = {
    r"gpt-5.*": ("minimal", "low", "medium", "high"),
    r"o[134](-.*)?": ("low", "medium", "high"),
}
"""Pattern of a model's name → the efforts it takes, the weakest first; others take none."""

NEAREST = {"xhigh": "high", "max": "high", "ultra": "high", "minimal": "low"}
CLASSIC = "ghp_"


class CopilotProfile(ProviderProfile):
    """Models of several vendors, for an account that has Copilot."""

    def get_api_mode(self, model: str, base_url: str = "") -> str:
        name = _bare(model)
        found = re.match(r"gpt-(\d+)", name)
        responds = found is not None and int(found[1]) >= 5 and not name.startswith("gpt-5-mini")
        return "codex_responses" if responds else ""

    def get_base_url(self, base_url: str, *, api_key: str = "", **context: Any) -> str:
        if api_key.startswith(CLASSIC):
            message = f"Copilot takes no classic personal access token ({CLASSIC}…)"
            hint = "use a fine-grained token, or one of `gh auth token`, as COPILOT_GITHUB_TOKEN"
            raise MissingCredentialError(message, provider=self.name, hint=hint)
        return base_url

    def get_reasoning(self, model: str, reasoning_config: Mapping[str, Any]) -> Mapping[str, Any] | None:
        effort = _effort(model, reasoning_config)
        return {"enabled": True, "effort": effort} if effort else None

    def build_api_kwargs_extras(
        self,
        *,
        reasoning_config: Mapping[str, Any] | None = None,
        supports_reasoning: bool = False,
        model: str = "",
        messages: Sequence[Mapping[str, Any]] | None = None,
        **context: Any,
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        effort = _effort(model, reasoning_config) if supports_reasoning and model else ""
        headers = _headers(messages or ())
        return {"reasoning": {"effort": effort}} if effort else {}, {"extra_headers": headers} if headers else {}


def _effort(model: str, config: Mapping[str, Any] | None) -> str:
    """The effort to ask for: the one wanted, the nearest there is, or the usual one; ``""`` for none."""
    levels = next((levels for pattern, levels in EFFORTS.items() if re.fullmatch(pattern, _bare(model))), ())
    wanted = str((config if isinstance(config, Mapping) else {}).get("effort") or "medium").strip().lower()
    return next((effort for effort in (wanted, NEAREST.get(wanted, ""), "medium", *levels) if effort in levels), "")


def _headers(messages: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Who speaks last, and whether there is anything to look at."""
    contents = [message.get("content") for message in messages]
    parts = [part for content in contents if isinstance(content, list) for part in content]
    looks = any(isinstance(part, Mapping) and part.get("type") == "image_url" for part in parts)
    last = {"x-initiator": "user" if messages[-1].get("role") == "user" else "agent"} if messages else {}
    return {**last, "Copilot-Vision-Request": "true"} if looks else last


def _bare(model: str) -> str:
    return model.rpartition("/")[2].lower()


@hookimpl
def hermes_provider_profiles(ctx: PluginContext) -> Iterable[ProviderProfile]:
    yield ctx.declared_profile(CopilotProfile)
