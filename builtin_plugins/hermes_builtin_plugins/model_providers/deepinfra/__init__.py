"""DeepInfra: one catalog of all that it serves, whose tags say what chats and what sees."""

import copy
import re
import time
from collections.abc import Iterable, Mapping
from typing import Any

from hermes_core import PluginContext, ProviderProfile, hookimpl

QUERY = "filter=true&sort_by=hermes"

CHAT, SIGHT = "chat", "vision"
SURFACES = {CHAT, "embed", "embeddings", "image", "image-gen", "video-gen", "rerank", "speech", "stt", "tts"}
"""Tags that say what a model is for; others say what it can."""

NO_CHAT = re.compile(r"embed|rerank|image|flux|diffusion|speech|tts|whisper", re.IGNORECASE)
"""In the id of a model whose tags do not say what it is for: it is not for chatting."""

KEPT_SECONDS, FAILED_SECONDS = 3600.0, 60.0
"""How long the model for images is remembered, and that none was found."""

_seeing: dict[str, tuple[float, str | None]] = {}


class DeepInfraProfile(ProviderProfile):
    """The gateway."""

    tag = ""
    """What a model's tags must hold besides."""

    def fetch_models(
        self, *, api_key: str | None = None, base_url: str | None = None, timeout: float = 8.0
    ) -> list[str] | None:
        root = base_url or self.base_url
        asked = f"{root}{'&' if '?' in root else '?'}{QUERY}"
        return super().fetch_models(api_key=api_key, base_url=asked, timeout=timeout)

    def pick_models(self, items: list[Any]) -> list[str]:
        return super().pick_models([item for item in items if _chats(item) and self.tag in ("", *_tags(item))])

    def get_vision_model(self, base_url: str, api_key: str) -> str | None:
        if not api_key:
            return None
        until, model = _seeing.get(base_url, (0.0, None))
        if until < time.monotonic():
            asking = copy.copy(self)
            asking.tag = SIGHT
            model = next(iter(asking.fetch_models(api_key=api_key, base_url=base_url) or ()), None)
            _seeing[base_url] = time.monotonic() + (KEPT_SECONDS if model else FAILED_SECONDS), model
        return model


def _chats(item: object) -> bool:
    if not isinstance(item, Mapping) or not isinstance(item.get("metadata"), Mapping):
        return False
    surfaces = SURFACES.intersection(_tags(item))
    return CHAT in surfaces if surfaces else not NO_CHAT.search(str(item.get("id")))


def _tags(item: Mapping[str, Any]) -> list[str]:
    tags = item["metadata"].get("tags")
    return [tag for tag in tags if isinstance(tag, str)] if isinstance(tags, list) else []


@hookimpl
def hermes_provider_profiles(ctx: PluginContext) -> Iterable[ProviderProfile]:
    yield ctx.declared_profile(DeepInfraProfile)
