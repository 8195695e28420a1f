"""A connection to one of a server's addresses, before a deadline."""

from __future__ import annotations

import socket
import threading
import time
from contextlib import ExitStack, suppress

import pytest

from hermes_core.llm.reach import reached

NAME = "api.acme.test"
SLACK = 1.0


def row(port: int):
    """A port of this machine, as the name service gives an address."""
    return (socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", ("127.0.0.1", port))


@pytest.fixture
def listener():
    """A server's socket."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener


@pytest.fixture
def refusing():
    """A port at which nobody listens, and nobody else will while the test runs."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield bound.getsockname()[1]


@pytest.fixture
def deaf():
    """A port at which nobody answers: as many wait to be let in as may."""
    with ExitStack() as stack:
        port = stack.enter_context(socket.create_server(("127.0.0.1", 0), backlog=0)).getsockname()[1]
        with suppress(TimeoutError):
            for _ in range(20):
                waiting = stack.enter_context(socket.socket())
                waiting.settimeout(0.1)
                waiting.connect(("127.0.0.1", port))
        yield port


def leads_to(*ports: int):
    """A name service that knows these addresses."""
    return lambda _host, _port, **_keywords: [*map(row, ports)]


def test_the_next_address_is_tried(listener, refusing):
    """A server of several addresses is reached though the first refuses."""
    port = listener.getsockname()[1]
    with reached(NAME, 80, time.monotonic() + 5, leads_to(refusing, port)) as found:
        assert found.getpeername()[1] == port


def test_a_silent_address_leaves_time_for_the_next(listener, deaf):
    """An address that does not answer gets its share of the time, and no more."""
    port = listener.getsockname()[1]
    with reached(NAME, 80, time.monotonic() + 1, leads_to(deaf, port)) as found:
        assert found.getpeername()[1] == port


def test_all_addresses_together_have_one_deadline(deaf):
    """However many addresses are silent, the deadline is that of all."""
    began = time.monotonic()
    with pytest.raises(TimeoutError):
        reached(NAME, 80, began + 0.6, leads_to(deaf, deaf, deaf))
    assert time.monotonic() - began < 0.6 + SLACK


def test_a_name_service_that_hangs_is_given_up_on():
    """Looking a name up is part of the call: it ends at the deadline too."""
    go_on, began = threading.Event(), time.monotonic()
    with pytest.raises(TimeoutError):
        reached(NAME, 80, began + 0.2, lambda *_names, **_keywords: go_on.wait(10))
    go_on.set()
    assert time.monotonic() - began < 0.2 + SLACK


def unknown(*_names: object, **_keywords: object):
    """A name service that knows nobody."""
    raise socket.gaierror(socket.EAI_NONAME, "not known")


@pytest.mark.parametrize("look_up", [unknown, leads_to()], ids=["unknown", "no-address"])
def test_a_name_that_leads_nowhere_is_an_error(look_up):
    """It is an OSError, as for every other way not to get there."""
    with pytest.raises(OSError, match=r"not known|no address"):
        reached(NAME, 80, time.monotonic() + 5, look_up)


def test_the_last_refusal_is_told(refusing):
    """When no address answers, the last one's error is raised."""
    with pytest.raises(ConnectionRefusedError):
        reached(NAME, 80, time.monotonic() + 5, leads_to(refusing, refusing))
