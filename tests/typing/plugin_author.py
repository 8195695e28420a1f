# pyright: strict
"""The public surface as a plugin's author, a provider's author and an embedding program write it.

``test_typing.py`` has mypy and pyright check this file; nothing in it is run.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypedDict, assert_type

from pydantic import BaseModel

from hermes_core import (
    OMIT_TEMPERATURE,
    ApiMode,
    Command,
    Completion,
    EndpointHost,
    HermesError,
    Host,
    LlmCall,
    MemoryProvider,
    MissingCredentialError,
    PluginContext,
    PluginLlm,
    PluginLlmCompleteResult,
    PluginLlmImageInput,
    PluginLlmInput,
    PluginLlmStructuredResult,
    PluginLlmTextInput,
    PluginLlmTrustError,
    PluginLlmUsage,
    ProviderProfile,
    RecallStatus,
    StructuredOutputError,
    hookimpl,
)
from hermes_core.memory.manager import MemoryManager
from hermes_core.testing import FakeProvider, ReceivedRequest, Reply, make_plugin_llm_for_test

SCHEMA = {"type": "object", "properties": {"urgency": {"type": "number"}}, "required": ["urgency"]}


def register(ctx: PluginContext) -> None:
    """A plugin of the old shape."""
    ctx.register_command(name="tldr", handler=lambda raw: tldr(ctx, raw), description="Summarise.", args_hint="<text>")
    trial = ctx.register_command("translate", handler=lambda raw: translate(ctx, raw))
    trial.dispose()
    ctx.register_image_gen_provider(object())
    ctx.set_config("limits.daily", int(ctx.get_config("limits.daily", 5)) + 1)
    ctx.state.set("runs", ctx.state.get("runs", 0) + 1)
    assert_type(ctx.has_capability("llm.model_override"), bool)


def tldr(ctx: PluginContext, raw: str) -> str:
    """A chat call."""
    result = ctx.llm.complete(
        messages=[{"role": "system", "content": "Summarise."}, {"role": "user", "content": raw}],
        max_tokens=256,
        temperature=0.3,
        timeout=20,
        purpose="tldr",
    )
    assert_type(result, PluginLlmCompleteResult)
    assert_type(result.usage, PluginLlmUsage)
    assert_type(result.usage.total_tokens, int)
    assert_type(result.usage.cost_usd, float | None)
    assert_type(result.audit, dict[str, Any])
    return result.text


async def translate(ctx: PluginContext, raw: str) -> str:
    """Awaited calls, several at once."""
    results = await asyncio.gather(*(ctx.llm.acomplete([{"role": "user", "content": raw}]) for _ in range(2)))
    assert_type(results, list[PluginLlmCompleteResult])
    return "\n".join(result.text for result in results)


def triage(ctx: PluginContext, text: str, picture: bytes) -> float | None:
    """A structured call, with every kind of input."""
    blocks: list[PluginLlmInput] = [
        PluginLlmTextInput(text),
        PluginLlmImageInput(picture, mime_type="image/png", file_name="a.png"),
        PluginLlmImageInput(url="https://pictures.test/a.png"),
        {"type": "text", "text": text},
        {"type": "image", "data": picture},
    ]
    try:
        result = ctx.llm.complete_structured(
            instructions="Score it.",
            input=blocks,
            json_schema=SCHEMA,
            schema_name="triage",
            system_prompt="Be fair.",
            temperature=0.0,
        )
    except PluginLlmTrustError as error:
        assert_type(error.config_key, str)
        return None
    except StructuredOutputError as error:
        assert_type(error.result, PluginLlmStructuredResult)
        assert_type(error.errors, tuple[str, ...])
        return None
    assert_type(result, PluginLlmStructuredResult)
    assert_type(result.content_type, str)
    assert_type(result.parsed, Any | None)
    return float(result.parsed["urgency"]) if result.parsed is not None else None


@dataclass
class Ticket:
    """What a support reply is about."""

    urgency: float
    category: str | None = None


class Person(TypedDict):
    """A dict with known keys."""

    name: str


class Model(BaseModel):
    """A model of pydantic's."""

    total: float


def instances(llm: PluginLlm, text: str) -> str:
    """A class in place of a schema: ``parsed`` is an instance of it, or None."""
    blocks = [PluginLlmTextInput(text)]
    ticket = llm.complete_structured(instructions="x", input=blocks, json_schema=Ticket)
    assert_type(ticket, PluginLlmStructuredResult[Ticket])
    assert_type(ticket.parsed, Ticket | None)
    person = llm.complete_structured(instructions="x", input=blocks, json_schema=Person)
    assert_type(person.parsed, Person | None)
    model = llm.complete_structured(instructions="x", input=blocks, json_schema=Model)
    assert_type(model.parsed, Model | None)
    free = llm.complete_structured(instructions="x", input=blocks, json_mode=True)
    assert_type(free, PluginLlmStructuredResult[Any])
    chat: PluginLlmCompleteResult = ticket
    if ticket.parsed is None or person.parsed is None:
        return chat.text
    return f"{ticket.parsed.urgency:.2f} {person.parsed['name']} {describe(model)}"


async def ainstance(llm: PluginLlm) -> Ticket | None:
    """The awaited twin."""
    result = await llm.acomplete_structured(instructions="x", input=[PluginLlmTextInput("x")], json_schema=Ticket)
    assert_type(result, PluginLlmStructuredResult[Ticket])
    return result.parsed


def describe(result: PluginLlmStructuredResult[Model]) -> str:
    """A typed result handed on."""
    return f"{result.parsed.total if result.parsed else result.text}"


def answered() -> str:
    """A test of a plugin's, with a function in the provider's place."""

    def answer(**call: Any) -> tuple[str, str, Any]:
        return "fake", "fake-model", {"choices": [{"message": {"content": call["messages"][-1]["content"]}}]}

    llm = make_plugin_llm_for_test("p", policy={"allow_model_override": True}, sync_caller=answer)
    assert_type(llm, PluginLlm)
    return llm.complete([{"role": "user", "content": "ping"}], model="m").text


async def atriage(llm: PluginLlm) -> Any:
    """The awaited twin; a list of bare mappings and a boolean schema do as well."""
    result = await llm.acomplete_structured(
        instructions="x", input=[{"type": "text", "text": "x"}], json_schema=True, json_mode=True
    )
    assert_type(result, PluginLlmStructuredResult)
    return result.parsed


class AcmeProfile(ProviderProfile):
    """A provider with behaviour."""

    def prepare_messages(self, messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [{"role": "system", "content": "Be brief."}, *messages]

    def build_extra_body(self, *, session_id: str | None = None, **context: Any) -> dict[str, Any]:
        return {"session": session_id, "model": context["model"]}

    def build_api_kwargs_extras(
        self, *, reasoning_config: Mapping[str, Any] | None = None, **context: Any
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        return {}, {"reasoning_effort": "low"} if reasoning_config else {}

    def open_endpoint(self, host: EndpointHost) -> tuple[str, str] | None:
        host.say(f"{host.home}: {host.settings.get('path')} {host.allow_downloads}")
        return None


@hookimpl
def hermes_provider_profiles(ctx: PluginContext) -> Iterable[ProviderProfile]:
    """A provider offered by a native hook."""
    yield ctx.declared_profile(AcmeProfile)
    yield ProviderProfile("beta", base_url="https://api.beta.test/v1", fixed_temperature=OMIT_TEMPERATURE)


@hookimpl
def hermes_commands(ctx: PluginContext) -> Iterable[Command]:
    """A command offered by a native hook."""
    return [Command(name="shout", handler=str.upper)]


@hookimpl
def hermes_llm_prepare(call: LlmCall) -> LlmCall | None:
    """A hook that shapes a call."""
    return replace(call, max_tokens=min(call.max_tokens or 512, 512))


@hookimpl
def hermes_llm_answer(call: LlmCall) -> Completion | None:
    """A hook that answers a call."""
    return Completion(text="pong", model="canned") if call.plugin_id == "p" else None


@hookimpl
def hermes_api_modes() -> Iterable[ApiMode]:
    """No wire format at all."""
    return []


class Parrot(FakeProvider):
    """A server that says what it hears."""

    def next_response(self, request: ReceivedRequest) -> Reply:
        self.answer(str(request.body))
        return super().next_response(request)


def embed() -> str:
    """A program that embeds the host."""
    try:
        with Parrot() as server, Host.load(config=server.config, say=print) as host:
            assert_type(host, Host)
            result = host.llm("my-program").complete([{"role": "user", "content": "ping"}])
            profile = host.providers.get("openrouter")
            assert_type(profile, ProviderProfile | None)
            return result.text + host.run_command("tldr", "text")
    except MissingCredentialError as error:
        return error.hint
    except HermesError as error:
        return f"{error} {error.hint}"


class Notes(MemoryProvider):
    """A memory provider that leaves out what it has no use for."""

    @property
    def name(self) -> str:
        return "notes"

    def is_available(self) -> bool:
        return True

    def initialize(self, session_id: str, **kwargs: Any) -> None:
        self.seen: list[str] = [session_id, str(kwargs["hermes_home"])]

    def get_tool_schemas(self) -> list[dict[str, Any]]:
        return [{"name": "note_add", "parameters": {}}]

    def handle_tool_call(self, tool_name: str, args: dict[str, Any], **kwargs: Any) -> str:
        return "{}"

    def sync_turn(self, user_content: str, assistant_content: str, **kwargs: Any) -> None:
        self.seen.append(user_content)

    def prefetch(self, query: str, *, session_id: str = "") -> str:
        return "\n".join(self.seen)

    def recall_status(self) -> RecallStatus:
        return RecallStatus("Notes", len(self.seen))


def remember(host: Host, text: str) -> str:
    """A program that remembers."""
    with MemoryManager(external_prefetch_timeout=2.0) as memory:
        assert_type(memory.add_provider(Notes()), bool)
        memory.initialize_all("s1", platform="cli")
        memory.sync_all(text, "Noted.")
        assert_type(memory.flush(5.0), bool)
    host.memory.initialize_all(session_id="s1")
    assert_type(host.memory_providers(), dict[str, MemoryProvider])
    assert_type(host.tools.dispatch("note_add", {"text": text}), str)
    return host.memory.prefetch_all(text)
