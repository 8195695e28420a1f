"""What a provider needs installed: packages of this Python, and programs."""

from __future__ import annotations

import shlex
import subprocess
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from hermes_core.errors import HermesError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hermes_core.plugins.plugin import Plugin

INSTALL_SECONDS = 600
CHECK_SECONDS = 10


class Program(NamedTuple):
    """A program that a provider needs, and how one gets it."""

    name: str
    install: str


def missing_packages(row: Plugin) -> list[str]:
    """The packages that a manifest asks for and this Python has not, as they are asked for.

    What is installed is looked up by the name and version of the distribution, without importing anything. A
    requirement, or an installed version, that makes no sense is let be.
    """
    about = row.manifest.about
    asked = [*_texts(about.get("pip_dependencies")), *_texts(about.get("python_dependencies"))]
    return [text for text in dict.fromkeys(asked) if not _is_met(text)]


def _is_met(text: str) -> bool:
    from importlib.metadata import PackageNotFoundError, version

    from packaging.requirements import InvalidRequirement, Requirement
    from packaging.version import InvalidVersion, Version

    try:
        wanted = Requirement(text)
        if wanted.marker is not None and not wanted.marker.evaluate():
            return True
        return wanted.specifier.contains(Version(version(wanted.name)), prereleases=True)
    except PackageNotFoundError:
        return False
    except (InvalidRequirement, InvalidVersion):
        return True


def missing_programs(row: Plugin) -> list[Program]:
    """The programs that a manifest asks for, and whose ``check`` fails; no shell runs it."""
    asked = row.manifest.about.get("external_dependencies")
    return [
        Program(str(item.get("name") or item["check"]), str(item.get("install") or ""))
        for item in (asked if isinstance(asked, list) else ())
        if isinstance(item, Mapping) and item.get("check") and not _runs(str(item["check"]))
    ]


def _runs(command: str) -> bool:
    try:
        words = shlex.split(command)
        done = subprocess.run(  # noqa: S603 - what the manifest of the chosen plugin says, without a shell
            words, stdin=subprocess.DEVNULL, capture_output=True, timeout=CHECK_SECONDS, check=False
        )
    except (ValueError, IndexError, OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def install_command(packages: Sequence[str]) -> list[str]:
    """The command that installs packages for this very Python."""
    from importlib.util import find_spec
    from shutil import which

    if find_spec("pip") is None and which("uv"):
        return ["uv", "pip", "install", "--python", sys.executable, *packages]
    return [sys.executable, "-m", "pip", "install", *packages]


def install(packages: Sequence[str]) -> None:
    """Install packages; what the installer prints goes to standard error.

    Raises:
        HermesError: That failed; names the command.
    """
    command = install_command(packages)
    try:
        done = subprocess.run(  # noqa: S603 - pip, and no shell
            command, stdin=subprocess.DEVNULL, stdout=sys.stderr, timeout=INSTALL_SECONDS, check=False
        )
        problem = f"exit code {done.returncode}" if done.returncode else ""
    except subprocess.TimeoutExpired:
        problem = f"not done after {INSTALL_SECONDS} s"
    except OSError as error:
        problem = error.strerror or type(error).__name__
    if problem:
        hint = f"try it by hand: {shlex.join(command)}"
        raise HermesError(f"cannot install {', '.join(packages)}: {problem}; nothing was saved", hint=hint)
    import importlib

    importlib.invalidate_caches()


def _texts(value: Any) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list | tuple) else []
