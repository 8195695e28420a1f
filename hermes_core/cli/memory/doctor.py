"""``hermes memory doctor``: what is wrong with the memory of a home, and what helps."""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING, NamedTuple

from hermes_core.cli.memory.chosen import Chosen, active_name, row_of
from hermes_core.cli.memory.fields import missing, read_fields
from hermes_core.cli.memory.requirements import install_command, missing_packages, missing_programs
from hermes_core.config.truth import as_bool
from hermes_core.errors import HermesError, MemoryFileError
from hermes_core.memory.configured import also_named
from hermes_core.memory.entries import entry_id, join
from hermes_core.memory.store import FILES
from hermes_core.memory.threats import is_hard

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hermes_core.host import Host

ERROR, WARNING, NOTE = "error", "warning", "note"


class Finding(NamedTuple):
    """One thing that is not as it should be.

    Attributes:
        level: ``error``: something does not work; ``warning``: it works otherwise than one may think; ``note``.
        place: The file, key or provider.
        message: What is wrong.
        remedy: What helps.
    """

    level: str
    place: str
    message: str
    remedy: str


def examine(host: Host) -> list[Finding]:
    """Everything that is wrong, the files first."""
    names = dict.fromkeys(filter(None, (active_name(host), *also_named(host.config()))))
    providers = [finding for name in names for finding in _provider(host, name)]
    return [*_configuration(host), *_files(host), *_waiting(host), *providers]


def _configuration(host: Host) -> Iterator[Finding]:
    config, file = host.config(), str(host.home / "config.yaml")
    if config.error is not None:
        yield Finding(ERROR, file, str(config.error), config.error.hint)
    said = config.get("memory", "write_approval")
    if said is not None and as_bool(said) is None:
        yield Finding(WARNING, file, "memory.write_approval is neither on nor off, so it is on", "say true or false")
    section = config.get("memory")
    if section is not None and not isinstance(section, dict):
        yield Finding(ERROR, file, "memory must be a mapping", "see docs/config.md")


def _files(host: Host) -> Iterator[Finding]:
    memory = host.builtin_memory
    store = memory.store
    if store.folder.exists() and not os.access(store.folder, os.W_OK):
        yield Finding(ERROR, str(store.folder), "it cannot be written to", "change its owner or its permissions")
    for target, name in FILES.items():
        path, limit = str(store.path(target)), store.limits[target]
        try:
            found = store.read(target)
        except MemoryFileError as error:
            yield Finding(ERROR, path, str(error), error.hint)
            continue
        if found.entries and target not in memory.targets:
            yield Finding(NOTE, path, "it holds entries, but is switched off", "hermes config show")
        if found.is_free or max(map(len, found.entries), default=0) > limit:
            remedy = "a line of § alone between entries, no blank lines around it, none twice, none too long"
            yield Finding(WARNING, path, "it is in a form that the agent can add to, but not change", remedy)
        if len(join(found.entries)) > limit:
            message = f"it holds {len(join(found.entries)):,} characters, and may hold {limit:,}"
            yield Finding(WARNING, path, message, f"shorten it, or raise memory.{target}_char_limit")
        for entry in found.entries:
            threats = memory.threats(entry)
            if threats:
                allow = f"hermes memory approve {entry_id(entry)} --confirm, if it is harmless"
                remedy = f"edit {name}" if any(map(is_hard, threats)) else allow
                message = f"entry {entry_id(entry)} is kept out of the prompt: {', '.join(threats)}"
                yield Finding(WARNING, path, message, remedy)


def _waiting(host: Host) -> Iterator[Finding]:
    try:
        rows = host.builtin_memory.approvals.all()
    except MemoryFileError as error:
        yield Finding(ERROR, error.path, str(error), error.hint)
        return
    if rows:
        message = f"{len(rows)} {'write waits' if len(rows) == 1 else 'writes wait'} for you"
        yield Finding(NOTE, str(host.builtin_memory.store.folder / "pending.json"), message, "hermes memory pending")


def _provider(host: Host, name: str) -> Iterator[Finding]:
    row = row_of(host, name)
    if row is not None:
        packages = missing_packages(row)
        if packages:
            yield Finding(ERROR, name, f"it needs {', '.join(packages)}", shlex.join(install_command(packages)))
        for program in missing_programs(row):
            yield Finding(ERROR, name, f"it needs the program {program.name}", program.install or "install it")
    try:
        chosen = Chosen(host, name)
        if not chosen.call("is_available"):
            yield Finding(ERROR, name, f"it cannot run here: {chosen.why_not()}", f"hermes memory setup {name}")
        elif row is not None and row.tier == "bundled":  # anybody else's might go out to its service
            with chosen.opened():
                pass
        fields = read_fields(name, chosen.call("get_config_schema"))
    except HermesError as error:
        yield Finding(ERROR, name, str(error), error.hint or "hermes memory list")
        return
    config, values = host.config(), {}
    for field in fields:
        kept = host.environment.credential(field.env_var) if field.env_var else ""
        value = config.get("memory", name, field.key)
        if kept or value is not None:
            values[field.key] = kept or value
    if not chosen.has("post_setup") and not chosen.has("is_configured"):
        for field in missing(fields, values):
            what = f"the variable {field.env_var}" if field.env_var else f"memory.{name}.{field.key}"
            yield Finding(WARNING, name, f"{what} is not set", f"hermes memory setup {name}")
