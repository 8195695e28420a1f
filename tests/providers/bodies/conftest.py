"""What bundled providers are sent: a call of any kind, encoded by the code that real calls go through.

Each vendor has a table of its own here, ``test_<vendor>.py``: a case names what is asked, and the whole of what goes
into the body beside model and messages.
"""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest

from hermes_core import Host, LlmCall
from hermes_core.auth.keys import Credential
from hermes_core.llm.effort import reasoning_config
from hermes_core.llm.request import assemble
from hermes_core.llm.route import Route, destination, profile_address
from hermes_core.llm.wire import Wires

PING = {"role": "user", "content": "ping"}
PNG = "data:image/png;base64,aVZCT1I="
IMAGE = {
    "role": "user",
    "content": [{"type": "text", "text": "what?"}, {"type": "image_url", "image_url": {"url": PNG}}],
}
TOOLS = (
    PING,
    {
        "role": "assistant",
        "content": None,
        "reasoning_content": "hm",
        "tool_calls": [
            {
                "id": "c1",
                "call_id": "c1",
                "type": "function",
                "function": {"name": "look", "arguments": '{"at": 1}'},
            }
        ],
    },
    {"role": "tool", "tool_call_id": "c1", "content": "seen", "tool_name": "look"},
)
SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
FORMAT = {"type": "json_schema", "json_schema": {"name": "answer", "schema": SCHEMA, "strict": False}}


@pytest.fixture(scope="session")
def bundled(tmp_path_factory):
    """A host that knows the bundled providers alone."""
    with Host.load(tmp_path_factory.mktemp("bundled"), {}) as host:
        yield host


@pytest.fixture
def ask(bundled):
    """Encode a call: ``.url``, ``.headers`` (lower-case names), ``.body``, ``.api_mode``, and ``.rest`` of the body.

    ``reasoning`` is what the operator writes as an effort, or a mapping as hooks get it. ``tools``, ``image`` and
    ``schema`` say what the call holds. ``.rest`` is the body without model and messages.
    """

    def encode(
        name: str,
        model: str,
        *,
        reasoning: Any = None,
        base_url: str = "",
        api_key: str = "k-test-1",
        api_mode: str = "",
        tools: bool = False,
        image: bool = False,
        schema: bool = False,
        settings: dict | None = None,
        **asked: Any,
    ) -> SimpleNamespace:
        profile = bundled.providers.get(name)
        route = Route(
            profile=profile,
            provider=profile.name,
            model=model,
            base_url=base_url or profile_address(profile),
            credential=Credential(api_key, "test"),
            api_mode=api_mode,
            reasoning=reasoning if isinstance(reasoning, dict) else reasoning_config(reasoning),
            settings=settings or {},
        )
        messages = TOOLS if tools else (IMAGE,) if image else (PING,)
        call = LlmCall(plugin_id="p", messages=messages, response_format=FORMAT if schema else None, **asked)
        address, mode = destination(route, route.base_url, api_key)
        request = Wires({})[mode].encode(assemble(call, route, address, mode, api_key))
        body = json.loads(request.body)
        return SimpleNamespace(
            url=request.url,
            headers={name.lower(): value for name, value in request.headers.items()},
            body=body,
            rest={key: value for key, value in body.items() if key not in ("model", "messages", "input")},
            api_mode=mode,
        )

    return encode
