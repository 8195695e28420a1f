"""``hermes memory setup``: choose a provider, answer what it asks, see what is written, write it."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

from hermes_core.cli.asking import read_secret
from hermes_core.cli.memory.chosen import Chosen, active_name, row_of
from hermes_core.cli.memory.fields import Field, read_fields
from hermes_core.cli.memory.questions import Answers, Questions, as_variable
from hermes_core.cli.memory.requirements import install, install_command, missing_packages, missing_programs
from hermes_core.cli.output import print_line
from hermes_core.cli.picker import Option, choose, confirm, is_interactive
from hermes_core.config.edit import edit_config, put, readable, refuse_managed
from hermes_core.config.env_file import write_env
from hermes_core.config.redact import CONFIGURED
from hermes_core.errors import HermesError, near

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Collection, Mapping, Sequence

    from hermes_core.config.settings import ConfigFile
    from hermes_core.host import Host
    from hermes_core.plugins.plugin import Plugin

BUILT_IN = "none"


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
    answers = Questions(host, name, _given(args, fields, given), may_ask=may_ask).answers(fields)
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
        ConfigError: The configuration cannot be read or written, or the administrator chose.
    """
    readable(host.home, host.environment)
    before = active_name(host)
    if before:
        _activate(_writable(host), "")
    what = f"memory provider {before} is off; what it keeps stays where it is" if before else "no provider was active"
    print_line(f"{what}. MEMORY.md and USER.md go on as before.")
    return 0


def _writable(host: Host) -> ConfigFile:
    """The configuration, which can be read, and whose provider is the user's to choose."""
    file = readable(host.home, host.environment)
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
    """The answers from the command line, the one from standard input among them.

    Raises:
        HermesError: One is of no field, or a secret that everybody on this machine could see.
    """
    keys = {field.key for field in fields}
    secrets = [field.key for field in fields if field.is_secret and field.key in given]
    for key in (*given, *filter(None, [args.secret_stdin])):
        if key not in keys:
            known = ", ".join(sorted(keys)) or "nothing"
            raise HermesError(f"there is no setting {key!r}{near(key, keys)}", hint=f"it asks for {known}")
    if secrets:
        message = f"{secrets[0]} is a secret, and would be seen in the list of processes"
        raise HermesError(message, hint=f"pipe it in: --secret-stdin {secrets[0]}")
    piped = {args.secret_stdin: read_secret(args.secret_stdin).strip()} if args.secret_stdin else {}
    return {**given, **piped}


def _show_plan(host: Host, chosen: Chosen, answers: Answers, secrets: Collection[str]) -> None:
    print_line("This will be written:")
    env, config = host.home / ".env", host.home / "config.yaml"
    for variable, value in answers.variables.items():
        print_line(f"  {env}: {variable} = {CONFIGURED if variable in secrets else value}")
    for key, value in {**answers.settings, **answers.references}.items():
        print_line(f"  {config}: memory.{chosen.name}.{key} = {as_variable(value)}")
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
