"""What a text means, as 256 numbers: the mean of its tokens' vectors, from the files of the wheel ``wordllama``."""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

MODEL = "wordllama-l2-supercat-256"
DIMENSIONS = 256
_WEIGHTS = "weights/l2_supercat_256.safetensors"
_TOKENIZER = "tokenizers/l2_supercat_tokenizer_config.json"
_RARITY = 3e-3
"""Tokens of a question that make up such a share of the store count half."""
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
        plain = [text[:_LONGEST].encode("utf-8", "replace").decode() for text in texts]  # it takes no half surrogates
        encoded = self._tokenizer.encode_batch(plain, add_special_tokens=False)
        return [one.ids or [0] for one in encoded]

    def means(self, tokens: Sequence[Sequence[int]]) -> Any:
        """The directions of texts, one a row, as int8."""
        import numpy as np

        found = np.stack([self._rows[ids].mean(0) for ids in tokens])
        return np.rint(found * 127 / np.maximum(np.abs(found).max(1, keepdims=True), 1e-9)).astype(np.int8)

    def question(self, query: str, counts: Any) -> Any:
        """The unit vector of a question, in which tokens that the store is full of count less."""
        import numpy as np

        ids = self.encode([query])[0]
        weights = _RARITY / (_RARITY + counts[ids] / max(1, counts.sum()))
        found = weights.astype(np.float32) @ self._rows[ids]
        return found / max(float(np.linalg.norm(found)), 1e-9)
