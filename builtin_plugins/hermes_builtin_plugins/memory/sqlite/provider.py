"""The memory provider ``sqlite``: everything that was said, in one file of this machine."""

from __future__ import annotations

import logging
import os
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hermes_core import HermesError, MemoryProvider, RecallStatus, redact

from . import tools
from .answer import put_together
from .facts import ROLE, add_fact, find_facts, forget
from .moment import read_time, show_day
from .places import Places
from .ranking import rank
from .store import Memory, Message, Store, Turn, add_turns, ids_of
from .text import query_words, split_head, split_pieces, storable
from .transfer import ENTRY_SEPARATOR, Importer, as_record, export, read_records
from .vectors import Vectors
from .writer import LEAVING_SECONDS, Writer

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterable, Iterator, Sequence

log = logging.getLogger(__name__)

FILE = "memory.db"
TOKENS = 1000
CANDIDATES = 200
"""Hits by words, and by meaning, that are looked at."""
LARGE = 10_000
"""Memories from which on more hits are looked at."""
PARALLEL = 50_000
"""Memories from which on words and meaning are searched at once."""
_FEWEST, _SHORTEST = 20, 10
"""A recall puts in order so many memories, and one more for each so many tokens of room."""
_UNFINISHED_SECONDS = 0.2
"""How long a question waits for the turn before it to be written."""
_OTHER_CONTEXTS = ("subagent", "cron", "flush")
"""Agents whose turns are no conversation with the user."""
_IMPORTED_AT_ONCE = 500


class SqliteMemory(MemoryProvider):
    """Keeps every turn in ``<home>/memories/memory.db``, and recalls what fits a question.

    What one user of one agent said is never recalled for another (``user_id``, ``agent_identity``).

    Args:
        setting: Gives the value of a setting by its name, None for none.

    Attributes:
        prefetch_tokens: The most a recalled text may take of a request.
    """

    name = "sqlite"
    pre_compress_checkpoint_api_version = 2

    def __init__(self, setting: Callable[[str], Any] | None = None) -> None:
        ask = setting or (lambda _: None)
        self.prefetch_tokens = _tokens(ask("prefetch_tokens"))
        self._is_semantic = _switch(ask("semantic"))
        self._store: Store | None = None
        self._writer = Writer(self._write_turns)
        self._count = 0

    def is_available(self) -> bool:
        return not self.unavailable_reason()

    def unavailable_reason(self) -> str:
        import sqlite3

        connection = sqlite3.connect(":memory:")
        try:
            connection.execute("create virtual table word using fts5 (text)")
        except sqlite3.Error as error:
            return f"this Python's SQLite has no full-text search ({error})"
        finally:
            connection.close()
        return ""

    def initialize(self, session_id: str, **kwargs: Any) -> None:
        """Open the file of the home, or make it.

        Raises:
            HermesError: It cannot be used; names it.
        """
        self.initialize_for_inspection(session_id, **kwargs)
        self._vectors.start()

    def initialize_for_inspection(self, session_id: str, **kwargs: Any) -> None:
        store = Store(Path(kwargs["hermes_home"]) / "memories" / FILE)
        self._session = session_id
        self._user_name = storable(kwargs.get("user_name") or "")
        self._keeps_turns = kwargs.get("agent_context") not in _OTHER_CONTEXTS
        owner = (storable(kwargs.get(key) or "") for key in ("user_id", "agent_identity"))
        self._scope = store.scope(*owner)
        self._store = store
        self._begin_search()

    def system_prompt_block(self) -> str:
        return (
            "Earlier conversations are remembered: what fits the message is recalled with it. "
            "memory_search finds more; memory_add keeps a fact, memory_update and memory_forget correct one."
        )

    def prefetch(self, query: str, *, session_id: str = "") -> str:
        self._finish_writing()
        words = query_words(query)
        order = self._find(query, words, _FEWEST + self.prefetch_tokens // _SHORTEST)
        text, self._count = put_together(order, self._opened.get, words, self.prefetch_tokens)
        return text

    def recall_status(self) -> RecallStatus | None:
        return RecallStatus("Memory", self._count) if self._count else None

    def sync_turn(
        self,
        user_content: str,
        assistant_content: str,
        *,
        session_id: str = "",
        messages: list[dict[str, Any]] | None = None,
        turn_author: Any = None,
    ) -> None:
        if self._keeps_turns:
            author = "" if turn_author is None else storable(_author(turn_author))
            said = (("user", _plain(user_content), author), ("assistant", _plain(assistant_content), ""))
            self._writer.put((self._scope, storable(session_id or self._session), time.time(), said))

    def on_session_switch(self, new_session_id: str, **kwargs: Any) -> None:
        self._session = new_session_id

    def on_session_end(self, messages: list[dict[str, Any]]) -> None:
        try:
            self.flush(LEAVING_SECONDS)
        except HermesError as error:
            log.warning("the session is not written yet error=%s", error)

    def on_pre_compress(self, messages: list[dict[str, Any]], *, require_checkpoint: bool = False) -> str:
        """Every turn is kept anyway; see that it is written."""
        try:
            self.flush()
        except HermesError:
            if require_checkpoint:
                raise
        return ""

    def on_memory_write(self, action: str, target: str, content: str, metadata: dict[str, Any] | None = None) -> None:
        told = metadata or {}
        previous = str(told.get("previous_content") or told.get("old_text") or "")
        with self._opened.writing() as connection:
            if action in ("replace", "remove") and previous:
                for row in find_facts(connection, self._scope, redact(storable(previous))):
                    forget(connection, self._scope, row.id)
            if action in ("add", "replace") and content.strip():
                self._new_fact(connection, content, target)

    def get_tool_schemas(self) -> list[dict[str, Any]]:
        return [*tools.SCHEMAS]

    def handle_tool_call(self, tool_name: str, args: dict[str, Any], **kwargs: Any) -> str:
        return tools.run_tool(self, tool_name, args)

    def flush(self, seconds: float | None = None) -> None:
        """Wait until every turn is in the file.

        Raises:
            HermesError: It cannot be written, or not within ``seconds``.
        """
        self._writer.flush(seconds)

    def shutdown(self) -> None:
        if self._store is not None:
            self._writer.close()
            self._vectors.close()
            self._store.close()

    def backup_paths(self) -> list[str]:
        """None: everything is below the home."""
        return []

    def get_config_schema(self) -> list[dict[str, Any]]:
        description = "tokens that recalled memories may take of a request"
        return [{"key": "prefetch_tokens", "description": description, "default": TOKENS, "type": "int", "minimum": 0}]

    def search(self, query: str, limit: int = 10) -> list[dict[str, Any]]:
        """Memories that fit a question, the best first: ``id``, ``session``, ``role``, ``speaker``, ``time``, ``text``.

        Raises:
            HermesError: The file cannot be read.
        """
        self._finish_writing()
        order = self._find(query, query_words(query), limit)
        with self._opened.reading() as connection:
            names = dict(connection.execute("select id, name from session where scope = ?", (self._scope,)))
        found = self._opened.get(order)
        return [
            {"id": self._number(id_), **as_record(found[id_], names.get(found[id_].session))}
            for id_ in order
            if id_ in found
        ]

    def add_fact(self, text: str, source: str) -> tuple[int, bool]:
        """Keep a fact; returns its id, and whether it is new."""
        with self._opened.writing() as connection:
            row, is_new = self._new_fact(connection, text, source)
        return self._number(row.id), is_new

    def update_fact(self, number: int, text: str) -> int:
        """Replace a fact; returns the id of the new one.

        Raises:
            HermesError: There is no such fact.
        """
        with self._opened.writing() as connection:
            id_ = self._id(number)
            old = self._opened.get([id_]).get(id_)
            if old is None or old.role != ROLE or not forget(connection, self._scope, id_):
                raise HermesError(f"there is no fact {number}", hint="memory_search gives the ids")
            return self._number(self._new_fact(connection, text, old.speaker)[0].id)

    def forget(self, number: int) -> bool:
        """Delete a fact, or a whole message; False when there is none of that id."""
        with self._opened.writing() as connection:
            return bool(forget(connection, self._scope, self._id(number)))

    def export_records(self) -> Iterator[dict[str, Any]]:
        """Everything that is kept, in order, as ``import_lines`` takes it, one JSON object each."""
        self.flush()
        return export(self._opened, self._scope)

    def import_lines(self, lines: Iterable[str]) -> int:
        """Keep what was exported, each line a JSON object; returns how many were new.

        Raises:
            HermesError: A line is none; names it. The lines before may have been kept: importing again does no harm.
        """
        records = read_records(lines)
        count = 0
        while batch := list(islice(records, _IMPORTED_AT_ONCE)):
            with self._opened.writing() as connection:
                importer = Importer(connection, self._scope, self._message)
                added = [importer.add(record) for record in batch]
                self._index(connection, [row for rows in added for row in rows])
            count += sum(map(bool, added))
        return count

    def import_entries(self, text: str, source: str = "memory") -> int:
        """Keep the entries of a MEMORY.md or USER.md as facts; returns how many were new."""
        with self._opened.writing() as connection:
            entries = [entry for entry in text.removeprefix("\ufeff").split(ENTRY_SEPARATOR) if entry.strip()]
            return sum(self._new_fact(connection, entry, source)[1] for entry in entries)

    def get_status_config(self, provider_config: Any = None) -> dict[str, Any]:
        """What ``hermes memory status`` shows."""
        store = self._opened
        first, last = ids_of(self._scope)
        with store.reading() as connection:
            query = "select count(*), count(session), min(at) from memory where id between ? and ?"
            total, messages, oldest = connection.execute(query, (first, last)).fetchone()
            sessions = connection.execute("select count(*) from session where scope = ?", (self._scope,)).fetchone()[0]
            whole = connection.execute("select count(*) from memory").fetchone()[0]
        return {
            "path": str(store.path),
            "messages": messages,
            "facts": total - messages,
            "sessions": sessions,
            "of other users and agents": whole - total,
            "since": show_day(oldest) if oldest is not None else "",
            "bytes": sum(path.stat().st_size for path in store.path.parent.glob(f"{FILE}*")),
            "searched by": "words and meaning" if self._vectors.is_on else "words (the extra `semantic` adds meaning)",
            "prefetch_tokens": self.prefetch_tokens,
        }

    @property
    def _opened(self) -> Store:
        if self._store is None:
            raise HermesError("the memory provider 'sqlite' is not initialized")
        return self._store

    def _begin_search(self) -> None:
        self._pid = os.getpid()
        self._places = Places(self._opened, self._scope)
        self._vectors = Vectors(self._opened, self._scope, is_wanted=self._is_semantic)

    def _number(self, id_: int) -> int:
        """An id as it is told to others: they see one scope, in which numbers begin at 1."""
        return id_ - ids_of(self._scope)[0] + 1

    def _id(self, number: int) -> int:
        first, last = ids_of(self._scope)
        return min(first + number - 1, last)

    def _find(self, query: str, words: Sequence[str], limit: int) -> list[int]:
        """Ids of what answers a question, the best first, ``limit`` at most."""
        if not words:
            return []
        if self._pid != os.getpid():  # a fork: another thread may have held what it inherited
            self._begin_search()
        self._places.catch_up()
        size = len(self._places)
        count = CANDIDATES if size < LARGE else 2 * CANDIDATES
        if size < PARALLEL:
            by_meaning = self._vectors.nearest(query, count)
            by_words = self._opened.by_words(words, self._scope, size, count)
        else:  # each spends its time where Python's lock is not held
            with ThreadPoolExecutor(1) as other:
                found = other.submit(self._vectors.nearest, query, count)
                by_words = self._opened.by_words(words, self._scope, size, count)
                by_meaning = found.result()
        self._places.catch_up()
        return rank(by_words, by_meaning, self._places, words, limit)

    def _finish_writing(self) -> None:
        if self._writer.pending:
            try:
                self._writer.flush(_UNFINISHED_SECONDS)
            except HermesError:
                log.debug("recalling without the latest turns")

    def _write_turns(self, work: list[Any]) -> None:
        turns = [
            Turn(
                scope,
                session,
                tuple(self._message(role, text, author, None, now) for role, text, author in said if text.strip()),
            )
            for scope, session, now, said in work
        ]
        with self._opened.writing() as connection:
            self._index(connection, add_turns(connection, turns))

    def _message(self, role: str, text: str, speaker: str, at: float | None, now: float = 0.0) -> Message:
        """A message as it is kept: secrets masked, its time and speaker read where it says them."""
        text = redact(storable(text))
        stamp, named, start = split_head(text)
        told = read_time(stamp) if stamp else None
        if stamp and told is None:
            named, start = "", 0
        when = at or told or now or time.time()
        who = speaker or named or (self._user_name if role == "user" else "") or role
        return Message(role, who, when, show_day(when), text[:start], split_pieces(text[start:]))

    def _new_fact(self, connection: sqlite3.Connection, text: str, source: str) -> tuple[Memory, bool]:
        row, is_new = add_fact(connection, self._scope, redact(storable(text)), source)
        if is_new:
            self._index(connection, [row])
        return row, is_new

    def _index(self, connection: sqlite3.Connection, rows: Sequence[Memory]) -> None:
        self._vectors.add(connection, [(row.id, row.text) for row in rows])


def _tokens(value: Any) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    if value is not None:
        log.warning("memory.sqlite.prefetch_tokens is no whole number, %d are used got=%r", TOKENS, value)
    return TOKENS


def _switch(value: Any) -> bool:
    """A switch that is on unless it is clearly off."""
    return value is not False and str(value).strip().lower() not in ("false", "no", "off", "0")


def _plain(content: Any) -> str:
    """The text of a message, which may come in blocks."""
    if isinstance(content, list):
        parts = [block.get("text") if isinstance(block, dict) else block for block in content]
        return "\n".join(part for part in parts if isinstance(part, str))
    return content if isinstance(content, str) else ""


def _author(turn_author: Any) -> str:
    """The name of who wrote, however the host says it."""
    if isinstance(turn_author, str):
        return turn_author
    names = (
        turn_author if isinstance(turn_author, dict) else vars(turn_author) if hasattr(turn_author, "__dict__") else {}
    )
    return next((str(names[key]) for key in ("name", "user_name", "display_name") if names.get(key)), "")
