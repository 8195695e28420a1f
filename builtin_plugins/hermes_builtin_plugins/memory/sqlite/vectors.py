"""The vectors of a scope, held in memory, and the search for the nearest."""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING, Any

from . import embedding
from .schema import SCOPE_BITS
from .store import ids_of

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence

    from .store import Store

log = logging.getLogger(__name__)

_BATCH = 512
_SMALL = 10_000
_GROWN = 1.2
"""A store of at most so many memories is weighed anew when it has grown by this."""
_CHUNK = 65_536
"""Rows of one array; what grows is copied within it only."""
_COARSE = 64
"""The leading dimensions; all memories are compared in these, the best in all dimensions."""
_REFINED = 2_000
_UNLIKE = 0.15
"""What is less like the question than this cosine has nothing to do with it."""
_LOAD_SECONDS = 4.0
"""How long the first question waits for the model and the vectors."""


class Vectors:
    """The vectors of one scope of a store; without the extra ``semantic`` there are none.

    They are read in the background, so that opening a store takes no longer when it has grown.

    Attributes:
        is_on: Whether meaning is searched by.
    """

    def __init__(self, store: Store, scope: int, *, is_wanted: bool = True) -> None:
        self._store = store
        self._scope = scope
        self._lock = threading.Lock()
        self._ready = threading.Event()
        self._model: embedding.Embedding | None = None
        self._counts: embedding.TokenCounts
        self._saved = 0
        self._chunks: list[_Chunk] = []
        self._last = ids_of(scope)[0] - 1
        self._thread: threading.Thread | None = None
        self._closing = False
        self._patience = _LOAD_SECONDS
        self.is_on = is_wanted and embedding.is_installed()

    def start(self) -> None:
        """Begin to read, in a thread of its own."""
        if self.is_on and self._thread is None:
            self._thread = threading.Thread(target=self._load, name="hermes-memory-vectors", daemon=True)
            self._thread.start()

    def close(self) -> None:
        """Stop reading, so that the file can be closed."""
        self._closing = True
        if self._thread is not None:
            self._thread.join(_LOAD_SECONDS)

    def nearest(self, query: str, limit: int) -> list[tuple[int, float]]:
        """Ids of what means something like the question, with the cosine, the best first."""
        if not self.is_on:
            return []
        self.start()
        if not self._ready.wait(self._patience):
            self._patience = 0.0  # words alone will do until it is there
        if not self._ready.is_set() or self._model is None:
            return []
        with self._lock:
            self._catch_up()
            vector = self._model.question(query, self._counts)
            return _nearest(self._chunks, vector, limit)

    def add(self, connection: sqlite3.Connection, rows: Sequence[tuple[int, str]]) -> None:
        """Write the vectors of texts, in the transaction that is open; later, if the model is not there."""
        if not rows:
            return
        if self._model is None:
            connection.execute("insert or ignore into meta values (?, ?)", (self._missing, rows[0][0]))
            return
        tokens = self._model.encode([text for _, text in rows])
        self._counts.add(tokens)
        self._write(connection, rows, tokens)
        if self._counts.total > 1.1 * self._saved:  # they need not be exact, and are not small
            self._save_counts(connection)

    def _load(self) -> None:
        try:
            model = embedding.load()
            with self._store.writing() as connection:
                self._counts = _read_counts(connection, model)
                self._saved = self._counts.total
                self._model = model
                self._weigh_anew(connection)
            self._fill_in()
            with self._lock:
                self._catch_up()
        except Exception as error:  # noqa: BLE001 - words alone will do
            self._model = None
            self.is_on = False
            log.warning("memories are not searched by meaning error=%s", error)
        finally:
            self._ready.set()

    def _weigh_anew(self, connection: sqlite3.Connection) -> None:
        """Make the vectors of a small store anew when it has grown: how much a token weighs depends on what is kept."""
        count = connection.execute("select count(*) from memory").fetchone()[0]
        weighed = connection.execute("select value from meta where key = 'weighed'").fetchone()
        if count > _SMALL or (weighed is not None and count < _GROWN * weighed[0]) or self._model is None:
            return
        rows = connection.execute("select id, text from memory order by id").fetchall()
        tokens = self._model.encode([text for _, text in rows])
        self._counts = embedding.TokenCounts(self._model.tokens)
        self._counts.add(tokens)
        self._write(connection, rows, tokens)
        self._save_counts(connection)
        connection.execute("insert or replace into meta values ('weighed', ?)", (count,))

    def _fill_in(self) -> None:
        """Make the vectors of what was written without, by whatever process."""
        query = """select id, text from memory where id between ? and ? and not exists
            (select 1 from vector where vector.id = memory.id) order by id limit ?"""
        last = ids_of(self._scope)[1]
        while not self._closing:
            with self._store.writing() as connection:
                first = connection.execute("select value from meta where key = ?", (self._missing,)).fetchone()
                if first is None:
                    return
                rows = connection.execute(query, (first[0], last, _BATCH)).fetchall()
                self.add(connection, rows)
                connection.execute("delete from meta where key = ?", (self._missing,))
                if rows:
                    connection.execute("insert into meta values (?, ?)", (self._missing, rows[-1][0] + 1))

    @property
    def _missing(self) -> str:
        """The key under which the first id stands from which on vectors may be missing."""
        return f"missing {self._scope}"

    def _save_counts(self, connection: sqlite3.Connection) -> None:
        self._saved = self._counts.total
        connection.execute("insert or replace into meta values ('tokens', ?)", (self._counts.to_bytes(),))

    def _write(
        self, connection: sqlite3.Connection, rows: Sequence[tuple[int, str]], tokens: Sequence[Sequence[int]]
    ) -> None:
        if self._model is None or not rows:
            return
        made = self._model.vectors(tokens, self._counts)
        values = [(id_, vector.tobytes()) for (id_, _), vector in zip(rows, made, strict=True)]
        connection.executemany("insert or replace into vector values (?, ?)", values)

    def _catch_up(self) -> None:
        """Read what this or another process has written since."""
        query = "select id, data from vector where id > ? and id <= ? order by id limit ?"
        while not self._closing:
            if not self._chunks or self._chunks[-1].room == 0:
                self._chunks.append(_Chunk())
            chunk = self._chunks[-1]
            with self._store.reading() as connection:
                rows = connection.execute(query, (self._last, ids_of(self._scope)[1], chunk.room)).fetchall()
            if not rows:
                return
            chunk.add(rows)
            self._last = rows[-1][0]


class _Chunk:
    """Some vectors: in full as int8, and their leading dimensions ready to be multiplied."""

    def __init__(self) -> None:
        self.count = 0
        self._allocate(1024)

    def _allocate(self, rows: int) -> None:
        import numpy as np

        old = vars(self).copy()
        self.ids = np.zeros(rows, np.int64)
        self.full = np.zeros((rows, embedding.DIMENSIONS), np.int8)
        self.scale = np.zeros(rows, np.float32)
        self.coarse = np.zeros((rows, _COARSE), np.float32)
        for name in ("ids", "full", "scale", "coarse") if self.count else ():
            getattr(self, name)[: self.count] = old[name][: self.count]

    @property
    def room(self) -> int:
        return _CHUNK - self.count

    def add(self, rows: Sequence[tuple[int, bytes]]) -> None:
        import numpy as np

        first, self_after = self.count, self.count + len(rows)
        if self_after > len(self.ids):
            self._allocate(min(_CHUNK, max(2 * len(self.ids), self_after)))
        full = np.frombuffer(b"".join(data for _, data in rows), np.int8).reshape(len(rows), -1)
        coarse = full[:, :_COARSE].astype(np.float32)
        self.ids[first:self_after] = [id_ for id_, _ in rows]
        self.full[first:self_after] = full
        self.scale[first:self_after] = 1 / np.maximum(np.linalg.norm(full.astype(np.float32), axis=1), 1e-9)
        self.coarse[first:self_after] = coarse / np.maximum(np.linalg.norm(coarse, axis=1, keepdims=True), 1e-9)
        self.count = self_after


def _nearest(chunks: Sequence[_Chunk], vector: Any, limit: int) -> list[tuple[int, float]]:
    import numpy as np

    most = max(limit, _REFINED // max(1, len(chunks)))
    ids, scores = [], []
    for chunk in chunks:
        chosen: Any = slice(chunk.count)
        if chunk.count > most:
            coarse = chunk.coarse[: chunk.count] @ vector[:_COARSE]
            chosen = np.argpartition(coarse, -most)[-most:]
        ids.append(chunk.ids[chosen])
        scores.append((chunk.full[chosen].astype(np.float32) @ vector) * chunk.scale[chosen])
    if not ids:
        return []
    all_ids, all_scores = np.concatenate(ids), np.concatenate(scores)
    best = np.argsort(-all_scores)[:limit]
    best = best[all_scores[best] >= _UNLIKE]
    return list(zip(all_ids[best].tolist(), all_scores[best].tolist(), strict=True))


def _read_counts(connection: sqlite3.Connection, model: embedding.Embedding) -> embedding.TokenCounts:
    """How often each token stands in the store; vectors of another model are dropped, to be made anew."""
    held = dict(connection.execute("select key, value from meta where key in ('model', 'tokens')"))
    if held.get("model") != embedding.MODEL:
        connection.execute("delete from vector")
        connection.execute("delete from meta")
        connection.execute(
            "insert into meta select 'missing ' || id, id << ? from scope",
            (SCOPE_BITS,),
        )
        connection.execute("insert into meta values ('model', ?)", (embedding.MODEL,))
        held = {}
    return embedding.TokenCounts(model.tokens, held.get("tokens"))
