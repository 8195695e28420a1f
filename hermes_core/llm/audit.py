"""The operator's record: one line a call in ``<home>/logs/agent.log``."""

from __future__ import annotations

import logging
import os
import re
import sys
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hermes_core.config.logfile import FORM, LogFile
from hermes_core.config.redact import one_line, redact
from hermes_core.config.scrub import scrub
from hermes_core.errors import describe

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from hermes_core.llm.flow import Attempt

log = logging.getLogger("agent.plugin_llm")
log.setLevel(logging.INFO)

MAX_BYTES = 5 * 2**20
BACKUPS = 3
_PLAIN = logging.Formatter(FORM)
_NEEDS_QUOTES = re.compile(r'[\s="]')
_LIMIT = 200


@dataclass(kw_only=True)
class AuditLine:
    """One call's line, filled in while the call goes on; its fields stand in this order."""

    event: str
    plugin: str
    provider: str = ""
    model: str = ""
    purpose: str = ""
    content_type: str = ""
    tokens: int = 0
    agent: str = "default"
    profile: str = ""
    input: int = 0
    output: int = 0
    cost: float | None = None
    status: str = "ok"
    attempts: list[Attempt] = field(default_factory=list)
    started: float = field(default_factory=time.monotonic)

    @property
    def milliseconds(self) -> int:
        """How long the call has taken."""
        return round((time.monotonic() - self.started) * 1000)

    def __str__(self) -> str:
        texts = [str(text) for text in (self.plugin, self.provider, self.model, self.purpose, self.agent, self.profile)]
        joined = "\n".join(texts)
        if redact(joined) != joined:  # asked once, as there hardly ever is a secret in one of them
            texts = [*map(redact, texts)]
        plugin, provider, model, purpose, agent, profile = map(_shown, texts)
        content_type = f" content_type={self.content_type}" if self.content_type else ""
        cost = "" if self.cost is None else f"{self.cost:.6f}"
        fallback = int(len({(attempt.provider, attempt.model) for attempt in self.attempts}) > 1)
        return (
            f"plugin_llm.{self.event} plugin={plugin} provider={provider} model={model} purpose={purpose}{content_type}"
            f" tokens={self.tokens} agent={agent} profile={profile} input={self.input} output={self.output}"
            f" cost={cost} ms={self.milliseconds} attempts={len(self.attempts)} fallback={fallback}"
            f" status={_shown(self.status)}"
        )


@contextmanager
def recorded(line: AuditLine, home: Path | None) -> Iterator[AuditLine]:
    """Write the line when the call is over, however it ends; an error goes on its way without secrets.

    Args:
        line: The call's line.
        home: The home whose log it stands in; None for a call of no home, which is told to listeners alone.
    """
    file, _ = (None, 0) if home is None else _attached.get(str(home)) or (HomeLog(home), 0)
    try:
        yield line
    except BaseException as error:
        line.status = f"error:{type(error).__name__}"
        scrub(error)
        raise
    finally:
        _write(str(line), file)


def _write(text: str, file: HomeLog | None) -> None:
    """Log it for whoever listens; the home's own log gets it whatever levels, filters and switches say.

    The call itself writes, in an event loop too: that takes about 10 µs, and handing it to a thread would take the loop
    20. So the line is there when the call returns, and a process that is killed loses none.
    """
    extra = {"hermes_home": file.home if file is not None else "", "hermes_redacted": True}
    record = log.makeRecord(log.name, logging.INFO, __file__, 0, text, (), None, extra=extra)
    if file is not None:
        file.handle(record)
    if log.isEnabledFor(logging.INFO):
        log.handle(record)
    if file is not None and _attached.get(file.home, (None, 0))[0] is not file:  # its host was closed
        file.close()


def _shown(text: str) -> str:
    """A value as it stands in the line: bounded, without control characters, quoted where it might be misread."""
    if not text.isprintable():
        text = one_line(text.encode("utf-8", "backslashreplace").decode("utf-8"))
    text = text[:_LIMIT]
    return '"' + text.replace('"', "'") + '"' if _NEEDS_QUOTES.search(text) else text


class HomeLog(LogFile):
    """The ``agent.log`` of one home; takes each record that is stamped with that home, once.

    A home that cannot be written is reported, and the calls go on.
    """

    def __init__(self, home: Path, *, max_bytes: int = MAX_BYTES, backups: int = BACKUPS) -> None:
        super().__init__(home / "logs" / "agent.log", max_bytes=max_bytes, backups=backups)
        self.home = str(home)

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether the record is this home's, and new."""
        return getattr(record, "hermes_home", None) == self.home and not hasattr(record, "hermes_written")

    def emit(self, record: logging.LogRecord) -> None:
        """Write it."""
        record.hermes_written = True
        super().emit(record)

    def format(self, record: logging.LogRecord) -> str:
        """Its line; one of ours holds no secret any more."""
        return _PLAIN.format(record) if hasattr(record, "hermes_redacted") else super().format(record)

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: ARG002, N802 - logging's own signature
        """Say so."""
        error = describe(sys.exception() or OSError())
        logging.getLogger(__name__).warning("cannot write the audit log path=%s error=%s", self.baseFilename, error)


_attached: dict[str, tuple[HomeLog, int]] = {}
_lock = threading.Lock()


def attach(home: Path, *, max_bytes: int = MAX_BYTES, backups: int = BACKUPS) -> None:
    """Have a home's calls written to its log; hosts of one home share the handler."""
    with _lock:
        handler, users = _attached.get(str(home), (None, 0))
        if handler is None:
            handler = HomeLog(home, max_bytes=max_bytes, backups=backups)
            log.addHandler(handler)
        _attached[str(home)] = handler, users + 1


def detach(home: Path) -> None:
    """Undo one ``attach``; the last one closes the file."""
    with _lock:
        handler, users = _attached.pop(str(home))
        if users > 1:
            _attached[str(home)] = handler, users - 1
        else:
            log.removeHandler(handler)
            handler.close()


def _renew_lock() -> None:
    """In a forked child, the thread that held the lock is not there to release it."""
    global _lock  # noqa: PLW0603 - one a process
    _lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_lock)
