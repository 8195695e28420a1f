"""What the model calls of a home used: one SQLite file, written off the calls' own path."""

from __future__ import annotations

import atexit
import logging
import os
import threading
import time
from collections import deque
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakSet

from hermes_core.config.database import open_database
from hermes_core.config.redact import redact
from hermes_core.config.truth import is_number
from hermes_core.errors import BudgetExceededError, HermesError

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator, Mapping
    from pathlib import Path

log = logging.getLogger(__name__)

FILE = "usage.db"
LINGER_SECONDS = 0.2
"""How long a finished call may wait for others to be written along with it."""
MOST_WAITING = 100_000
"""Calls kept for a file that cannot be written; beyond that the oldest are given up."""
BUSY_SECONDS = 10.0
"""How long to wait for another process that holds the file."""
LEAVING_SECONDS = 1.0
"""The same, when the program ends."""
FORK_SECONDS = 2.0
"""How long a fork waits for what is being written."""

KEPT_SECONDS = 400 * 86400
"""How long a call is remembered: a year, and a month to look back from."""

LIMITS = {
    "max_calls_per_hour": ("count(*)", 3600),
    "max_tokens_per_day": ("coalesce(sum(total_tokens), 0)", 86400),
    "max_cost_usd_per_day": ("coalesce(sum(cost_usd), 0)", 86400),
}
"""Key of a plugin's ``llm`` section → what is counted, and over how many seconds until now."""


class Usage(NamedTuple):
    """One call that is over; the fields are the columns of the table.

    Attributes:
        at: When it ended, in seconds since 1970.
        ms: How long it took, in milliseconds.
        attempts: Requests that were sent.
        status: ``ok``, or ``error:`` and the error's class; ``open`` for a call with a budget that is not over,
            or never ended because its process did.
        cost_usd: In US dollars; None when unknown.
    """

    at: float
    plugin: str
    method: str
    provider: str = ""
    model: str = ""
    status: str = "ok"
    attempts: int = 0
    ms: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    total_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    cost_usd: float | None = None

    @property
    def columns(self) -> tuple[Any, ...]:
        """As SQLite can hold them: a server may send half a surrogate, a number without end, or a key as a name."""
        return tuple(map(_storable, self))


def _storable(value: Any) -> Any:
    if isinstance(value, str):
        return redact(value.encode("utf-8", "backslashreplace").decode("utf-8"))
    return min(value, 2**63 - 1) if isinstance(value, int) else value


_UNUSABLE = "make the file writable, or move it away"
_BUSY = (5, 6)
"""SQLite's codes for a database, or a table of it, that another holds."""

_COLUMNS = ", ".join(Usage._fields)
_SCHEMA = f"""
create table if not exists usage (id integer primary key, {_COLUMNS});
create index if not exists usage_of_plugin on usage (plugin, at);
"""
_INSERT = f"insert into usage ({_COLUMNS}) values ({', '.join('?' * len(Usage._fields))})"  # noqa: S608 - our own names
_UPDATE = f"update usage set {', '.join(f'{name} = ?' for name in Usage._fields)} where id = ?"  # noqa: S608 - as above


class UsageLedger:
    """The ledger of one home. Several processes may write to it at once.

    Example:
        >>> import tempfile, pathlib
        >>> home = pathlib.Path(tempfile.mkdtemp())
        >>> ledger = UsageLedger(home)
        >>> ledger.record(Usage(at=time.time(), plugin="p", method="complete", total_tokens=6))
        >>> ledger.close()
        >>> read_usage_of(home, "plugin")[0]["total_tokens"]
        6
    """

    def __init__(self, home: Path) -> None:
        self._path = home / FILE
        self._lock = threading.RLock()
        self._begin()
        _ledgers.add(self)

    def _begin(self) -> None:
        self._waiting: deque[tuple[Usage, int]] = deque(maxlen=MOST_WAITING)
        self._wake = threading.Event()
        self._writer: threading.Thread | None = None
        self._connection: sqlite3.Connection | None = None
        self._complained = False

    def admit(self, plugin: str, budget: Mapping[str, float], seconds: float = BUSY_SECONDS) -> int:
        """Count a call in before it is made, if the plugin's budget leaves room for it. Blocks.

        Args:
            plugin: Its id.
            budget: Keys of ``LIMITS`` → the most there may be.
            seconds: How long to wait for others that hold the file.

        Returns:
            What ``record`` is to be given when the call is over.

        Raises:
            BudgetExceededError: There is no room, or it cannot be told.
        """
        row = Usage(time.time(), plugin, "", status="open")
        until = time.monotonic() + min(seconds, BUSY_SECONDS)
        try:
            with self._held(until):
                self._write_waiting(until)
                connection = self._open(until)
                with connection:
                    connection.execute("begin immediate")
                    for key, most in budget.items():
                        _demand_room(connection, plugin, key, most)
                    return int(connection.execute(_INSERT, row.columns).lastrowid or 0)
        except _failures() as error:
            message = f"plugin {plugin!r} has a budget, and {self._path} cannot be used: {error}"
            is_busy = isinstance(error, TimeoutError) or getattr(error, "sqlite_errorcode", 0) & 0xFF in _BUSY
            hint = "another process holds it: try again, or end that" if is_busy else _UNUSABLE
            raise BudgetExceededError(message, plugin=plugin, hint=hint) from error

    def record(self, usage: Usage, admitted: int = 0) -> None:
        """Keep a finished call; it is written in a moment, by a thread of its own."""
        self._waiting.append((usage, admitted))
        if self._writer is None:
            with self._lock:
                if self._writer is None:
                    self._writer = threading.Thread(target=self._run, name="hermes-usage", daemon=True)
                    self._writer.start()
        if not self._wake.is_set():
            self._wake.set()

    def flush(self, seconds: float = BUSY_SECONDS) -> None:
        """Write what has been recorded so far, if others let go of the file within ``seconds``."""
        if not self._waiting:
            return
        until = time.monotonic() + seconds
        try:
            with self._held(until):
                self._write_waiting(until)
        except _failures() as error:
            if not self._complained and os.access(self._path.parent, os.W_OK):  # else the audit log says it
                self._complained = True
                log.warning("cannot write the usage ledger path=%s error=%s", self._path, error)

    def close(self) -> None:
        """Write what is left, and let the file go; a later ``record`` opens it anew."""
        with self._lock:
            self._writer = None
            self._wake.set()
            self.flush()
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _run(self) -> None:
        while self._writer is threading.current_thread():
            self._wake.wait()
            self._wake.clear()
            time.sleep(LINGER_SECONDS)
            self.flush()

    @contextmanager
    def _held(self, until: float) -> Iterator[None]:
        """Hold the lock of the ledger's threads.

        Raises:
            TimeoutError: Another one holds it until ``until``, by ``time.monotonic``.
        """
        if not self._lock.acquire(timeout=max(until - time.monotonic(), 0)):
            message = "another thread is waiting for it"
            raise TimeoutError(message)
        try:
            yield
        finally:
            self._lock.release()

    def _write_waiting(self, until: float) -> None:
        waiting = [self._waiting.popleft() for _ in range(len(self._waiting))]
        if not waiting:
            return
        try:
            with self._open(until) as connection:
                connection.executemany(_INSERT, [usage.columns for usage, admitted in waiting if not admitted])
                connection.executemany(_UPDATE, [(*usage.columns, admitted) for usage, admitted in waiting if admitted])
        except BaseException:  # whatever it was, they are tried again with the next ones
            self._waiting.extendleft(reversed(waiting))
            raise

    def _open(self, until: float) -> sqlite3.Connection:
        """The connection, which waits for others until then, by ``time.monotonic``."""
        if self._connection is None:
            connection = open_database(self._path, seconds=_left(until))
            try:
                connection.executescript(_SCHEMA)
                with connection:
                    connection.execute("delete from usage where at < ?", (time.time() - KEPT_SECONDS,))
            except BaseException:
                connection.close()
                raise
            self._connection = connection
        self._connection.execute(f"pragma busy_timeout = {_left(until) * 1000:.0f}")
        return self._connection


def _failures() -> tuple[type[Exception], ...]:
    """What using the file may raise. SQLite is first imported by who holds the lock: a fork waits for that too."""
    import sqlite3

    return sqlite3.Error, OSError


def _left(until: float) -> float:
    """Seconds until then, none when it is over."""
    return max(until - time.monotonic(), 0.0)


def _demand_room(connection: sqlite3.Connection, plugin: str, key: str, most: float) -> None:
    counted, seconds = LIMITS[key]
    query = f"select {counted} from usage where plugin = ? and at > ?"  # noqa: S608 - a column of ours
    used = connection.execute(query, (_storable(plugin), time.time() - seconds)).fetchone()[0]
    if used >= most:
        config_key = f"plugins.entries.{plugin}.llm.{key}"
        message = f"plugin {plugin!r} has used {used:g} of {most:g}: {config_key}"
        raise BudgetExceededError(message, plugin=plugin, hint=f"wait, or raise {config_key} in config.yaml")


def read_budget(plugin: str, settings: Mapping[str, Any]) -> dict[str, float]:
    """The limits in a plugin's ``llm`` section; one that is no number leaves no room at all.

    Example:
        >>> read_budget("p", {"max_calls_per_hour": 60, "allow_model_override": True})
        {'max_calls_per_hour': 60}
    """
    budget: dict[str, float] = {}
    for key in LIMITS:
        value = settings.get(key)
        if value is None:
            continue
        budget[key] = value if is_number(value) and value >= 0 else 0
        if budget[key] != value:
            place = f"plugins.entries.{plugin}.llm.{key}"
            log.warning("limit is no number, nothing is left of it key=%s got=%s", place, type(value).__name__)
    return budget


GROUPS = {
    "plugin": "plugin",
    "provider": "provider",
    "model": "model",
    "day": "strftime('%Y-%m-%d', at, 'unixepoch', 'localtime')",
}
"""What calls may be summed up by → how SQLite tells it."""


def read_usage_of(home: Path, by: str, since: float = 0.0) -> list[dict[str, Any]]:
    """Sums over the calls of a home, the most tokens first; days in order.

    Args:
        home: The home.
        by: A key of ``GROUPS``.
        since: Leave out calls that ended before, in seconds since 1970.

    Returns:
        Rows with the group's name, ``calls`` (open ones too), ``failed``, ``input_tokens``, ``output_tokens``,
        ``total_tokens``, ``cost_usd`` (None when unknown for every call) and ``unpriced`` (calls with
        tokens whose cost is not known).

    Raises:
        HermesError: The file is there, and cannot be read.
    """
    import sqlite3

    path = (home / FILE).absolute()
    query = f"""
        select {GROUPS[by]} as {by}, count(*) as calls, sum(status not in ('ok', 'open')) as failed,
            sum(input_tokens) as input_tokens, sum(output_tokens) as output_tokens, sum(total_tokens) as total_tokens,
            sum(cost_usd) as cost_usd, sum(cost_usd is null and total_tokens > 0) as unpriced
        from usage where at >= ? group by 1 order by {"1" if by == "day" else "total_tokens desc, 1"}
    """  # noqa: S608 - our own names
    try:
        if not path.exists():
            return []
        with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True, timeout=BUSY_SECONDS)) as connection:
            connection.row_factory = sqlite3.Row
            if connection.execute("select 1 from sqlite_master where name = 'usage'").fetchone() is None:
                return []  # it is only just being made
            return [dict(row) for row in connection.execute(query, (since,))]
    except (sqlite3.Error, OSError) as error:
        message = f"cannot read {path}: {error}"
        raise HermesError(message, hint="move the file away to begin a new one") from error


_ledgers: WeakSet[UsageLedger] = WeakSet()


def _begin_anew() -> None:
    """In a forked child: what waits is the parent's to write, and so is the connection."""
    _held_still.clear()
    for ledger in _ledgers:
        _left_alone.append(ledger._connection)  # noqa: SLF001 - not even closed: that would end the parent's locks
        ledger._lock = threading.RLock()  # noqa: SLF001 - another thread may have held it
        ledger._begin()  # noqa: SLF001


_left_alone: list[object] = []


@atexit.register
def _write_all() -> None:
    """At the end of the program: write what a host that nobody closed has recorded in its last moment."""
    for ledger in [*_ledgers]:
        ledger.flush(LEAVING_SECONDS)


def _hold_still() -> None:
    """Before a fork: wait until nothing is being written, for a child would take a lock over that nobody frees."""
    _held_still.extend(ledger for ledger in [*_ledgers] if ledger._lock.acquire(timeout=FORK_SECONDS))  # noqa: SLF001


def _go_on() -> None:
    """In the process that has forked."""
    while _held_still:
        _held_still.pop()._lock.release()  # noqa: SLF001


_held_still: list[UsageLedger] = []

if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_hold_still, after_in_parent=_go_on, after_in_child=_begin_anew)
