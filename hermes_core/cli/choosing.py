"""How a provider and a model come to be chosen: as the command line says, or by a person, from lists."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from hermes_core.cli.asking import ask_secret, ask_value, read_secret
from hermes_core.cli.choice import Choice, checked_key, endpoint_of, key_variable, needs_address, trial_host
from hermes_core.cli.output import print_text
from hermes_core.cli.picker import Option, choose
from hermes_core.config.providers import NO_ENTRY
from hermes_core.errors import HermesError, MissingModelError, ProviderError, UnknownProviderError, near
from hermes_core.llm.model_lists import ModelLists
from hermes_core.llm.plan import ANY_ENDPOINT, Planner
from hermes_core.providers.addresses import preset_for
from hermes_core.types.address import host_of, is_loopback

if TYPE_CHECKING:
    from argparse import Namespace

    from hermes_core.host import Host


def given(host: Host, args: Namespace, provider: str, model: str) -> Choice:
    """The choice that the command line makes.

    Raises:
        HermesError: It names nobody, or leaves something open.
    """
    base_url = checked_address(args.base_url) if args.base_url else ""
    name = provider.strip() or (ANY_ENDPOINT if base_url else configured(host))
    if not name:
        raise HermesError("no provider is configured", hint="name one: hermes model PROVIDER MODEL")
    known = host.providers.resolve(name)
    if not known and not base_url:
        message = f"unknown provider {name!r}{near(name, host.providers.words())}"
        hint = "run `hermes providers list`; a model alone is `--model NAME`, a server of your own `--base-url URL`"
        raise UnknownProviderError(message, provider=name, hint=hint)
    place = endpoint_of(host, name) if known else None
    if place is not None and place.profile.unavailable:
        message = f"provider {known!r} cannot be used here: {place.profile.unavailable}"
        raise ProviderError(message, provider=known, hint="choose another: `hermes providers list`")
    is_new = is_other(host, name, base_url)
    if place is not None and not place.base_url and not base_url and needs_address(place.profile):
        raise HermesError(f"{name} has no address", hint="add --base-url URL")
    if not model:
        config = host.config()
        model = "" if is_new else config.text("model", "default")
        model = model or (host.providers.entry(name) or NO_ENTRY).model
    variable = key_variable(host, name, base_url)
    key = checked_key(read_secret(f"key for {name}"), variable) if args.key_stdin else ""
    if key and not variable:
        raise HermesError(f"provider {name!r} takes no key", hint=f"run `hermes auth login {name}` if it has logins")
    choice = Choice(name, model, base_url, key, variable, is_new=is_new)
    return choice if model else choice._replace(model=_only_model(host, choice))


def _only_model(host: Host, choice: Choice) -> str:
    """The model of a choice that names none: the first that the profile recommends, or the only one that is listed.

    Raises:
        MissingModelError: There are several, or none.
    """
    profile = host.providers.get(choice.provider)
    recommended = [] if profile is None or choice.base_url else [*profile.fallback_models, profile.default_aux_model]
    model = next(filter(None, recommended), "")
    if model:
        return model
    with trial_host(host, choice) as trial:
        (found,) = trial.models(choice.provider, refresh=True)
    if len(found.models) == 1:
        return found.models[0]
    shown = ", ".join(found.models[:5]) + (", …" if len(found.models) > 5 else "")
    why = f"it lists {shown}" if shown else f"it lists none: {found.reason}"
    raise MissingModelError(f"no model is chosen for {choice.provider!r}; {why}", hint="add the model's name")


def pick(host: Host) -> Choice:
    """The choice that a person makes, from lists; nothing is written.

    Raises:
        KeyboardInterrupt: It was called off.
    """
    name = choose("Provider", providers(host), default=host.providers.resolve(configured(host)))
    base_url = ""
    if needs_address(host.providers.get(name)):
        known = "" if is_other(host, name) else host.config().text("model", "base_url")
        base_url = ask_value("Address, with its version", checked_address, known)
    choice = with_key(host, Choice(name, base_url=base_url, is_new=is_other(host, name, base_url)))
    model = pick_model(host, choice)
    return choice._replace(model=model)


def providers(host: Host) -> list[Option]:
    """The providers to choose from, those that would answer now first."""
    answering = ModelLists(host).answering()
    found = []
    for row in sorted(host.providers, key=lambda row: (row.name not in answering, row.name)):
        if not row.unavailable:
            ready = "ready: " if row.name in answering else ""
            found.append(Option(row.name, f"{ready}{row.description or row.display_name or row.base_url}"))
    return found


def with_key(host: Host, choice: Choice) -> Choice:
    """The choice with a key that is typed unseen, where one is needed and none is found."""
    with trial_host(host, choice) as trial:
        place = endpoint_of(trial, choice.provider)
        credential = place.pool.select()
        variable = key_variable(trial, choice.provider, choice.base_url)
    is_asked = credential is None or (not credential.value and needs_address(place.profile))
    if not is_asked or is_loopback(host_of(place.base_url)):
        return choice
    if place.profile.oauth:
        print_text(f"{choice.provider} needs a login: run `hermes auth login {choice.provider}` afterwards")
    if place.profile.oauth or not variable:
        return choice
    if place.profile.signup_url:
        print_text(f"a key comes from {place.profile.signup_url}")
    label = f"key for {choice.provider}, or Enter to go on without one"
    key = ask_secret(label, lambda typed: checked_key(typed, variable) if typed else "")
    return choice._replace(key=key, variable=variable if key else "")


def pick_model(host: Host, choice: Choice) -> str:
    """The model, from the list that the provider gives now; by name where it gives none."""
    print_text(f"asking {choice.provider} for its models …")
    with trial_host(host, choice) as trial:
        (found,) = trial.models(choice.provider, refresh=True)
    default = host.config().text("model", "default") if not choice.is_new else ""
    if found.reason:
        print_text(f"note: {found.provider}: {found.reason}")
    if not found.models:
        return ask_value("Model", lambda text: text or _no_model(choice.provider), default)
    options = [Option(model) for model in found.models]
    default = default if default in found.models else found.models[0]
    return choose("Model", options, default=default, own="another model's name")


def _no_model(provider: str) -> str:
    raise MissingModelError("no model is chosen", provider=provider, hint="give its name")


def configured(host: Host) -> str:
    """The provider that is configured, by the name it is written under; ``""`` when it is left to be found."""
    return Planner.of(host).configured(host.config())


def is_other(host: Host, name: str, base_url: str = "") -> bool:
    """Whether a provider, at an address of its own where one is given, is another one than the configured one."""
    before, known = configured(host), host.providers.resolve(name)
    if (
        not known
        or host.providers.resolve(before) != known
        or base_url not in ("", host.config().text("model", "base_url"))
    ):
        return True
    return bool(preset_for(host.providers, name)) and before != name.lower()  # a word for an address of its own


def checked_address(text: str) -> str:
    """An address as the configuration takes it.

    Raises:
        HermesError: It is none, or holds a login.
    """
    try:
        parts = urlsplit(text.strip())
        is_one = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0 and "@" not in parts.netloc
    except ValueError:
        is_one = False
    if not is_one:
        raise HermesError(
            "that is no address of a server", hint="write it like http://127.0.0.1:11434/v1, without a login"
        )
    return text.strip()
