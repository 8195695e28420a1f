"""``hermes memory setup``: choose a provider, answer what it asks, see what is written, write it."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any, NamedTuple

from hermes_core.cli.asking import ask_secret, ask_value, read_secret
from hermes_core.cli.commands.config import refuse_managed
from hermes_core.cli.memory.chosen import Chosen, active_name, row_of
from hermes_core.cli.memory.fields import NOTHING, Field, applies, default_of, missing, read_fields, read_value
from hermes_core.cli.memory.requirements import install, install_command, missing_packages, missing_programs
from hermes_core.cli.output import print_line
from hermes_core.cli.picker import Option, choose, confirm, is_interactive
from hermes_core.config.edit import edit_config, put
from hermes_core.config.env_file import write_env
from hermes_core.config.redact import CONFIGURED, register_secret
from hermes_core.config.settings import ConfigFile
from hermes_core.errors import HermesError, near

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Collection, Mapping, Sequence

    from hermes_core.host import Host
    from hermes_core.plugins.plugin import Plugin

BUILT_IN = "none"


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


def run_setup(host: Host, args: Namespace, given: Mapping[str, str]) -> int:
    """Set a provider up.

    Args:
        host: The host.
        args: ``name``, ``yes``, ``no_install``, ``secret_stdin``.
        given: Answers from the command line: key → text.

    Raises:
        HermesError: Something is missing or wrong, or the user cancelled; nothing was written then.
    """
    may_ask = is_interactive() and not args.yes
    file = _writable(host)
    name = args.name or _pick(host, may_ask=may_ask)
    if name == BUILT_IN:
        return turn_off(host)
    row = row_of(host, name)
    if row is not None:
        name = row.key.rpartition("/")[2]  # `memory/acme` means the same, and is no section of the configuration
        _meet_requirements(row, args, may_ask=may_ask)
        if row.tier != "bundled":
            print_line(f"{name} is code from {row.source}; it will be given what you and the agent say")
    chosen = Chosen(host, name)
    if chosen.has("post_setup"):
        return _hand_over(host, chosen)
    fields = read_fields(name, chosen.call("get_config_schema"))
    answers = _answers(host, chosen, fields, _given(args, fields, given), may_ask=may_ask)
    _show_plan(host, chosen, answers, {field.env_var for field in fields if field.is_secret})
    if may_ask and not confirm("Write it?"):
        print_line("cancelled; nothing was saved")
        return 1
    _write(host, file, chosen, answers)
    print_line(f"memory provider {name} is active from the next session on; `hermes memory status` shows it")
    again = Chosen(host, name)
    if not again.call("is_available"):
        print_line(f"it cannot run yet: {again.why_not()}")
    return 0


def turn_off(host: Host) -> int:
    """Have the built-in memory alone.

    Raises:
        ConfigError: The configuration cannot be written, or the administrator chose.
    """
    before = active_name(host)
    if before:
        _activate(_writable(host), "")
    what = f"memory provider {before} is off; what it keeps stays where it is" if before else "no provider was active"
    print_line(f"{what}. MEMORY.md and USER.md go on as before.")
    return 0


def _writable(host: Host) -> ConfigFile:
    """The configuration, which can be read, and whose provider is the user's to choose."""
    file = ConfigFile(host.home, host.environment)
    error = file.current().error
    if error is not None:
        raise error
    refuse_managed(file, ("memory", "provider"))
    return file


def _pick(host: Host, *, may_ask: bool) -> str:
    rows = host.memory_plugins
    if not may_ask:
        raise HermesError(
            "name a memory provider", hint=f"hermes memory setup NAME, one of {', '.join(rows) or 'none'}"
        )
    options = [
        *(Option(name, _line(row)) for name, row in rows.items()),
        Option(BUILT_IN, "MEMORY.md and USER.md alone"),
    ]
    first = next((name for name, row in rows.items() if row.tier == "bundled"), BUILT_IN)
    current = active_name(host).rpartition("/")[2]
    return choose("Which memory provider", options, default=current if current in rows else first)


def _line(row: Plugin) -> str:
    needs = [*row.manifest.requires_env, *missing_packages(row)]
    notes = [f"needs {', '.join(needs)}"] if needs else []
    if row.state != "loaded" and row.reason and not row.is_unchosen:
        notes.append(f"{row.state}: {row.reason}")
    return "; ".join([row.description, *notes] if row.description else notes)


def _meet_requirements(row: Plugin, args: Namespace, *, may_ask: bool) -> None:
    """See that what the provider needs is installed.

    Raises:
        HermesError: Something is missing, and stays so.
    """
    name = row.key.rpartition("/")[2]
    packages = missing_packages(row)
    if packages:
        command = shlex.join(install_command(packages))
        print_line(f"{name} needs {', '.join(packages)}: {command}")
        wanted = not args.no_install and (args.yes or (may_ask and confirm("Install it now?")))
        if not wanted:
            message = f"memory provider {name!r} needs {', '.join(packages)}; nothing was saved"
            raise HermesError(message, hint=f"run {command}, or answer with --yes")
        install(packages)
        if still := missing_packages(row):
            raise HermesError(f"{', '.join(still)} is still missing; nothing was saved", hint=f"run {command}")
    for program in missing_programs(row):
        how = f": {program.install}" if program.install else ""
        print_line(f"{name} needs the program {program.name}, which was not found{how}")
        if not (args.yes or (may_ask and confirm("Go on without it?", default=False))):
            message = f"memory provider {name!r} needs the program {program.name}; nothing was saved"
            raise HermesError(message, hint=program.install or f"install {program.name}")


def _hand_over(host: Host, chosen: Chosen) -> int:
    """Let a provider that brings its own setup do all of it."""
    from copy import deepcopy

    def work() -> None:
        try:
            chosen.provider.post_setup(str(host.home), deepcopy(dict(host.config().tree)))  # type: ignore[attr-defined]
        except SystemExit as ended:
            if ended.code not in (None, 0):
                raise

    chosen.run("post_setup", work)
    if active_name(host) != chosen.name:
        hint = f"hermes config set memory.provider {chosen.name}"
        print_line(f"{chosen.name} has not made itself the active provider; to do so: {hint}")
    return 0


def _given(args: Namespace, fields: Sequence[Field], given: Mapping[str, str]) -> dict[str, str]:
    """The answers from the command line, each of a field that there is."""
    keys = {field.key for field in fields}
    answers = dict(given)
    if args.secret_stdin:
        answers[args.secret_stdin] = read_secret(args.secret_stdin).strip()
    for key in answers:
        if key not in keys:
            known = ", ".join(sorted(keys)) or "nothing"
            raise HermesError(f"there is no setting {key!r}{near(key, keys)}", hint=f"it asks for {known}")
    secrets = [field.key for field in fields if field.is_secret and field.key in given]
    if secrets:
        message = f"{secrets[0]} is a secret, and would be seen in the list of processes"
        raise HermesError(message, hint=f"pipe it in: --secret-stdin {secrets[0]}")
    return answers


def _answers(
    host: Host, chosen: Chosen, fields: Sequence[Field], given: Mapping[str, str], *, may_ask: bool
) -> Answers:
    """Go through the fields in order; each is asked, unless it was given, or does not apply."""
    answers = Answers({}, {}, {}, {})
    unused = {*given}
    for field in fields:
        if not applies(field, answers.values):
            continue
        unused.discard(field.key)
        if field.is_secret:
            _take_secret(host, field, given, answers, may_ask=may_ask)
        else:
            _take_value(host, chosen, field, given, answers, may_ask=may_ask)
    if unused:
        raise HermesError(f"{', '.join(sorted(unused))} does not apply here, given the other answers")
    if lacking := missing(fields, answers.values):
        flags = " ".join(f"--secret-stdin {one.key}" if one.is_secret else f"--set {one.key}=…" for one in lacking)
        message = f"{', '.join(one.key for one in lacking)} must be given; nothing was saved"
        raise HermesError(message, hint=f"{flags}, or answer at a terminal")
    return answers


def _take_secret(host: Host, field: Field, given: Mapping[str, str], answers: Answers, *, may_ask: bool) -> None:
    is_set = bool(host.environment.credential(field.env_var))
    if field.key in given:
        secret = read_value(field, given[field.key])
    elif may_ask:
        if field.url and not is_set:
            print_line(f"get one at {field.url}")
        kept = f"{CONFIGURED}; blank keeps it" if is_set else "" if field.is_required else "blank for none"
        label = f"{field.label} ({kept})" if kept else field.label

        def read(text: str) -> str:
            if not text and field.is_required and not is_set:
                raise HermesError(f"{field.key} must be given")
            return str(read_value(field, text))

        secret = ask_secret(label, read)
    else:
        secret = ""
    if secret:
        register_secret(secret)
        answers.variables[field.env_var] = secret
    if secret or is_set:
        answers.values[field.key] = CONFIGURED
        if field.is_env_var_ours:
            answers.references[field.key] = f"${{{field.env_var}}}"


def _take_value(
    host: Host, chosen: Chosen, field: Field, given: Mapping[str, str], answers: Answers, *, may_ask: bool
) -> None:
    default = _current(host, chosen.name, field, answers.values)
    if field.key in given:
        value = read_value(field, given[field.key])
    elif may_ask:
        value = _ask(field, default)
    else:
        value = default
    if value is NOTHING:
        return
    answers.values[field.key] = answers.settings[field.key] = value
    if field.env_var:
        answers.variables[field.env_var] = _as_variable(value)


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


def _current(host: Host, name: str, field: Field, values: Mapping[str, Any]) -> Any:
    """What a blank answer stands for: what is configured, else the variable, else the default."""
    for found in (host.config().get("memory", name, field.key), host.environment.get(field.env_var) or None):
        if found is not None:
            try:
                return read_value(field, found)
            except HermesError:
                print_line(f"what is configured for {field.key} cannot be used, and is asked anew")
    return default_of(field, values)


def _as_variable(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _show_plan(host: Host, chosen: Chosen, answers: Answers, secrets: Collection[str]) -> None:
    print_line("This will be written:")
    env, config = host.home / ".env", host.home / "config.yaml"
    for variable, value in answers.variables.items():
        print_line(f"  {env}: {variable} = {CONFIGURED if variable in secrets else value}")
    for key, value in {**answers.settings, **answers.references}.items():
        print_line(f"  {config}: memory.{chosen.name}.{key} = {_as_variable(value)}")
    print_line(f"  {config}: memory.provider = {chosen.name}")
    if _keeps_own_file(chosen):
        print_line(f"  and the same, without secrets, in {chosen.name}'s own file below {host.home}")


def _keeps_own_file(chosen: Chosen) -> bool:
    from hermes_core.memory.provider import MemoryProvider

    return chosen.has("save_config") and type(chosen.provider).save_config is not MemoryProvider.save_config


def _write(host: Host, file: ConfigFile, chosen: Chosen, answers: Answers) -> None:
    """Write everything; the provider becomes the active one last, so that it never runs half configured."""
    if answers.variables:
        write_env(host.home / ".env", answers.variables)
    if answers.settings and _keeps_own_file(chosen):
        chosen.call("save_config", dict(answers.settings), str(host.home))
    _activate(file, chosen.name, {**answers.settings, **answers.references})


def _activate(file: ConfigFile, name: str, settings: Mapping[str, Any] | None = None) -> None:
    def change(tree: Any) -> None:
        put(tree, ("memory", "provider"), name)
        for key, value in (settings or {}).items():
            put(tree, ("memory", name, key), value)

    edit_config(file.path, change)
