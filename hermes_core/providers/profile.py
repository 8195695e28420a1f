"""What the host knows about one LLM provider: data, and a few hooks for what data cannot say."""

from __future__ import annotations

import inspect
from abc import ABCMeta
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path


class _OmitTemperature:
    """The type of ``OMIT_TEMPERATURE``; one instance, also after copy and pickle."""

    def __repr__(self) -> str:
        return "OMIT_TEMPERATURE"

    def __reduce__(self) -> str:
        return "OMIT_TEMPERATURE"


OMIT_TEMPERATURE: Final = _OmitTemperature()
"""As ``fixed_temperature``: never send a temperature to this provider."""


def _not_set(_name: str) -> str:
    return ""


class EndpointHost(NamedTuple):
    """What a profile may ask of the host while it opens its own endpoint.

    Attributes:
        home: The Hermes home; keep files below it.
        settings: The section of ``config.yaml`` that bears the provider's name, or an empty mapping.
        allow_downloads: True under the ``hermes`` command, False in a program that embeds the host.
        say: Shows one line to the operator.
        base_url: Where the request would go otherwise: the operator's address, or else the profile's own.
        api_key: The credential it would go with, or ``""``.
        variable: Looks a variable up, as the home's ``.env`` or else the process has it; ``""`` when it is not
            set, or is the key of another provider.
    """

    home: Path
    settings: Mapping[str, Any]
    allow_downloads: bool
    say: Callable[[str], None]
    base_url: str = ""
    api_key: str = ""
    variable: Callable[[str], str] = _not_set

    def __repr__(self) -> str:
        return f"EndpointHost(home={str(self.home)!r})"


class _KeepsUnknownKeywords(ABCMeta):
    """Lets a class, and every class below it, be called with keywords it does not know; they become attributes."""

    if not TYPE_CHECKING:

        def __call__(cls, *args: Any, **keywords: Any) -> Any:
            known = _parameters(cls.__init__)
            unknown = {} if known is None else {key: keywords.pop(key) for key in [*keywords] if key not in known}
            made = super().__call__(*args, **keywords)
            for key in _TUPLES:
                value = getattr(made, key)
                setattr(made, key, (value,) if isinstance(value, str) else tuple(value or ()))
            if made.fixed_temperature == "omit":  # as a manifest writes it
                made.fixed_temperature = OMIT_TEMPERATURE
            for key, value in unknown.items():
                setattr(made, key, value)
            return made


_TUPLES = ("aliases", "env_vars", "fallback_models", "extra_hosts", "preset_for_word")


@cache
def _parameters(init: Callable[..., Any]) -> frozenset[str] | None:
    """The keywords an ``__init__`` takes; None when it takes any."""
    parameters = inspect.signature(init).parameters
    takes_any = any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in parameters.values())
    return None if takes_any else frozenset(parameters)


@dataclass(eq=False)
class ProviderProfile(metaclass=_KeepsUnknownKeywords):
    """One provider: where it is, how to talk to it, what it can do.

    Subclass it and override a hook for what data cannot say. Unknown keywords are kept as attributes,
    so a profile written for a newer host still loads.

    Attributes:
        name: Canonical name, as in ``model.provider``.
        api_mode: The wire format: ``chat_completions``, ``anthropic_messages``, …
        aliases: Other names for it. A name always beats an alias.
        display_name: For people; the name when empty.
        description: One line for people.
        signup_url: Where to get a key.
        env_vars: Variables that hold a key, the first usable one is taken; a name that ends in
            ``_URL`` overrides ``base_url`` instead.
        base_url: Root of the API, with its version, such as ``https://api.openai.com/v1``.
        models_url: Address of the model list; ``base_url`` + ``/models`` when empty.
        auth_type: ``api_key``, ``none`` (nothing is sent), or one a later host knows.
        supports_health_check: Whether the model list answers with a valid key.
        supports_vision: Whether its models take images.
        supports_vision_tool_messages: Whether tool messages may hold a list of parts.
        supports_vision_user_messages: False when a user's image is refused; such a call is not sent.
        fallback_models: Tool-calling models, best first; the first one is the default.
        hostname: Host of its API where ``base_url`` does not say.
        extra_hosts: More hosts that are its own; each stands for those below it too.
        preset_for_word: Words for an endpoint of one's own, such as ``ollama``, that mean this profile's address
            while the operator gives none.
        default_headers: Sent with every request.
        fixed_temperature: None: the caller's; ``OMIT_TEMPERATURE``: never sent; a number: always sent.
        default_max_tokens: Output limit in tokens when the caller gives none.
        default_aux_model: Cheap model for side work; the default when there are no fallback models.
        auto_rank: Place in the automatic choice when nothing is configured, lowest first;
            None: never chosen so.
        vision_rank: Place in the automatic choice of whose vision model sees an image that the usual model takes
            none of, lowest first; None: never chosen so.
        schema_in_prompt: Whether a JSON schema is also written into the prompt.
        max_tokens_field: Name of the output limit on the wire.
        strict_messages: Whether it refuses messages with fields that are not OpenAI's; those are left out.
        is_aggregator: Whether it passes calls on to many vendors, its model ids being ``vendor/model``.
        is_local: Whether it is a server of the user's own: a key is sent where there is one, and not demanded.
        refusal_hint: Said when it refuses a credential: what is special about who may use it.
        error_hints: Words in the answer that says why a request failed, in lower case → what helps then.
        error_meanings: Words in such an answer, in lower case → what it means: ``passing`` (the same request will do
            a little later), ``elsewhere`` (the key is good, another provider or model is to be asked), ``limited``,
            ``refused`` or ``unpaid`` (another key may do).
        unavailable: Why this host cannot use it; it is listed, and a call to it fails with this reason.
        oauth: How a login works, for providers that have one: ``token_url``, ``device_url``, ``client_id``,
            ``scope``, ``skew`` in seconds, ``pkce``, ``refresh_header``.

    Example:
        >>> ProviderProfile("acme", base_url="https://api.acme.test/v1").get_hostname()
        'api.acme.test'
    """

    name: str
    api_mode: str = "chat_completions"
    aliases: tuple[str, ...] = ()
    display_name: str = ""
    description: str = ""
    signup_url: str = ""
    env_vars: tuple[str, ...] = ()
    base_url: str = ""
    models_url: str = ""
    auth_type: str = "api_key"
    supports_health_check: bool = True
    supports_vision: bool = False
    supports_vision_tool_messages: bool = True
    supports_vision_user_messages: bool = True
    fallback_models: tuple[str, ...] = ()
    hostname: str = ""
    extra_hosts: tuple[str, ...] = ()
    preset_for_word: tuple[str, ...] = ()
    default_headers: dict[str, str] = field(default_factory=dict, repr=False)
    fixed_temperature: Any = None
    default_max_tokens: int | None = None
    default_aux_model: str = ""
    auto_rank: int | None = 100
    vision_rank: int | None = None
    schema_in_prompt: bool = True
    max_tokens_field: str = "max_tokens"
    strict_messages: bool = False
    is_aggregator: bool = False
    is_local: bool = False
    refusal_hint: str = ""
    error_hints: dict[str, str] = field(default_factory=dict, repr=False)
    error_meanings: dict[str, str] = field(default_factory=dict)
    unavailable: str = ""
    oauth: dict[str, Any] = field(default_factory=dict, repr=False)

    def get_hostname(self) -> str:
        """The host its requests go to; ``""`` when nothing says.

        Override it to send them elsewhere: what it returns replaces the host of ``base_url``, and an
        empty ``base_url`` becomes ``https://<host>/v1``.
        """
        return self.hostname or urlsplit(self.base_url).hostname or ""

    def get_api_mode(self, model: str, base_url: str = "") -> str:
        """The wire format for ``model`` at ``base_url``; ``""`` leaves it to the address, or else to ``api_mode``.

        Asked when neither the operator nor the host of the address demands one.
        """
        return ""

    def get_base_url(
        self, base_url: str, *, model: str = "", api_mode: str = "", api_key: str = "", **context: Any
    ) -> str:
        """Where a request goes that would go to ``base_url``, for providers whose address depends on the rest.

        Args:
            base_url: The operator's, or else the profile's own.
            model: The model that is asked.
            api_mode: The wire format that is spoken.
            api_key: The credential that is sent, or ``""``.
            context: More to come.
        """
        return base_url

    def get_reasoning(self, model: str, reasoning_config: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """How much ``model`` is asked to think, in place of what the operator wants; None to leave it its own way.

        The wire format and the other hooks are given what this returns.
        """
        return reasoning_config

    def prepare_messages(self, messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Messages in OpenAI shape as this provider wants them; do not change the list you are given."""
        return messages

    def build_extra_body(self, *, session_id: str | None = None, **context: Any) -> dict[str, Any]:
        """Fields to merge into the request body.

        Args:
            session_id: The conversation, if there is one.
            context: ``model``, ``base_url``, ``reasoning_config`` and more; take what you need.
        """
        return {}

    def build_api_kwargs_extras(
        self, *, reasoning_config: Mapping[str, Any] | None = None, **context: Any
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Two mappings: fields for the extra body, and top-level fields that replace the request's own.

        ``extra_headers`` and ``extra_body`` among the top-level fields are headers, and fields of the extra body.
        A field of None is left out of the request, one of the request's own too: ``{"max_tokens": None}``.

        Args:
            reasoning_config: ``{"enabled": bool, "effort": str}``, or None.
            context: ``model``, ``base_url``, ``api_mode``, ``session_id``, ``supports_reasoning``, ``messages``,
                ``response_format``, ``max_tokens`` and more; take what you need.
        """
        return {}, {}

    def default_vision_model(self) -> str | None:
        """The model for images, or None when the usual model takes them or there is none."""
        return None

    def get_vision_model(self, base_url: str, api_key: str) -> str | None:
        """As ``default_vision_model``, for a provider that must be asked; may block.

        Args:
            base_url: Where the provider is asked.
            api_key: The credential, or ``""``.
        """
        return self.default_vision_model()

    def get_max_tokens(self, model: str) -> int | None:
        """Output limit in tokens for ``model`` when the caller gives none; None sends no limit."""
        return self.default_max_tokens

    def fetch_models(
        self, *, api_key: str | None = None, base_url: str | None = None, timeout: float = 8.0
    ) -> list[str] | None:
        """Model ids the provider lists now, or None when it cannot be asked.

        Args:
            api_key: Sent in the header of the wire format, a bearer token for most.
            base_url: Asked in place of the profile's own; ``models_url`` beats both.
            timeout: Seconds.
        """
        from hermes_core.providers.model_list import fetch_model_ids, list_addresses

        root = base_url or self.base_url
        mode = self.get_api_mode("", root) or self.api_mode
        places = [self.models_url] if self.models_url else list_addresses(root, mode)
        return fetch_model_ids(
            places,
            api_key=api_key,
            headers=self.default_headers,
            timeout=timeout,
            api_mode=mode,
            pick=self.pick_models,
        )

    def pick_models(self, items: list[Any]) -> list[str]:
        """The ids of models to chat with, among the items of the provider's list as they came; see ``fetch_models``."""
        from hermes_core.providers.model_list import usable_ids

        return usable_ids(items)

    def open_endpoint(self, host: EndpointHost) -> tuple[str, str] | None:
        """Start or find the server this provider runs itself: ``(base_url, api_key)``, or None.

        Asked once per route at call time, off the event loop. Raise a ``HermesError`` that says what
        to install or run when it cannot be started.
        """
        return None

    def check_endpoint(self, host: EndpointHost) -> None:
        """Raise a ``HermesError`` that says what keeps ``open_endpoint`` from working here, and what helps.

        Asked by ``hermes doctor`` and its like: look, but start and fetch nothing.
        """
