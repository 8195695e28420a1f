"""A real HTTP server on this machine that answers like a provider."""

from __future__ import annotations

import json
import socket
import struct
import threading
import time
from collections import deque
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, Self
from urllib.parse import parse_qsl

from hermes_core.testing.answers import answer_body, completion_body
from hermes_core.types.wire import merged_headers

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, kw_only=True)
class ReceivedRequest:
    """What the server was sent.

    Attributes:
        method: ``GET`` or ``POST``.
        path: With its query.
        headers: By lower-case name.
        body: The JSON value in the body, or the fields of a form, or None.
    """

    method: str
    path: str
    headers: dict[str, str]
    body: Any = None


class Reply(NamedTuple):
    """What the server does about one request.

    Attributes:
        status: The status of its answer; with 0 there is none, and the connection is broken off.
        headers: More headers, or others than the usual ones.
        body: A string or bytes as they are, all else as JSON.
        delay: Seconds before it answers at all.
        drip: Seconds before each byte of the body.
        cut: How many bytes of the body are sent before the connection is broken off; None for all, and no break.

    Example:
        >>> Reply(503, {"Retry-After": "1"}, "busy").status
        503
    """

    status: int = 200
    headers: Mapping[str, str] = MappingProxyType({})
    body: Any = ""
    delay: float = 0.0
    drip: float = 0.0
    cut: int | None = None


class FakeProvider:
    """A server that answers ``pong`` until told otherwise, and fails when told to.

    It is OpenAI-compatible, and answers in every other wire format of the host's own that it is asked in.

    Attributes:
        base_url: Its address, with ``/v1``.
        requests: Every request it got, in order.
        config: What makes a host use it: ``Host.load(config=server.config)``. Such a host repeats nothing of itself,
            so that a failure which was queued is one that the plugin sees.

    Example:
        >>> import httpx
        >>> with FakeProvider() as server:
        ...     answer = httpx.post(f"{server.base_url}/chat/completions", json={"model": "m", "messages": []})
        >>> answer.json()["choices"][0]["message"]["content"]
        'pong'
    """

    def __init__(self) -> None:
        self.requests: list[ReceivedRequest] = []
        self.models = ["fake-model"]
        self._text = "pong"
        self._queue: deque[Reply] = deque()
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.provider = self
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        self.base_url = f"http://127.0.0.1:{self._server.server_port}/v1"
        self.config: dict[str, dict[str, object]] = {
            "model": {"provider": "custom", "base_url": self.base_url, "default": "fake-model"},
            "auxiliary": {"transient_retries": 0},
        }

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_exc: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def answer(self, text: str) -> None:
        """Answer every later request with ``text``."""
        self._text = text

    def queue(self, *texts: str) -> None:
        """Answer the next requests with these, one each, before the usual answer."""
        for text in texts:
            self.queue_response(completion_body(text))

    def queue_response(
        self,
        body: Any,
        *,
        status: int = 200,
        headers: Mapping[str, str] | None = None,
        delay: float = 0.0,
        drip: float = 0.0,
        cut: int | None = None,
    ) -> None:
        """Answer the next request in a way of your own; the arguments are the fields of ``Reply``.

        Example:
            >>> with FakeProvider() as server:
            ...     server.queue_response({"error": {"message": "slow down"}}, status=429, headers={"Retry-After": "2"})
            ...     server.queue_response("<html>maintenance</html>", headers={"Content-Type": "text/html"})
            ...     server.queue_response(completion_body("pong"), cut=20)  # half an answer, then a reset connection
        """
        self._queue.append(Reply(status, headers or {}, body, delay, drip, cut))

    def next_response(self, request: ReceivedRequest) -> Reply:
        """What to do about a request; override it to answer by what was asked."""
        if self._queue:
            return self._queue.popleft()
        if request.method == "GET":
            models = [{"id": model, "object": "model"} for model in self.models]
            return Reply(body={"object": "list", "data": models})
        model = request.body.get("model", "") if isinstance(request.body, dict) else ""
        return Reply(body=answer_body(request.path, self._text, model=model))


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 1024
    provider: FakeProvider

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that goes away is no news."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server

    def do_GET(self) -> None:
        self._respond()

    def do_POST(self) -> None:
        self._respond()

    def log_message(self, *_args: object) -> None:
        """Tests read ``requests`` instead."""

    def _respond(self) -> None:
        raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        try:
            is_form = self.headers.get_content_type() == "application/x-www-form-urlencoded"
            body = dict(parse_qsl(raw.decode())) if is_form else json.loads(raw) if raw else None
        except ValueError:
            body = None
        request = ReceivedRequest(
            method=self.command,
            path=self.path,
            headers={name.lower(): value for name, value in self.headers.items()},
            body=body,
        )
        provider = self.server.provider
        provider.requests.append(request)
        reply = provider.next_response(request)
        body = reply.body if isinstance(reply.body, bytes | str) else json.dumps(reply.body)
        content = body.encode() if isinstance(body, str) else body
        time.sleep(reply.delay)
        if not reply.status:
            self._break_off()
            return
        self.send_response(reply.status)
        usual = {"Content-Type": "application/json"}
        for name, value in merged_headers(usual, reply.headers, {"Content-Length": str(len(content))}).items():
            self.send_header(name, value)
        self.end_headers()
        step = 1 if reply.drip else max(len(content), 1)
        for at in range(0, len(content[: reply.cut]), step):
            time.sleep(reply.drip)
            self.wfile.write(content[: reply.cut][at : at + step])
        if reply.cut is not None:
            self._break_off()

    def _break_off(self) -> None:
        """End the connection as a dying server does: with a reset."""
        self.wfile.flush()
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()
        self.close_connection = True
