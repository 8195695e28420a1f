"""The providers an operator writes into ``config.yaml``: ``providers`` and ``custom_providers``, as rows."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from hermes_core.config.keypath import join_key
from hermes_core.config.keys import PROVIDER
from hermes_core.config.kinds import SWITCH, called
from hermes_core.config.once import warn_once

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from hermes_core.config.kinds import Kind
    from hermes_core.config.settings import Config

log = logging.getLogger(__name__)

NOTHING: Mapping[str, Any] = MappingProxyType({})


class ProviderEntry(NamedTuple):
    """A provider of the operator's own, or what the operator says about one that is there already.

    Attributes:
        slug: What it is called in ``model.provider``: lower case, dashes for blanks.
        names: Every word it answers to: key, display name, slug, and ``custom:`` before each.
        place: Where it is written: ``providers.acme``.
        models: Model id → what is known of it, by the names of ``config.yaml``.
        extra_body: Fields for the request body.
        extra_headers: Headers; they are secret.

    The other fields are the keys of ``config.yaml``, with what is missing as ``""`` or None.
    """

    slug: str
    names: tuple[str, ...]
    place: str
    base_url: str = ""
    api_key: str = ""
    key_env: str = ""
    api_mode: str = ""
    model: str = ""
    models: Mapping[str, Mapping[str, Any]] = NOTHING
    max_output_tokens: int | None = None
    request_timeout_seconds: float | None = None
    extra_body: Mapping[str, Any] = NOTHING
    extra_headers: Mapping[str, str] = NOTHING
    ssl_ca_cert: str = ""
    ssl_verify: bool = True
    enabled: bool = True

    def __repr__(self) -> str:
        return f"ProviderEntry(slug={self.slug!r}, place={self.place!r})"

    def accepts_images(self, model: str) -> bool | None:
        """Whether a model takes images, as the operator says; None when nothing is said."""
        said: bool | None = SWITCH.read(self.models.get(model, NOTHING).get("supports_vision"))
        return said

    def profile(self, known: Collection[str]) -> dict[str, Any] | None:
        """What it says, as the ``profile:`` block of a manifest would; None when nobody could reach it.

        Args:
            known: Names of providers that are there without it: such an entry changes what it mentions.
        """
        models = dict.fromkeys(filter(None, (self.model, *self.models)))
        said = {
            "base_url": self.base_url,
            "api_mode": self.api_mode,
            "env_vars": [self.key_env] if self.key_env else [],
            "fallback_models": [*models],
        }
        fields = {key: value for key, value in said.items() if value}
        if self.slug in known:
            return {"name": self.slug, "extends": self.slug, **fields}
        name = f"custom:{self.slug}"
        aliases = [word for word in self.names if word != name]
        return {"name": name, "aliases": aliases, **fields} if self.base_url else None

    @property
    def credential(self) -> Mapping[str, str]:
        """Its keys that hold or name the API key."""
        return {"api_key": self.api_key, "key_env": self.key_env}


NO_ENTRY = ProviderEntry(slug="", names=(), place="")
"""What the configuration says of a provider that it does not mention."""


def warn(message: str, *values: object) -> None:
    """Say once a process what is wrong in the configuration."""
    warn_once(log, f"config.yaml: {message}", *values)


def provider_entries(config: Config, say: Callable[..., None] = warn) -> tuple[ProviderEntry, ...]:
    """The rows of both sections: the list first, then the mapping; of two with one slug, the first counts.

    An entry that is no mapping or has no name is dropped with a warning; a key that is unknown, or has a
    value of the wrong kind, is warned of and left out.

    Example:
        >>> from hermes_core.config.settings import Config
        >>> (entry,) = provider_entries(Config(tree={"providers": {"Acme": {"base_url": "https://acme.test/v1"}}}))
        >>> entry.slug, entry.names
        ('acme', ('acme', 'custom:acme'))
    """
    listed = config.get("custom_providers")
    if listed is not None and not isinstance(listed, list | tuple):
        say("custom_providers must be a list, got %s; it is not used", called(listed))
        listed = None
    written = [(("custom_providers", str(number)), item) for number, item in enumerate(listed or ())]
    written += [(("providers", str(key)), item) for key, item in config.section("providers").items()]
    rows: dict[str, ProviderEntry] = {}
    for path, item in written:
        row = _entry(path, item, say)
        if row is None:
            continue
        first = rows.setdefault(row.slug, row)
        if (row.base_url, row.model) != (first.base_url, first.model):
            say("%s is called like %s; it is not used", row.place, first.place)
    return tuple(rows.values())


def read_keys(
    kind: Kind, written: Mapping[str, Any], place: Sequence[str], say: Callable[..., None] = warn
) -> dict[str, Any]:
    """Key → value, as the host uses it; a value that is missing, or that is warned of, is the default."""
    found = {}
    for key in kind.keys:
        value = written.get(key.name)
        read = None if value is None else key.kind.read(value)
        if value is not None and read is None:
            where = join_key((*place, key.name))
            say("%s must be %s, got %s; it is not used", where, key.kind.wanted, called(value))
        found[key.name] = key.default if read is None else read
    return found


def _entry(path: tuple[str, str], written: Any, say: Callable[..., None]) -> ProviderEntry | None:
    place = join_key(path)
    if not isinstance(written, Mapping):
        if written is not None:
            say("%s must be a mapping, got %s; it is not used", place, called(written))
        return None
    unknown = sorted({*map(str, written)} - {*PROVIDER.words})
    if unknown:
        say("%s has keys that mean nothing: %s", place, ", ".join(unknown))
    found = read_keys(PROVIDER, written, path, say)
    said = [word for word in (path[1] if path[0] == "providers" else "", found.pop("name") or "") if word.strip()]
    if not said:
        say("%s has no name; it is not used", place)
        return None
    words = [word.strip().lower().removeprefix("custom:") for word in said]
    names = [spelled for word in words for spelled in ("-".join(word.split()), word)]
    names += [f"custom:{name}" for name in names]
    found["models"] = _models(found["models"])
    known = {name: value for name, value in found.items() if name in ProviderEntry._fields and value is not None}
    return ProviderEntry(slug=names[0], names=tuple(dict.fromkeys(names)), place=place, **known)


def _models(written: Any) -> dict[str, Mapping[str, Any]]:
    """Model id → what is said of it, in whichever of the three forms it is written."""
    if isinstance(written, Mapping):
        return {str(name): facts if isinstance(facts, Mapping) else NOTHING for name, facts in written.items()}
    found: dict[str, Mapping[str, Any]] = {}
    for item in written or ():
        facts = item if isinstance(item, Mapping) else {"id": item}
        name = facts.get("id") or facts.get("name")
        if isinstance(name, str) and name.strip():
            found[name.strip()] = facts
    return found
