"""A connection to one of a server's addresses before a deadline, however long the name service or an address is silent.

Blocking calls alone need it: an event loop has both.
"""

from __future__ import annotations

import socket
import time
from typing import TYPE_CHECKING, Any

from hermes_core.types.address import is_loopback

if TYPE_CHECKING:
    from collections.abc import Callable


def time_left(end: float) -> float:
    """Seconds left until then, by ``time.monotonic``.

    Raises:
        TimeoutError: None are.
    """
    left = end - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left


def reached(host: str, port: int, end: float, look_up: Callable[..., Any] = socket.getaddrinfo) -> socket.socket:
    """A socket that is connected to a host; each of its addresses but the last gets an equal share of the time.

    Raises:
        OSError: The name leads nowhere, or nobody answers; a TimeoutError when the time is over.
    """
    rows = _addresses(host, port, end, look_up)
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


def _addresses(host: str, port: int, end: float, look_up: Callable[..., Any]) -> list[tuple[Any, ...]]:
    """Every address that a host has; the name service is asked in a thread, which may outlast the wait for it."""
    if is_loopback(host):
        return list(look_up(host, port, type=socket.SOCK_STREAM))
    from concurrent.futures import Future
    from threading import Thread

    answer: Future[list[tuple[Any, ...]]] = Future()

    def ask() -> None:
        try:
            answer.set_result(look_up(host, port, type=socket.SOCK_STREAM))
        except BaseException as error:  # noqa: BLE001 - raised by whoever waits for it
            answer.set_exception(error)

    Thread(target=ask, name="hermes-lookup", daemon=True).start()
    return answer.result(time_left(end))
