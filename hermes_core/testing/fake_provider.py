"""A real HTTP server on this machine that answers like a provider."""

from __future__ import annotations

import json
import threading
from collections import deque
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import parse_qsl

from hermes_core.types.wire import merged_headers


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


class FakeProvider:
    """An OpenAI-compatible server; it answers ``pong`` until told otherwise.

    Attributes:
        base_url: Its address, with ``/v1``.
        requests: Every request it got, in order.
        config: What makes a host use it: ``Host.load(config=server.config)``.

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
        self._queue: deque[tuple[int, dict[str, str], Any]] = deque()
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.provider = self
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        self.base_url = f"http://127.0.0.1:{self._server.server_port}/v1"
        self.config = {"model": {"provider": "custom", "base_url": self.base_url, "default": "fake-model"}}

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

    def queue_response(self, body: Any, *, status: int = 200, headers: dict[str, str] | None = None) -> None:
        """Answer the next request with a body of your own: a string as it is, all else as JSON."""
        self._queue.append((status, headers or {}, body))

    def next_response(self, request: ReceivedRequest) -> tuple[int, dict[str, str], Any]:
        """Status, headers and body for a request; override it to answer by what was asked."""
        if self._queue:
            return self._queue.popleft()
        if request.method == "GET":
            return 200, {}, {"object": "list", "data": [{"id": model, "object": "model"} for model in self.models]}
        model = request.body.get("model", "") if isinstance(request.body, dict) else ""
        return 200, {}, completion_body(self._text, model=model)


def completion_body(text: str, *, model: str = "fake-model") -> dict[str, Any]:
    """The body of a chat completion that says ``text``."""
    return {
        "id": "chatcmpl-fake",
        "object": "chat.completion",
        "created": 1,
        "model": model,
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}],
        "usage": {"prompt_tokens": 5, "completion_tokens": 1, "total_tokens": 6},
    }


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
        status, headers, answer = provider.next_response(request)
        content = answer.encode() if isinstance(answer, str) else json.dumps(answer).encode()
        self.send_response(status)
        usual = {"Content-Type": "application/json"}
        for name, value in merged_headers(usual, headers, {"Content-Length": str(len(content))}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)
