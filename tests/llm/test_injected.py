"""``PluginLlm`` with functions in the provider's place: the same lane, without host and network."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass
from types import SimpleNamespace

import pydantic
import pytest

from hermes_core import HermesError, PluginLlm, PluginLlmTrustError, StructuredOutputError
from hermes_core.errors import ResponseFormatError
from hermes_core.llm.messages import JSON_ONLY
from hermes_core.llm.trust import TrustPolicy
from hermes_core.testing import make_plugin_llm_for_test

SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
EVERYTHING = {f"allow_{name}_override": True for name in ("provider", "model", "agent_id", "profile")}
USAGE = {"prompt_tokens": 5, "completion_tokens": 1, "prompt_tokens_details": {"cached_tokens": 2}}


def response(text: str) -> dict:
    """A chat completion."""
    return {"model": "fake-1", "choices": [{"message": {"content": text}}], "usage": USAGE}


class Caller:
    """Remembers what it is asked, and answers."""

    def __init__(self, text: str = "pong") -> None:
        self.answer = ("fake", "fake-model", response(text))
        self.asked: list[dict] = []

    def __call__(self, **arguments):
        self.asked.append(arguments)
        return self.answer

    async def awaited(self, **arguments):
        """The same, awaited."""
        await asyncio.sleep(0)
        return self(**arguments)

    def llm(self, policy: object = None, plugin: str = "p") -> PluginLlm:
        """A surface that it answers."""
        return make_plugin_llm_for_test(plugin, policy=policy, sync_caller=self, async_caller=self.awaited)


@pytest.fixture
def caller() -> Caller:
    """Answers ``pong``."""
    return Caller()


def test_a_caller_is_given_a_chat_call(way, caller):
    """Everything that a provider would need comes by name; what was not asked for is None."""
    messages = [{"role": "user", "content": "ping"}]
    way.complete(caller.llm(), messages=messages)
    assert caller.asked == [
        {
            "messages": messages,
            "provider_override": None,
            "model_override": None,
            "profile_override": None,
            "temperature": None,
            "max_tokens": None,
            "timeout": None,
            "extra_body": None,
        }
    ]


def test_a_caller_is_given_what_the_plugin_asked_for(call, caller):
    """Granted overrides and sampling options reach the caller as the plugin wrote them."""
    call(
        caller.llm(EVERYTHING), provider=" Acme ", model="m", profile="work", agent_id="a",
        temperature=0.5, max_tokens=64, timeout=9,
    )  # fmt: skip
    (asked,) = caller.asked
    assert {name: value for name, value in asked.items() if name not in ("messages", "extra_body")} == {
        "provider_override": "Acme",
        "model_override": "m",
        "profile_override": "work",
        "temperature": 0.5,
        "max_tokens": 64,
        "timeout": 9,
    }


def test_a_structured_call_is_messages_and_a_format(way, caller):
    """The schema is in the instructions and in ``extra_body``; the user's message is a list of parts."""
    caller.answer = ("fake", "m", response('{"n": 1}'))
    block = {"type": "image", "url": "https://pictures.test/a.png"}
    way.structured(caller.llm(), input=[block], json_schema=SCHEMA, schema_name="count", system_prompt="Be exact.")
    (asked,) = caller.asked
    system, user = asked["messages"]
    assert system == {"role": "system", "content": f"Be exact.\n\n{JSON_ONLY}"}
    assert user["content"][0]["text"].startswith("Do it.\n\nSchema name: count\n\nJSON schema:\n{")
    assert user["content"][1] == {"type": "image_url", "image_url": {"url": block["url"]}}
    assert asked["extra_body"] == {
        "response_format": {"type": "json_schema", "json_schema": {"name": "count", "schema": SCHEMA, "strict": False}}
    }


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [({"json_mode": True}, {"response_format": {"type": "json_object"}}), ({}, None)],
    ids=["json-mode", "free-text"],
)
def test_extra_body_says_whether_json_is_wanted(way, caller, arguments, expected):
    """Without a schema there is ``json_object`` at most."""
    way.structured(caller.llm(), **arguments)
    assert caller.asked[0]["extra_body"] == expected


def test_the_result_is_that_of_a_host(call, lane, caller):
    """For the same answer, a host's lane and this one give equal results, but for who answered."""
    lane.server.queue_response({**response("pong"), "model": "fake-1"})
    real = call(lane.llm(), purpose="testing")
    given = call(caller.llm(), purpose="testing")
    assert type(given) is type(real)
    same = {"provider": "", "audit": ""}
    assert {**vars(given), **same} == {**vars(real), **same}
    assert given.provider == "fake"
    assert {**given.audit, "attempts": 0, "duration_ms": 0} == {**real.audit, "attempts": 0, "duration_ms": 0}
    assert given.audit["attempts"] == [{"provider": "fake", "model": "fake-model", "error": ""}]


@dataclass
class Message:
    content: str


@dataclass
class Choice:
    message: Message
    finish_reason: str = "stop"


class Response:
    """A response whose fields belong to the class, as some tests write it."""

    model = "fake-1"
    choices = (Choice(Message("pong")),)
    usage = SimpleNamespace(**{**USAGE, "prompt_tokens_details": SimpleNamespace(cached_tokens=2)})

    def json(self) -> str:
        """A method is no field."""
        raise NotImplementedError


class Slotted:
    """A response without a dictionary of its own."""

    __slots__ = ("choices", "model", "usage")

    def __init__(self) -> None:
        self.model, self.usage = "fake-1", USAGE
        self.choices = [{"message": Message("pong")}]


class Dumped(pydantic.BaseModel):
    """A response as OpenAI's own client makes it."""

    model: str = "fake-1"
    choices: list[dict[str, Message]] = [{"message": Message("pong")}]
    usage: dict[str, object] = USAGE


RESPONSES = {
    "mapping": response("pong"),
    "namespaces": SimpleNamespace(
        model="fake-1",
        choices=[SimpleNamespace(message=SimpleNamespace(content="pong"))],
        usage=SimpleNamespace(**USAGE),
    ),
    "object": Response(),
    "slots": Slotted(),
    "pydantic-model": Dumped(),
}  # fmt: skip


@pytest.mark.parametrize("answer", RESPONSES.values(), ids=RESPONSES)
def test_a_response_may_be_mappings_or_objects(way, caller, answer):
    """OpenAI's shape is read from mappings and from objects alike, usage included."""
    caller.answer = ("fake", "fake-model", answer)
    result = way.complete(caller.llm())
    assert (result.text, result.model, result.provider) == ("pong", "fake-1", "fake")
    assert (result.usage.total_tokens, result.usage.cache_read_tokens) == (6, 2)


@pytest.mark.parametrize("answer", [None, "pong", {}, {"choices": []}, SimpleNamespace(choices=None)])
def test_a_response_of_another_shape_is_what_it_is_for_a_host(way, caller, answer):
    """What is no chat completion is a ResponseFormatError."""
    caller.answer = ("fake", "m", answer)
    with pytest.raises(ResponseFormatError):
        way.complete(caller.llm())


@pytest.mark.parametrize("answer", [None, "pong", ("fake", "m"), response("pong")])
def test_an_answer_that_is_no_triple_is_said_to_be_none(way, caller, answer):
    """A caller that returns something else is told what it has to return."""
    caller.answer = answer
    with pytest.raises(TypeError, match=r"a caller must return \(provider, model, response\)"):
        way.complete(caller.llm())


def test_the_model_is_the_one_returned_where_the_response_names_none(way, caller):
    """Without a model in the response, the caller's own word counts."""
    caller.answer = ("fake", "fake-model", {"choices": [{"message": {"content": "hi"}}]})
    assert way.complete(caller.llm()).model == "fake-model"


POLICIES = {
    "nothing": None,
    "an-empty-section": {},
    "a-closed-section": {"allow_model_override": "false"},
    "a-list-without-it": {"allow_model_override": True, "allowed_models": ["other"]},
    "a-policy": TrustPolicy("p"),
}


@pytest.mark.parametrize("policy", POLICIES.values(), ids=POLICIES)
def test_the_gate_is_the_real_one(call, caller, policy):
    """What the policy does not grant is refused with the key that would, and nothing is asked."""
    with pytest.raises(PluginLlmTrustError, match=r"plugins\.entries\.p\.llm\.allow"):
        call(caller.llm(policy), model="m")
    assert caller.asked == []


@pytest.mark.parametrize(
    "policy", [{"allow_model_override": "yes"}, TrustPolicy("p", model=True)], ids=["section", "policy"]
)
def test_a_grant_opens_the_gate(call, caller, policy):
    """A section as in ``config.yaml``, or a policy itself, grants what it says."""
    call(caller.llm(policy), model="m")
    assert caller.asked[0]["model_override"] == "m"


def test_the_policy_is_asked_at_every_call_by_id(way, caller):
    """``policy_loader`` is given the plugin's id each time, so that a change counts at once."""
    asked = []

    def load(plugin_id):
        asked.append(plugin_id)
        return {"allow_model_override": len(asked) > 1}

    llm = PluginLlm("tools/mine", policy_loader=load, sync_caller=caller, async_caller=caller.awaited)
    with pytest.raises(PluginLlmTrustError):
        way.complete(llm, model="m")
    way.complete(llm, model="m")
    assert asked == ["tools/mine", "tools/mine"]


def test_without_a_policy_nothing_is_granted(way, caller):
    """A surface made with callers alone allows no override."""
    llm = PluginLlm("p", sync_caller=caller, async_caller=caller.awaited)
    assert way.complete(llm).text == "pong"
    with pytest.raises(PluginLlmTrustError):
        way.complete(llm, profile="work")


def test_answers_are_parsed_and_validated(way, caller):
    """The real parser and validator read the answer, classes included."""

    @dataclass
    class Count:
        n: int

    caller.answer = ("fake", "m", response('```json\n{"n": 3}\n```'))
    assert way.structured(caller.llm(), json_schema=SCHEMA).parsed == {"n": 3}
    assert way.structured(caller.llm(), json_schema=Count).parsed == Count(3)
    caller.answer = ("fake", "m", response('{"n": "x"}'))
    with pytest.raises(StructuredOutputError):
        way.structured(caller.llm(), json_schema=SCHEMA)


def test_bad_arguments_are_refused_before_the_caller_is_asked(call, caller):
    """The checks are the real ones."""
    with pytest.raises(ValueError, match=f"^{call.method}: max_tokens"):
        call(caller.llm(), max_tokens=0)
    assert caller.asked == []


def test_what_a_caller_raises_goes_through(call, caller):
    """A caller's error reaches the plugin as it is."""

    class Sulk(Caller):
        def __call__(self, **arguments):
            message = "no"
            raise ConnectionError(message)

    with pytest.raises(ConnectionError, match=r"^no$"):
        call(Sulk().llm())


def test_every_call_has_its_audit_line(call, caller, caplog):
    """The audit's line is written, also of a call that fails; it belongs to no home."""
    with caplog.at_level(logging.INFO, logger="agent.plugin_llm"):
        call(caller.llm(), purpose="testing")
        with pytest.raises(PluginLlmTrustError):
            call(caller.llm(), provider="acme")
    first, second = caplog.messages[0], caplog.messages[-1]
    assert first.startswith(f"plugin_llm.{call.method} plugin=p provider=fake model=fake-1 purpose=testing ")
    assert first.endswith("attempts=1 fallback=0 status=ok")
    assert second.endswith("status=error:PluginLlmTrustError")


def test_a_missing_caller_is_named(call, caller):
    """A method whose caller was not given says which."""
    wanted = "async_caller" if call.method.startswith("a") else "sync_caller"
    other = {"sync_caller": caller} if wanted == "async_caller" else {"async_caller": caller.awaited}
    with pytest.raises(HermesError, match=f"^{call.method}: .* without {wanted}=$"):
        call(make_plugin_llm_for_test("p", **other))


def test_the_originals_path_leads_to_it():
    """Plugins' tests find it where the original has it."""
    from agent import plugin_llm

    assert plugin_llm.make_plugin_llm_for_test is make_plugin_llm_for_test


def test_a_call_of_no_home_writes_no_file(tmp_path, monkeypatch, caplog):
    """A call answered by a function leaves no log behind, wherever the program runs; listeners hear of it."""
    monkeypatch.chdir(tmp_path)
    llm = make_plugin_llm_for_test("p", sync_caller=lambda **_: ("fake", "m", response("pong")))
    with caplog.at_level("INFO", logger="agent.plugin_llm"):
        llm.complete([{"role": "user", "content": "ping"}])
    assert ([*tmp_path.iterdir()], "plugin=p" in caplog.text) == ([], True)
