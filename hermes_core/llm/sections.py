"""What a section of the configuration says of a route."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from hermes_core.config.kinds import API_MODE
from hermes_core.config.once import warn_once
from hermes_core.config.truth import as_bool
from hermes_core.llm.effort import reasoning_config
from hermes_core.llm.route import wire_format
from hermes_core.llm.tls import CA_VARIABLES, USUAL, Tls

if TYPE_CHECKING:
    from hermes_core.config.providers import ProviderEntry
    from hermes_core.config.settings import Config
    from hermes_core.providers.profile import ProviderProfile

FOR_PROFILES = ("auth_mode", "entra", "ollama_num_ctx")
"""Keys of a route's section that mean nothing to the host, and something to a profile."""

log = logging.getLogger(__name__)


def headers(section: Mapping[str, Any]) -> dict[str, str]:
    """The headers it sends with every request; the extra ones win."""
    merged: dict[str, str] = {}
    for key in ("default_headers", "extra_headers"):
        found = section.get(key)
        if isinstance(found, Mapping):
            merged.update({str(name): str(value) for name, value in found.items() if value is not None})
    return merged


def api_mode(
    profile: ProviderProfile, section: Mapping[str, Any], entry: ProviderEntry, address: str, model: str
) -> str:
    """The wire format of a route; see ``wire_format``."""
    return wire_format(profile, demanded_mode(section, entry), address, model)


def demanded_mode(section: Mapping[str, Any], entry: ProviderEntry) -> str:
    """The wire format that the operator demands, or ``""``."""
    said: str = API_MODE.read(section.get("api_mode")) or entry.api_mode
    return said


def settings(section: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """What a profile is told: its provider's own section, and what it may read of the route's."""
    return {**{key: section[key] for key in FOR_PROFILES if key in section}, **own}


def mapping(value: object) -> Mapping[str, Any]:
    """A mapping as it is, all else as an empty one."""
    return value if isinstance(value, Mapping) else {}


def max_tokens(section: Mapping[str, Any], entry: ProviderEntry, of_environment: str) -> int | None:
    """The operator's output limit in tokens: of the environment, the section, or the entry; the first."""
    said = of_environment.strip()
    limit = int(said) if said.isdecimal() else None
    return limit or positive(section.get("max_tokens")) or entry.max_output_tokens


def positive(value: object) -> int | None:
    """A whole number above 0, all else as None."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None


def accepts_images(profile: ProviderProfile, section: Mapping[str, Any], entry: ProviderEntry, model: str) -> bool:
    """Whether an image may be sent: as it says, else as is said of the model, else as the profile says."""
    said = as_bool(section.get("supports_vision"))
    if said is None:
        said = entry.accepts_images(model)
    return profile.supports_vision_user_messages if said is None else said


def tls(entry: ProviderEntry, address: str, first_of: Callable[[Iterable[str]], str]) -> Tls:
    """Whose certificates are trusted at an address; one that is not encrypted needs none."""
    if not address.startswith("https:"):
        return USUAL
    if not entry.ssl_verify:
        warn_once(log, "config.yaml: %s.ssl_verify is false: whoever answers is trusted", entry.place)
    return Tls(os.path.expanduser(entry.ssl_ca_cert or first_of(CA_VARIABLES)), entry.ssl_verify)


def reasoning(config: Config, say: Callable[[str], None]) -> dict[str, Any] | None:
    """How much plugins' calls are to think; None, and a word to the operator, where what is written is no effort."""
    try:
        return reasoning_config(config.get("auxiliary", "plugin", "reasoning_effort"))
    except ValueError as error:
        say(f"hermes: config.yaml: auxiliary.plugin.reasoning_effort {error}; it is ignored")
        return None
