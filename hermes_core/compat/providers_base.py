"""The profile class, under the original's name."""

from hermes_core.providers.profile import OMIT_TEMPERATURE, ProviderProfile

__all__ = ["OMIT_TEMPERATURE", "ProviderProfile"]
