"""The route that is kept from call to call: whatever it was planned by may change, and counts from the next call."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from hermes_core import Host, ProviderProfile
from hermes_core.auth.store import AuthStore
from hermes_core.config.scope import reset_secret_scope, set_secret_scope
from hermes_core.errors import HermesError

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


HERE_URL, THERE_URL = "https://here.acme.test/v1", "https://there.acme.test/v1"
NAMES = st.sampled_from(["ONE_KEY", "TWO_KEY", "REF"])
KEYS = st.sampled_from(["", "k-aaaa-1111", "k-bbbb-2222"])
LIMITS = st.sampled_from(["", "7", "8"])
MODEL_KEYS = {
    "provider": ["acme", "beta", "own", "ACME", "acme"],
    "default": ["m", "n"],
    "base_url": [None, HERE_URL, THERE_URL, "${URL}"],
    "api_key": [None, "k-config-1", "${REF}"],
    "key_env": [None, "REF"],
    "extra_headers": [None, {"X-A": "1"}, {"X-A": "${REF}"}],
    "max_tokens": [None, 5],
}
ENTRIES = [
    {},
    {"own": {"base_url": THERE_URL, "api_key": "k-own-1234", "model": "q"}},
    {"own": {"base_url": "${URL}", "key_env": "REF", "model": "q"}},
    {"acme": {"base_url": THERE_URL, "key_env": "REF", "ssl_verify": False}},
    {"acme": {"enabled": False}},
    {"acme": {"request_timeout_seconds": 9, "extra_body": {"a": 1}}},
]
TASKS = [{}, {"model": "t"}, {"provider": "beta", "model": "b"}, {"reasoning_effort": "high"}]
POOLS = [
    [],
    [{"id": "aaaaaa", "source": "manual", "auth_type": "api_key", "access_token": "k-stored-1"}],
    [{"id": "bbbbbb", "source": "manual", "auth_type": "api_key", "access_token": "k-stored-2", "priority": 9}],
]
FIELDS = {
    "base_url": [HERE_URL, THERE_URL],
    "env_vars": [("ONE_KEY",), ("TWO_KEY", "ONE_KEY")],
    "unavailable": ["", "x"],
}
WHAT_COUNTS = (
    "provider", "model", "base_url", "headers", "max_tokens", "api_mode", "accepts_images", "reasoning", "extra_body",
    "settings", "timeout", "tls",
)  # fmt: skip
VARIABLES = ("ONE_KEY", "TWO_KEY", "REF", "URL", "HERMES_MAX_TOKENS", "HERMES_INFERENCE_PROVIDER", "SSL_CERT_FILE")


class Edits(RuleBasedStateMachine):
    """A home that is edited in every way; a host that was there before plans as one that is loaded anew."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.home, self.managed = Path(self.folder.name) / "home", Path(self.folder.name) / "managed"
        self.managed.mkdir()
        self.tree: dict = {"model": {"provider": "acme", "default": "m"}}
        self.fields: dict[str, object] = {}
        self.files: dict[Path, dict[str, str]] = {self.home: {"ONE_KEY": "k-one-1234"}, self.managed: {}}
        self.scope: dict[str, str] | None = None
        self.before = {name: os.environ.pop(name, None) for name in (*VARIABLES, "HERMES_MANAGED_DIR")}
        os.environ["HERMES_MANAGED_DIR"] = str(self.managed)
        for name, url, key in (("acme", HERE_URL, "ONE_KEY"), ("beta", THERE_URL, "TWO_KEY")):
            path = self.home / "plugins" / name / "plugin.yaml"
            path.parent.mkdir(parents=True)
            path.write_text(json.dumps({"name": name, "profile": {"base_url": url, "env_vars": [key]}}))
        self.configure()
        self.write_variables(self.home)
        self.host = self.loaded()

    def teardown(self) -> None:
        """Put everything back."""
        self.host.close()
        for name, value in self.before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value
        self.folder.cleanup()

    def loaded(self) -> Host:
        """A host of the home."""
        return Host.load(self.home, say=lambda line: None)

    def configure(self) -> None:
        """Write the configuration."""
        (self.home / "config.yaml").write_text(json.dumps(self.tree))

    def write_variables(self, folder: Path) -> None:
        """Write a ``.env``."""
        (folder / ".env").write_text(
            "".join(f"{name}={value}\n" for name, value in self.files[folder].items() if value)
        )

    @rule(key=st.sampled_from([*MODEL_KEYS]), data=st.data())
    def model(self, key, data) -> None:
        """A key of ``model`` changes, or goes."""
        self.tree["model"][key] = data.draw(st.sampled_from(MODEL_KEYS[key]))
        self.tree["model"] = {key: value for key, value in self.tree["model"].items() if value is not None}
        self.configure()

    @rule(entries=st.sampled_from(ENTRIES))
    def entries(self, entries) -> None:
        """What is said of providers changes."""
        self.tree["providers"] = entries
        self.configure()

    @rule(task=st.sampled_from(TASKS))
    def task(self, task) -> None:
        """What is said of plugins' calls changes."""
        self.tree["auxiliary"] = {"plugin": task}
        self.configure()

    @rule(model=st.sampled_from([{}, {"default": "managed"}, {"provider": "beta"}]))
    def administrator(self, model) -> None:
        """What the administrator prescribes changes."""
        (self.managed / "config.yaml").write_text(json.dumps({"model": model}))

    @rule(is_managed=st.booleans(), name=NAMES, value=KEYS, limit=LIMITS)
    def file_of_variables(self, is_managed, name, value, limit) -> None:
        """A ``.env`` changes."""
        folder = self.managed if is_managed else self.home
        self.files[folder].update({name: value, "HERMES_MAX_TOKENS": limit})
        self.write_variables(folder)

    @rule(name=NAMES, value=KEYS)
    def variable(self, name, value) -> None:
        """A key of the process changes."""
        os.environ[name] = value

    @rule(
        change=st.sampled_from(
            [
                ("HERMES_MAX_TOKENS", ""), ("HERMES_MAX_TOKENS", "9"), ("HERMES_INFERENCE_PROVIDER", ""),
                ("HERMES_INFERENCE_PROVIDER", "beta"), ("URL", HERE_URL), ("URL", THERE_URL), ("URL", ""),
                ("SSL_CERT_FILE", "/etc/one.pem"), ("SSL_CERT_FILE", ""),
            ]
        )
    )  # fmt: skip
    def setting(self, change) -> None:
        """Another variable of the process changes, or goes."""
        name, value = change
        os.environ.pop(name, None)
        if value:
            os.environ[name] = value

    @rule(entries=st.sampled_from(POOLS))
    def pool(self, entries) -> None:
        """Keys are stored, or taken away."""
        with AuthStore(self.home).changing() as tree:
            tree["credential_pool"] = {"acme": entries}

    @rule(scope=st.sampled_from([None, {}, {"ONE_KEY": "k-scope-1"}, {"ONE_KEY": "k-scope-2"}]))
    def person(self, scope) -> None:
        """Calls are made for another one."""
        self.scope = scope

    @rule(name=st.sampled_from([*FIELDS]), data=st.data())
    def profile(self, name, data) -> None:
        """The program changes the provider's profile."""
        self.fields[name] = data.draw(st.sampled_from(FIELDS[name]))

    def planned(self, host: Host) -> object:
        """The route of a call that chooses nothing, or the error."""
        profile = host.providers.get("acme")
        for name, value in self.fields.items() if profile is not None else ():
            setattr(profile, name, value)
        token = None if self.scope is None else set_secret_scope(self.scope)
        try:
            route = host.engine._usual_route.plan(host.config())
        except HermesError as error:
            return type(error).__name__, str(error)
        finally:
            if token is not None:
                reset_secret_scope(token)
        return [getattr(route, name) for name in WHAT_COUNTS], route.credential.value, route.credential.source

    @invariant()
    def is_as_fresh(self) -> None:
        """What the old host does, and does once more, is what a new one does."""
        found = self.planned(self.host)
        with self.loaded() as fresh:
            assert [found, self.planned(self.host)] == [self.planned(fresh)] * 2


def test_edits_in_any_order_count_at_once():
    """Whatever is edited, in whatever order, a kept route is that of a host that has just been loaded."""
    run_state_machine_as_test(
        Edits,
        settings=settings(max_examples=15, stateful_step_count=25, deadline=None, suppress_health_check=[*HealthCheck]),
    )
