"""A connection to one of a server's addresses before a deadline, whoever is silent; ``async_reach`` is its twin."""

from __future__ import annotations

import socket
import threading
from typing import TYPE_CHECKING, Any

from hermes_core.llm.steps import time_left
from hermes_core.types.address import is_loopback

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future


def reached(host: str, port: int, end: float, look_up: Callable[..., Any] = socket.getaddrinfo) -> socket.socket:
    """A socket that is connected to a host; each of its addresses but the last gets an equal share of the time.

    Raises:
        OSError: The name leads nowhere, or nobody answers; a TimeoutError when the time is over.
    """
    rows = looked_up(host, port, look_up).result(time_left(end))
    for number, (family, kind, protocol, _, address) in enumerate(rows, 1):
        found = socket.socket(family, kind, protocol)
        try:
            found.settimeout(time_left(end) / (len(rows) - number + 1))
            found.connect(address)
        except BaseException as error:
            found.close()
            if number == len(rows) or not isinstance(error, OSError):
                raise
        else:
            return found
    message = f"{host} has no address"
    raise OSError(message)


def looked_up(host: str, port: int, look_up: Callable[..., Any]) -> Future[list[tuple[Any, ...]]]:
    """Every address that a host has; the name service is asked in a thread, which may outlast the wait for it."""
    from concurrent.futures import Future

    answer: Future[list[tuple[Any, ...]]] = Future()

    def ask() -> None:
        if not answer.set_running_or_notify_cancel():
            return
        try:
            answer.set_result(look_up(host, port, type=socket.SOCK_STREAM))
        except BaseException as error:  # noqa: BLE001 - raised by whoever waits for it
            answer.set_exception(error)

    if is_loopback(host):
        ask()
    else:
        threading.Thread(target=ask, name="hermes-lookup", daemon=True).start()
    return answer
