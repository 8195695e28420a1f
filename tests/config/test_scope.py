"""Secrets of one context, in a program that serves several people."""

import asyncio
import threading
from contextvars import copy_context

import pytest

from hermes_core.config import scope
from hermes_core.config.environment import Environment
from hermes_core.errors import UnscopedSecretError
from hermes_core.llm.plan import Planner


@pytest.fixture
def environment(home):
    """A home with one key in its ``.env``, and another in the process."""
    home.write(".env", "FILE_KEY=k-of-the-file\nBOTH_KEY=k-of-the-file\n")
    variables = {"PROCESS_KEY": "k-of-the-process", "BOTH_KEY": "k-of-the-process", "HERMES_HOME": "/h", "PATH": "/bin"}
    return Environment(home.path, variables)


@pytest.fixture
def scoped():
    """Set a scope until the test ends."""
    tokens = []
    yield lambda **secrets: tokens.append(scope.set_secret_scope(secrets))
    for token in reversed(tokens):
        scope.reset_secret_scope(token)


@pytest.fixture
def several_people():
    """The process serves several people."""
    scope.set_multiplexing(True)
    yield
    scope.set_multiplexing(False)


ALONE = {
    "in the scope": ("BOTH_KEY", {"BOTH_KEY": " k-of-the-scope "}, "k-of-the-scope"),
    "not in the scope, so in the file": ("FILE_KEY", {"BOTH_KEY": "k-of-the-scope"}, "k-of-the-file"),
    "not in the scope, so in the process": ("PROCESS_KEY", {"BOTH_KEY": "k-of-the-scope"}, "k-of-the-process"),
    "no scope": ("BOTH_KEY", None, "k-of-the-file"),
    "empty in the scope": ("BOTH_KEY", {"BOTH_KEY": ""}, ""),
    "nobody's secret": ("PATH", {"PATH": "/evil"}, "/bin"),
    "a setting of the host": ("HERMES_HOME", {"HERMES_HOME": "/evil"}, "/h"),
}
SHARED = {
    "in the scope": ("BOTH_KEY", {"BOTH_KEY": "k-of-the-scope"}, "k-of-the-scope"),
    "not in the scope": ("FILE_KEY", {"BOTH_KEY": "k-of-the-scope"}, ""),
    "not in the scope, but in the process": ("PROCESS_KEY", {}, ""),
    "nobody's secret": ("PATH", {}, "/bin"),
    "nobody's secret, without a scope": ("PATH", None, "/bin"),
}


@pytest.mark.parametrize(("name", "secrets", "expected"), ALONE.values(), ids=ALONE)
def test_the_scope_comes_first(environment, scoped, name, secrets, expected):
    """A secret is looked up in the context's scope, in ``.env``, in the process."""
    if secrets is not None:
        scoped(**secrets)
    assert environment.credential(name) == expected


@pytest.mark.parametrize(("name", "secrets", "expected"), SHARED.values(), ids=SHARED)
def test_for_several_people_the_scope_is_all_there_is(environment, scoped, several_people, name, secrets, expected):
    """Where a process serves several people, nothing behind the scope gives a secret of somebody else's."""
    if secrets is not None:
        scoped(**secrets)
    assert environment.credential(name) == expected


def test_for_several_people_a_secret_needs_a_scope(environment, several_people):
    """Asking outside any scope fails, rather than give whatever the process has."""
    with pytest.raises(UnscopedSecretError, match="FILE_KEY was asked for outside any secret scope") as caught:
        environment.credential("FILE_KEY")
    assert (isinstance(caught.value, RuntimeError), "set_secret_scope" in caught.value.hint) == (True, True)


def test_scopes_nest(environment, scoped):
    """The inner scope counts until it is reset; what is changed in a mapping later does not."""
    secrets = {"BOTH_KEY": "k-outer-1"}
    scoped(**secrets)
    token = scope.set_secret_scope(secrets | {"BOTH_KEY": "k-inner-1"})
    inner = environment.credential("BOTH_KEY"), scope.current_secret_scope()
    scope.reset_secret_scope(token)
    assert (*inner, environment.credential("BOTH_KEY")) == ("k-inner-1", {"BOTH_KEY": "k-inner-1"}, "k-outer-1")


def test_a_scope_belongs_to_its_context(environment, scoped):
    """Tasks have scopes of their own; a thread has none, unless it runs in a copy of the context."""

    async def task(value):
        scope.set_secret_scope({"BOTH_KEY": value})
        await asyncio.sleep(0)
        return environment.credential("BOTH_KEY")

    async def both():
        return await asyncio.gather(task("k-one-1"), task("k-two-2"))

    assert asyncio.run(both()) == ["k-one-1", "k-two-2"]
    scoped(BOTH_KEY="k-scope-1")
    seen = []

    def look():
        seen.append(environment.credential("BOTH_KEY"))

    context = copy_context()
    for run in (look, lambda: context.run(look)):
        thread = threading.Thread(target=run)
        thread.start()
        thread.join(30)
    assert seen == ["k-of-the-file", "k-scope-1"]


def test_a_configuration_is_nobodys_in_particular(home, load_host, scoped, several_people):
    """``${NAME}`` in config.yaml is the home's own, whoever is served, so that all share one configuration."""
    home.write(".env", "MY_KEY=k-of-the-home\n")
    home.config({"model": {"provider": "custom", "api_key": "${MY_KEY}"}})
    host = load_host()
    before = host.config()
    scoped(MY_KEY="k-of-ann")
    assert (host.config() is before, before.get("model", "api_key")) == (True, "k-of-the-home")


def test_a_call_uses_the_scopes_key(home, load_host, scoped):
    """The key that a model call sends is that of the scope it is made in."""
    home.config({"model": {"provider": "openai", "default": "m"}})
    scoped(OPENAI_API_KEY="k-of-ann")
    host = load_host()
    pool = Planner.of(host).pool(host.config(), "openai")
    assert pool.select().value == "k-of-ann"


def test_plugins_look_secrets_up_under_the_originals_name(home, scoped):
    """``agent.secret_scope`` gives what the current host's home gives, or the default, and is redacted from then on."""
    from agent.secret_scope import get_secret, get_secret_str

    from hermes_core.config.redact import redact

    home.write(".env", "SHIMMED_KEY=k-through-the-shim\n")
    found = (
        get_secret("SHIMMED_KEY"),
        get_secret("NO_SUCH_KEY"),
        get_secret("NO_SUCH_KEY", 5),
        get_secret_str("NO_SUCH_KEY"),
    )
    scoped(SHIMMED_KEY="k-in-the-scope")
    assert (*found, get_secret_str("SHIMMED_KEY")) == ("k-through-the-shim", None, 5, "", "k-in-the-scope")
    assert redact("k-through-the-shim k-in-the-scope") == "[redacted] [redacted]"
