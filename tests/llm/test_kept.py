"""The route that is kept from call to call: whatever it was planned by may change, and counts from the next call."""

from __future__ import annotations

import json
import os

import pytest

from hermes_core import ProviderProfile
from hermes_core.auth.store import AuthStore
from hermes_core.config.scope import reset_secret_scope, set_secret_scope

MESSAGES = [{"role": "user", "content": "ping"}]


class Scene:
    """A home whose configuration names a provider that a plugin of two keys declares."""

    def __init__(self, lane, server, other_server) -> None:
        self.lane = lane
        self.servers = {"here": server, "there": other_server}
        self.declare(server)
        self.configure(default="m")
        self.set_keys(one="k-one-1234")
        self.host = lane.bare_host(None)

    def declare(self, server) -> None:
        """Write the plugin."""
        block = {"base_url": server.base_url, "env_vars": ["ONE_KEY", "TWO_KEY"]}
        self.lane.write("plugins/acme/plugin.yaml", json.dumps({"name": "acme", "profile": block}))

    def configure(self, **model: object) -> None:
        """Write the configuration."""
        self.lane.config_file({"model": {"provider": "acme", **model}, "auxiliary": {"transient_retries": 0}})

    def set_keys(self, **keys: str) -> None:
        """Write ``.env``."""
        self.lane.write(".env", "".join(f"{name.upper()}_KEY={key}\n" for name, key in keys.items()))

    def sent(self) -> tuple[str, str, str, int | None]:
        """Where a call goes, its key, its model and its limit."""
        self.host.llm("p").complete(MESSAGES)
        for name, server in self.servers.items():
            for request in server.requests:
                server.requests.clear()
                key = request.headers.get("authorization", "").removeprefix("Bearer ")
                return name, key, request.body["model"], request.body.get("max_tokens")
        raise AssertionError

    @property
    def profile(self) -> ProviderProfile:
        """The provider's profile."""
        return self.host.providers.get("acme")


@pytest.fixture
def scene(lane, server, other_server):
    """A host that has answered twice, so that its route is kept."""
    scene = Scene(lane, server, other_server)
    assert [scene.sent(), scene.sent()] == [("here", "k-one-1234", "m", None)] * 2
    assert scene.host.engine._usual_route._kept is not None
    return scene


def test_a_route_is_kept_while_nothing_changes(scene):
    """Calls that nothing has changed between are planned once."""
    kept = scene.host.engine._usual_route._kept
    scene.sent()
    assert scene.host.engine._usual_route._kept is kept


def refused(scene: Scene) -> None:
    """The provider refuses the first key."""
    scene.set_keys(one="k-one-1234", two="k-two-1234")
    scene.sent()
    scene.servers["here"].queue_response({"error": {"message": "no"}}, status=401)
    scene.sent()  # is answered with the second key


def stored(scene: Scene) -> None:
    """Somebody stores a key."""
    with AuthStore(scene.lane.home).changing() as tree:
        tree["credential_pool"] = {
            "acme": [{"id": "aaaaaa", "source": "manual", "auth_type": "api_key", "access_token": "k-stored-1"}]
        }


def offered(scene: Scene) -> None:
    """The program offers a provider of the same name."""
    base_url = scene.servers["there"].base_url
    scene.host.program_context().register_provider(ProviderProfile("acme", base_url=base_url, auth_type="none"))


def reloaded(scene: Scene) -> None:
    """The plugin is edited and loaded anew."""
    scene.declare(scene.servers["there"])
    scene.host.reload("acme")


CHANGES = {
    "config-file": (lambda scene: scene.configure(default="other"), ("here", "k-one-1234", "other", None)),
    "address": (
        lambda scene: scene.configure(default="m", base_url=scene.servers["there"].base_url, api_key="k-there-1"),
        ("there", "k-there-1", "m", None),
    ),
    "env-file": (lambda scene: scene.set_keys(one="k-new-1234"), ("here", "k-new-1234", "m", None)),
    "variable": (lambda scene: os.environ.update(HERMES_MAX_TOKENS="77"), ("here", "k-one-1234", "m", 77)),
    "key-refused": (refused, ("here", "k-two-1234", "m", None)),
    "key-stored": (stored, ("here", "k-stored-1", "m", None)),
    "provider-offered": (offered, ("there", "", "m", None)),
    "plugin-reloaded": (reloaded, ("there", "k-one-1234", "m", None)),
    "profile-changed": (
        lambda scene: setattr(scene.profile, "base_url", scene.servers["there"].base_url),
        ("there", "k-one-1234", "m", None),
    ),
}


@pytest.mark.parametrize(("change", "expected"), CHANGES.values(), ids=CHANGES)
def test_every_change_counts_from_the_next_call(scene, monkeypatch, change, expected):
    """The configuration, keys and variables, plugins and profiles: the call after the edit goes by it."""
    monkeypatch.setenv("HERMES_MAX_TOKENS", "")  # so that it is put back
    change(scene)
    assert [scene.sent(), scene.sent()] == [expected] * 2


def test_a_key_of_the_process_counts_from_the_next_call(scene, monkeypatch):
    """A variable that was not set when the route was planned is seen when it is."""
    scene.set_keys()
    monkeypatch.setenv("TWO_KEY", "k-two-1234")
    assert scene.sent()[1] == "k-two-1234"
    monkeypatch.setenv("ONE_KEY", "k-one-5678")
    assert scene.sent()[1] == "k-one-5678"


def test_a_scope_has_keys_of_its_own(scene):
    """A route that was planned for one of several people is not another's."""
    for key in ("k-of-ann-1", "k-of-bob-1"):
        token = set_secret_scope({"ONE_KEY": key})
        try:
            assert scene.sent()[1] == key
        finally:
            reset_secret_scope(token)
    assert scene.sent()[1] == "k-one-1234"


def test_a_host_that_code_names_is_asked_for_at_each_call(scene):
    """A profile that finds its host itself is asked each time, as it may be another one."""
    names = iter(["127.0.0.1", "localhost", "127.0.0.1"])

    class Moving(ProviderProfile):
        def get_hostname(self) -> str:
            return next(names)

    moving = Moving("acme", base_url=scene.servers["there"].base_url, auth_type="none")
    scene.host.program_context().register_provider(moving)
    hosts = []
    for _ in range(3):
        scene.host.llm("p").complete(MESSAGES)
        hosts.append(scene.servers["there"].requests[-1].headers["host"].partition(":")[0])
    assert hosts == ["127.0.0.1", "localhost", "127.0.0.1"]
