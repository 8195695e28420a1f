"""``hermes memory status``, ``list`` and ``show NAME``: what there is, how it fares, and what leaves the machine."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

from hermes_core.cli.memory.chosen import Chosen, active_name, row_of
from hermes_core.cli.memory.fields import NOTHING, Field, read_fields
from hermes_core.cli.memory.requirements import install_command, missing_packages, missing_programs
from hermes_core.config.keypath import is_secret
from hermes_core.config.redact import CONFIGURED
from hermes_core.errors import HermesError, MemoryFileError
from hermes_core.memory.configured import also_named
from hermes_core.memory.entries import join, usage
from hermes_core.memory.last_session import last_session, troubles
from hermes_core.memory.store import FILES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hermes_core.host import Host
    from hermes_core.plugins.plugin import Plugin

LIST_COLUMNS = ("name", "state", "tier", "version", "needs", "description", "reason", "remedy")
UNKNOWN_EGRESS = (
    "it does not say; count on everything: each turn, each question to it, and what is written to MEMORY.md and "
    "USER.md, with secrets masked"
)


def status(host: Host) -> dict[str, Any]:
    """Everything about the memory of a home."""
    memory = host.builtin_memory
    try:
        pending: Any = len(memory.approvals.all())
    except MemoryFileError as error:
        pending = str(error)
    name = active_name(host)
    return {
        "builtin": [builtin_row(host, target) for target in FILES],
        "write_approval": memory.needs_approval,
        "pending": pending,
        "provider": provider_status(host, name) if name else None,
        "also": [provider_status(host, other) for other in also_named(host.config())],
        "last_session": last_session(host.home),
    }


def builtin_row(host: Host, target: str) -> dict[str, Any]:
    """One of the two files, and how full it is."""
    memory = host.builtin_memory
    row: dict[str, Any] = {
        "target": target,
        "file": str(memory.store.path(target)),
        "enabled": target in memory.targets,
        "limit": memory.store.limits[target],
    }
    try:
        entries = memory.store.entries(target)
    except MemoryFileError as error:
        return row | {"problem": str(error)}
    used = len(join(entries))
    blocked = sum(bool(memory.threats(entry)) for entry in entries)
    return row | {"entries": len(entries), "used": used, "usage": usage(used, row["limit"]), "blocked": blocked}


def provider_status(host: Host, name: str) -> dict[str, Any]:
    """A provider and how it fares; its plugin is loaded, and no other one."""
    row = row_of(host, name)
    shown: dict[str, Any] = {"name": name, "state": "failed", "leaves": "", "missing": [], "env": [], "config": {}}
    if row is not None:
        shown |= {"tier": row.tier, "version": row.version, "source": row.source, "description": row.description}
        shown["missing"] = [*missing_packages(row), *(program.name for program in missing_programs(row))]
        shown["leaves"] = row.manifest.about.get("data_leaves") or UNKNOWN_EGRESS
    try:
        chosen = Chosen(host, name)
        is_available = bool(chosen.call("is_available"))
        shown["state"] = "ready" if is_available else "unavailable"
        if not is_available:
            shown |= {"reason": chosen.why_not(), "remedy": f"hermes memory setup {name}"}
        shown["env"] = [_variable(host, field) for field in _fields(chosen) if field.env_var]
    except HermesError as error:
        return shown | {"reason": str(error), "remedy": error.hint}
    settings = host.config().section("memory", name)
    shown["config"] = {key: _hidden(("memory", name, key), value) for key, value in settings.items()}
    return shown | _own_status(chosen, settings)


def _fields(chosen: Chosen) -> list[Field]:
    return read_fields(chosen.name, chosen.call("get_config_schema"))


def _variable(host: Host, field: Field) -> dict[str, Any]:
    is_set = bool(host.environment.credential(field.env_var) or host.environment.get(field.env_var))
    return {"name": field.env_var, "set": is_set, "required": field.is_required, "url": field.url}


def _hidden(path: tuple[str, ...], value: Any) -> Any:
    return CONFIGURED if is_secret(path) and value not in (None, "") else value


def _own_status(chosen: Chosen, settings: Mapping[str, Any]) -> dict[str, Any]:
    """What the provider says of itself. One that has to be made ready for that is, if that is known to be harmless."""
    if not chosen.has("get_status_config"):
        return {}
    try:
        return {"status": chosen.call("get_status_config", dict(settings))}
    except HermesError as error:
        problem = str(error)
    if chosen.row is not None and chosen.row.tier == "bundled":
        try:
            with chosen.opened():
                return {"status": chosen.call("get_status_config", dict(settings))}
        except HermesError as error:
            problem = str(error)
    return {"status_config_error": problem}


def as_text(shown: Mapping[str, Any]) -> dict[str, Any]:
    """The status as people read it, a field a line."""
    lines: dict[str, Any] = {}
    for row in shown["builtin"]:
        state = (
            row.get("problem") or f"{row['entries']} {'entry' if row['entries'] == 1 else 'entries'}, {row['usage']}"
        )
        notes = [f"{row['blocked']} kept out of the prompt"] if row.get("blocked") else []
        notes += [] if row["enabled"] else ["switched off"]
        lines[FILES[row["target"]]] = ", ".join([state, *notes])
    pending = shown["pending"]
    lines["write approval"] = "on" if shown["write_approval"] else "off"
    lines["waiting"] = f"{pending}: see `hermes memory pending`" if pending else ""
    lines["last session"] = troubles(shown["last_session"])
    lines["also asked"] = [
        f"{row['name']} ({row['state']}{', ' + row['reason'] if row.get('reason') else ''}; {row['leaves'] or '?'})"
        for row in shown["also"]
    ]
    provider = shown["provider"]
    if provider is None:
        return lines | {"provider": "none: hermes memory setup"}
    lines["provider"] = f"{provider['name']} ({provider['state']})"
    lines |= {key: provider.get(key) for key in ("reason", "remedy", "missing", "version", "source")}
    lines["settings"] = [f"{key}={value}" for key, value in provider["config"].items()]
    lines["variables"] = [*map(_variable_text, provider["env"])]
    status = provider.get("status")
    if isinstance(status, dict):
        lines |= {f"{provider['name']}: {key}": value for key, value in status.items()}
    lines["status_config_error"] = provider.get("status_config_error")
    return lines | {"leaves this machine": provider["leaves"]}


def _variable_text(row: Mapping[str, Any]) -> str:
    if row["set"]:
        return f"{row['name']} set"
    return " ".join(filter(None, (f"{row['name']} not set", "(required)" if row["required"] else "", row["url"])))


def list_rows(host: Host) -> list[dict[str, Any]]:
    """Every memory provider; nothing is imported to list them."""
    return [_list_row(host, name, row) for name, row in host.memory_plugins.items()]


def _list_row(host: Host, name: str, row: Plugin) -> dict[str, Any]:
    is_active = active_name(host).rpartition("/")[2] == name
    may_load = row.is_active or row.is_unchosen
    state = "failed" if row.state == "failed" else ("active" if is_active else "available") if may_load else row.state
    needs = missing_packages(row)
    reason, remedy = ("", "") if may_load else (row.reason, row.remedy)
    if needs and not reason:
        reason, remedy = "a package is missing", shlex.join(install_command(needs))
    return {
        "name": name,
        "state": state,
        "tier": row.tier,
        "version": row.version,
        "source": row.source,
        "description": row.description,
        "needs": needs,
        "reason": reason,
        "remedy": remedy if reason else "" if is_active else f"hermes memory setup {name}",
    }


def provider_details(host: Host, name: str) -> dict[str, Any]:
    """A provider, and what it asks for in its setup.

    Raises:
        MemoryProviderError: There is none of this name, or it cannot be made.
    """
    chosen = Chosen(host, name)
    fields = [] if chosen.has("post_setup") else _fields(chosen)
    shown = provider_status(host, name)
    shown["tools"] = [schema.get("name") for schema in _schemas(chosen)]
    return shown | {"settings": [_described(field) for field in fields], "own_setup": chosen.has("post_setup")}


def _schemas(chosen: Chosen) -> list[Any]:
    try:
        found = chosen.call("get_tool_schemas")
    except HermesError:
        return []
    return [schema for schema in found if isinstance(schema, dict)] if isinstance(found, list | tuple) else []


def _described(field: Field) -> dict[str, Any]:
    shown = {name: getattr(field, name) for name in ("key", "label", "kind", "env_var", "is_required", "url")}
    return shown | {"choices": [*field.choices], "default": None if field.default is NOTHING else field.default}
