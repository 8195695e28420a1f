"""The model lane under test: a home, a provider's server, and every way to call.

``lane`` loads hosts on a server that answers ``pong``; ``way`` is the blocking or the awaiting pair of methods,
``call`` any of the four; ``wires_to`` puts a fake in the transport's place; ``raw_server`` misbehaves below HTTP.
"""

from __future__ import annotations

import asyncio
import gc
import json
import re
import shutil
import socket
import subprocess
import sys
import threading
import time
from contextlib import ExitStack, suppress
from pathlib import Path
from textwrap import dedent

import pytest

from hermes_core import Host
from hermes_core.config.settings import merge
from hermes_core.llm.plan import Planner
from hermes_core.llm.route import Route
from hermes_core.llm.trust import Overrides
from hermes_core.testing import FakeProvider
from hermes_core.types.wire import HttpResponse

MESSAGES = [{"role": "user", "content": "ping"}]
TEXT_BLOCK = {"type": "text", "text": "ping"}
FIELD = re.compile(r'(\w+)=("[^"]*"|\S*)')
LINE = re.compile(r"^\S+ \S+ INFO agent\.plugin_llm: plugin_llm\.(\w+) (.*)$")


@pytest.fixture(scope="module")
def quick_collection():
    """What was there before this module is not looked through again and again."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.fixture
def no_litter():
    """What a test leaves open is found while it still has the test's name on it."""
    yield
    gc.collect()


class Server(FakeProvider):
    """A provider's server that tests share; each begins with a fresh one."""

    def reset(self) -> None:
        """Forget the last test."""
        self.requests.clear()
        self._queue.clear()
        self.answer("pong")

    @property
    def bodies(self) -> list:
        """What the requests said."""
        return [request.body for request in self.requests]


@pytest.fixture(scope="session")
def shared_servers():
    """Two servers, started once."""
    with Server() as one, Server() as other:
        yield one, other


@pytest.fixture
def server(shared_servers) -> Server:
    """The server that the configuration names."""
    shared_servers[0].reset()
    return shared_servers[0]


@pytest.fixture
def other_server(shared_servers) -> Server:
    """A server of somebody else's."""
    shared_servers[1].reset()
    return shared_servers[1]


class Lane:
    """A home, its hosts and its audit log."""

    def __init__(self, home: Path, server: Server, stack: ExitStack) -> None:
        self.home = home
        self.server = server
        self._stack = stack

    def host(self, config: dict | None = None, **keywords: object) -> Host:
        """A host of the home on the server, ``config`` laid over; closed when the test ends."""
        return self.bare_host(merge(self.server.config, config or {}), **keywords)

    def bare_host(self, config: dict | None = None, home: Path | None = None, **keywords: object) -> Host:
        """A host with this configuration alone."""
        keywords.setdefault("say", lambda line: None)
        return self._stack.enter_context(Host.load(home or self.home, config=config, **keywords))

    def llm(self, config: dict | None = None, plugin: str = "p") -> object:
        """A plugin's model surface on such a host."""
        return self.host(config).llm(plugin)

    def granting(self, **llm: object) -> dict:
        """Configuration that holds this ``llm`` section for plugin ``p``."""
        return {"plugins": {"entries": {"p": {"llm": llm}}}}

    def write(self, relative: str, text: str) -> Path:
        """Write a file of the home, its text dedented."""
        path = self.home / relative
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text), encoding="utf-8")
        return path

    def config_file(self, tree: dict) -> Path:
        """Write ``config.yaml``."""
        return self.write("config.yaml", json.dumps(tree))

    def log_text(self, home: Path | None = None) -> str:
        """What ``agent.log`` holds."""
        path = (home or self.home) / "logs" / "agent.log"
        return path.read_text(encoding="utf-8") if path.exists() else ""

    def log(self, home: Path | None = None) -> list[dict[str, str]]:
        """The audit's lines, each as its fields, ``event`` first."""
        found = [LINE.match(line) for line in self.log_text(home).splitlines()]
        assert all(found), self.log_text(home)
        return [
            {"event": match[1], **{name: value.strip('"') for name, value in FIELD.findall(match[2])}}
            for match in found
        ]


@pytest.fixture
def lane(tmp_path, server):
    """A home whose hosts use the server."""
    home = tmp_path / "home"
    home.mkdir()
    with ExitStack() as stack:
        yield Lane(home, server, stack)


class Way:
    """The blocking pair of methods, or the awaiting one run to its end."""

    def __init__(self, *, awaits: bool) -> None:
        self.awaits = awaits
        self.complete_name = "acomplete" if awaits else "complete"
        self.structured_name = f"{self.complete_name}_structured"

    def complete(self, llm, messages=MESSAGES, **arguments):
        """A chat call."""
        return self._run(getattr(llm, self.complete_name)(messages, **arguments))

    def structured(self, llm, **arguments):
        """A structured call; instructions and input go without saying."""
        arguments = {"instructions": "Do it.", "input": [TEXT_BLOCK], **arguments}
        return self._run(getattr(llm, self.structured_name)(**arguments))

    def _run(self, answer):
        return asyncio.run(_awaited(answer)) if self.awaits else answer


async def _awaited(answer):
    return await answer


@pytest.fixture(params=["sync", "async"])
def way(request) -> Way:
    """Both ways: what holds for the blocking methods holds for their twins."""
    return Way(awaits=request.param == "async")


class Call:
    """One of the four methods, asked for the least it takes."""

    def __init__(self, method: str) -> None:
        self.method = method
        self.is_structured = method.endswith("_structured")
        self._way = Way(awaits=method.startswith("a"))

    def __call__(self, llm, **arguments):
        return (self._way.structured if self.is_structured else self._way.complete)(llm, **arguments)


@pytest.fixture(params=["complete", "complete_structured", "acomplete", "acomplete_structured"])
def call(request) -> Call:
    """All four methods."""
    return Call(request.param)


class FakeTransport:
    """Takes requests in the network's place; ``answer`` says what comes back."""

    def __init__(self, answer) -> None:
        self.answer = answer
        self.timeouts: list[float] = []
        self.requests: list = []

    def send(self, request, timeout, tls=None):
        """Remember the request, and answer."""
        self.timeouts.append(timeout)
        self.requests.append(request)
        return self.answer(request)

    def close(self) -> None:
        """Nothing is open."""


class FakeAsyncTransport(FakeTransport):
    """The same, awaited."""

    async def send(self, request, timeout, tls=None):
        """Remember the request, and answer."""
        return super().send(request, timeout)


@pytest.fixture
def wires_to():
    """Give a host's engine a fake transport for both ways; returns what it is sent."""

    def put(host, answer=None, *, text: str = "pong") -> FakeTransport:
        body = {"choices": [{"message": {"content": text}}]}
        reply = answer or (lambda _request: HttpResponse(status=200, headers={}, body=json.dumps(body).encode()))
        plain, awaited = FakeTransport(reply), FakeAsyncTransport(reply)
        awaited.timeouts, awaited.requests = plain.timeouts, plain.requests
        host.engine._transport, host.engine._async_transport = plain, awaited
        return plain

    return put


class RawServer:
    """A server that does what ``handler`` does with each connection."""

    def __init__(self, handler) -> None:
        self._handler = handler
        self._socket = socket.create_server(("127.0.0.1", 0))
        self._open: list[socket.socket] = []
        self._threads = [threading.Thread(target=self._accept, daemon=True)]
        self.port = self._socket.getsockname()[1]
        self.base_url = f"http://127.0.0.1:{self.port}/v1"
        self.config = {
            "model": {"provider": "custom", "base_url": self.base_url, "default": "m"},
            "auxiliary": {"transient_retries": 0},
        }
        self.accepted = 0
        if handler is not None:
            self._threads[0].start()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            self.accepted += 1
            self._open.append(connection)
            thread = threading.Thread(target=self._handle, args=(connection,), daemon=True)
            self._threads.append(thread)
            thread.start()

    def _handle(self, connection: socket.socket) -> None:
        with suppress(OSError), connection:
            self._handler(connection)

    def close(self) -> None:
        """Hang up on everybody."""
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        for connection in self._open:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            if thread.ident is not None:
                thread.join(10)


def request_arrives(connection: socket.socket) -> bool:
    """Read one whole request; whether there was one."""
    data = b""
    while b"\r\n\r\n" not in data:
        read = connection.recv(65536)
        if not read:
            return False
        data += read
    head, _, body = data.partition(b"\r\n\r\n")
    length = int(re.search(rb"content-length: (\d+)", head, re.IGNORECASE)[1])
    while len(body) < length:
        body += connection.recv(65536)
    return True


@pytest.fixture
def raw_server():
    """Start servers that handle a bare connection; with None, one that never accepts.

    ``answering(respond)`` starts one that keeps each connection and answers a request with ``respond()``: bytes as
    they are, text as the answer of a model.
    """
    servers = []

    def start(handler) -> RawServer:
        servers.append(RawServer(handler))
        return servers[-1]

    def answering(respond) -> RawServer:
        def handler(connection: socket.socket) -> None:
            while request_arrives(connection):
                answer = respond()
                if isinstance(answer, str):
                    body = json.dumps({"choices": [{"message": {"content": answer}}]}).encode()
                    answer = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body)
                connection.sendall(answer)

        return start(handler)

    start.answering = answering
    yield start
    for one in servers:
        one.close()


@pytest.fixture
def script():
    """Run a script in a Python of its own, every warning an error; returns what it prints."""

    def run(text: str, *arguments: object, warnings: str = "error", seconds: float = 60, **keywords: object) -> str:
        command = [sys.executable, "-W", warnings, "-c", dedent(text), *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds, check=False, **keywords)
        assert (done.returncode, done.stderr) == (0, ""), done.stderr
        return done.stdout

    return run


@pytest.fixture
def route_of():
    """The one route that a host's configuration, and what a plugin overrides, leads to."""

    def plan(host: Host, **overrides: str) -> Route:
        planner = Planner.of(host)
        return planner.route(host.config(), Overrides(**overrides))

    return plan


class Clock:
    """A clock that stands still until it is told."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    """A clock for a ``Deadline``."""
    return Clock()


class Ticker:
    """Counts how long an event loop was ever kept from its work."""

    longest = 0.0

    async def run(self) -> None:
        """Tick until cancelled."""
        last = time.monotonic()
        while True:
            await asyncio.sleep(0.01)
            self.longest = max(self.longest, time.monotonic() - last)
            last = time.monotonic()


@pytest.fixture
def ticking():
    """Await something while an event loop's longest pause is measured; returns it in seconds."""

    def measure(make) -> float:
        async def main() -> float:
            ticker = Ticker()
            task = asyncio.create_task(ticker.run())
            await asyncio.sleep(0.05)
            await make()
            await asyncio.sleep(0.05)
            task.cancel()
            return ticker.longest

        return asyncio.run(main())

    return measure


@pytest.fixture(scope="session")
def certificate(tmp_path_factory):
    """A certificate for this machine, and for names that end in ``pictures.test``, that nobody has signed."""
    if shutil.which("openssl") is None:
        pytest.skip("no openssl to make a certificate with")
    path = tmp_path_factory.mktemp("tls") / "both.pem"
    command = (
        "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 30 -subj /CN=127.0.0.1 "
        f"-addext subjectAltName=IP:127.0.0.1,DNS:pictures.test,DNS:*.pictures.test -keyout {path}.key -out {path}.crt"
    )
    subprocess.run(command.split(), check=True, capture_output=True)
    path.write_text(path.with_suffix(".pem.key").read_text() + path.with_suffix(".pem.crt").read_text())
    return str(path)
