"""Finding the API key for one request."""

from __future__ import annotations

import ipaddress
from typing import TYPE_CHECKING

from hermes_core.config.redact import PLACEHOLDERS, register_secret
from hermes_core.errors import MissingCredentialError
from hermes_core.types.address import host_of, is_within

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Any

    from hermes_core.config.environment import Environment, Reads
    from hermes_core.providers.row import ProviderRow

_MINIMUM_LENGTH = 4


class Credential:
    """A key or an access token, and where it was found; the value is in no repr, and in no ``asdict``.

    Attributes:
        value: What is sent.
        source: Where it was found: ``env:NAME``, ``config:place``, ``manual``, …
        id: What its pool calls it; ``""`` outside a pool.
        label: What people call it.
        kind: ``api_key`` or ``oauth``.
        base_url: The one address it is for, where that is not the route's own; else ``""``.
        is_stale: Whether it must be refreshed before it is sent.

    Example:
        >>> Credential(value="k-123456", source="env:ACME_API_KEY")
        Credential(source='env:ACME_API_KEY')
    """

    __slots__ = ("base_url", "id", "is_stale", "kind", "label", "source", "value")

    def __init__(
        self,
        value: str,
        source: str,
        *,
        id: str = "",  # noqa: A002 - what the stored entry calls it
        label: str = "",
        kind: str = "api_key",
        base_url: str = "",
        is_stale: bool = False,
    ) -> None:
        self.value = value
        self.source = source
        self.id = id
        self.label = label
        self.kind = kind
        self.base_url = base_url
        self.is_stale = is_stale

    def __repr__(self) -> str:
        return f"Credential(source={self.source!r})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Credential):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in self.__slots__)

    def __hash__(self) -> int:
        return hash((self.id, self.source, self.value))


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


def hosts_of_keys(rows: Iterable[ProviderRow]) -> dict[str, list[str]]:
    """Known hosts, the longest first → the variables that hold keys for them; ``""`` for those of no host."""
    hosts: dict[str, list[str]] = {}
    for row in rows:
        for host in row.hosts or ("",):
            hosts.setdefault(host, []).extend(key_variables(row.env_vars))
    return dict(sorted(hosts.items(), key=lambda item: -len(item[0])))


def hint_at_keys(rows: Iterable[ProviderRow]) -> str:
    """What to set where no provider is configured and no key was found."""
    names = [name for row in rows for name in key_variables(row.env_vars)]
    return f"run `hermes setup`, set model.provider, or one of {', '.join(names)}" if names else "set model.provider"


def from_environment(names: Iterable[str], environment: Environment | Reads) -> Credential | None:
    """The first usable key among variables.

    Raises:
        MissingCredentialError: It holds a sign that no key can.
    """
    return next(all_from_environment(names, environment), None)


def all_from_environment(names: Iterable[str], environment: Environment | Reads) -> Iterator[Credential]:
    """Every usable key among variables, in their order.

    Raises:
        MissingCredentialError: One holds a sign that no key can.
    """
    for name in names:
        value = environment.credential(name)
        if is_usable(value):
            yield found(value, f"env:{name}")


def from_section(section: Mapping[str, Any], place: str, environment: Environment | Reads) -> Credential | None:
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
            return found(value.strip(), f"config:{place}.{key}")
    for key in ("key_env", "api_key_env"):
        name = section.get(key)
        if isinstance(name, str) and name:
            return from_environment([name], environment)
    return None


def for_address(
    base_url: str, hosts: Mapping[str, Iterable[str]], environment: Environment | Reads
) -> Credential | None:
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


def found(value: str, source: str) -> Credential:
    """A key as it was found; it is redacted from then on.

    Raises:
        MissingCredentialError: It holds a sign that no key can; names the sign, and not the key.
    """
    register_secret(value)
    odd = odd_character(value)
    if odd:
        message = f"the key in {source} holds the character U+{ord(odd):04X}, which no key can"
        raise MissingCredentialError(message, hint="copy the key again, without blanks and look-alike letters")
    return Credential(value=value, source=source)


def odd_character(value: str) -> str:
    """The first character that no key can hold, such as a blank, a look-alike letter or a line break; else ``""``."""
    return next((character for character in value if not "!" <= character <= "~"), "")
