"""One deadline over everything, against servers that take their time; and cancelling a call."""

from __future__ import annotations

import asyncio
import ssl
import threading
import time
from contextlib import suppress

import pytest

from hermes_core import ProviderProfile
from hermes_core.errors import ProviderTimeoutError, ProviderTransportError

pytestmark = pytest.mark.usefixtures("quick_collection", "no_litter")
MESSAGES = [{"role": "user", "content": "ping"}]
SLACK = 1.5
"""Seconds a busy machine may add."""


def silent(connection) -> None:
    """Reads, and never says a word."""
    while connection.recv(65536):
        pass


def drips_its_headers(connection) -> None:
    """One byte of a header at a time."""
    connection.recv(65536)
    for byte in b"HTTP/1.1 200 OK\r\nX-Slow: " + b"a" * 60:
        connection.sendall(bytes([byte]))
        time.sleep(0.1)


def drips_its_body(connection) -> None:
    """One byte of the body at a time."""
    connection.recv(65536)
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 80\r\n\r\n")
    for _ in range(80):
        connection.sendall(b" ")
        time.sleep(0.1)


def drips_its_chunks(connection) -> None:
    """A chunk of one byte at a time, without end in sight."""
    connection.recv(65536)
    connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    for _ in range(80):
        connection.sendall(b"1\r\n \r\n")
        time.sleep(0.1)


def stops_in_the_headers(connection) -> None:
    """Begins an answer, and falls silent."""
    connection.recv(65536)
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Le")
    silent(connection)


SERVERS = [silent, drips_its_headers, drips_its_body, drips_its_chunks, stops_in_the_headers, None]
IDS = [
    "silent-r23_03", "drips-headers-r23_04", "drips-body-r23_04", "drips-chunks-r23_04", "stops-in-headers",
    "never-accepts-r23_02",
]  # fmt: skip


@pytest.mark.parametrize("handler", SERVERS, ids=IDS)
def test_a_slow_server_is_given_up_on_in_time(way, lane, raw_server, handler):
    """However a server fails to answer, the call ends at its deadline with a TimeoutError, and one line says so."""
    llm = lane.bare_host(raw_server(handler).config).llm("p")
    began = time.monotonic()
    with pytest.raises(ProviderTimeoutError) as caught:
        way.complete(llm, timeout=0.5)
    assert time.monotonic() - began < 0.5 + SLACK
    assert isinstance(caught.value, TimeoutError)
    assert (caught.value.provider, caught.value.retryable) == ("custom", True)
    (line,) = lane.log()
    assert (line["status"], line["tokens"], line["attempts"]) == ("error:ProviderTimeoutError", "0", "1")


def test_a_server_that_reads_slowly_is_given_up_on_in_time(way, lane, raw_server):
    """Sending is bounded too: a large request that is taken in crumbs ends at the deadline."""

    def reads_in_crumbs(connection) -> None:
        for _ in range(60):
            connection.recv(20_000)
            time.sleep(0.1)

    llm = lane.bare_host(raw_server(reads_in_crumbs).config).llm("p")
    messages = [{"role": "user", "content": "x" * 20_000_000}]
    began = time.monotonic()
    with pytest.raises(ProviderTimeoutError):
        way.complete(llm, messages=messages, timeout=1)
    assert time.monotonic() - began < 1 + SLACK


def test_a_server_that_reads_slowly_over_tls_is_given_up_on_in_time(way, lane, raw_server, certificate):
    """So is sending by TLS, which goes in many pieces."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)

    def reads_in_crumbs(plain) -> None:
        with context.wrap_socket(plain, server_side=True) as connection:
            for _ in range(100):
                connection.recv(2000)
                time.sleep(0.02)

    server = raw_server(reads_in_crumbs)
    entry = {"base_url": server.base_url.replace("http:", "https:"), "model": "m", "api_key": "k-123456"}
    config = {"model": {"provider": "cellar"}, "providers": {"cellar": {**entry, "ssl_ca_cert": certificate}}}
    messages = [{"role": "user", "content": "x" * 20_000_000}]
    began = time.monotonic()
    with pytest.raises(ProviderTimeoutError):
        way.complete(lane.bare_host(config).llm("p"), messages=messages, timeout=1)
    assert time.monotonic() - began < 1 + SLACK


def test_a_handshake_without_end_is_given_up_on_in_time(way, lane, raw_server):
    """A server that accepts and never speaks TLS ends the call at its deadline."""
    server = raw_server(silent)
    config = {"model": {**server.config["model"], "base_url": server.base_url.replace("http:", "https:")}}
    began = time.monotonic()
    with pytest.raises(ProviderTimeoutError):
        way.complete(lane.bare_host(config).llm("p"), timeout=0.5)
    assert time.monotonic() - began < 0.5 + SLACK


def test_an_answer_that_stops_late_gets_no_second_deadline(way, lane, raw_server):
    """Time spent on the headers is gone for the body: the phases share one deadline."""

    def late(connection) -> None:
        connection.recv(65536)
        time.sleep(1.7)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n")
        silent(connection)

    llm = lane.bare_host(raw_server(late).config).llm("p")
    began = time.monotonic()
    with pytest.raises(ProviderTimeoutError):
        way.complete(llm, timeout=2)
    assert time.monotonic() - began < 2 + 1.2


def test_a_timeout_names_the_seconds_that_were_given(way, lane, raw_server):
    """The error tells the deadline as the caller wrote it."""
    llm = lane.bare_host(raw_server(silent).config).llm("p")
    with pytest.raises(ProviderTimeoutError, match=r"within 0\.3 s"):
        way.complete(llm, timeout=0.3)


def test_a_refused_connection_is_no_timeout(way, lane, raw_server):
    """Where nobody listens, the call fails at once with an error that may be tried again."""
    server = raw_server(silent)
    server.close()
    llm = lane.bare_host(server.config).llm("p")
    began = time.monotonic()
    with pytest.raises(ProviderTransportError) as caught:
        way.complete(llm, timeout=20)
    assert time.monotonic() - began < 10
    assert not isinstance(caught.value, TimeoutError)
    assert caught.value.retryable
    assert [line["status"] for line in lane.log()] == ["error:ProviderTransportError"]


def test_a_slow_answer_within_the_deadline_is_an_answer(way, lane, raw_server):
    """A trickle that ends in time is no failure."""

    def trickle(connection) -> None:
        connection.recv(65536)
        body = b'{"choices": [{"message": {"content": "slow"}}]}'
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body))
        for byte in body:
            connection.sendall(bytes([byte]))
            time.sleep(0.005)

    assert way.complete(lane.bare_host(raw_server(trickle).config).llm("p"), timeout=20).text == "slow"


class SlowToOpen(ProviderProfile):
    """A profile whose endpoint takes longer than the call may."""

    def open_endpoint(self, host):
        time.sleep(0.8)
        return "http://127.0.0.1:9/v1", ""


def test_time_spent_on_opening_counts(way, lane):
    """What opening an endpoint takes is part of the one deadline: nothing is sent when it is over."""
    host = lane.bare_host({"model": {"provider": "acme", "default": "m"}})
    host.program_context().register_provider(SlowToOpen("acme", auth_type="none"))
    with pytest.raises(ProviderTimeoutError, match=r"within 0\.3 s"):
        way.complete(host.llm("p"), timeout=0.3)


def test_an_awaiting_call_does_not_wait_for_a_slow_endpoint(lane):
    """A step that blocks in a thread is given up on when the deadline of an awaiting call passes."""
    release = threading.Event()

    class Stuck(ProviderProfile):
        def open_endpoint(self, host):
            release.wait(5)

    host = lane.bare_host({"model": {"provider": "acme", "default": "m", "base_url": lane.server.base_url}})
    host.program_context().register_provider(Stuck("acme", auth_type="none"))

    async def main() -> float:
        began = time.monotonic()
        try:
            with pytest.raises(ProviderTimeoutError):
                await host.llm("p").acomplete(MESSAGES, timeout=0.3)
            return time.monotonic() - began
        finally:
            release.set()

    assert asyncio.run(main()) < 0.3 + SLACK


RESOLUTION = {
    "nothing-means-30-seconds": ({}, None, 30),
    "argument-beats-all": ({"plugin": {"timeout": 50}}, 7, 7),
    "argument-may-be-longer": ({"plugin": {"timeout": 5}}, 70, 70),
    "configured-for-plugins": ({"plugin": {"timeout": 50}}, None, 50),
    "configured-under-the-alias": ({"plugin_llm": {"timeout": 50}}, None, 50),
    "plugin-beats-its-alias": ({"plugin": {"timeout": 40}, "plugin_llm": {"timeout": 50}}, None, 40),
    "text-is-a-number": ({"plugin": {"timeout": "45"}}, None, 45),
    "half-seconds": ({"plugin": {"timeout": 2.5}}, None, 2.5),
    "another-tasks-does-not-count": ({"compression": {"timeout": 120}}, None, 30),
    "zero-is-no-timeout": ({"plugin": {"timeout": 0}}, None, 30),
    "negative-is-no-timeout": ({"plugin": {"timeout": -1}}, None, 30),
    "word-is-no-timeout": ({"plugin": {"timeout": "long"}}, None, 30),
    "true-is-no-timeout": ({"plugin": {"timeout": True}}, None, 30),
    "null-is-no-timeout": ({"plugin": {"timeout": None}}, None, 30),
    "list-is-no-timeout": ({"plugin": {"timeout": [5]}}, None, 30),
    "infinity-is-no-timeout": ({"plugin": {"timeout": float("inf")}}, None, 30),
    "not-a-number-is-no-timeout": ({"plugin": {"timeout": float("nan")}}, None, 30),
    "task-that-is-no-mapping": ({"plugin": 5}, None, 30),
    "section-that-is-no-mapping": ([5], None, 30),
}


@pytest.mark.parametrize(("auxiliary", "asked", "seconds"), RESOLUTION.values(), ids=RESOLUTION)
def test_the_timeout_is_the_most_specific_one_r23_05(way, lane, wires_to, auxiliary, asked, seconds):
    """The argument, else ``auxiliary.plugin.timeout``, else 30 seconds; what is no time is passed over."""
    host = lane.host({"auxiliary": auxiliary})
    transport = wires_to(host)
    way.complete(host.llm("p"), timeout=asked)
    (given,) = transport.timeouts
    assert seconds - 5 < given <= seconds


def test_a_very_long_timeout_is_one(way, lane):
    """A timeout longer than any clock can wait means no more than it says."""
    assert way.complete(lane.llm(), timeout=1e12).text == "pong"


def test_a_new_default_counts_from_the_next_call(way, lane, wires_to):
    """An edit of ``auxiliary.plugin.timeout`` needs no restart."""
    host = lane.host()
    transport = wires_to(host)
    way.complete(host.llm("p"))
    lane.config_file({"auxiliary": {"plugin": {"timeout": 99}}})
    way.complete(host.llm("p"))
    assert [round(given, -1) for given in transport.timeouts] == [30, 100]


def test_a_cancelled_call_hangs_up_and_says_so_r24_05(lane, raw_server):
    """Cancelling a pending acomplete raises CancelledError, closes its connection and writes one line."""
    asked, hung_up = threading.Event(), threading.Event()

    def waits(connection) -> None:
        with suppress(ConnectionError):
            while connection.recv(65536):
                asked.set()
        hung_up.set()

    host = lane.bare_host(raw_server(waits).config)

    async def main() -> None:
        task = asyncio.create_task(host.llm("p").acomplete(MESSAGES, timeout=30))
        assert await asyncio.to_thread(asked.wait, 10)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await asyncio.to_thread(hung_up.wait, 10)

    asyncio.run(main())
    (line,) = lane.log()
    assert (line["status"], line["tokens"]) == ("error:CancelledError", "0")


def test_a_callers_own_timeout_is_respected(lane, raw_server):
    """``asyncio.timeout`` round a call ends it as the caller's TimeoutError, with one line."""
    host = lane.bare_host(raw_server(silent).config)

    async def main() -> None:
        async with asyncio.timeout(0.3):
            await host.llm("p").acomplete(MESSAGES, timeout=30)

    with pytest.raises(TimeoutError) as caught:
        asyncio.run(main())
    assert not isinstance(caught.value, ProviderTimeoutError)
    assert len(lane.log()) == 1


def test_after_a_timeout_the_next_call_is_answered(way, lane, raw_server):
    """A connection that timed out is not used again."""
    waits, release = iter([10, 0]), threading.Event()

    def slow_at_first() -> str:
        release.wait(next(waits))
        return "second"

    llm = lane.bare_host(raw_server.answering(slow_at_first).config).llm("p")
    with pytest.raises(ProviderTimeoutError):
        way.complete(llm, timeout=0.4)
    assert way.complete(llm, timeout=20).text == "second"
    release.set()


def test_ctrl_c_ends_a_call_and_leaves_its_line(lane, wires_to):
    """KeyboardInterrupt goes through a blocking call, whose line tells it."""

    def interrupted(_request):
        raise KeyboardInterrupt

    host = lane.host()
    wires_to(host, interrupted)
    with pytest.raises(KeyboardInterrupt):
        host.llm("p").complete(MESSAGES)
    assert [line["status"] for line in lane.log()] == ["error:KeyboardInterrupt"]
