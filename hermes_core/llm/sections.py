"""What a section of the configuration says of a route."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from hermes_core.config.kinds import API_MODE
from hermes_core.config.truth import as_bool
from hermes_core.llm.route import wire_format

if TYPE_CHECKING:
    from hermes_core.config.providers import ProviderEntry
    from hermes_core.providers.profile import ProviderProfile


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


def mapping(value: object) -> Mapping[str, Any]:
    """A mapping as it is, all else as an empty one."""
    return value if isinstance(value, Mapping) else {}


def positive(value: object) -> int | None:
    """A whole number above 0, all else as None."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None


def accepts_images(profile: ProviderProfile, section: Mapping[str, Any], entry: ProviderEntry, model: str) -> bool:
    """Whether an image may be sent: as it says, else as is said of the model, else as the profile says."""
    said = as_bool(section.get("supports_vision"))
    if said is None:
        said = entry.accepts_images(model)
    return profile.supports_vision_user_messages if said is None else said
