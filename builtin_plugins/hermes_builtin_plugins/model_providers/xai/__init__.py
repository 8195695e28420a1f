"""Grok: an effort for the models that take one, and the cache of a conversation."""

from collections.abc import Iterable, Mapping
from typing import Any

from hermes_core import PluginContext, ProviderProfile, hookimpl

WITH_EFFORT = ("grok-3-mini", "grok-4.3")
"""Beginnings of the names of models that take an effort; the others refuse one."""

EFFORTS = {"minimal": "low", **dict.fromkeys(("xhigh", "max", "ultra"), "high")}
"""Efforts that it calls otherwise."""


class XaiProfile(ProviderProfile):
    """Grok models, by key or by login."""

    def get_reasoning(self, model: str, reasoning_config: Mapping[str, Any]) -> Mapping[str, Any] | None:
        if not model.rpartition("/")[2].lower().startswith(WITH_EFFORT):
            return None
        effort = str(reasoning_config.get("effort") or "")
        return {**reasoning_config, "effort": EFFORTS.get(effort, effort)}

    def build_extra_body(self, *, session_id: str | None = None, **context: Any) -> dict[str, Any]:
        return {"prompt_cache_key": session_id} if session_id else {}


@hookimpl
def hermes_provider_profiles(ctx: PluginContext) -> Iterable[ProviderProfile]:
    for name in ("xai", "xai-oauth"):
        yield ctx.declared_profile(XaiProfile, name)
