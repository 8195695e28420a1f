"""Slash commands: who keeps a name, and how a handler is run to its end."""

from __future__ import annotations

import logging
from collections.abc import Awaitable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hermes_core.config.redact import redact
from hermes_core.config.truth import is_number
from hermes_core.errors import CommandError, CommandTimeoutError, HermesError, describe
from hermes_core.plugins.current import running
from hermes_core.plugins.debug import warn_once
from hermes_core.types.contributions import command_refusal

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop
    from collections.abc import Iterable

    from hermes_core.config.settings import Config
    from hermes_core.plugins.context import PluginContext
    from hermes_core.plugins.order import Implementation
    from hermes_core.plugins.plugin import Plugin
    from hermes_core.types.contributions import Command

log = logging.getLogger(__name__)

DEFAULT_SECONDS = 30.0
"""How long an async handler may take when ``plugins.command_timeout`` does not say."""

GRACE_SECONDS = 1.0
"""How long what an async handler has left running may take to end when it is cancelled."""


def winners(offers: Iterable[tuple[Implementation, Command]]) -> dict[str, Command]:
    """The command of each name, sorted by name.

    A higher tier replaces a lower one's command. Within a tier the first keeps the name; the other one
    is warned of once, as is a command whose name is the host's own.
    """
    found: dict[str, tuple[Plugin, Command]] = {}
    for impl, command in sorted(offers, key=lambda offer: _rank(offer[0])):
        plugin, name = impl.plugin, command.name
        owner = found[name][0] if name in found else None
        reason = command_refusal(name)
        if owner is not None and owner.tier == plugin.tier:
            reason = f"plugin {owner.key} ({owner.source}) has it already"
        if reason:
            where = plugin.key, plugin.source
            warn_once("command ignored command=/%s plugin=%s source=%s reason=%s", name, *where, reason)
        elif owner is None:
            found[name] = plugin, replace(command, plugin=plugin.key)
    return {name: command for name, (_, command) in sorted(found.items())}


def time_limit(config: Config) -> float | None:
    """``plugins.command_timeout`` in seconds; None, no limit, when it is 0 or less."""
    value = config.get("plugins", "command_timeout", default=DEFAULT_SECONDS)
    if not is_number(value):
        warn_once("config.yaml: plugins.command_timeout must be a number of seconds, got %s", type(value).__name__)
        value = DEFAULT_SECONDS
    return float(value) if value > 0 else None


def run(command: Command, raw_args: str, context: PluginContext, seconds: float | None) -> str:
    """Run a command's handler to its end and return what it answers, as text; ``""`` for None.

    Args:
        command: What to run.
        raw_args: The rest of the line.
        context: Of the plugin that offers it.
        seconds: How long an async handler may take; None for any time. A handler that blocks is not cut off.

    Raises:
        CommandTimeoutError: An async handler took longer.
        CommandError: The handler raised, or tried to end the process. A ``HermesError`` and
            ``KeyboardInterrupt`` go through as they are.
    """
    shown = f"/{command.name} (plugin {command.plugin!r})"
    source = context.manifest.source
    try:
        with running(context):
            answer: Any = command.handler(raw_args.strip())
            if isinstance(answer, Awaitable):
                answer = _awaited(answer, seconds, shown)
            return "" if answer is None else str(answer)
    except KeyboardInterrupt:
        raise
    except _TooLongError:
        message = f"{shown} took longer than {seconds:g} s and was cut off"
        hint = "raise plugins.command_timeout in config.yaml, in seconds; 0 for no limit"
        raise CommandTimeoutError(message, plugin=command.plugin, source=source, hint=hint) from None
    except BaseException as error:
        log.debug("command failed command=/%s plugin=%s", command.name, command.plugin, exc_info=error)
        if isinstance(error, HermesError):
            raise
        message = f"{shown} failed: {' '.join(redact(describe(error)).split())}"
        hint = "HERMES_PLUGINS_DEBUG=1 shows where"
        raise CommandError(message, plugin=command.plugin, source=source, hint=hint) from error


class _TooLongError(Exception):
    pass


def _awaited(awaitable: Awaitable[Any], seconds: float | None, shown: str) -> Any:
    """The result of an awaitable, in an event loop of its own, which leaves nothing running.

    ``asyncio.run`` would wait without end for a task that does not heed being cancelled.
    """
    import asyncio

    def report(_loop: AbstractEventLoop, problem: dict[str, Any]) -> None:
        error = problem.get("exception")
        if error is not None:
            log.warning("%s left a task behind that failed: %s", shown, redact(describe(error)))
        log.debug("%s: %s", shown, problem.get("message"), exc_info=error)

    async def wait() -> Any:
        return await awaitable

    loop = asyncio.new_event_loop()
    loop.set_exception_handler(report)
    try:
        task = loop.create_task(wait())
        task.add_done_callback(lambda done: done.cancelled() or done.exception())  # what it raised is told here, once
        loop.run_until_complete(asyncio.wait([task], timeout=seconds))
        if not task.done():
            raise _TooLongError
        return task.result()
    finally:
        _close(loop)


def _close(loop: AbstractEventLoop) -> None:
    import asyncio

    left = asyncio.all_tasks(loop)
    for task in left:
        task.cancel()
    left.add(loop.create_task(loop.shutdown_asyncgens()))
    loop.run_until_complete(asyncio.wait(left, timeout=GRACE_SECONDS))
    loop.close()


def _rank(impl: Implementation) -> tuple[int, int, int]:
    """Its place in call order, but for plugins of one tier: there the one found first goes first."""
    band, tier, order = impl.position
    return band, tier, abs(order)
