"""What every test gets: no way out of this machine; and what makes homes, hosts and packages.

``home`` writes plugins and configuration, ``site`` installs fake packages, ``load_host`` loads hosts and
closes them, ``run_python`` and ``as_nobody`` run a script in another process.
"""

from __future__ import annotations

import importlib
import ipaddress
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from textwrap import dedent

import hypothesis
import pytest

from hermes_core import Host

hypothesis.settings.register_profile("here", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow])
hypothesis.settings.load_profile("here")

NO_HOST = {"", "localhost", "localhost.localdomain"}
TO_NOBODY = """
import os, pathlib, sys, tempfile
from hermes_core import Host
from hermes_core.config.edit import edit_config
with tempfile.TemporaryDirectory() as folder:
    for change in ({"plugins": {"enabled": []}}, {"a": 1}):  # of a file that is not there yet, and of one that is
        edit_config(pathlib.Path(folder, "config.yaml"), lambda tree: tree.update(change))
    pathlib.Path(folder, ".env").write_text("A=1")
    Host.load(folder, export_env=True).providers.get("openrouter")
{first}
if os.geteuid() == 0:
    os.setgroups([]), os.setgid(65534), os.setuid(65534)
"""


def _refuse_the_network(event: str, args: tuple) -> None:
    if event == "socket.getaddrinfo":
        host = args[0]
    elif event in {"socket.connect", "socket.sendto"} and isinstance(args[1], tuple):
        host = args[1][0]
    else:
        return
    word = host.decode() if isinstance(host, bytes) else str(host or "")
    try:
        inside = word in NO_HOST or ipaddress.ip_address(word.partition("%")[0]).is_loopback
    except ValueError:
        inside = False
    if not inside:
        message = f"a test reached for the network: {event} {word}"
        raise AssertionError(message)


sys.addaudithook(_refuse_the_network)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """What a test printed and logged goes from one process to another, so half a surrogate is written out."""
    report = yield
    report.sections = [(name, text.encode("utf-8", "backslashreplace").decode()) for name, text in report.sections]
    return report


class Home:
    """A Hermes home in the making."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def write(self, relative: str, text: str | bytes) -> Path:
        """Write a file, its text dedented."""
        path = self.path / relative
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else dedent(text).encode())
        return path

    def config(self, tree: dict) -> Path:
        """Write ``config.yaml``."""
        return self.write("config.yaml", json.dumps(tree))

    def plugin(self, where: str, code: str | None = None, **manifest: object) -> Path:
        """Write the plugin ``plugins/<where>``: its manifest if any field is given, its code if there is any."""
        folder = self.path / "plugins" / where
        folder.mkdir(parents=True, exist_ok=True)
        if manifest:
            self.write(f"plugins/{where}/plugin.yaml", json.dumps(manifest))
        if code is not None:
            self.write(f"plugins/{where}/__init__.py", code)
        return folder


class Site:
    """A folder of installed packages at the head of ``sys.path``."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def install(self, name: str, entry_points: dict[str, dict[str, str]], **modules: str) -> None:
        """Install a distribution, version 1.0; each keyword is a module and its source."""
        info = self.path / f"{name.replace('-', '_')}-1.0.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        groups = [
            f"[{group}]\n" + "".join(f"{key} = {value}\n" for key, value in entries.items())
            for group, entries in entry_points.items()
        ]
        (info / "entry_points.txt").write_text("\n".join(groups))
        for module, text in modules.items():
            self.write(f"{module}.py", text)

    def write(self, relative: str, text: str) -> Path:
        """Write a file, its text dedented."""
        path = self.path / relative
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text))
        importlib.invalidate_caches()
        return path


@pytest.fixture
def home(tmp_path) -> Home:
    """The active home, not made yet."""
    return Home(tmp_path / "home")


@pytest.fixture
def site(tmp_path, monkeypatch):
    """Installed packages, forgotten when the test ends."""
    path = tmp_path / "site-packages"
    path.mkdir()
    before = {*sys.modules}
    monkeypatch.syspath_prepend(path)
    yield Site(path)
    for name in sorted({*sys.modules} - before, reverse=True):  # a namespace after what is in it
        module = sys.modules[name]  # a folder without __init__.py has no file, but a path
        if any(
            str(place).startswith(str(path))
            for place in (getattr(module, "__file__", ""), *getattr(module, "__path__", ()))
        ):
            del sys.modules[name]


@pytest.fixture
def load_host(home):
    """Load a host of the active home, or of another; it is closed when the test ends."""
    hosts = []

    def load(path: Path | None = None, config: dict | None = None, **keywords: object) -> Host:
        hosts.append(Host.load(path or home.path, config, **keywords))
        return hosts[-1]

    yield load
    for host in hosts:
        host.close()


@pytest.fixture
def run_python():
    """Run a script in a Python of its own; returns the finished process, its output as text."""

    def run(script: str, *args: object, **keywords: object) -> subprocess.CompletedProcess:
        command = [sys.executable, "-c", dedent(script), *map(str, args)]
        return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, **keywords)

    return run


@pytest.fixture
def as_nobody(run_python):
    """Run a script as a user who owns nothing; ``folder`` is one that every user may enter.

    That user may not be able to import anything: ``first`` is run before, as whoever runs the tests.
    """
    path = Path(tempfile.mkdtemp(prefix="hermes-test-"))
    path.chmod(0o755)

    def run(script: str, *args: object, first: str = "") -> subprocess.CompletedProcess:
        whole = TO_NOBODY.replace("{first}", dedent(first)) + dedent(script)
        return run_python(whole, *args, env={**os.environ, "HERMES_MANAGED_DIR": str(path / "managed")})

    run.folder = path
    yield run
    subprocess.run(["chmod", "-R", "u+rwx", str(path)], check=False)
    shutil.rmtree(path)
