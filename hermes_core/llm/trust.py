"""The trust gate: what a plugin may override, decided from configuration alone."""

from __future__ import annotations

import logging
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from hermes_core.config.truth import is_true
from hermes_core.errors import PluginLlmTrustError
from hermes_core.llm.ledger import read_budget

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

log = logging.getLogger(__name__)

Allowlist = frozenset[str] | None
"""Values that are allowed, spelled as compared; None for any."""


class Overrides(NamedTuple):
    """What a plugin asked for in place of what the user is using; ``""`` where it asked for nothing."""

    provider: str = ""
    model: str = ""
    agent_id: str = ""
    profile: str = ""


class TrustPolicy(NamedTuple):
    """What the operator allows one plugin. The default allows no override.

    Attributes:
        plugin_id: The plugin, as the configuration calls it.
        provider: Whether it may choose the provider; likewise the next three.
        allowed_providers: Which ones; None for any.
        allowed_models: Which models; None for any.
        budget: What it may use; see ``ledger.LIMITS``.
        fallback: Whether a call with a provider or model of the plugin's choice may go elsewhere when that fails.
    """

    plugin_id: str
    provider: bool = False
    model: bool = False
    agent_id: bool = False
    profile: bool = False
    allowed_providers: Allowlist = None
    allowed_models: Allowlist = None
    budget: Mapping[str, float] = MappingProxyType({})
    fallback: bool = False


def policy_of(plugin_id: str, settings: Mapping[str, Any]) -> TrustPolicy:
    """Read a plugin's policy from its ``plugins.entries.<id>.llm`` section.

    Example:
        >>> policy_of("p", {"allow_model_override": "yes", "allowed_models": "gpt"}).allowed_models
        frozenset({'gpt'})
        >>> policy_of("p", {"allow_model_override": "false"}).model
        False
    """
    return TrustPolicy(
        plugin_id=plugin_id,
        **{name: is_true(settings.get(f"allow_{name}_override")) for name in Overrides._fields},
        allowed_providers=_allowlist(plugin_id, settings, "allowed_providers"),
        allowed_models=_allowlist(plugin_id, settings, "allowed_models"),
        budget=read_budget(plugin_id, settings),
        fallback=is_true(settings.get("allow_fallback")),
    )


def read_overrides(method: str, **given: object) -> Overrides:
    """Check the four override arguments of a method; None and ``""`` mean no override.

    Raises:
        TypeError: One is no string.
        ValueError: One is blank.
    """
    cleaned = {}
    for name, value in given.items():
        if value is None or value == "":
            continue
        if not isinstance(value, str):
            message = f"{method}: {name} must be text or None, got {type(value).__name__}"
            raise TypeError(message)
        if not value.strip():
            message = f"{method}: {name}= is blank; leave it out to use what the user is using"
            raise ValueError(message)
        cleaned[name] = value.strip()
    return Overrides(**cleaned)


def authorize(policy: TrustPolicy, overrides: Overrides, canonical: Callable[[str], str] = str.lower) -> None:
    """Refuse the first override that the policy does not grant.

    Args:
        policy: What the operator allows.
        overrides: What the plugin asks for.
        canonical: Maps a provider's name or alias to its one name, so that either may be allowed.

    Raises:
        PluginLlmTrustError: Names the configuration key that would grant it.
    """
    if overrides.provider:
        _demand(policy, policy.provider, "provider", overrides.provider)
        allowed = policy.allowed_providers
        if allowed is not None and "*" not in allowed:
            known = {canonical(name) for name in allowed}
            _demand_listed(policy, canonical(overrides.provider) in known, "provider", overrides.provider)
    if overrides.model:
        _demand(policy, policy.model, "model", overrides.model)
        allowed = policy.allowed_models
        if allowed is not None and "*" not in allowed:
            _demand_listed(policy, overrides.model.lower() in allowed, "model", overrides.model)
    if overrides.agent_id:
        _demand(policy, policy.agent_id, "agent_id", overrides.agent_id)
    if overrides.profile:
        _demand(policy, policy.profile, "profile", overrides.profile)


def _demand(policy: TrustPolicy, granted: bool, override: str, value: str) -> None:
    if not granted:
        raise _refusal(policy, override, value, f"allow_{override}_override", f"may not override {override}=")


def _demand_listed(policy: TrustPolicy, granted: bool, override: str, value: str) -> None:
    if not granted:
        raise _refusal(policy, override, value, f"allowed_{override}s", f"may not use {override} {value!r}")


def _refusal(policy: TrustPolicy, override: str, value: str, key: str, what: str) -> PluginLlmTrustError:
    config_key = f"plugins.entries.{policy.plugin_id}.llm.{key}"
    log.warning("override refused plugin=%s override=%s key=%s", policy.plugin_id, override, config_key)
    message = f"plugin {policy.plugin_id!r} {what}: {config_key} in config.yaml does not grant it"
    return PluginLlmTrustError(message, plugin=policy.plugin_id, override=override, value=value, config_key=config_key)


def _allowlist(plugin_id: str, settings: Mapping[str, Any], key: str) -> Allowlist:
    """A missing key allows any value; a list, or a single string, just what it names; all else nothing."""
    if key not in settings:
        return None
    value = settings[key]
    if isinstance(value, str):
        value = [value]
    elif value is not None and not isinstance(value, list):
        place = f"plugins.entries.{plugin_id}.llm.{key}"
        log.warning("allowlist ignored, nothing is allowed key=%s got=%s wanted=a list", place, type(value).__name__)
        value = None
    return frozenset(item.strip().lower() for item in value or () if isinstance(item, str) and item.strip())
