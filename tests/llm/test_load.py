"""Many calls at once on providers that fail now and then: each ends once, and everything adds up."""

import asyncio
import json
import os
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from hermes_core import Host
from hermes_core.errors import ProviderError
from hermes_core.llm.ledger import read_usage_of
from hermes_core.testing import FakeProvider, Reply

pytestmark = pytest.mark.slow

MESSAGES = [{"role": "user", "content": "ping"}]


class Unsteady(FakeProvider):
    """Every fifth request fails, each time in another way."""

    FAULTS = (
        Reply(500, body={"error": {"message": "no"}}),
        Reply(503, body="<html>busy</html>"),
        Reply(body="", status=0),
        Reply(headers={"Content-Type": "text/html"}, body="<html>hello</html>"),
    )

    def __init__(self):
        super().__init__()
        self.count = self.answered = 0
        self.counting = threading.Lock()

    def next_response(self, request):
        """A fault, or an answer; both are counted."""
        with self.counting:
            self.count += 1
            if self.count % 5 == 0:
                return self.FAULTS[self.count // 5 % len(self.FAULTS)]
            self.answered += 1
        return super().next_response(request)


@pytest.fixture
def servers(home):
    """Two providers with a key each; the second is the first one's fallback."""
    with Unsteady() as one, Unsteady() as two:
        for name, server in (("one", one), ("two", two)):
            profile = {"base_url": server.base_url, "env_vars": [f"{name.upper()}_KEY"], "fallback_models": ["m"]}
            home.plugin(name, name=name, profile=profile)
        home.write(".env", "ONE_KEY=key-of-one\nTWO_KEY=key-of-two")
        home.write(
            "config.yaml", json.dumps({"model": {"provider": "one"}, "fallback_providers": [{"provider": "two"}]})
        )
        yield {"one": one, "two": two}


def open_files():
    """How many files and sockets this process holds."""
    return len(os.listdir("/proc/self/fd"))


def by_threads(host):
    """Calls of 64 threads, 20 each: how each of them ended."""

    def call(_):
        try:
            return host.llm("p").complete(MESSAGES, timeout=60).text
        except ProviderError as error:
            return error

    with ThreadPoolExecutor(64) as threads:
        return list(threads.map(call, range(1280)))


def by_tasks(host):
    """A thousand calls awaited at once: how each of them ended."""

    async def gather():
        calls = (host.llm("p").acomplete(MESSAGES, timeout=60) for _ in range(1000))
        return await asyncio.gather(*calls, return_exceptions=True)

    return [ended if isinstance(ended, BaseException) else ended.text for ended in asyncio.run(gather())]


@pytest.mark.parametrize(("run", "calls"), [(by_threads, 1280), (by_tasks, 1000)], ids=["64-threads", "1000-tasks"])
def test_every_call_ends_once_and_everything_adds_up(home, servers, run, calls):
    """Each call ends in one answer or one typed error; keys go to their own provider; the ledger knows every token."""
    before = open_files()
    with Host.load(home.path) as host:
        ended = run(host)
    texts = [one for one in ended if one == "pong"]
    assert (len(ended), [one for one in ended if one != "pong" and not isinstance(one, ProviderError)]) == (calls, [])
    assert len(texts) > calls * 0.95
    keys = {name: {request.headers["authorization"] for request in server.requests} for name, server in servers.items()}
    assert keys == {"one": {"Bearer key-of-one"}, "two": {"Bearer key-of-two"}}
    (row,) = read_usage_of(home.path, "plugin")
    answered = sum(server.answered for server in servers.values())
    assert (row["calls"], row["calls"] - row["failed"], row["total_tokens"]) == (calls, len(texts), 6 * answered)
    assert len(texts) == answered
    assert open_files() <= before + 2
