"""The Acme provider, and the bundled Xiaomi provider behind Acme's gateway."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hermes_core import ProviderProfile, hookimpl

if TYPE_CHECKING:
    from collections.abc import Iterable


class AcmeProfile(ProviderProfile):
    """Acme wants to know which conversation a request belongs to."""

    def build_extra_body(self, *, session_id: str | None = None, **context: Any) -> dict[str, Any]:
        return {"conversation": session_id} if session_id else {}


ACME = AcmeProfile(
    name="acme",
    aliases=("acme-ai",),
    display_name="Acme",
    description="Acme's OpenAI-compatible API",
    env_vars=("ACME_API_KEY", "ACME_BASE_URL"),
    base_url="https://api.acme.test/v1",
    fallback_models=("acme-large", "acme-small"),
    default_headers={"X-Acme-Client": "hermes"},
)

XIAOMI = ProviderProfile(
    name="xiaomi",
    display_name="Xiaomi MiMo through Acme",
    env_vars=("ACME_API_KEY",),
    base_url="https://gateway.acme.test/xiaomi/v1",
    fallback_models=("mimo-v2.5",),
)
"""Replaces the bundled profile of this name; the bundled aliases go on leading here."""


@hookimpl
def hermes_provider_profiles() -> Iterable[ProviderProfile]:
    """Offer both."""
    yield ACME
    yield XIAOMI
