"""Plugins written for the original host, with ``register(ctx)``, ``register_command`` and ``ctx.llm`` alone."""

import json

import pytest

from hermes_core.testing import FakeProvider

TRANSLATE = """
import asyncio


def register(ctx):
    async def translate(raw_args):
        lang, _, text = raw_args.partition(":")
        asked = [
            ctx.llm.acomplete(
                messages=[{"role": "system", "content": role}, {"role": "user", "content": f"{lang}|{text.strip()}"}],
                max_tokens=64,
                purpose="translate",
            )
            for role in ("Translate.", "Name the tone.")
        ]
        translated, tone = await asyncio.gather(*asked)
        return f"{translated.text} ({tone.text})"

    ctx.register_command(name="translate", handler=translate, description="Translate.", args_hint="<lang>: <text>")
"""

RECEIPT = """
from pathlib import Path

SCHEMA = {"type": "object", "properties": {"total": {"type": "number"}}, "required": ["total"]}


def register(ctx):
    def extract(raw_args):
        path = Path(raw_args.strip())
        result = ctx.llm.complete_structured(
            instructions="Read the total off this receipt.",
            input=[
                {"type": "text", "text": path.name},
                {"type": "image", "data": path.read_bytes(), "mime_type": "image/png"},
            ],
            json_schema=SCHEMA,
            schema_name="receipt",
            temperature=0.0,
            purpose="receipt-extract",
        )
        return f"total {result.parsed['total']:.2f}"

    ctx.register_command("receipt-extract", extract, "Read a receipt.", "<path>")
"""


class Interpreter(FakeProvider):
    """Answers by what it was asked to do."""

    def next_response(self, request):
        """The tone, or the text."""
        task = request.body["messages"][0]["content"]
        self.answer("warm" if task == "Name the tone." else "bonjour")
        return super().next_response(request)


@pytest.fixture(params=["a folder in the home", "a package"])
def install(request, home, site):
    """Install a plugin's code under a name; returns the configuration that enables it."""

    def into_home(name, code):
        home.plugin(name, code, name=name)
        return {"plugins": {"enabled": [name]}}

    def as_package(name, code):
        module = name.replace("-", "_")
        site.install(f"hermes-{name}", {"hermes_agent.plugins": {name: module}}, **{module: code})
        return {"plugins": {"enabled": [name]}}

    return into_home if request.param == "a folder in the home" else as_package


def test_an_async_command_gathers_two_calls(install, load_host):
    """An async handler that gathers two ``acomplete`` calls answers with both."""
    with Interpreter() as server:
        host = load_host(config=server.config | install("translate", TRANSLATE))
        assert host.run_command("/translate", "fr: hello") == "bonjour (warm)"
    assert sorted(request.body["messages"][1]["content"] for request in server.requests) == ["fr|hello"] * 2


def test_a_command_sends_an_image(install, load_host, tmp_path):
    """A command that sends an image block and a schema gets its typed answer."""
    receipt = tmp_path / "receipt.png"
    receipt.write_bytes(b"\x89PNG\r\n\x1a\n0000")
    with FakeProvider() as server:
        server.answer(json.dumps({"total": 12.5}))
        host = load_host(config=server.config | install("receipt", RECEIPT))
        assert host.run_command("receipt-extract", str(receipt)) == "total 12.50"
    (request,) = server.requests
    kinds = [part["type"] for part in request.body["messages"][-1]["content"]]
    assert (kinds, request.body["response_format"]["type"]) == (["text", "text", "image_url"], "json_schema")
