"""The plugin, loaded from its folder as the host loads it, and homes with and without weights."""

import importlib
import importlib.util
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import httpx
import pytest
import yaml

from hermes_core import EndpointHost

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "builtin_plugins/hermes_builtin_plugins/model_providers/embedded"
PACKAGE = "hermes_plugins_embedded_under_test"


@pytest.fixture(scope="session")
def load_plugin():
    """Import the plugin's folder under a name, as the host does once for each host."""

    def load(package):
        if package not in sys.modules:
            spec = importlib.util.spec_from_file_location(
                package, FOLDER / "__init__.py", submodule_search_locations=[str(FOLDER)]
            )
            module = sys.modules[package] = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
        return sys.modules[package]

    return load


@pytest.fixture(scope="session")
def part(load_plugin):
    """One module of the plugin, by name."""

    def find(name, package=PACKAGE):
        load_plugin(package)
        return importlib.import_module(f"{package}.{name}")

    return find


@pytest.fixture(scope="session")
def profile(load_plugin):
    """The profile as the host builds it: the class with the manifest's data."""
    manifest = yaml.safe_load((FOLDER / "plugin.yaml").read_text(encoding="utf-8"))
    return load_plugin(PACKAGE).EmbeddedProfile(**manifest["profile"])


@pytest.fixture(scope="session")
def model_home(part):
    """A home with the real weights, pulled once and kept between runs."""
    kept = Path(os.environ.get("HERMES_TEST_MODELS") or Path(tempfile.gettempdir(), "hermes-test-models"))
    part("pull").pull(kept)
    return kept


@pytest.fixture
def host(tmp_path):
    """Make what a profile is handed: ``host(home, n_ctx=…)``; without a home, an empty one."""

    def make(home=tmp_path, *, allow_downloads=False, said=None, **settings):
        said = [] if said is None else said
        return EndpointHost(home=home, settings=settings, allow_downloads=allow_downloads, say=said.append)

    return make


@pytest.fixture
def ask(profile, host, model_home):
    """Send one adapted request as the host would; returns the answer's JSON."""

    def send(messages, response_format=None, max_tokens=None, **more):
        base_url, key = profile.open_endpoint(host(model_home))
        fields = {"messages": messages, "response_format": response_format, "max_tokens": max_tokens}
        _, adapted = profile.build_api_kwargs_extras(reasoning_config=None, **fields)
        body = {"model": "m", "temperature": 0, **adapted, **more}
        answer = httpx.post(
            f"{base_url}/chat/completions", json=body, headers={"authorization": f"Bearer {key}"}, timeout=120
        )
        return answer.raise_for_status().json()

    return send


@pytest.fixture
def owner(model_home):
    """Start ``owner.py``, a program that owns a server; all are ended after the test."""
    started = []

    def start(action, **options):
        process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("owner.py")), str(FOLDER), str(model_home), action],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            **options,
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()
