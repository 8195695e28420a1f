"""Which provider and model answer: a choice tried out before it is written, and written so that it says where."""

from __future__ import annotations

from itertools import chain, count
from typing import TYPE_CHECKING, Any, NamedTuple

from hermes_core.auth.keys import derived_variable, found, is_usable, key_variables
from hermes_core.config.edit import edit_config, put, readable, refuse_managed, take_out
from hermes_core.config.env_file import write_env
from hermes_core.config.keypath import join_key, look, spelled
from hermes_core.errors import ConfigError, HermesError, describe
from hermes_core.host import Host
from hermes_core.llm.plan import ANY_ENDPOINT, Planner
from hermes_core.providers.foreign import opens_endpoint
from hermes_core.types.address import host_of

if TYPE_CHECKING:
    from pathlib import Path

    from hermes_core.llm.route import Endpoint
    from hermes_core.providers.profile import ProviderProfile

OF_AN_ENDPOINT = ("base_url", "api_key", "key_env", "api_mode", "default_headers", "extra_headers", "supports_vision")
"""What the model section says of one endpoint, and of no other."""


NOWHERE_ELSE = {"provider": "auto", "model": "", "base_url": "", "fallback_chain": []}
"""What keeps a call from going elsewhere than to the main provider."""


class Choice(NamedTuple):
    """What was chosen; a key is never shown.

    Attributes:
        provider: Its name, as it is written.
        model: The model's id.
        base_url: The address, where it is not the provider's own.
        key: The key to store, or ``""`` to leave what is stored.
        variable: The variable to store it in.
        is_new: Whether another provider or address was configured before.
    """

    provider: str
    model: str = ""
    base_url: str = ""
    key: str = ""
    variable: str = ""
    is_new: bool = True

    def __repr__(self) -> str:
        return f"Choice(provider={self.provider!r}, model={self.model!r})"


class Written(NamedTuple):
    """What was written: dotted keys with their values, keys that were taken out, and the files."""

    keys: dict[str, str]
    removed: list[str]
    config: Path
    env: Path | None


def endpoint_of(host: Host, provider: str) -> Endpoint:
    """Where a provider is asked."""
    return Planner.of(host).endpoint(host.config(), provider)


def needs_address(profile: ProviderProfile | None) -> bool:
    """Whether a provider is a server of one's own, whose address the configuration alone can give."""
    if profile is None or profile.auth_type == "none" or profile.base_url or profile.hostname:
        return False
    return not opens_endpoint(profile)


def obstacle(host: Host, profile: ProviderProfile) -> HermesError | None:
    """What keeps a provider from running its own server here; None when nothing does."""
    try:
        profile.check_endpoint(host.endpoint_host(host.config(), profile.name))
    except HermesError as error:
        return error
    except Exception as error:  # noqa: BLE001 - plugin boundary: a hook that breaks is an obstacle too
        message = f"provider {profile.name!r}: its hook check_endpoint raised {describe(error)}"
        return HermesError(message, hint=f"run `hermes providers explain {profile.name}`")
    return None


def key_variable(host: Host, provider: str, base_url: str) -> str:
    """The variable that a provider's key is kept in; ``""`` when it takes none.

    A key for another server than the provider's own gets one from that server's name, which holds no other key.
    """
    profile = host.providers.get(provider)
    names = key_variables(profile.env_vars) if profile is not None else []
    if profile is not None and names and host_of(base_url) in ("", host_of(profile.base_url)):
        return names[0]
    if profile is not None and (profile.auth_type != "api_key" or profile.oauth):
        return ""
    section, taken = host.config().section("model"), host.environment.file_values()
    if section.get("key_env") and base_url in ("", section.get("base_url")):
        return str(section["key_env"])
    wanted = derived_variable(host_of(base_url)) or f"{ANY_ENDPOINT.upper()}_API_KEY"
    numbered = (f"{wanted}_{number}" for number in count(2))
    return next(name for name in chain([wanted], numbered) if not taken.get(name))


def checked_key(text: str, variable: str) -> str:
    """A key as it was typed or piped in, without blanks around it.

    Raises:
        HermesError: It is none.
    """
    key = text.strip()
    if not is_usable(key):
        raise HermesError("that is no key: it is empty, too short, or a placeholder", hint="copy it whole")
    return found(key, variable or "the key").value


def trial_host(host: Host, choice: Choice) -> Host:
    """A host that has made this choice already, while nothing is written."""
    section = host.config().section("model")
    overlay: dict[str, Any] = {"provider": choice.provider, "default": choice.model}
    if choice.is_new:
        overlay |= dict.fromkeys(OF_AN_ENDPOINT)
        for name in ("default_headers", "extra_headers"):  # a null leaves a mapping alone
            overlay[name] = dict.fromkeys(section.get(name) or ())
    if choice.base_url or choice.key:
        overlay["base_url"] = choice.base_url or endpoint_of(host, choice.provider).base_url
    if choice.key:
        overlay["api_key"] = choice.key
    alone = {"fallback_providers": [], "fallback_model": [], "auxiliary": {"plugin": NOWHERE_ELSE}}
    return Host.load(host.home, {"model": overlay, **alone}, allow_downloads=True, say=host.say)


def write(host: Host, choice: Choice) -> Written:
    """Write a choice into ``config.yaml`` and its key into ``.env``; all else in both stays as it is.

    Raises:
        ConfigError: A file cannot be read or written, or an administrator's says otherwise.
    """
    environment = host.environment
    file = readable(host.home, environment)
    keys = {"provider": choice.provider, "default": choice.model, "base_url": choice.base_url}
    profile = host.providers.get(choice.provider)
    if choice.key and (profile is None or choice.variable not in profile.env_vars):
        keys["key_env"] = choice.variable
    keys = {name: value for name, value in keys.items() if value}
    for name in keys:
        refuse_managed(file, ("model", name))
    removed: list[str] = []

    def change(tree: Any) -> None:
        removed.clear()
        for name in OF_AN_ENDPOINT if choice.is_new else ():
            while name not in keys and look(tree, spelled(tree, ("model", name))) is not None:
                path = spelled(tree, ("model", name))
                take_out(tree, path)
                removed.append(join_key(path))
        for name, value in keys.items():
            put(tree, spelled(tree, ("model", name)), value)

    if choice.key:
        write_env(environment.path, {choice.variable: choice.key})
    try:
        edit_config(file.path, change)
    except ConfigError as problem:
        if choice.key:
            problem.hint = f"{problem.hint}; the key was stored as {choice.variable} in {environment.path}"
        raise
    shown = {f"model.{name}": value for name, value in keys.items()}
    return Written(shown, removed, file.path, environment.path if choice.key else None)
