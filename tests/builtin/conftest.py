"""A provider, and calls to it through a host that has a bundled plugin enabled."""

import asyncio

import pytest

from hermes_core.testing import FakeProvider

MESSAGES = [{"role": "user", "content": "ping"}]


@pytest.fixture
def until():
    """Let the event loop run until something has happened, for some seconds at most."""

    async def wait(happened):
        for _ in range(500):
            if happened():
                return
            await asyncio.sleep(0.01)
        pytest.fail("it did not happen")

    return wait


@pytest.fixture
def server():
    """A running provider."""
    with FakeProvider() as server:
        yield server


@pytest.fixture
def host_with(load_host, server):
    """Load a host in which a bundled plugin is enabled, with these settings."""

    def load(plugin, *, enabled=(), model=None, entries=None, **settings):
        plugins = {"enabled": [plugin, *enabled], "entries": {plugin: {"settings": settings}, **(entries or {})}}
        llm = {"model": {**server.config["model"], **(model or {})}, "auxiliary": {"transient_retries": 0}}
        return load_host(config={**llm, "plugins": plugins})

    return load


@pytest.fixture(params=["blocking", "awaiting"])
def ask(request):
    """Make a call, blocking or awaited: structured where it has ``input``."""

    def run(host, plugin="caller", messages=MESSAGES, **arguments):
        method = "complete_structured" if "input" in arguments else "complete"
        if method == "complete":
            arguments = {"messages": messages, **arguments}
        if request.param == "blocking":
            return getattr(host.llm(plugin), method)(**arguments)
        return asyncio.run(getattr(host.llm(plugin), f"a{method}")(**arguments))

    return run
