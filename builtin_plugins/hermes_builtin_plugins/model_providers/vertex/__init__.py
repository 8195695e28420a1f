"""Google's Vertex AI: an address by project and region, and a token that lasts an hour."""

from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import urlsplit

from hermes_core import EndpointHost, HermesError, PluginContext, ProviderProfile, gemini_thinking, hookimpl


class VertexProfile(ProviderProfile):
    """Gemini in a project of one's own, by the OpenAI-compatible surface."""

    def open_endpoint(self, host: EndpointHost) -> tuple[str, str] | None:
        from .token import access_token

        token, own_project = host.api_key, ""
        if not token:
            token, own_project = access_token(host)
        if urlsplit(host.base_url).path.strip("/"):  # the operator's own
            return host.base_url, token
        project = _said(host, "project_id", "VERTEX_PROJECT_ID") or own_project
        if not project:
            hint = "hermes config set vertex.project_id YOUR-PROJECT, or set VERTEX_PROJECT_ID"
            raise HermesError("vertex: no project is chosen, and the credentials name none", hint=hint)
        region = _said(host, "region", "VERTEX_REGION") or "global"
        usual = urlsplit(self.base_url).hostname or ""
        name = usual if region == "global" else f"{region}-{usual}"
        return f"https://{name}/v1beta1/projects/{project}/locations/{region}/endpoints/openapi", token

    def build_extra_body(
        self,
        *,
        session_id: str | None = None,
        model: str = "",
        reasoning_config: Mapping[str, Any] | None = None,
        **context: Any,
    ) -> dict[str, Any]:
        config = gemini_thinking(model or "", reasoning_config, snake_case=True)
        return {"extra_body": {"google": {"thinking_config": config}}} if config else {}

    def fetch_models(
        self, *, api_key: str | None = None, base_url: str | None = None, timeout: float = 8.0
    ) -> list[str] | None:
        return None  # there is no list on this surface


def _said(host: EndpointHost, setting: str, variable: str) -> str:
    """What the environment says, else the section ``vertex`` of the configuration."""
    return host.variable(variable).strip() or str(host.settings.get(setting) or "").strip()


@hookimpl
def hermes_provider_profiles(ctx: PluginContext) -> Iterable[ProviderProfile]:
    yield ctx.declared_profile(VertexProfile)
