"""Profiles whose class is a package's own, in place of ``ProviderProfile``."""

from __future__ import annotations

from contextlib import suppress
from copy import copy
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


def copied(profile: ProviderProfile) -> ProviderProfile:
    """A copy that may be changed; the hooks that were added to it look at the copy.

    Example:
        >>> class Foreign:
        ...     name, base_url = "acme", "https://api.acme.test/v1"
        >>> other = copied(completed(Foreign()))
        >>> other.base_url = "https://eu.acme.test/v1"
        >>> other.get_hostname()
        'eu.acme.test'
    """
    made = copy(profile)
    for name, member in list(vars(made).items()):
        if isinstance(member, MethodType) and member.__self__ is profile:
            setattr(made, name, MethodType(member.__func__, made))
    return made


def opens_endpoint(profile: object) -> bool:
    """Whether a profile finds address and key of its endpoint itself."""
    usual = ProviderProfile.open_endpoint
    return getattr(type(profile), "open_endpoint", usual) is not usual
