"""From a host's settings to the address of a running server."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from hermes_core import HermesError, MissingCredentialError

from . import weights
from .server import Launch, servers

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from hermes_core import EndpointHost

MODEL = "SmolLM2-135M-Instruct"
N_CTX = 4096
N_PREDICT = 512


def open_endpoint(host: EndpointHost) -> tuple[str, str]:
    """Base URL and API key of this process's server for these settings.

    Raises:
        MissingCredentialError: The library is not installed.
        HermesError: There are no weights, they are damaged, or the server does not start.
    """
    path = model_path(host.home, host.settings)
    n_ctx = _positive(host.settings, "n_ctx", N_CTX)
    threads = _positive(host.settings, "threads", 0) or default_threads()
    key = (_identity(path), n_ctx, threads)
    pool = servers()
    address = pool.address(key)
    if address is not None:
        return address
    library = library_folder()
    own = bool(host.settings.get("model_path"))
    _make_ready(path, host, own=own)
    launch = Launch(
        model=str(path),
        alias=path.stem if own else MODEL,
        n_ctx=n_ctx,
        n_predict=N_PREDICT,
        threads=threads,
        library=library,
    )
    return pool.start((_identity(path), n_ctx, threads), launch)


def check_endpoint(host: EndpointHost) -> None:
    """Raise what ``open_endpoint`` would, as far as that can be told without starting or fetching anything."""
    path = model_path(host.home, host.settings)
    library_folder()
    own = bool(host.settings.get("model_path"))
    if own or not host.allow_downloads:
        weights.check(path, None if own else weights.SMOLLM2)


def model_path(home: Path, settings: Mapping[str, Any]) -> Path:
    """The model to run: ``embedded.model_path``, in which ``~`` and paths from the home on work, or ours."""
    own = settings.get("model_path")
    if not own:
        return weights.location(home)
    if not isinstance(own, str | Path):
        message = f"config.yaml: embedded.model_path must be a path, got {type(own).__name__}"
        raise HermesError(message, hint="give the path of a GGUF file, or take the key away")
    return home / Path(own).expanduser()


def default_threads() -> int:
    """One fewer than there are processors for this process, so that its neighbours never stop it; up to four."""
    available = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(4, available - 1))


def library_folder() -> str:
    """The folder that ``xllamacpp`` would be imported from."""
    spec = find_spec("xllamacpp")
    if spec is None or spec.origin is None:
        message = "the embedded model needs the package 'xllamacpp', which is not installed"
        hint = "pip install 'hermes-plugin-host[embedded]', or choose a provider with `hermes setup`"
        raise MissingCredentialError(message, provider="embedded", hint=hint)
    return str(Path(spec.origin).parent.parent)


def _make_ready(path: Path, host: EndpointHost, *, own: bool) -> None:
    """Have a model at ``path`` that looks whole; only our own is pulled."""
    try:
        weights.check(path, None if own else weights.SMOLLM2)
    except HermesError:
        if own or not host.allow_downloads:
            raise
        from .pull import pull

        pull(host.home, say=host.say)


def _identity(path: Path) -> tuple[int, int] | None:
    """The file itself, whatever it is called: homes that link to one file share a server."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _positive(settings: Mapping[str, Any], name: str, default: int) -> int:
    value = settings.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int) or value < (1 if default else 0):
        message = f"config.yaml: embedded.{name} must be a positive whole number, got {value!r}"
        raise HermesError(message, hint="correct the key, or take it away")
    return value
