"""One call on one provider: what its profile may change, and what happens when a hook of it goes wrong."""

from __future__ import annotations

import time

import pytest

from hermes_core import OMIT_TEMPERATURE, HermesError, ProviderProfile
from hermes_core.errors import ProviderHookError

HOOKS = [
    "get_hostname",
    "prepare_messages",
    "get_max_tokens",
    "build_api_kwargs_extras",
    "build_extra_body",
    "open_endpoint",
]
IMAGE = {"type": "image_url", "image_url": {"url": "https://pictures.test/a.png"}}


@pytest.fixture
def served(lane):
    """A host whose main provider has this profile, on the server."""

    def load(cls=ProviderProfile, config=None, **fields):
        host = lane.bare_host({"model": {"provider": "acme"}, **(config or {})})
        fields = {"base_url": lane.server.base_url, "auth_type": "none", "fallback_models": ("m",), **fields}
        host.program_context().register_provider(cls("acme", **fields))
        return host

    return load


@pytest.mark.parametrize(
    ("fixed", "asked", "sent"),
    [
        pytest.param(None, 0.3, 0.3, id="the-callers-is-sent"),
        pytest.param(None, None, None, id="nobodys-is-not-sent"),
        pytest.param(OMIT_TEMPERATURE, 0.3, None, id="omit-is-never-sent"),
        pytest.param(OMIT_TEMPERATURE, None, None, id="omit-without-the-callers"),
        pytest.param(0.6, 0.3, 0.6, id="fixed-beats-the-callers"),
        pytest.param(0.6, None, 0.6, id="fixed-is-always-sent"),
        pytest.param(0, 0.3, 0, id="zero-is-a-fixed-one-too"),
    ],
)
def test_the_profile_rules_the_temperature(way, lane, served, fixed, asked, sent):
    """None leaves it to the caller, OMIT_TEMPERATURE sends none, a number always sends that one."""
    way.complete(served(fixed_temperature=fixed).llm("p"), temperature=asked)
    (body,) = lane.server.bodies
    assert (body.get("temperature"), "temperature" in body) == (sent, sent is not None)


@pytest.mark.parametrize("from_operator", [False, True], ids=["by the profile", "by the operator"])
def test_a_field_of_none_is_left_out(lane, served, from_operator):
    """A field that the profile, or the operator, gives as None is not sent, one of the request's own neither."""
    nothing = dict.fromkeys(("temperature", "max_tokens", "response_format", "seed"))

    class Leaving(ProviderProfile):
        def build_api_kwargs_extras(self, **context):
            return {}, {"seed": 5} if from_operator else nothing

    config = {"model": {"provider": "acme", "extra_body": nothing}} if from_operator else {}
    lane.server.answer("{}")
    blocks = [{"type": "text", "text": "ping"}]
    served(Leaving, config).llm("p").complete_structured(
        instructions="Answer.", input=blocks, json_mode=True, temperature=0.3, max_tokens=9
    )
    (body,) = lane.server.bodies
    assert {*body} == {"model", "messages"}


class Shaping(ProviderProfile):
    """A profile that uses every shaping hook."""

    def prepare_messages(self, messages):
        return [{"role": "system", "content": "Added."}, *messages]

    def build_api_kwargs_extras(self, *, reasoning_config=None, **context):
        return {"r": 1, "both": "extras"}, {"reasoning_effort": "low", "both": "top"}

    def build_extra_body(self, *, session_id=None, **context):
        return {"provider": {"order": ["a"]}, "both": "body"}

    def get_max_tokens(self, model):
        return {"m": 11}.get(model)


def test_hooks_shape_the_request_r16_08(way, lane, served):
    """Messages, extra body, top-level fields and limit of the profile's hooks are in the one body that is sent."""
    way.complete(served(Shaping).llm("p"))
    (body,) = lane.server.bodies
    assert body == {
        "model": "m",
        "messages": [{"role": "system", "content": "Added."}, {"role": "user", "content": "ping"}],
        "max_tokens": 11,
        "provider": {"order": ["a"]},
        "r": 1,
        "reasoning_effort": "low",
        "both": "extras",
    }


@pytest.mark.parametrize(
    ("operator", "temperature", "provider"),
    [
        ({}, 0.1, {"order": ["a"]}),
        (
            {"model": {"provider": "acme", "extra_body": {"temperature": 0.5, "provider": {"sort": "price"}}}},
            0.5,
            {"sort": "price"},
        ),
    ],
    ids=["the profile beside the caller", "the operator over both"],
)
def test_whose_field_is_sent_r26_14(way, lane, served, operator, temperature, provider):
    """The operator's extra body beats the profile's, which stands beside the caller's; mappings are replaced."""
    way.complete(served(Shaping, operator).llm("p"), temperature=0.1)
    (body,) = lane.server.bodies
    assert (body["temperature"], body["provider"]) == (temperature, provider)


class Listening(ProviderProfile):
    """A profile that remembers what its hooks were told."""

    def build_extra_body(self, **context):
        self.told = context
        return {}

    def build_api_kwargs_extras(self, **context):
        self.told_too = context
        return {}, {}


def test_hooks_are_told_of_the_call(way, lane, served):
    """Both body hooks get model, address, session, reasoning, messages, format and limit by keyword."""
    host = served(Listening)
    way.structured(host.llm("p"), json_mode=True, max_tokens=5)
    profile = host.providers.get("acme")
    wanted = {
        "model": "m",
        "base_url": lane.server.base_url,
        "session_id": None,
        "reasoning_config": None,
        "max_tokens": 5,
    }
    for told in (profile.told, profile.told_too):
        assert {name: told[name] for name in wanted} == wanted
        assert told["response_format"] == {"type": "json_object"}
        assert [message["role"] for message in told["messages"]] == ["system", "user"]


class Silent(ProviderProfile):
    """A profile whose hooks return None, as those of older packages do."""

    def prepare_messages(self, messages):
        return None

    def build_api_kwargs_extras(self, **context):
        return None

    def build_extra_body(self, **context):
        return None

    def get_max_tokens(self, model):
        return None


def test_none_from_a_hook_changes_nothing(way, lane, served):
    """A hook that returns None leaves the request as it is."""
    way.complete(served(Silent).llm("p"))
    assert lane.server.bodies == [{"model": "m", "messages": [{"role": "user", "content": "ping"}]}]


@pytest.mark.parametrize("pair", [({"a": 1}, None), (None, {"a": 1}), ({"a": 1},)], ids=["no-top", "no-body", "one"])
def test_half_a_pair_of_extras_is_enough(way, lane, served, pair):
    """``build_api_kwargs_extras`` may leave out, or return None for, the part it does not need."""
    cls = type("Half", (ProviderProfile,), {"build_api_kwargs_extras": lambda self, **context: pair})
    way.complete(served(cls).llm("p"))
    assert lane.server.bodies[0]["a"] == 1


def raising(hook: str, error: BaseException) -> type[ProviderProfile]:
    """A profile whose one hook raises."""

    def fail(self, *args, **context):
        raise error

    return type("Raising", (ProviderProfile,), {hook: fail})


@pytest.mark.parametrize("hook", HOOKS)
@pytest.mark.parametrize(
    "error", [KeyError("gone"), ValueError("bad"), SystemExit(3)], ids=["key-error", "value-error", "system-exit"]
)
def test_a_hook_that_raises_is_blamed_by_name_r26_13(way, lane, served, hook, error):
    """Whatever a profile's hook raises becomes an error that names provider and hook; nothing is sent."""
    host = served(raising(hook, error))
    with pytest.raises(ProviderHookError, match=f"'acme'.*{hook}") as caught:
        way.complete(host.llm("p"))
    assert (caught.value.provider, caught.value.__cause__) == ("acme", error)
    assert lane.server.requests == []


@pytest.mark.parametrize("hook", HOOKS)
def test_a_broken_hook_is_no_other_providers_trouble_r26_13(way, lane, served, hook):
    """Beside a provider whose hook raises, another one answers."""
    host = served(raising(hook, RuntimeError("broken")), lane.granting(allow_provider_override=True))
    host.program_context().register_provider(
        ProviderProfile("beta", base_url=lane.server.base_url, auth_type="none", fallback_models=("m",))
    )
    assert way.complete(host.llm("p"), provider="beta").provider == "beta"


@pytest.mark.parametrize("hook", HOOKS)
def test_an_interrupt_in_a_hook_goes_through(lane, served, hook):
    """Ctrl-C is never taken for a hook's failure."""
    host = served(raising(hook, KeyboardInterrupt()))
    with pytest.raises(KeyboardInterrupt):
        host.llm("p").complete([{"role": "user", "content": "x"}])


@pytest.mark.parametrize(
    ("hook", "value"),
    [
        ("prepare_messages", "hello"),
        ("prepare_messages", {"role": "user"}),
        ("build_extra_body", ["a"]),
        ("build_extra_body", "a"),
        ("build_api_kwargs_extras", {"a": 1}),
        ("build_api_kwargs_extras", ("ab", {})),
        ("build_api_kwargs_extras", ({}, [5])),
        ("get_max_tokens", "64"),
        ("get_max_tokens", 6.5),
        ("get_hostname", 5),
        ("open_endpoint", "http://127.0.0.1:1"),
        ("open_endpoint", ("http://127.0.0.1:1",)),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_a_hook_that_returns_what_it_may_not_is_blamed(way, lane, served, hook, value):
    """A hook's result of the wrong type is an error that names provider and hook; nothing is sent."""
    cls = type("Odd", (ProviderProfile,), {hook: lambda self, *args, **context: value})
    with pytest.raises(ProviderHookError, match=f"'acme'.*{hook}"):
        way.complete(served(cls).llm("p"))
    assert lane.server.requests == []


class Opening(ProviderProfile):
    """A profile that opens its own endpoint."""

    def open_endpoint(self, host):
        self.asked = [*getattr(self, "asked", ()), host]
        return self.endpoint


def test_an_endpoint_that_the_profile_opens_is_used(way, lane, other_server, served):
    """``open_endpoint`` gives the address and the key of the call, and is asked with the host's own values."""
    config = {"acme": {"model_path": "x"}}
    host = served(Opening, config, base_url="", endpoint=(other_server.base_url, "k-opened-1"))
    way.complete(host.llm("p"))
    assert other_server.requests[0].headers["authorization"] == "Bearer k-opened-1"
    (asked,) = host.providers.get("acme").asked
    assert (asked.home, dict(asked.settings), asked.allow_downloads) == (lane.home, {"model_path": "x"}, False)


def test_an_endpoint_that_is_not_opened_leaves_the_usual_one(way, lane, served):
    """``open_endpoint`` that returns None leaves address and key as they are."""
    assert way.complete(served(Opening, endpoint=None).llm("p")).text == "pong"


def test_what_open_endpoint_raises_on_purpose_reaches_the_plugin(way, served):
    """A HermesError of ``open_endpoint`` keeps its words and its hint."""
    error = HermesError("the model is not here", hint="run `hermes embedded pull`")
    with pytest.raises(HermesError, match="the model is not here") as caught:
        way.complete(served(raising("open_endpoint", error)).llm("p"))
    assert caught.value is error


class Slow(ProviderProfile):
    """A profile whose endpoint takes its time."""

    def open_endpoint(self, host):
        time.sleep(0.6)


def test_an_endpoint_is_opened_off_the_event_loop(served, ticking):
    """While a profile opens its endpoint, the event loop goes on."""
    llm = served(Slow).llm("p")
    assert ticking(lambda: llm.acomplete([{"role": "user", "content": "x"}])) < 0.4


@pytest.mark.parametrize(
    ("takes_lists", "content", "sent"),
    [
        pytest.param(True, [{"type": "text", "text": "a"}, IMAGE], [{"type": "text", "text": "a"}, IMAGE], id="kept"),
        pytest.param(
            False,
            [{"type": "text", "text": "a"}, IMAGE, IMAGE],
            "a\n\n[2 image(s) left out: this provider takes none from a tool]",
            id="images-become-a-note",
        ),
        pytest.param(False, [{"type": "text", "text": "a"}], "a", id="text-stays-text"),
    ],
)
def test_a_tools_message_is_what_the_provider_takes_of_it(way, lane, served, takes_lists, content, sent):
    """A provider that refuses lists from a tool gets the text, and a note of what was left out."""
    messages = [
        {"role": "user", "content": [{"type": "text", "text": "look"}, IMAGE]},
        {"role": "tool", "tool_call_id": "1", "content": content},
    ]
    way.complete(served(supports_vision_tool_messages=takes_lists).llm("p"), messages=messages)
    user, tool = lane.server.bodies[0]["messages"]
    assert (tool["content"], user["content"][1]) == (sent, IMAGE)


def test_a_profiles_headers_are_sent_and_the_operators_win(way, lane, served):
    """``default_headers`` go with each request; what the operator configures replaces them."""
    config = {"model": {"provider": "acme", "extra_headers": {"X-B": "operator"}}}
    way.complete(served(config=config, default_headers={"X-A": "profile", "X-B": "profile"}).llm("p"))
    headers = lane.server.requests[0].headers
    assert (headers["x-a"], headers["x-b"]) == ("profile", "operator")


class Adding(ProviderProfile):
    """A profile that adds fields of its own wire format."""

    def build_extra_body(self, **context):
        return {"own": 1}


@pytest.mark.parametrize("is_own", [True, False], ids=["its-own", "another"])
def test_a_profile_speaks_for_its_own_wire_alone(way, lane, served, is_own):
    """On a wire that the operator chose instead, the profile's fields and its limit are not sent."""
    lane.server.queue_response({"output": [{"type": "message", "content": [{"text": "pong"}]}], "status": "completed"})
    mode = "codex_responses" if is_own else "chat_completions"
    config = {"model": {"provider": "acme", "api_mode": "codex_responses"}}
    way.complete(served(Adding, config, api_mode=mode, default_max_tokens=500).llm("p"))
    (body,) = lane.server.bodies
    assert (body.get("own"), body.get("max_output_tokens")) == ((1, 500) if is_own else (None, None))
