"""How a memory provider describes its settings to a form, under the original's names."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

KIND_TEXT, KIND_SELECT, KIND_SECRET, KIND_BOOL, KIND_NUMBER, KIND_JSON = (
    "text",
    "select",
    "secret",
    "bool",
    "number",
    "json",
)
STORAGE_FLAT_JSON, STORAGE_HONCHO_HOST_BLOCK = "flat_json", "honcho_host_block"

__all__ = [
    "KIND_BOOL",
    "KIND_JSON",
    "KIND_NUMBER",
    "KIND_SECRET",
    "KIND_SELECT",
    "KIND_TEXT",
    "STORAGE_FLAT_JSON",
    "STORAGE_HONCHO_HOST_BLOCK",
    "ProviderConfigSchema",
    "ProviderField",
    "ProviderFieldOption",
]


@dataclass(frozen=True)
class ProviderFieldOption:
    """One choice of a field."""

    value: str
    label: str = ""
    description: str = ""


@dataclass(frozen=True)
class ProviderField:
    """One setting."""

    key: str
    label: str = ""
    kind: str = KIND_TEXT
    default: Any = None
    description: str = ""
    placeholder: str = ""
    options: Any = ()
    env_key: str = ""
    aliases: Any = ()
    env_fallbacks: Any = ()
    inline: bool = False
    group: str = ""
    info: str = ""
    scope: str = ""


@dataclass(frozen=True)
class ProviderConfigSchema:
    """The settings of one provider."""

    name: str
    label: str = ""
    storage: str = STORAGE_FLAT_JSON
    docs_url: str = ""
    fields: Any = field(default_factory=tuple)
