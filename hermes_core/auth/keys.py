"""Finding the API key for one request."""

from __future__ import annotations

import ipaddress
from typing import TYPE_CHECKING

from hermes_core.config.redact import PLACEHOLDERS, register_secret
from hermes_core.errors import MissingCredentialError
from hermes_core.types.address import host_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from hermes_core.config.environment import Environment

_MINIMUM_LENGTH = 4


class Credential:
    """A key and where it was found.

    No dataclass and no tuple: what takes those apart, such as ``asdict``, would bring the key to light.

    Example:
        >>> Credential(value="k-123456", source="env:ACME_API_KEY")
        Credential(source='env:ACME_API_KEY')
    """

    __slots__ = ("source", "value")

    def __init__(self, value: str, source: str) -> None:
        self.value = value
        self.source = source

    def __repr__(self) -> str:
        return f"Credential(source={self.source!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Credential) and (self.value, self.source) == (other.value, other.source)

    def __hash__(self) -> int:
        return hash((self.value, self.source))


NO_CREDENTIAL = Credential(value="", source="none")


def is_usable(value: str) -> bool:
    """Whether a value looks like a key, not like a placeholder somebody forgot to replace."""
    return len(value) >= _MINIMUM_LENGTH and value.lower() not in PLACEHOLDERS and "${" not in value


def key_variables(env_vars: Iterable[str]) -> list[str]:
    """The variables that hold keys; the others, ``…_URL``, hold addresses."""
    return [name for name in env_vars if not name.endswith("_URL")]


def url_variables(env_vars: Iterable[str]) -> list[str]:
    """The variables that hold an address in place of the profile's own."""
    return [name for name in env_vars if name.endswith("_URL")]


def from_environment(names: Iterable[str], environment: Environment) -> Credential | None:
    """The first usable key among variables."""
    for name in names:
        value = environment.credential(name)
        if is_usable(value):
            return _found(value, f"env:{name}")
    return None


def from_section(section: Mapping[str, Any], place: str, environment: Environment) -> Credential | None:
    """The key a section of the configuration holds, or names; one written out beats one named.

    Raises:
        MissingCredentialError: It refers to a variable that is not set.
    """
    for key in ("api_key", "api"):
        value = section.get(key)
        if isinstance(value, str) and "${" in value:
            unset = ", ".join("${" + part.partition("}")[0] + "}" for part in value.split("${")[1:])
            message = f"config.yaml: {place}.{key} refers to {unset}, which is not set"
            raise MissingCredentialError(message, hint="set the variable, or write it to .env")
        if isinstance(value, str) and value.strip():
            return _found(value.strip(), f"config:{place}.{key}")
    for key in ("key_env", "api_key_env"):
        name = section.get(key)
        if isinstance(name, str) and name:
            return from_environment([name], environment)
    return None


def for_address(base_url: str, hosts: Mapping[str, Iterable[str]], environment: Environment) -> Credential | None:
    """A key for an address nobody gave a key for.

    A variable that belongs to a known host is used for that host and those below it alone. For any
    other host, only the variable derived from its own name is.

    Args:
        base_url: Where the key would be sent.
        hosts: Known hosts → the key variables that belong to them.
        environment: Where variables are looked up.
    """
    host = host_of(base_url)
    for known, names in hosts.items():
        if is_within(host, known):
            return from_environment(names, environment)
    owned = {name for names in hosts.values() for name in names}
    derived = derived_variable(host)
    return from_environment([derived], environment) if derived and derived not in owned else None


def is_within(host: str, known: str) -> bool:
    """Whether ``host`` is ``known`` or a sub-domain of it.

    Example:
        >>> is_within("eu.api.acme.test", "api.acme.test"), is_within("api.acme.test.evil", "api.acme.test")
        (True, False)
    """
    return bool(known) and (host == known or host.endswith(f".{known}"))


def derived_variable(host: str) -> str:
    """``<LABEL>_API_KEY`` from the host's registered name; ``""`` for addresses and single labels.

    Example:
        >>> derived_variable("api.acme.test"), derived_variable("127.0.0.1"), derived_variable("localhost")
        ('ACME_API_KEY', '', '')
    """
    try:
        ipaddress.ip_address(host)
    except ValueError:
        labels = [label for label in host.split(".") if label]
        if labels[:1] in (["api"], ["www"]):
            labels = labels[1:]
        return f"{labels[-2].upper().replace('-', '_')}_API_KEY" if len(labels) > 1 else ""
    return ""


def _found(value: str, source: str) -> Credential:
    register_secret(value)
    for character in value:
        if not "!" <= character <= "~":
            message = f"the key in {source} holds the character U+{ord(character):04X}, which no key can"
            raise MissingCredentialError(message, hint="copy the key again, without blanks and look-alike letters")
    return Credential(value=value, source=source)
