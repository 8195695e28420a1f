"""What a text means, as 256 numbers: the mean of its tokens' vectors, from the files of the wheel ``wordllama``."""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .text import storable

if TYPE_CHECKING:
    from collections.abc import Sequence

MODEL = "wordllama-l2-supercat-256"
DIMENSIONS = 256
_WEIGHTS = "weights/l2_supercat_256.safetensors"
_TOKENIZER = "tokenizers/l2_supercat_tokenizer_config.json"
_RARE_IN_QUESTION = 3e-3
"""Tokens of a question that make up such a share of the store weigh half."""
_RARE_IN_TEXT = 1e-3
"""The same for a text that is kept."""
_LONGEST = 20_000
"""Characters of a text that are looked at."""


def is_installed() -> bool:
    """Whether the extra ``semantic`` is there, with the files it needs; imports nothing."""
    folder = _folder()
    return folder is not None and all((folder / name).is_file() for name in (_WEIGHTS, _TOKENIZER))


def _folder() -> Path | None:
    spec, *others = map(find_spec, ("wordllama", "numpy", "tokenizers", "safetensors"))
    return None if spec is None or spec.origin is None or None in others else Path(spec.origin).parent


@cache
def load() -> Embedding:
    """The model, one a process; takes about half a second at first."""
    return Embedding()


class Embedding:
    """The model, read from the wheel's own files: its loader would look for the tokenizer on the network."""

    def __init__(self) -> None:
        import numpy as np
        from safetensors import safe_open
        from tokenizers import Tokenizer

        folder = _folder() or Path()
        with safe_open(str(folder / _WEIGHTS), framework="np") as weights:
            self._rows = weights.get_tensor("embedding.weight").astype(np.float32)
        self._tokenizer = Tokenizer.from_file(str(folder / _TOKENIZER))
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        self.tokens = len(self._rows)

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        """The tokens of texts."""
        plain = (storable(text[:_LONGEST]) for text in texts)  # one by one: the tokenizer's own threads survive no fork
        return [self._tokenizer.encode(text, add_special_tokens=False).ids or [0] for text in plain]

    def vectors(self, tokens: Sequence[Sequence[int]], counts: TokenCounts) -> Any:
        """The directions of texts, one a row, as int8.

        Args:
            tokens: What ``encode`` gave.
            counts: How often each token stands in the store; what it is full of weighs less.
        """
        import numpy as np

        found = np.stack([counts.weights(ids, _RARE_IN_TEXT) @ self._rows[ids] for ids in tokens])
        return np.rint(found * 127 / np.maximum(np.abs(found).max(1, keepdims=True), 1e-9)).astype(np.int8)

    def question(self, query: str, counts: TokenCounts) -> Any:
        """The unit vector of a question; ``counts`` as for ``vectors``."""
        import numpy as np

        ids = self.encode([query])[0]
        found = counts.weights(ids, _RARE_IN_QUESTION) @ self._rows[ids]
        return found / max(float(np.linalg.norm(found)), 1e-9)


class TokenCounts:
    """How often each token stands in a store.

    Args:
        stored: What ``to_bytes`` gave; nothing yet when None.
    """

    def __init__(self, tokens: int, stored: bytes | None = None) -> None:
        import numpy as np

        self._counts = np.zeros(tokens, np.int64) if stored is None else np.frombuffer(stored, np.int64).copy()
        self.total = int(self._counts.sum())

    def add(self, tokens: Sequence[Sequence[int]]) -> None:
        """Count the tokens of more texts."""
        import numpy as np

        flat = np.fromiter((token for ids in tokens for token in ids), np.int64)
        self._counts += np.bincount(flat, minlength=len(self._counts))
        self.total += len(flat)

    def weights(self, ids: Sequence[int], rare: float) -> Any:
        """What each of these tokens weighs: a half, when it makes up the share ``rare`` of the store."""
        share = self._counts[ids] / max(1, self.total)
        return (rare / (rare + share)).astype("float32")

    def to_bytes(self) -> bytes:
        """All counts, to be stored."""
        return bytes(self._counts.tobytes())
