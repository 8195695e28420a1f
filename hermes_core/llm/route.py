"""Where one attempt goes, and what a provider's profile says of that when nobody else does."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit, urlunsplit

from hermes_core.errors import MissingModelError
from hermes_core.llm.request import call_hook
from hermes_core.llm.tls import USUAL, Tls
from hermes_core.llm.wire.select import mandated, usual
from hermes_core.providers.model_list import usable_ids
from hermes_core.types.address import host_of, is_loopback

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hermes_core.auth.keys import Credential
    from hermes_core.auth.pool import CredentialPool
    from hermes_core.providers.profile import ProviderProfile

LIST_SECONDS = 5.0
"""How long a server on this machine may take to say which model it has."""


class Route(NamedTuple):
    """Where one attempt goes.

    Attributes:
        profile: The provider's profile.
        provider: Its canonical name, for attribution.
        model: The model id to ask.
        base_url: Root of the API; ``""`` when the profile opens its own.
        credential: The key or login to begin with.
        pool: Where the others are.
        pinned: Whether this credential alone will do: the call asked for it.
        headers: What the operator configured to be sent.
        max_tokens: The operator's output limit in tokens, when the call gives none.
        api_mode: The wire format that the operator demands; ``""`` when the address, or the provider, decides.
        accepts_images: Whether an image may be sent.
        reasoning: How much the model is to think, ``{"enabled": bool, "effort": str}``, or None.
        extra_body: What the operator adds to the request's body.
        settings: What ``config.yaml`` tells the profile: the section that bears the provider's name, mostly.
        timeout: The operator's limit for one attempt in seconds, or None.
        tls: Whose certificates are trusted.
    """

    profile: ProviderProfile
    provider: str
    model: str
    base_url: str
    credential: Credential
    pool: CredentialPool | None = None
    pinned: bool = False
    headers: Mapping[str, str] = MappingProxyType({})
    max_tokens: int | None = None
    api_mode: str = ""
    accepts_images: bool = True
    reasoning: Mapping[str, Any] | None = None
    extra_body: Mapping[str, Any] = MappingProxyType({})
    settings: Mapping[str, Any] = MappingProxyType({})
    timeout: float | None = None
    tls: Tls = USUAL

    @property
    def identity(self) -> tuple[str, str, str]:
        """Two routes with the same one lead to the same place."""
        return self.provider.lower(), self.model.lower(), self.base_url.rstrip("/").lower()

    def __repr__(self) -> str:
        return f"Route(provider={self.provider!r}, model={self.model!r}, credential={self.credential!r})"


class Endpoint(NamedTuple):
    """Where a provider is asked, whatever the model; the attributes are those of a ``Route``."""

    profile: ProviderProfile
    base_url: str
    pool: CredentialPool
    headers: Mapping[str, str]
    api_mode: str
    tls: Tls


def default_model(profile: ProviderProfile, *, cheap: bool = False) -> str:
    """The model to ask when neither the operator nor the plugin names one; ``""`` when the profile does not either.

    Args:
        profile: The provider's.
        cheap: Whether a plugin chose the provider for side work; then its cheap model comes first.
    """
    found = [*profile.fallback_models[:1], profile.default_aux_model]
    if cheap:
        found.reverse()
    return next((name for name in found if name), "")


def only_model(profile: ProviderProfile, base_url: str, api_key: str) -> str:
    """The one model that a server on this machine lists; such a server is asked, and no other. Blocks.

    Raises:
        MissingModelError: It lists several or none, or it is another machine.
    """
    listed: list[str] = []
    if is_loopback(host_of(base_url)):
        arguments = {"api_key": api_key or None, "base_url": base_url, "timeout": LIST_SECONDS}
        answer = call_hook(profile.name, "fetch_models", list | tuple | None, profile.fetch_models, **arguments)
        listed = usable_ids(answer or ())
    if len(listed) == 1:
        return listed[0]
    message = f"no model is chosen for provider {profile.name!r}: give model=, or set model.default"
    hint = f"run `hermes models {profile.name}` to see which there are, and set model.default in config.yaml"
    raise MissingModelError(message, provider=profile.name, hint=hint)


def destination(route: Route, base_url: str, api_key: str) -> tuple[str, str]:
    """Where a request goes with a key, and the wire format that is spoken there.

    Example:
        >>> from hermes_core import ProviderProfile
        >>> from hermes_core.auth.keys import NO_CREDENTIAL
        >>> route = Route(ProviderProfile("acme"), "acme", "m", "https://api.acme.test/v1", NO_CREDENTIAL)
        >>> destination(route, route.base_url, "")
        ('https://api.acme.test/v1', 'chat_completions')
    """
    profile, model = route.profile, route.model
    api_mode = wire_format(profile, route.api_mode, base_url, model)
    context = {"model": model, "api_mode": api_mode, "api_key": api_key}
    moved = call_hook(route.provider, "get_base_url", str, profile.get_base_url, base_url, **context) or base_url
    return moved, (api_mode if moved == base_url else mandated(moved) or api_mode)


def wire_format(profile: ProviderProfile, demanded: str, base_url: str, model: str) -> str:
    """What the address demands, the operator, the profile for this model, what is usual there, or the profile's own."""
    return (
        mandated(base_url)
        or demanded
        or call_hook(profile.name, "get_api_mode", str, profile.get_api_mode, model, base_url)
        or usual(base_url, model)
        or profile.api_mode
    )


def profile_address(profile: ProviderProfile) -> str:
    """A profile's base URL, its host as ``get_hostname`` says.

    Example:
        >>> from hermes_core import ProviderProfile
        >>> profile_address(ProviderProfile("acme", hostname="api.acme.test"))
        'https://api.acme.test/v1'
    """
    host = call_hook(profile.name, "get_hostname", str, profile.get_hostname)
    if not profile.base_url:
        return f"https://{host}/v1" if host else ""
    parts = urlsplit(profile.base_url)
    if not host or host == parts.hostname:
        return profile.base_url
    port = f":{parts.port}" if parts.port else ""
    return urlunsplit(parts._replace(netloc=f"{host}{port}"))
