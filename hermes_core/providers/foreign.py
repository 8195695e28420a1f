"""Profiles whose class is a package's own, in place of ``ProviderProfile``."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import fields
from types import FunctionType, MethodType
from typing import Any

from hermes_core.providers.profile import ProviderProfile


def completed(profile: Any) -> ProviderProfile:
    """The profile itself; what its class lacks of fields and hooks is added to it, as ``ProviderProfile`` has them.

    Example:
        >>> class Foreign:
        ...     name = "acme"
        ...     def default_vision_model(self):
        ...         return "acme-sees"
        >>> profile = completed(Foreign())
        >>> profile.api_mode, profile.get_vision_model("https://api.acme.test/v1", "")
        ('chat_completions', 'acme-sees')
    """
    if not isinstance(profile, ProviderProfile):
        usual = ProviderProfile(str(profile.name))
        hooks = [name for name, member in vars(ProviderProfile).items() if isinstance(member, FunctionType)]
        added = {field.name: getattr(usual, field.name) for field in fields(usual)}
        added |= {name: MethodType(getattr(ProviderProfile, name), profile) for name in hooks if name[0] != "_"}
        for name, value in added.items():
            if not hasattr(profile, name):
                with suppress(AttributeError, TypeError):  # one that takes nothing more does without
                    setattr(profile, name, value)
    return profile  # type: ignore[no-any-return]


def opens_endpoint(profile: object) -> bool:
    """Whether a profile finds address and key of its endpoint itself."""
    usual = ProviderProfile.open_endpoint
    return getattr(type(profile), "open_endpoint", usual) is not usual
