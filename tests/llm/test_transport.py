"""The network: event loops, threads, forks, proxies, broken servers, TLS."""

from __future__ import annotations

import asyncio
import gc
import socket
import ssl
import struct
import threading
import time
import weakref
from base64 import b64encode
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import certifi
import pytest

from hermes_core import ProviderProfile
from hermes_core.errors import InvalidRequestError, ProviderTransportError, ResponseFormatError
from hermes_core.llm.async_transport import MOST_CONNECTING
from hermes_core.llm.transport import mapped_errors
from hermes_core.testing import FakeProvider

pytestmark = pytest.mark.usefixtures("quick_collection", "no_litter")
MESSAGES = [{"role": "user", "content": "ping"}]
LOAD_IN_SCRIPT = """
import asyncio, gc, os, sys, threading
from hermes_core import Host
MESSAGES = [{"role": "user", "content": "ping"}]
home, base_url = sys.argv[1:3]
host = Host.load(home, config={"model": {"provider": "custom", "base_url": base_url, "default": "m"}})
llm = host.llm("p")
async def ask():
    return (await llm.acomplete(MESSAGES, timeout=20)).text
"""


@pytest.fixture
def in_script(script, lane):
    """Run a script that has a host on the server, every warning an error; returns what it prints."""

    def run(text: str, **keywords: object) -> str:
        from textwrap import dedent

        return script(LOAD_IN_SCRIPT + dedent(text), lane.home, lane.server.base_url, **keywords)

    return run


async def ask(llm, **arguments):
    """One awaited call's text."""
    return (await llm.acomplete(MESSAGES, **arguments)).text


def test_a_host_outlives_its_event_loops_r24_01(lane):
    """Three ``asyncio.run`` in a row on one host are answered, and nothing is left to warn of."""
    llm = lane.llm()
    texts = []
    for _ in range(3):
        texts.append(asyncio.run(ask(llm)))
        gc.collect()
    assert texts == ["pong"] * 3


def test_event_loops_leave_no_noise_r24_01(in_script):
    """A program that runs three event loops, and ends without closing the host, prints no warning."""
    printed = in_script("""
        for _ in range(3):
            print(asyncio.run(ask()))
            gc.collect()
    """)
    assert printed.split() == ["pong"] * 3


def test_several_calls_in_each_loop_reuse_its_connections_r24_01(lane, raw_server):
    """Within a loop the connection is kept; the next loop opens its own."""
    server = raw_server.answering(lambda: "kept")
    llm = lane.bare_host(server.config).llm("p")

    async def three() -> None:
        for _ in range(3):
            assert await ask(llm, timeout=20) == "kept"

    asyncio.run(three())
    asyncio.run(three())
    assert server.accepted == 2


def test_a_closed_loop_is_no_trouble_for_another_thread_r24_02(lane):
    """A host used in loop A, then closed, is used in loop B of another thread."""
    llm = lane.llm()
    assert asyncio.run(ask(llm)) == "pong"
    with ThreadPoolExecutor(1) as thread:
        assert thread.submit(asyncio.run, ask(llm)).result(20) == "pong"


def test_a_loop_closed_the_hard_way_is_no_trouble_r24_02(in_script):
    """A loop that is closed without being shut down does not keep the next one from its answer."""
    printed = in_script(
        """
        loop = asyncio.new_event_loop()
        print(loop.run_until_complete(ask()))
        loop.close()
        thread = threading.Thread(target=lambda: print(asyncio.run(ask())))
        thread.start()
        thread.join()
    """,
        warnings="ignore",
    )
    assert printed.split() == ["pong"] * 2


def test_loops_in_two_threads_at_once_do_not_meet(lane):
    """Two event loops in two threads are served side by side."""
    llm = lane.llm()

    async def many() -> list[str]:
        return await asyncio.gather(*(ask(llm) for _ in range(20)))

    with ThreadPoolExecutor(2) as threads:
        found = [future.result(30) for future in [threads.submit(asyncio.run, many()) for _ in range(2)]]
    assert found == [["pong"] * 20] * 2


def test_finished_loops_are_let_go(lane):
    """A host that has served many event loops keeps none of them alive."""
    llm = lane.llm()
    loops = []

    async def once() -> None:
        loops.append(weakref.ref(asyncio.get_running_loop()))
        await ask(llm)

    for _ in range(5):
        asyncio.run(once())
    gc.collect()
    assert [loop() for loop in loops] == [None] * 5


def test_loops_closed_the_hard_way_are_let_go(in_script):
    """Loops that were never shut down keep neither themselves nor their connections."""
    printed = in_script(
        """
        for _ in range(20):
            loop = asyncio.new_event_loop()
            loop.run_until_complete(ask())
            loop.close()
        del loop
        gc.collect()
        print(len(host.engine._async_transport._loops))
    """,
        warnings="ignore",
    )
    assert int(printed) <= 2


def test_a_blocking_call_works_inside_a_running_loop_r24_04(lane):
    """``complete()`` in a coroutine blocks, and answers."""
    llm = lane.llm()

    async def main() -> str:
        return llm.complete(MESSAGES).text

    assert asyncio.run(main()) == "pong"


def test_both_ways_are_used_side_by_side_r24_04(lane):
    """Blocking and awaiting calls of one host mix in one program."""
    llm = lane.llm()

    async def main() -> list[str]:
        blocking = [asyncio.to_thread(lambda: llm.complete(MESSAGES).text) for _ in range(5)]
        return await asyncio.gather(*blocking, *(ask(llm) for _ in range(5)))

    assert asyncio.run(main()) == ["pong"] * 10


@pytest.fixture
def slow_server(raw_server):
    """A server that takes half a second to answer."""

    def late() -> str:
        time.sleep(0.5)
        return "slow"

    return raw_server.answering(late)


def test_an_awaiting_call_keeps_the_loop_ticking_r24_04(lane, slow_server, ticking):
    """While an awaiting call waits for its provider, the event loop does other work."""
    llm = lane.bare_host(slow_server.config).llm("p")
    assert ticking(lambda: ask(llm, timeout=20)) < 0.4


SLOW_TO_IMPORT = "import time\ntime.sleep(0.7)\n"
PROFILE = """
from hermes_core import ProviderProfile, hookimpl
@hookimpl
def hermes_provider_profiles(ctx):
    yield ProviderProfile("late", base_url={url!r}, auth_type="none", fallback_models=("m",))
"""


@pytest.mark.parametrize("calls_before", [0, 1], ids=["first-call", "later-call"])
def test_a_plugin_that_loads_slowly_does_not_stop_the_loop(lane, ticking, calls_before):
    """Plugins that a call has to import are imported off the event loop, at whichever call that is."""
    code = SLOW_TO_IMPORT + PROFILE.format(url=lane.server.base_url)
    lane.write("plugins/model-providers/late/__init__.py", code)
    lane.write("plugins/model-providers/late/plugin.yaml", "name: late\nprofile: {name: late}\n")
    llm = lane.llm(lane.granting(allow_provider_override=True, allowed_providers=["late"]))
    for _ in range(calls_before):
        asyncio.run(ask(llm))
    assert ticking(lambda: ask(llm, provider="late")) < 0.5


def test_a_plugin_that_declares_nothing_does_not_stop_the_loop(lane, ticking):
    """An enabled plugin that might offer anything is imported off the event loop."""
    lane.write("plugins/late/__init__.py", SLOW_TO_IMPORT + "def register(ctx): pass\n")
    lane.write("plugins/late/plugin.yaml", "name: late\n")
    llm = lane.llm({"plugins": {"enabled": ["late"]}})
    assert ticking(lambda: ask(llm)) < 0.5


def test_two_hundred_calls_at_once_are_all_answered(lane):
    """Concurrency costs no answer: every call has its own, and its own line."""
    llm = lane.llm()

    async def main() -> set[str]:
        return {*await asyncio.gather(*(ask(llm, timeout=60) for _ in range(200)))}

    assert asyncio.run(main()) == {"pong"}
    assert (len(lane.server.requests), len(lane.log())) == (200, 200)


class CountingLoop(asyncio.SelectorEventLoop):
    """An event loop that counts how many connections are being made at once."""

    now = most = 0

    async def create_connection(self, *args, **keywords):
        """Make one, a little slower than usual."""
        self.now += 1
        self.most = max(self.most, self.now)
        try:
            await asyncio.sleep(0.01)
            return await super().create_connection(*args, **keywords)
        finally:
            self.now -= 1


def test_a_server_is_not_asked_for_all_connections_at_once(lane):
    """Many calls at once connect in turns, so that no server drops some of them for want of room."""
    llm = lane.llm()

    async def main() -> None:
        await asyncio.gather(*(ask(llm, timeout=60) for _ in range(MOST_CONNECTING + 50)))

    with asyncio.Runner(loop_factory=CountingLoop) as runner:
        runner.run(main())
        assert 1 < runner.get_loop().most <= MOST_CONNECTING


@pytest.mark.slow
def test_two_thousand_calls_at_once_are_all_answered(lane):
    """Ten times as many are answered as well."""
    llm = lane.llm()

    async def main() -> list[str]:
        return await asyncio.gather(*(ask(llm, timeout=300) for _ in range(2000)))

    assert asyncio.run(main()) == ["pong"] * 2000


def test_sixty_four_threads_are_all_answered(lane):
    """Threads share a host: each call has its own answer, and its own line."""
    llm = lane.llm()
    together = threading.Barrier(64, timeout=30)

    def work(number: int) -> list[str]:
        together.wait()
        return [llm.complete(MESSAGES, purpose=f"{number}.{turn}", timeout=60).audit["purpose"] for turn in range(3)]

    with ThreadPoolExecutor(64) as threads:
        found = [purpose for purposes in threads.map(work, range(64)) for purpose in purposes]
    assert found == [f"{number}.{turn}" for number in range(64) for turn in range(3)]
    assert sorted(line["purpose"] for line in lane.log()) == sorted(found)


@pytest.mark.slow
def test_sixty_four_threads_keep_on_being_answered(lane):
    """Sixty-four threads of fifty calls each are answered without a failure."""
    llm = lane.llm()

    def work(_number: int) -> int:
        return sum(llm.complete(MESSAGES, timeout=120).text == "pong" for _ in range(50))

    with ThreadPoolExecutor(64) as threads:
        assert sum(threads.map(work, range(64))) == 64 * 50


def test_a_forked_child_starts_afresh(in_script):
    """After a fork, child and parent both go on calling, in both ways, on connections of their own."""
    printed = in_script("""
        def both():
            os.write(1, f"{llm.complete(MESSAGES).text} {asyncio.run(ask())}\\n".encode())
        both()
        child = os.fork()
        both()
        if child == 0:
            os._exit(0)
        os.write(1, b"%d\\n" % os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        both()
    """)
    assert printed.splitlines() == ["pong pong"] * 3 + ["0", "pong pong"]


@pytest.mark.slow
def test_a_fork_amid_calls_leaves_a_working_child(in_script):
    """A child forked while other threads were calling can call."""
    printed = in_script(
        """
        llm.complete(MESSAGES)  # a child can finish no import that another thread had begun
        stop = threading.Event()
        def busy():
            while not stop.is_set():
                llm.complete(MESSAGES)
        threads = [threading.Thread(target=busy) for _ in range(4)]
        [thread.start() for thread in threads]
        for _ in range(5):
            child = os.fork()
            if child == 0:
                import faulthandler
                faulthandler.dump_traceback_later(15, exit=True)
                os._exit(0 if llm.complete(MESSAGES, timeout=10).text == "pong" else 1)
            print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        stop.set()
        [thread.join() for thread in threads]
    """,
        warnings="ignore",
    )
    assert printed.split() == ["0"] * 5


def test_a_forked_childs_calls_are_in_the_log(in_script, lane):
    """A child's calls leave their lines in the home's log as the parent's do."""
    in_script("""
        llm.complete(MESSAGES, purpose="parent")
        child = os.fork()
        if child == 0:
            llm.complete(MESSAGES, purpose="child")
            os._exit(0)
        os.waitpid(child, 0)
    """)
    assert [line["purpose"] for line in lane.log()] == ["parent", "child"]


DEAD = "http://127.0.0.1:1"
PROXIES = {
    "http-proxy-r25_05": {"HTTP_PROXY": DEAD},
    "lower-case-r25_05": {"http_proxy": DEAD},
    "with-no_proxy-r25_01": {"HTTP_PROXY": DEAD, "NO_PROXY": "127.0.0.1"},
    "all-proxy": {"ALL_PROXY": DEAD},
    "socks-alias-r25_03": {"ALL_PROXY": "socks://127.0.0.1:1"},
    "socks5-r25_03": {"ALL_PROXY": "socks5://127.0.0.1:1"},
    "nonsense": {"HTTP_PROXY": "://"},
}


@pytest.mark.parametrize("variables", PROXIES.values(), ids=PROXIES)
def test_this_machine_is_never_reached_by_a_proxy(way, lane, monkeypatch, variables):
    """A proxy of any kind, dead or malformed, does not concern a loopback address."""
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert way.complete(lane.llm(), timeout=20).text == "pong"


@pytest.mark.parametrize("name", ["localhost", "LOCALHOST", "127.0.0.1", "127.0.0.2"])
def test_every_name_of_this_machine_is_loopback_r25_05(way, lane, monkeypatch, name):
    """The whole loopback net, and localhost in any case, go past the proxy."""
    monkeypatch.setenv("HTTP_PROXY", DEAD)
    base_url = lane.server.base_url.replace("127.0.0.1", name)
    if name == "127.0.0.2":  # the server is on the first address alone, so this one is refused, but by itself
        with pytest.raises(ProviderTransportError):
            way.complete(lane.llm({"model": {"base_url": base_url}}), timeout=20)
        return
    assert way.complete(lane.llm({"model": {"base_url": base_url}}), timeout=20).text == "pong"


def test_another_host_is_reached_by_the_proxy(way, lane, other_server, monkeypatch):
    """A request for another host goes to the proxy that the environment names, with the whole address."""
    monkeypatch.setenv("HTTP_PROXY", other_server.base_url.removesuffix("/v1"))
    llm = lane.llm({"model": {"base_url": "http://api.acme.test/v1"}})
    assert way.complete(llm, timeout=20).text == "pong"
    assert [request.path for request in other_server.requests] == ["http://api.acme.test/v1/chat/completions"]


class Together(FakeProvider):
    """A server, or a proxy, that answers nobody before so many have asked."""

    def __init__(self, many: int) -> None:
        super().__init__()
        self._all_here = threading.Barrier(many, timeout=20)

    def next_response(self, request):
        """Wait for the others."""
        self._all_here.wait()
        return super().next_response(request)


@pytest.mark.parametrize("is_proxied", [False, True], ids=["direct", "by-a-proxy"])
@pytest.mark.parametrize("awaits", [False, True], ids=["threads", "tasks"])
def test_no_call_waits_for_another_to_end(lane, monkeypatch, awaits, is_proxied):
    """As many calls as are made at once are under way at once, by a proxy too."""
    with Together(25) as server:
        base_url = server.base_url
        if is_proxied:
            monkeypatch.setenv("HTTP_PROXY", base_url.removesuffix("/v1"))
            base_url = "http://api.acme.test/v1"
        llm = lane.llm({"model": {"base_url": base_url}, "auxiliary": {"transient_retries": 0}})

        async def main() -> list[str]:
            return await asyncio.gather(*(ask(llm, timeout=60) for _ in range(25)))

        if awaits:
            texts = asyncio.run(main())
        else:
            with ThreadPoolExecutor(25) as threads:
                texts = [*threads.map(lambda _: llm.complete(MESSAGES, timeout=60).text, range(25))]
    assert texts == ["pong"] * 25


def test_a_proxy_with_a_login_is_given_it(way, lane, other_server, monkeypatch):
    """The user and password in a proxy's address go to the proxy, as Basic authorization."""
    address = other_server.base_url.removesuffix("/v1").replace("//", "//ann:pw%401@")
    monkeypatch.setenv("HTTP_PROXY", address)
    way.complete(lane.llm({"model": {"base_url": "http://api.acme.test/v1"}}), timeout=20)
    (request,) = other_server.requests
    assert request.headers["proxy-authorization"] == "Basic " + b64encode(b"ann:pw@1").decode()
    assert "authorization" not in request.headers


def test_a_host_is_told_its_own_name(way, lane, other_server, monkeypatch):
    """Each request has one Host header, with the port where it is not the usual one."""
    monkeypatch.setenv("HTTP_PROXY", other_server.base_url.removesuffix("/v1"))
    way.complete(lane.llm(), timeout=20)
    way.complete(lane.llm({"model": {"base_url": "http://api.acme.test/v1"}}), timeout=20)
    address = lane.server.base_url.removeprefix("http://").removesuffix("/v1")
    found = [server.requests[0].headers["host"] for server in (lane.server, other_server)]
    assert found == [address, "api.acme.test"]


def test_an_address_of_ipv6_is_reached(way, lane):
    """A base URL with a bracketed address is called, and told its name in brackets."""
    heard = []
    try:
        listener = socket.create_server(("::1", 0), family=socket.AF_INET6)
    except OSError:
        pytest.skip("no IPv6 on this machine")
    body = b'{"choices": [{"message": {"content": "six"}}]}'

    def serve() -> None:
        connection, _ = listener.accept()
        with connection:
            heard.append(connection.recv(65536))
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body))

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    with listener:
        port = listener.getsockname()[1]
        answer = way.complete(lane.llm({"model": {"base_url": f"http://[::1]:{port}/v1"}}), timeout=20)
        thread.join(10)
    assert (answer.text, b"\r\nHost: [::1]:%d\r\n" % port in heard[0]) == ("six", True)


def test_no_key_is_lost_on_the_way_through_a_proxy(way, lane, other_server, monkeypatch):
    """Through a proxy, a foreign host is still sent no key that is not its own."""
    monkeypatch.setenv("HTTP_PROXY", other_server.base_url.removesuffix("/v1"))
    monkeypatch.setenv("OPENAI_API_KEY", "sk-openai-1")
    monkeypatch.setenv("ACME_API_KEY", "k-acme-1")
    host = lane.host({"model": {"base_url": "http://api.acme.test/v1"}})
    way.complete(host.llm("p"), timeout=20)
    assert [request.headers.get("authorization") for request in other_server.requests] == ["Bearer k-acme-1"]


@pytest.mark.parametrize(
    "proxy", ["socks://127.0.0.1:1", "127.0.0.1:1", "ftp://127.0.0.1:1", "http://127.0.0.1:port", DEAD]
)
def test_a_proxy_that_is_needed_and_useless_is_a_clear_error_r25_03(way, lane, monkeypatch, proxy):
    """Where the proxy is needed, one that cannot be used is an error of the transport, not a bare ValueError."""
    monkeypatch.setenv("HTTP_PROXY", proxy)
    with pytest.raises(ProviderTransportError):
        way.complete(lane.llm({"model": {"base_url": "http://api.acme.test/v1"}}), timeout=20)


def test_a_proxys_password_is_told_to_nobody(way, lane, monkeypatch):
    """The password in a proxy's address is in no error."""
    monkeypatch.setenv("HTTP_PROXY", "gopher://ann:pass-word-1@127.0.0.1:1")
    with pytest.raises(ProviderTransportError) as caught:
        way.complete(lane.llm({"model": {"base_url": "http://api.acme.test/v1"}}), timeout=20)
    assert "pass-word-1" not in f"{caught.value!r}{caught.value}{getattr(caught.value, 'hint', '')}"


def sends(raw: bytes):
    """A handler that answers each connection with these bytes, and hangs up."""

    def handler(connection) -> None:
        connection.recv(65536)
        connection.sendall(raw)

    return handler


BROKEN = {
    "hangs-up": b"",
    "no-http": b"SSH-2.0-OpenSSH_9.6\r\n",
    "bad-status-line": b"HTTP/1.1 abc OK\r\n\r\n",
    "cut-off-in-the-headers": b"HTTP/1.1 200 OK\r\nContent-Le",
    "cut-off-in-the-body": b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf",
    "cut-off-between-chunks": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n",
    "bad-chunk": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
    "gzip-that-is-none": b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 5\r\n\r\nhello",
    "header-without-end": b"HTTP/1.1 200 OK\r\nX: " + b"a" * 200_000,
}


@pytest.mark.parametrize("raw", BROKEN.values(), ids=BROKEN)
def test_a_broken_answer_is_an_error_of_the_transport(way, lane, raw_server, raw):
    """Whatever breaks below HTTP is a ProviderTransportError that may be tried again, and one failed attempt."""
    llm = lane.bare_host(raw_server(sends(raw)).config).llm("p")
    with pytest.raises(ProviderTransportError) as caught:
        way.complete(llm, timeout=20)
    assert (caught.value.retryable, caught.value.provider) == (True, "custom")
    assert "127.0.0.1" in caught.value.hint
    assert [(line["status"], line["attempts"]) for line in lane.log()] == [("error:ProviderTransportError", "1")]


def test_a_connection_that_the_server_dropped_is_replaced(way, lane, raw_server):
    """A server that hangs up after each answer, without saying so, is asked again on a new connection."""
    body = b'{"choices": [{"message": {"content": "again"}}]}'
    server = raw_server(sends(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body)))
    llm = lane.bare_host(server.config).llm("p")
    texts = []
    for _ in range(3):
        texts.append(way.complete(llm, timeout=20).text)
        time.sleep(0.1)
    assert texts == ["again"] * 3


def reset(connection) -> None:
    """Hang up without taking leave."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


LEAVES = {
    "closes": (lambda connection: None, True),
    "resets": (reset, True),
    "begins-to-answer": (lambda connection: connection.sendall(b"HTTP/1.1 2"), False),
    "is-silent": (lambda connection: time.sleep(0.8), False),
}


@pytest.mark.parametrize(("leaves", "is_asked_again"), LEAVES.values(), ids=LEAVES)
@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_request_that_crossed_a_hang_up_is_sent_once_more(
    way, lane, raw_server, certificate, leaves, is_asked_again, scheme
):
    """What was sent on a kept connection, and met no word of an answer but its end, goes to a new connection, once."""
    body = b'{"choices": [{"message": {"content": "again"}}]}'
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)

    def answers_once(plain) -> None:
        with context.wrap_socket(plain, server_side=True) if scheme == "https" else plain as connection:
            connection.recv(65536)
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body))
            connection.recv(65536)
            leaves(connection)

    server = raw_server(answers_once)
    entry = {"base_url": server.base_url.replace("http:", f"{scheme}:"), "model": "m", "ssl_ca_cert": certificate}
    config = {"model": {"provider": "cellar"}, "providers": {"cellar": {**entry, "api_key": "k-123456"}}}
    host = lane.bare_host({**config, "auxiliary": {"transient_retries": 0}})

    async def twice() -> list[str]:
        llm = host.llm("p")
        return [await ask(llm, timeout=20), await ask(llm, timeout=0.5)]

    def texts() -> list[str]:
        if way.awaits:
            return asyncio.run(twice())
        return [host.llm("p").complete(MESSAGES, timeout=seconds).text for seconds in (20, 0.5)]

    if is_asked_again:
        assert texts() == ["again"] * 2
    else:
        with pytest.raises(ProviderTransportError):
            texts()
    host.close()
    assert server.accepted == 1 + is_asked_again


def test_a_new_connection_that_is_hung_up_on_is_no_second_request(way, lane, raw_server):
    """Only a kept connection can have been closed before; here the operator's retries decide."""
    server = raw_server(sends(b""))
    with pytest.raises(ProviderTransportError, match=r"no complete answer from 127\.0\.0\.1"):
        way.complete(lane.bare_host(server.config).llm("p"), timeout=20)
    assert server.accepted == 1


def test_a_connection_on_which_something_comes_unasked_is_not_used_again(lane, raw_server):
    """What a server says behind an answer, later, never stands for the answer of the next call; in both ways."""
    body = b'{"choices": [{"message": {"content": "asked"}}]}'

    def says_more(connection) -> None:
        connection.recv(65536)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body))
        time.sleep(0.1)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
        connection.recv(65536)

    server = raw_server(says_more)
    llm = lane.bare_host(server.config).llm("p")

    async def two() -> list[str]:
        texts = [await ask(llm, timeout=20)]
        await asyncio.sleep(0.3)
        return [*texts, await ask(llm, timeout=20)]

    texts = [llm.complete(MESSAGES, timeout=20).text]
    time.sleep(0.3)
    texts += [llm.complete(MESSAGES, timeout=20).text, *asyncio.run(two())]
    assert (texts, server.accepted) == (["asked"] * 4, 4)


@pytest.mark.parametrize("size", [10, 100_000, 5_000_000])
def test_a_request_arrives_whole(way, lane, size):
    """A request of any size arrives as it was sent, with its length."""
    messages = [{"role": "user", "content": "x" * size}]
    way.complete(lane.llm(), messages, timeout=60)
    (request,) = lane.server.requests
    assert (request.body["messages"], "transfer-encoding" in request.headers) == (messages, False)


def test_a_compressed_answer_is_read(way, lane, raw_server):
    """An answer in gzip is unpacked."""
    import gzip

    body = gzip.compress(b'{"choices": [{"message": {"content": "packed"}}]}')
    raw = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body)
    assert way.complete(lane.bare_host(raw_server(sends(raw)).config).llm("p"), timeout=20).text == "packed"


def endless(connection) -> None:
    """Answer without end."""
    connection.recv(65536)
    connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
    while True:
        connection.sendall(b"x" * 2**20)


def test_an_answer_without_end_is_an_error(way, lane, raw_server, monkeypatch):
    """More than any model says is not read to its end, by a proxy neither."""
    server = raw_server(endless)
    with pytest.raises(ResponseFormatError, match="64 MiB"):
        way.complete(lane.bare_host(server.config).llm("p"), timeout=60)
    monkeypatch.setenv("HTTP_PROXY", server.base_url)
    with pytest.raises(ResponseFormatError, match="64 MiB"):
        way.complete(lane.llm({"model": {"base_url": "http://api.acme.test/v1"}}), timeout=60)


@pytest.mark.parametrize("times", [1, 2])
def test_an_answer_that_unpacks_without_end_is_an_error(way, lane, raw_server, times):
    """Nor does a small answer become a large one in memory."""
    import gzip

    body = b" " * 100 * 2**20
    for _ in range(times):
        body = gzip.compress(body, 1)
    packed = b"Content-Encoding: %b\r\nContent-Length: %d\r\n\r\n%b" % (b", ".join([b"gzip"] * times), len(body), body)
    llm = lane.bare_host(raw_server(sends(b"HTTP/1.1 200 OK\r\n" + packed)).config).llm("p")
    with pytest.raises((ResponseFormatError, ProviderTransportError), match=r"64 MiB|more than once"):
        way.complete(llm, timeout=60)


def test_a_large_answer_is_read_whole(way, lane):
    """Eight megabytes come back as they were sent."""
    lane.server.answer("x" * 8_000_000)
    assert len(way.complete(lane.llm(), timeout=60).text) == 8_000_000


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirect_is_not_followed(way, lane, other_server, status):
    """A redirect is an error: neither the request nor its key goes to where it points."""
    location = f"{other_server.base_url}/chat/completions"
    lane.server.queue_response({}, status=status, headers={"Location": location})
    with pytest.raises(InvalidRequestError) as caught:
        way.complete(lane.llm({"model": {"api_key": "k-123456"}}))
    assert caught.value.status_code == status
    assert other_server.requests == []


def test_a_host_that_is_closed_twice_keeps_nothing_open(way, lane):
    """Closing lets go of every connection, and closing again does nothing."""
    host = lane.host()
    way.complete(host.llm("p"))
    host.close()
    host.close()


def test_hosts_keep_their_connections_apart(way, lane, tmp_path):
    """Closing one host leaves another's calls alone."""
    one = lane.host()
    two = lane.bare_host(lane.server.config, home=tmp_path / "two")
    way.complete(one.llm("p"))
    way.complete(two.llm("p"))
    one.close()
    assert way.complete(two.llm("p")).text == "pong"


def httpcore_errors() -> list[type[Exception]]:
    """Every error that httpcore documents."""
    import httpcore

    kinds = [getattr(httpcore, name) for name in httpcore.__all__]
    return [kind for kind in kinds if isinstance(kind, type) and issubclass(kind, Exception)]


@pytest.mark.parametrize("kind", httpcore_errors(), ids=lambda kind: kind.__name__)
def test_every_error_of_httpcore_becomes_one_of_ours(kind):
    """The seam to httpcore lets none of its errors through; a timeout becomes a TimeoutError."""
    with pytest.raises(ProviderTransportError) as caught, mapped_errors("http://a.test", 1):
        raise kind("so")
    assert isinstance(caught.value, TimeoutError) is ("Timeout" in kind.__name__)
    assert isinstance(caught.value.__cause__, kind) or caught.value.__cause__ is None


class TlsProvider(FakeProvider):
    """A provider behind a certificate."""

    def __init__(self, certificate: str) -> None:
        super().__init__()
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True, do_handshake_on_connect=False)
        self.base_url = self.base_url.replace("http:", "https:")
        self.config["model"]["base_url"] = self.base_url


@pytest.fixture
def tls_server(certificate):
    """A provider with a certificate that only those who are told trust."""
    with TlsProvider(certificate) as server:
        yield server


def test_a_server_without_a_trusted_certificate_gets_nothing(way, lane, tls_server):
    """A certificate that nobody vouches for ends the call before the request, and its key, is sent."""
    config = {"model": {**tls_server.config["model"], "api_key": "k-123456"}}
    with pytest.raises(ProviderTransportError, match="certificate"):
        way.complete(lane.bare_host(config).llm("p"), timeout=20)
    assert tls_server.requests == []


def test_a_certificate_that_the_environment_trusts_is_accepted(lane, tls_server, certificate, script):
    """SSL_CERT_FILE names who is trusted; plain and TLS addresses are served by one program, in both ways."""
    import os

    printed = script(
        LOAD_IN_SCRIPT + "print(llm.complete(MESSAGES).text, asyncio.run(ask()))",
        lane.home,
        tls_server.base_url,
        env={**os.environ, "SSL_CERT_FILE": certificate},
    )
    assert printed.split() == ["pong", "pong"]


def test_a_plain_transport_never_serves_tls(way, lane, tls_server):
    """A host that has spoken plain HTTP checks the certificate of its first TLS address all the same."""
    host = lane.host(lane.granting(allow_provider_override=True))
    way.complete(host.llm("p"))
    host.program_context().register_provider(
        ProviderProfile("acme", base_url=tls_server.base_url, auth_type="none", fallback_models=("m",))
    )
    with pytest.raises(ProviderTransportError, match="certificate"):
        way.complete(host.llm("p"), provider="acme", timeout=20)


def over_tls(server, **keys):
    """A configuration whose provider is served over TLS, with a key."""
    entry = {"base_url": server.base_url, "api_key": "k-123456", "model": "m", **keys}
    return {"model": {"provider": "cellar"}, "providers": {"cellar": entry}, "auxiliary": {"transient_retries": 0}}


def test_a_provider_may_have_certificates_of_its_own(way, lane, tls_server, certificate):
    """``ssl_ca_cert`` says whom to trust for one provider."""
    host = lane.bare_host(over_tls(tls_server, ssl_ca_cert=certificate))
    assert way.complete(host.llm("p"), timeout=20).text == "pong"


def test_trust_in_one_provider_is_none_in_another(way, lane, tls_server, certificate):
    """A provider that names no certificates is not served by another's, though both are asked by one host."""
    config = over_tls(tls_server, ssl_ca_cert=certificate)
    config["providers"]["attic"] = {"base_url": tls_server.base_url, "api_key": "k-2", "model": "m"}
    config["plugins"] = {"entries": {"p": {"llm": {"allow_provider_override": True}}}}
    host = lane.bare_host(config)
    assert way.complete(host.llm("p"), timeout=20).text == "pong"
    with pytest.raises(ProviderTransportError, match="certificate"):
        way.complete(host.llm("p"), provider="attic", timeout=20)


def test_checking_may_be_switched_off_and_is_warned_of(way, lane, tls_server, caplog):
    """``ssl_verify: false`` trusts whoever answers, and the operator is told."""
    config = over_tls(tls_server, ssl_verify=False)
    name = f"cellar-{way.complete_name}"  # said once a process and place
    config["model"]["provider"], config["providers"] = name, {name: config["providers"]["cellar"]}
    assert way.complete(lane.bare_host(config).llm("p"), timeout=20).text == "pong"
    assert f"providers.{name}.ssl_verify is false" in caplog.text


@pytest.mark.parametrize("name", ["HERMES_CA_BUNDLE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"])
def test_the_environment_may_name_certificates(way, lane, tls_server, certificate, monkeypatch, name):
    """The variables that other programs know name the certificates too."""
    monkeypatch.setenv(name, certificate)
    assert way.complete(lane.bare_host(over_tls(tls_server)).llm("p"), timeout=20).text == "pong"


def test_certificates_that_were_renewed_count(way, lane, tls_server, certificate, tmp_path):
    """A file of certificates that is replaced is read again by the next connection."""
    path = tmp_path / "ca.pem"
    path.write_bytes(Path(certifi.where()).read_bytes())
    host = lane.bare_host(over_tls(tls_server, ssl_ca_cert=str(path)))
    with pytest.raises(ProviderTransportError, match="certificate"):
        way.complete(host.llm("p"), timeout=20)
    path.write_bytes(Path(certificate).read_bytes())
    assert way.complete(host.llm("p"), timeout=20).text == "pong"


def test_certificates_that_are_not_there_are_named(way, lane, tls_server):
    """A file that holds no certificates is an error that names it and what to correct."""
    host = lane.bare_host(over_tls(tls_server, ssl_ca_cert="/nowhere/ca.pem"))
    with pytest.raises(ProviderTransportError, match=r"/nowhere/ca\.pem") as caught:
        way.complete(host.llm("p"), timeout=20)
    assert "ssl_ca_cert" in caught.value.hint
