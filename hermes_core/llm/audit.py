"""The operator's record: one line a call in ``<home>/logs/agent.log``."""

from __future__ import annotations

import logging
import os
import re
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hermes_core.config.environment import stamp
from hermes_core.config.redact import RedactingFormatter, redact

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hermes_core.llm.flow import Attempt

log = logging.getLogger("agent.plugin_llm")
log.setLevel(logging.INFO)

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
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
        fields: dict[str, Any] = {
            "plugin": self.plugin,
            "provider": self.provider,
            "model": self.model,
            "purpose": self.purpose,
            **({"content_type": self.content_type} if self.content_type else {}),
            "tokens": self.tokens,
            "agent": self.agent,
            "profile": self.profile,
            "input": self.input,
            "output": self.output,
            "cost": "" if self.cost is None else f"{self.cost:.6f}",
            "ms": self.milliseconds,
            "attempts": len(self.attempts),
            "fallback": int(len({(attempt.provider, attempt.model) for attempt in self.attempts}) > 1),
            "status": self.status,
        }
        return " ".join((f"plugin_llm.{self.event}", *(f"{key}={_shown(value)}" for key, value in fields.items())))


@contextmanager
def recorded(line: AuditLine, home: Path) -> Iterator[AuditLine]:
    """Write the line when the call is over, however it ends."""
    try:
        yield line
    except BaseException as error:
        line.status = f"error:{type(error).__name__}"
        line.tokens = 0 if not hasattr(error, "result") else line.tokens
        raise
    finally:
        log.info("%s", str(line), extra={"hermes_home": str(home)})


def _shown(value: object) -> str:
    if isinstance(value, int):
        return str(value)
    text = redact(str(value)).encode("utf-8", "backslashreplace").decode("utf-8")
    text = _CONTROL.sub(" ", text)[:_LIMIT]
    return '"' + text.replace('"', "'") + '"' if _NEEDS_QUOTES.search(text) else text


class HomeLog(RotatingFileHandler):
    """The ``agent.log`` of one home; takes only records stamped with that home.

    A home that cannot be written is reported once, and the calls go on.
    """

    def __init__(self, home: Path, *, max_bytes: int, backups: int) -> None:
        super().__init__(
            home / "logs" / "agent.log",
            maxBytes=max_bytes,
            backupCount=backups,
            encoding="utf-8",
            errors="backslashreplace",
            delay=True,
        )
        self.home = str(home)
        self.setFormatter(RedactingFormatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
        self._reported = False

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether the record is this home's."""
        return getattr(record, "hermes_home", None) == self.home

    def emit(self, record: logging.LogRecord) -> None:
        """Write it, to a new file when somebody has moved the old one away."""
        if self.stream is not None and not self._is_in_place():
            self.stream.close()
            self.stream = None
        super().emit(record)

    def _is_in_place(self) -> bool:
        now = stamp(self.baseFilename)
        return now is not None and self.stream is not None and now[0] == os.fstat(self.stream.fileno()).st_ino

    def _open(self) -> Any:
        Path(self.baseFilename).parent.mkdir(parents=True, exist_ok=True)
        return super()._open()

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: ARG002, N802 - logging's own signature
        """Say so, once."""
        if self._reported:
            return
        self._reported = True
        logging.getLogger(__name__).warning("cannot write the audit log path=%s", self.baseFilename)


_attached: dict[str, tuple[HomeLog, int]] = {}
_lock = threading.Lock()


_left_alone: list[object] = []


def _begin_anew() -> None:
    """In a forked child, leave the parent's stream alone: another thread may have held its lock."""
    for handler, _ in _attached.values():
        _left_alone.append(handler.stream)  # not even closed: closing it would wait for that lock
        handler.stream = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_anew)


def attach(home: Path, *, max_bytes: int = 5 * 2**20, backups: int = 3) -> None:
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
