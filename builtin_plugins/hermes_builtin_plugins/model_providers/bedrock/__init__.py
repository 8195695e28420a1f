"""Amazon Bedrock: an address in each region, and guardrails.

Settings, all optional, in ``config.yaml``::

    bedrock:
      region: eu-west-1
      guardrail: {guardrail_identifier: abc123, guardrail_version: "1", trace: enabled}
"""

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from hermes_core import EndpointHost, HermesError, PluginContext, ProviderProfile, hookimpl

USUAL_REGION = "us-east-1"
REGIONS = ("AWS_REGION", "AWS_DEFAULT_REGION")
GUARDRAIL = {"guardrail_identifier": "guardrailIdentifier", "guardrail_version": "guardrailVersion", "trace": "trace"}
"""Our names of what the API calls otherwise; its stream mode means nothing to a call that is not streamed."""


class BedrockProfile(ProviderProfile):
    """Models of many vendors in one's own account."""

    def open_endpoint(self, host: EndpointHost) -> tuple[str, str] | None:
        """The address in the region that the operator, a variable or the AWS profile names."""
        if host.base_url.rstrip("/") != self.base_url:
            return None
        said = (str(host.settings.get("region") or ""), *map(host.variable, REGIONS))
        region = next((name.strip() for name in said if name.strip()), "") or _region_of(host.variable("AWS_PROFILE"))
        if not re.fullmatch(r"[a-z0-9-]*", region):
            raise HermesError(f"{region!r} is no region of AWS", hint="hermes config set bedrock.region eu-west-1")
        return (self.base_url.replace(USUAL_REGION, region), host.api_key) if region else None

    def build_extra_body(
        self, *, session_id: str | None = None, settings: Mapping[str, Any] | None = None, **context: Any
    ) -> dict[str, Any]:
        said = (settings or {}).get("guardrail")
        if not isinstance(said, Mapping) or not said.get("guardrail_identifier"):
            return {}
        return {"guardrailConfig": {theirs: str(said[ours]) for ours, theirs in GUARDRAIL.items() if said.get(ours)}}

    def fetch_models(
        self, *, api_key: str | None = None, base_url: str | None = None, timeout: float = 8.0
    ) -> list[str] | None:
        return None  # the list is in another API, and signed


@lru_cache(8)
def _region_of(profile: str) -> str:
    """The region of an AWS profile, the default one when it is ``""``; ``""`` where none is written."""
    try:
        from botocore.exceptions import BotoCoreError
        from botocore.session import Session
    except ImportError:
        return ""
    try:
        return Session(profile=profile or None).get_config_variable("region") or ""
    except BotoCoreError:
        return ""


@hookimpl
def hermes_provider_profiles(ctx: PluginContext) -> Iterable[ProviderProfile]:
    yield ctx.declared_profile(BedrockProfile)
