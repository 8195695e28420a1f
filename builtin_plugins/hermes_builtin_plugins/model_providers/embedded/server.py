"""The owner's side of the server processes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from types import ModuleType
from typing import IO, cast

from hermes_core import HermesError

START_SECONDS = 120
"""How long a model may take to load."""

_VERIFY = "run `hermes embedded verify`; a model of your own may need a smaller embedded.n_ctx"
_HINTS = {"ImportError": "install the system library that the message names (libgomp: `apt-get install libgomp1`)"}


@dataclass(frozen=True, kw_only=True)
class Launch:
    """What one server is started with.

    Attributes:
        model: Path of a GGUF file.
        alias: What answers call the model.
        n_ctx: Context in tokens.
        n_predict: Limit of an answer in tokens when the request gives none.
        threads: Threads for prompts and answers.
        library: Folder that ``xllamacpp`` is imported from.
    """

    model: str
    alias: str
    n_ctx: int
    n_predict: int
    threads: int
    library: str


class _Child(subprocess.Popen[bytes]):
    """A server process. Nothing ends it at exit, before its pipe closes: calls still under way would fail."""

    def __del__(self) -> None:
        """Without the base's warning that it still runs."""


@dataclass(frozen=True)
class _Running:
    process: _Child
    address: tuple[str, str]


class Servers:
    """The servers of one process, started when first asked for; they end when its pipes close.

    A forked process starts with none: it lets go of the inherited pipes, so that a server still ends
    with the process that started it.
    """

    def __init__(self) -> None:
        self._running: dict[object, _Running] = {}
        self._processes: list[_Child] = []
        self._start = threading.Lock()  # held until a server is ready
        self._spawn = threading.Lock()  # held for milliseconds, and across a fork
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(
                before=self._spawn.acquire, after_in_parent=self._spawn.release, after_in_child=self._forget
            )

    def address(self, key: object) -> tuple[str, str] | None:
        """Base URL and API key of the living server that was started under ``key``."""
        running = self._running.get(key)
        return running.address if running is not None and running.process.poll() is None else None

    def start(self, key: object, launch: Launch) -> tuple[str, str]:
        """Start a server under ``key``, unless another thread has done so meanwhile.

        Raises:
            HermesError: It did not come up; quotes what it said.
        """
        with self._start:
            address = self.address(key)
            if address is None:
                running = self._running[key] = self._started(launch)
                address = running.address
            return address

    def _started(self, launch: Launch) -> _Running:
        with tempfile.TemporaryFile() as complaints:
            process = self._spawned(complaints)
            try:
                line = _exchange(process, launch)
                if "url" in line:
                    return _Running(process, (f"{line['url']}/v1", line["key"]))
                _close(process.stdin)
                process.wait()
            except BaseException:  # Ctrl-C while the model loads
                process.kill()
                process.wait()
                raise
            complaints.seek(0)
            said = complaints.read().decode(errors="replace").strip()[-800:]
        reason = "\n".join(filter(None, (line.get("error", f"exit status {process.returncode}"), said)))
        message = f"the server of the embedded model '{launch.model}' did not start: {reason}"
        raise HermesError(message, hint=_HINTS.get(line.get("kind", ""), _VERIFY))

    def _spawned(self, complaints: IO[bytes]) -> _Child:
        """The child, in a session of its own so that Ctrl-C in the terminal does not reach it."""
        with self._spawn:
            for dead in [process for process in self._processes if process.poll() is not None]:
                _close(dead.stdin)
                self._processes.remove(dead)
            process = _Child(
                # -P: the folder of the script must not shadow modules
                [sys.executable, "-P", str(Path(__file__).with_name("child.py"))],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=complaints,
                bufsize=0,  # nothing buffered that a fork could copy
                start_new_session=True,
                creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
            )
            self._processes.append(process)
        return process

    def _forget(self) -> None:
        """In a forked process: let go of the servers, which are its parent's."""
        for process in self._processes:
            _close(process.stdin)
            _close(process.stdout)
        self._running = {}
        self._processes = []
        self._start = threading.Lock()
        self._spawn.release()


def _exchange(process: _Child, launch: Launch) -> dict[str, str]:
    """Send the settings, and wait for the child's one line; empty when it died."""
    stdin, stdout = process.stdin, process.stdout
    assert stdin is not None
    assert stdout is not None
    too_late = threading.Timer(START_SECONDS, process.kill)
    too_late.daemon = True
    too_late.start()
    try:
        with suppress(OSError):  # it has died already
            stdin.write(json.dumps(asdict(launch)).encode() + b"\n")
        line = stdout.readline()
    finally:
        too_late.cancel()
    stdout.close()
    return cast("dict[str, str]", json.loads(line)) if line.endswith(b"\n") else {}


def _close(pipe: IO[bytes] | None) -> None:
    if pipe is not None:
        with suppress(OSError):
            pipe.close()


def servers() -> Servers:
    """The servers of this process: one set, however many hosts have imported this file."""
    name = "hermes_embedded_servers"
    held = vars(sys.modules.setdefault(name, ModuleType(name, "What the hosts of this process share.")))
    if "servers" not in held:
        held.setdefault("servers", Servers())
    return cast("Servers", held["servers"])
