"""What may be wrong with an installation and its home: one function for each kind, each giving findings."""

from __future__ import annotations

import os
import re
import sys
from collections import deque
from typing import TYPE_CHECKING, NamedTuple

from hermes_core.cli.choice import obstacle
from hermes_core.config.check import check_home
from hermes_core.config.redact import one_line, redact
from hermes_core.config.tasks import fallback_chain
from hermes_core.errors import HermesError, describe, near
from hermes_core.llm.model_lists import ModelLists
from hermes_core.llm.plan import Planner
from hermes_core.llm.trust import Overrides
from hermes_core.plugins.activation import missing_env
from hermes_core.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from hermes_core.host import Host

OK, NOTE, WARNING, ERROR = "ok", "note", "warning", "error"
DISTRIBUTION = "hermes-plugin-host"
SECRET_FILES = (".env", "auth.json", "config.yaml", "config.yaml.broken", "auth.json.corrupt")
ANSWER_SECONDS = 4.0
LOG_LINES, LOG_BYTES = 5, 64 * 1024


class Finding(NamedTuple):
    """One thing that was looked at.

    ``level`` is ``ok``, ``note``, ``warning`` (something works less well than it could) or ``error`` (something
    does not work); ``remedy`` is a command or an edit, and ``""`` for what is well.
    """

    level: str
    area: str
    message: str
    remedy: str = ""


def examine(host: Host, *, offline: bool = False) -> list[Finding]:
    """Everything, in order; a check that breaks is a finding itself.

    Args:
        host: The host of the home.
        offline: Whether no provider may be asked.
    """
    checks: dict[str, Callable[[Host], Iterator[Finding]]] = {
        "version": _versions,
        "extra": _extras,
        "home": _home,
        "secret file": _secret_files,
        "config": _config,
        "plugin": _plugins,
        "memory": _memory,
        "model": _model,
        "provider": _without_network if offline else _providers,
        "log": _log,
    }
    found: list[Finding] = []
    for area, check in checks.items():
        try:
            found += check(host)
        except Exception as error:  # noqa: BLE001 - one broken check hides none of the others
            is_closed = isinstance(error, PermissionError)
            remedy = "look at its permissions, and at those of the folders it is in" if is_closed else "report it"
            found.append(Finding(ERROR, area, f"this could not be looked at: {describe(error)}", remedy))
    return [finding._replace(message=one_line(redact(finding.message))) for finding in found]


def _versions(_host: Host) -> Iterator[Finding]:
    from importlib.metadata import PackageNotFoundError, version

    from packaging.requirements import Requirement

    python = ".".join(map(str, sys.version_info[:3]))
    yield Finding(OK, "version", f"hermes {__version__}, Python {python}, {sys.platform}")
    for written in _requirements():
        wanted = Requirement(written)
        if wanted.marker is not None and not wanted.marker.evaluate({"extra": ""}):
            continue
        try:
            found = version(wanted.name)
        except PackageNotFoundError:
            found = ""
        if not found or not wanted.specifier.contains(found, prereleases=True):
            what = f"{wanted.name} {found} is too old" if found else f"{wanted.name} is missing"
            yield Finding(ERROR, "version", f"{what}: {written} is needed", f"pip install '{written}'")


def _requirements() -> list[str]:
    from importlib.metadata import PackageNotFoundError, requires

    try:
        return requires(DISTRIBUTION) or []
    except PackageNotFoundError:
        return []


def _extras(_host: Host) -> Iterator[Finding]:
    from importlib.metadata import PackageNotFoundError, version

    from packaging.requirements import Requirement

    extras: dict[str, list[str]] = {}
    for written in _requirements():
        wanted = Requirement(written)
        for name in re.findall(r"extra == ['\"]([\w-]+)['\"]", str(wanted.marker or "")):
            try:
                version(wanted.name)
            except PackageNotFoundError:
                extras.setdefault(name, []).append(wanted.name)
            else:
                extras.setdefault(name, [])
    extras.pop("dev", None)
    there = [name for name, missing in extras.items() if not missing]
    if there:
        yield Finding(OK, "extra", f"installed: {', '.join(sorted(there))}")
    for name, missing in sorted(extras.items()):
        if missing:
            yield Finding(
                NOTE, "extra", f"{name} is not installed", f"pip install '{DISTRIBUTION}[{name}]', if you want it"
            )


def _home(host: Host) -> Iterator[Finding]:
    home = host.home
    if not home.exists():
        yield Finding(NOTE, "home", f"{home} is not there yet", "run `hermes setup`")
    elif not home.is_dir():
        yield Finding(ERROR, "home", f"{home} is no folder", "move it, or set HERMES_HOME to a folder")
    elif not os.access(home, os.W_OK | os.X_OK):
        yield Finding(ERROR, "home", f"{home} cannot be written", f"chmod u+rwx {home}, or own it")
    elif os.name == "posix" and home.stat().st_mode & 0o002:
        yield Finding(ERROR, "home", f"{home} may be written by everybody, plugins included", f"chmod o-w {home}")
    else:
        yield Finding(OK, "home", str(home))
    if host.managed_config is not None:
        yield Finding(NOTE, "home", f"an administrator's file counts too: {host.managed_config}")


def _secret_files(host: Host) -> Iterator[Finding]:
    checked = 0
    for path in (host.home / name for name in SECRET_FILES):
        if path.name.startswith("config.yaml") or not path.exists():  # config.yaml is looked at for what it holds
            continue
        checked += 1
        if not os.access(path, os.R_OK):
            yield Finding(ERROR, "secret file", f"{path} cannot be read", f"chmod u+rw {path}, or own it")
        elif os.name == "posix" and path.stat().st_mode & 0o077:
            checked -= 1
            yield Finding(WARNING, "secret file", f"others may read {path}", f"chmod 600 {path}")
    if checked:
        yield Finding(OK, "secret file", f"{checked} readable by you alone")
    problem = host.credentials.store.error
    if problem is not None:
        yield Finding(ERROR, "secret file", str(problem), problem.hint)


def _config(host: Host) -> Iterator[Finding]:
    offered = {name for name in host.providers.names() if host.providers.tiers(name) - {"config"}}
    problems = check_home(host.home, host.environment, offered, {*host.providers.words()})
    for problem in problems:
        if problem.code == "open-to-others" and problem.file.endswith(".env"):
            continue  # told as a secret file
        place = problem.file if problem.line is None else f"{problem.file}:{problem.line}"
        yield Finding(problem.level, "config", f"{place}: {f'{problem.key} {problem.message}'.strip()}", problem.remedy)
    if not problems:
        yield Finding(OK, "config", f"{host.home / 'config.yaml'}: nothing is wrong")


def _plugins(host: Host) -> Iterator[Finding]:
    _ = host.commands, host.cli_commands  # so that what cannot be loaded shows
    states: dict[str, int] = {}
    for row in host.plugins:
        states[row.state] = states.get(row.state, 0) + 1
        if row.state == "failed":
            yield Finding(ERROR, "plugin", f"{row.key} failed: {row.reason} ({row.source})", row.remedy)
        missing = missing_env(row.manifest, host.environment) if row.is_active else []
        if missing and row.kind != "model-provider":
            names = ", ".join(missing)
            yield Finding(WARNING, "plugin", f"{row.key} wants {names}, not set", f"set {names} in .env")
    counted = ", ".join(f"{count} {state}" for state, count in sorted(states.items()))
    yield Finding(OK, "plugin", f"{len(host.plugins)} found: {counted}")


def _memory(host: Host) -> Iterator[Finding]:
    from hermes_core.cli.memory.doctor import examine as examine_memory

    told = str(host.config().error)  # as what is wrong with the configuration
    found = [finding for finding in examine_memory(host) if finding.message != told]
    for finding in found:
        yield Finding(finding.level, "memory", f"{finding.place}: {finding.message}", finding.remedy)
    if not found:
        provider = host.config().text("memory", "provider") or "no provider beside MEMORY.md and USER.md"
        yield Finding(OK, "memory", f"nothing is wrong; {provider}")


def _model(host: Host) -> Iterator[Finding]:
    planner, config = Planner.of(host), host.config()
    try:
        route = planner.route(config, Overrides())
    except HermesError as error:
        yield Finding(ERROR, "model", str(error), error.hint)
    else:
        problem = obstacle(host, route.profile)
        chosen = config.text("model", "provider") or config.text("model", "base_url")
        how = "" if chosen else ", as nothing is configured"
        key = f", with {route.credential.source}" if route.credential.value else ""
        went = f"calls go to {route.provider} / {route.model}{key}{how}"
        if problem is None:
            yield Finding(OK, "model", went)
        else:
            yield Finding(ERROR, "model", f"{went}, but {problem}", problem.hint)
        for entry, standing in route.pool.standings(route.pool.entries()) if route.pool is not None else ():
            if standing.word in ("resting", "dead", "expired", "unusable", "missing"):
                remedy = f"run `hermes auth list {route.provider}`"
                yield Finding(
                    WARNING, "model", f"the credential {entry.label or entry.source} is {standing.word}", remedy
                )
    rows = {(row.provider.lower(), row.model, row.base_url) for row in fallback_chain(config)}
    usable = planner.fallbacks(config, None)
    if len(usable) < len(rows):
        message = f"{len(rows) - len(usable)} of {len(rows)} fallbacks cannot be asked"
        yield Finding(
            WARNING, "model", message, "run `hermes config check`, and `hermes auth status PROVIDER` for each"
        )


def _without_network(_host: Host) -> Iterator[Finding]:
    yield Finding(NOTE, "provider", "nobody was asked", "leave out --offline to ask the providers")


def _providers(host: Host) -> Iterator[Finding]:
    lists, config, active = ModelLists(host, seconds=ANSWER_SECONDS), host.config(), _active(host)
    main = host.providers.resolve(active) or active
    told = {finding.message for finding in _model(host)}
    for found in lists.collect(lists.answering(), refresh=True):
        is_main = found.provider == main
        if found.source == "live":
            yield Finding(OK, "provider", f"{found.provider} answers, with {len(found.models)} models")
            model = config.text("model", "default")
            if is_main and model and model.lower() not in {name.lower() for name in found.models}:
                message = f"{found.provider} does not list the model {model!r}{near(model, found.models)}"
                yield Finding(WARNING, "provider", message, f"run `hermes models {found.provider}`")
        elif found.reason in told:
            continue  # nobody was asked, for the reason why no call would go there
        elif found.reason:
            level = ERROR if is_main else WARNING
            remedy = f"check the key (`hermes auth status {found.provider}`), the address and the network"
            yield Finding(level, "provider", f"{found.provider}: {found.reason}", remedy)
        else:
            yield Finding(OK, "provider", f"{found.provider} gives no list, so it was not asked")


def _active(host: Host) -> str:
    try:
        return Planner.of(host).active(host.config())
    except HermesError:
        return ""


def _log(host: Host) -> Iterator[Finding]:
    path = host.home / "logs" / "errors.log"
    lines = last_lines(path)
    if lines:
        yield Finding(NOTE, "log", f"{path} ends with: {lines[-1]}", f"read it: tail {path}")
    else:
        yield Finding(OK, "log", "no warning was logged")


def last_lines(path: Path) -> list[str]:
    """The last ``LOG_LINES`` of a log, without any secret; none when it cannot be read."""
    try:
        with path.open("rb") as file:
            file.seek(max(path.stat().st_size - LOG_BYTES, 0))
            text = file.read(LOG_BYTES).decode(errors="replace")
    except OSError:
        return []
    return [one_line(redact(line)) for line in deque(filter(str.strip, text.splitlines()), maxlen=LOG_LINES)]
