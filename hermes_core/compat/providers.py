"""The provider registry, under the original's names; it acts on the current host."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hermes_core.compat import hosts as _hosts  # noqa: F401 - makes the default host known
from hermes_core.plugins import current
from hermes_core.providers.profile import OMIT_TEMPERATURE, ProviderProfile

if TYPE_CHECKING:
    from hermes_core.host import Host

__all__ = ["OMIT_TEMPERATURE", "ProviderProfile", "get_provider_profile", "list_providers", "register_provider"]


def register_provider(profile: ProviderProfile) -> None:
    """Offer a profile, as the plugin whose code is running, else as the program itself."""
    context = current.plugin_context()
    if context is None:
        context = _host().program_context()
    context.register_provider(profile)


def get_provider_profile(name: object) -> ProviderProfile | None:
    """The profile of a name or alias, or None."""
    return _host().providers.get(name)


def list_providers() -> list[ProviderProfile]:
    """Every provider's profile, one a canonical name; all their plugins are loaded."""
    catalog = _host().providers
    found = (catalog.get(name) for name in catalog.names())
    return [profile for profile in found if profile is not None]


def _host() -> Host:
    return current.host()  # type: ignore[no-any-return]
