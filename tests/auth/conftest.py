"""Credentials under test: a home with an ``auth.json``, a clock that stands still, and a login server."""

import json

import pytest

from hermes_core.auth.credentials import Credentials
from hermes_core.auth.keys import all_from_environment, key_variables
from hermes_core.config.environment import Environment
from hermes_core.config.settings import Config
from hermes_core.llm.transport import Transport
from hermes_core.providers.profile import ProviderProfile
from hermes_core.testing import FakeOAuth

NOW = 1_800_000_000.0


class Clock:
    """A clock that stands still until it is moved."""

    def __init__(self):
        self.now = NOW

    def __call__(self):
        return self.now


class AuthFile:
    """``auth.json`` of the active home."""

    def __init__(self, path):
        self.path = path

    def write(self, tree):
        """Write it: a tree as JSON, text and bytes as they are."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        content = (
            tree if isinstance(tree, bytes) else tree.encode() if isinstance(tree, str) else json.dumps(tree).encode()
        )
        self.path.write_bytes(content)

    def pool(self, *rows, provider="acme", **sections):
        """Write a store that holds one pool."""
        self.write({"version": 1, "credential_pool": {provider: list(rows)}, **sections})

    @property
    def tree(self):
        """What it holds now."""
        return json.loads(self.path.read_text())

    def rows(self, provider="acme"):
        """One pool's rows, by label."""
        return {row["label"]: row for row in self.tree["credential_pool"][provider]}


def key(label, priority=0, value=None, **fields):
    """A stored key's row."""
    return {
        "id": f"id-{label}",
        "label": label,
        "auth_type": "api_key",
        "priority": priority,
        "source": "manual",
        "access_token": f"k-{label}-1" if value is None else value,
        **fields,
    }


def login(label, access, refresh="refresh-1", priority=0, **fields):
    """A stored login's row."""
    return {
        **key(label, priority, access),
        "auth_type": "oauth",
        "source": "manual:device_code",
        "refresh_token": refresh,
        **fields,
    }


@pytest.fixture
def clock():
    """The time, as credentials are told it."""
    return Clock()


@pytest.fixture
def auth_file(home):
    """The home's ``auth.json``, not written yet."""
    return AuthFile(home.path / "auth.json")


@pytest.fixture
def owner(home, clock):
    """Make the credentials of the home, or of another, in an environment of its own."""

    def make(path=None, send=None, **variables):
        return Credentials(Environment(path or home.path, variables), send, clock)

    return make


@pytest.fixture
def pool_of(owner):
    """Make a provider's pool; keyword arguments in capitals are variables, the others the profile's fields."""

    def make(owner_=None, config=None, found=(), address="https://api.acme.test/v1", **fields):
        variables = {name: fields.pop(name) for name in [*fields] if name.isupper()}
        credentials = owner_ or owner(**variables)
        profile = ProviderProfile(
            "acme", **{"base_url": "https://api.acme.test/v1", "env_vars": ("FIRST_KEY", "SECOND_KEY"), **fields}
        )
        keys = [*found, *all_from_environment(key_variables(profile.env_vars), credentials.environment)]
        return credentials.pool(profile, keys, address=address, config=Config(tree=config or {}))

    return make


@pytest.fixture
def server():
    """A login server."""
    with FakeOAuth() as one:
        yield one


@pytest.fixture
def send():
    """The way to the login server."""
    transport = Transport()
    yield transport.send
    transport.close()
