"""The questions of a setup: each field is asked in its turn, unless its answer was given, or it does not apply."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from hermes_core.cli.asking import ask_secret, ask_value
from hermes_core.cli.memory.fields import NOTHING, applies, default_of, missing, read_value
from hermes_core.cli.output import print_line
from hermes_core.cli.picker import Option, choose, confirm
from hermes_core.config.redact import CONFIGURED, register_secret
from hermes_core.errors import HermesError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hermes_core.cli.memory.fields import Field
    from hermes_core.host import Host


class Answers(NamedTuple):
    """What was answered.

    Attributes:
        values: Key → value; of a secret that is set, that it is.
        settings: Key → value, as the configuration is to hold it; no secrets.
        references: Key → ``${NAME}``, for secrets whose variable the provider does not know.
        variables: Variable → value, secrets among them; what stays as it is, is left out.
    """

    values: dict[str, Any]
    settings: dict[str, Any]
    references: dict[str, str]
    variables: dict[str, str]


class Questions:
    """Asks for the settings of one provider.

    Args:
        host: Knows what is configured already.
        name: The provider.
        given: Answers that need not be asked for: key → text.
        may_ask: Whether somebody can be asked; else what is configured, or the default, has to do.
    """

    def __init__(self, host: Host, name: str, given: Mapping[str, str], *, may_ask: bool) -> None:
        self._host = host
        self._name = name
        self._given = given
        self._may_ask = may_ask
        self._answers = Answers({}, {}, {}, {})

    def answers(self, fields: Sequence[Field]) -> Answers:
        """Go through the fields in order.

        Raises:
            HermesError: An answer that was given is wrong, or of no use; or one is missing that has to be.
            KeyboardInterrupt: The questions were called off.
        """
        values = self._answers.values
        unused = {*self._given}
        for field in fields:
            if applies(field, values):
                unused.discard(field.key)
                if field.is_secret:
                    self._take_secret(field)
                else:
                    self._take_value(field)
        if unused:
            raise HermesError(f"{', '.join(sorted(unused))} does not apply here, given the other answers")
        if lacking := missing(fields, values):
            flags = " ".join(f"--secret-stdin {one.key}" if one.is_secret else f"--set {one.key}=…" for one in lacking)
            message = f"{', '.join(one.key for one in lacking)} must be given; nothing was saved"
            raise HermesError(message, hint=f"{flags}, or answer at a terminal")
        return self._answers

    def _take_secret(self, field: Field) -> None:
        is_set = bool(self._host.environment.credential(field.env_var))
        secret = ""
        if field.key in self._given:
            secret = read_value(field, self._given[field.key])
        elif self._may_ask:
            secret = _ask_secret(field, is_set=is_set)
        if secret:
            register_secret(secret)
            self._answers.variables[field.env_var] = secret
        if secret or is_set:
            self._answers.values[field.key] = CONFIGURED
            if field.is_env_var_ours:
                self._answers.references[field.key] = f"${{{field.env_var}}}"

    def _take_value(self, field: Field) -> None:
        value = self._current(field)
        if field.key in self._given:
            value = read_value(field, self._given[field.key])
        elif self._may_ask:
            value = _ask(field, value)
        if value is not NOTHING:
            self._answers.values[field.key] = self._answers.settings[field.key] = value
            if field.env_var:
                self._answers.variables[field.env_var] = as_variable(value)

    def _current(self, field: Field) -> Any:
        """What a blank answer stands for: what is configured, else the variable, else the default."""
        configured = self._host.config().get("memory", self._name, field.key)
        for found in (configured, self._host.environment.get(field.env_var) or None):
            if found is not None:
                try:
                    return read_value(field, found)
                except HermesError:
                    print_line(f"what is configured for {field.key} cannot be used, and is asked anew")
        return default_of(field, self._answers.values)


def as_variable(value: Any) -> str:
    """A value as a variable holds it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _ask_secret(field: Field, *, is_set: bool) -> str:
    if field.url and not is_set:
        print_line(f"get one at {field.url}")
    kept = f"{CONFIGURED}; blank keeps it" if is_set else "" if field.is_required else "blank for none"

    def read(text: str) -> str:
        if not text and field.is_required and not is_set:
            raise HermesError(f"{field.key} must be given")
        return str(read_value(field, text))

    return ask_secret(f"{field.label} ({kept})" if kept else field.label, read)


def _ask(field: Field, default: Any) -> Any:
    if field.choices:
        options = [Option(str(choice)) for choice in field.choices]
        known = default if default in field.choices else field.choices[0]
        return read_value(field, choose(field.label, options, default=str(known)))
    if field.kind == "bool":
        return confirm(field.label, default=default is True)

    def read(text: str) -> Any:
        if text:
            return read_value(field, text)
        if field.is_required:
            raise HermesError(f"{field.key} must be given")
        return default

    return ask_value(field.label, read, "" if default is NOTHING else str(default))
