"""A user puts a provider in the place of a bundled one, in each way there is, and takes it back."""

import json
import os
import subprocess
import sys

import pytest

from hermes_core.testing import FakeProvider

MODEL = {"provider": "mimo", "default": "mimo-v2.5"}
PING = [{"role": "user", "content": "ping"}]

BY_IMPORT = """
from providers import register_provider
from providers.base import ProviderProfile

register_provider(ProviderProfile(name="xiaomi", env_vars=("XIAOMI_API_KEY",), base_url="{url}"))
"""
BY_REGISTER = """
from hermes_core import ProviderProfile

def register(ctx):
    ctx.register_provider(ProviderProfile("xiaomi", env_vars=["XIAOMI_API_KEY"], base_url="{url}"))
"""
BY_HOOK = """
from hermes_core import ProviderProfile, hookimpl

@hookimpl
def hermes_provider_profiles():
    yield ProviderProfile("xiaomi", env_vars=["XIAOMI_API_KEY"], base_url="{url}")
"""
BY_CLASS = """
from hermes_core import ProviderProfile, hookimpl

class Mine(ProviderProfile):
    def build_extra_body(self, **context):
        return {{"mine": True}}

@hookimpl
def hermes_provider_profiles(ctx):
    yield ctx.declared_profile(Mine)
"""
EXTENDS = """
name: mine
kind: model-provider
profile: {{name: xiaomi, extends: xiaomi, base_url: "{url}"}}
"""
DECLARED = """
name: mine
profile: {{name: xiaomi, env_vars: [XIAOMI_API_KEY], base_url: "{url}"}}
"""

WAYS = [
    pytest.param("user", "mine", {"plugins/mine/plugin.yaml": EXTENDS}, id="three lines that extend it"),
    pytest.param("user", "mine", {"plugins/mine/plugin.yaml": DECLARED}, id="a manifest in its place"),
    pytest.param(
        "user",
        "mine",
        {"plugins/mine/plugin.yaml": DECLARED, "plugins/mine/__init__.py": BY_CLASS},
        id="a manifest and a class",
    ),
    pytest.param(
        "user",
        "model-providers/mine",
        {"plugins/model-providers/mine/__init__.py": BY_IMPORT},
        id="register_provider when it is imported",
    ),
    pytest.param(
        "user",
        "model-providers/mine",
        {"plugins/model-providers/mine/__init__.py": BY_REGISTER},
        id="register(ctx)",
    ),
    pytest.param("user", "model-providers/mine", {"plugins/model-providers/mine/__init__.py": BY_HOOK}, id="a hook"),
    pytest.param("legacy", "providers/xiaomi", {"providers/xiaomi.py": BY_IMPORT}, id="a legacy file"),
]


@pytest.fixture
def server():
    """The place that every override leads to."""
    with FakeProvider() as running:
        yield running


@pytest.fixture
def override(home, server):
    """Write the files of a way of overriding."""

    def write(files):
        for name, text in files.items():
            home.write(name, text.format(url=server.base_url))
        home.write(".env", "XIAOMI_API_KEY=k-of-the-user\n")

    return write


@pytest.fixture
def hermes(home):
    """Run ``hermes … --json`` as a process of its own, as a user does."""

    def run(*words):
        command = [sys.executable, "-m", "hermes_core.cli", *words, "--json"]
        environment = {**os.environ, "HERMES_HOME": str(home.path), "PYTHONWARNINGS": "error"}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return run


def listed(hermes):
    """Who offers the name now, by ``hermes providers list``."""
    (row,) = [row for row in hermes("providers", "list") if row["name"] == "xiaomi"]
    return row["tier"], row["plugin"], row["base_url"]


@pytest.mark.parametrize(("tier", "plugin", "files"), WAYS)
def test_an_override_is_what_a_call_goes_to(home, load_host, server, override, tier, plugin, files):
    """A call by the bundled provider's alias goes to the override, with the user's key."""
    override(files)
    result = load_host(config={"model": MODEL}).llm("program").complete(PING)
    (request,) = server.requests
    assert (result.text, result.provider) == ("pong", "xiaomi")
    assert (request.path, request.headers["authorization"]) == ("/v1/chat/completions", "Bearer k-of-the-user")
    assert ("mine" in request.body) == any("Mine" in text for text in files.values())


@pytest.mark.parametrize(("tier", "plugin", "files"), WAYS)
def test_an_override_is_shown_for_what_it_is_r04_07(home, hermes, server, override, tier, plugin, files):
    """``list`` names the winner's plugin and tier; ``explain`` adds its file, and whom it shadows."""
    override(files)
    winner, shadowed = hermes("providers", "explain", "mimo")
    where = home.path / next(iter(files))
    places = (str(where.parent), str(where))
    assert (tier, plugin, server.base_url) == listed(hermes)
    assert ("wins", tier, plugin, True) == (
        *(winner[key] for key in ("status", "tier", "plugin")),
        winner["source"] in places,
    )
    assert (shadowed["status"], shadowed["tier"], plugin in shadowed["reason"]) == ("shadowed", "bundled", True)


@pytest.mark.parametrize(("tier", "plugin", "files"), WAYS)
def test_a_disabled_override_gives_the_name_back(home, load_host, hermes, server, override, tier, plugin, files):
    """``hermes plugins disable`` gives the bundled provider its name back, says how to undo it, and that works."""
    override(files)
    assert listed(hermes)[0] == tier
    own = ("bundled", "model-providers/xiaomi", "https://api.xiaomimimo.com/v1")
    assert hermes("plugins", "disable", plugin)["state"] == "off"
    winner, off = hermes("providers", "explain", "xiaomi")
    assert (own, own[2]) == (listed(hermes), load_host().providers.get("mimo").base_url)
    assert ("bundled", "off", f"hermes plugins enable {plugin}") == (winner["tier"], off["status"], off["remedy"])
    hermes("plugins", "enable", plugin)
    assert (tier, plugin, server.base_url) == listed(hermes)


def test_an_override_of_an_override(home, hermes, load_host, server, override):
    """A user's three lines extend what a legacy file put in the bundled one's place; all three are explained."""
    override({"providers/xiaomi.py": BY_IMPORT.replace("env_vars=", "default_max_tokens=7, env_vars=")})
    home.plugin("mine", name="mine", profile={"name": "xiaomi", "extends": "xiaomi", "default_aux_model": "m-2"})
    profile = load_host().providers.get("mimo")
    assert (profile.base_url, profile.default_max_tokens, profile.default_aux_model) == (server.base_url, 7, "m-2")
    assert [(row["status"], row["tier"]) for row in hermes("providers", "explain", "xiaomi")] == [
        ("wins", "user"),
        ("shadowed", "legacy"),
        ("shadowed", "bundled"),
    ]
