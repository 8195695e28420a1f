"""Qwen's portal: content in parts, a cached system message, and a login that Qwen's own program keeps."""

from collections.abc import Iterable, Mapping
from typing import Any

from hermes_core import EndpointHost, PluginContext, ProviderProfile, hookimpl


class QwenProfile(ProviderProfile):
    """The portal of a Qwen account."""

    def prepare_messages(self, messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
        prepared = [{**message, "content": _parts(message.get("content"))} for message in messages or ()]
        first = next((message for message in prepared if message.get("role") == "system"), None)
        if first is not None and isinstance(first["content"], list) and first["content"]:
            *before, last = first["content"]
            first["content"] = [*before, {**last, "cache_control": {"type": "ephemeral"}}]
        return prepared

    def build_extra_body(self, *, session_id: str | None = None, **context: Any) -> dict[str, Any]:
        return {"vl_high_resolution_images": True}

    def build_api_kwargs_extras(
        self, *, qwen_session_metadata: Mapping[str, Any] | None = None, **context: Any
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        return {}, {"metadata": dict(qwen_session_metadata)} if qwen_session_metadata else {}

    def open_endpoint(self, host: EndpointHost) -> tuple[str, str] | None:
        if host.api_key:
            return None
        from .login import stored_login

        return stored_login(self, host)


def _parts(content: Any) -> Any:
    """Content as a list of parts; what is neither text nor a list is left as it is."""
    if isinstance(content, str):
        return [_text(content)]
    if not isinstance(content, list):
        return content
    parts = [_copied(part) for part in content if isinstance(part, str | dict)]
    return parts or content


def _copied(part: str | dict[str, Any]) -> dict[str, Any]:
    if isinstance(part, str):
        return _text(part)
    image = part.get("image_url")
    return {**part, "image_url": {**image}} if isinstance(image, dict) else {**part}


def _text(text: str) -> dict[str, str]:
    return {"type": "text", "text": text}


@hookimpl
def hermes_provider_profiles(ctx: PluginContext) -> Iterable[ProviderProfile]:
    yield ctx.declared_profile(QwenProfile)
