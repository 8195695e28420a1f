"""What a profile says of its address, its wire format and its models, on the way of real calls."""

from __future__ import annotations

import pytest

from hermes_core import HermesError, MissingCredentialError, ProviderProfile
from hermes_core.errors import AuthenticationError, ProviderError, ProviderHookError, RateLimitError

ANSWERS = {
    "/v1/chat/completions": {"choices": [{"message": {"content": "pong"}}]},
    "/v1/responses": {"status": "completed", "output": [{"type": "message", "content": [{"text": "pong"}]}]},
    "/v1/messages": {"content": [{"type": "text", "text": "pong"}]},
}


@pytest.fixture
def served(lane):
    """A host whose main provider has this profile, on the server."""

    def load(cls=ProviderProfile, config=None, **fields):
        host = lane.bare_host({"model": {"provider": "acme"}, "auxiliary": {"transient_retries": 0}, **(config or {})})
        fields = {"base_url": lane.server.base_url, "auth_type": "none", "fallback_models": ("m",), **fields}
        host.program_context().register_provider(cls("acme", **fields))
        return host

    return load


class ByModel(ProviderProfile):
    """A provider that speaks another format for some models, and wants its own fields there too."""

    def get_api_mode(self, model, base_url=""):
        return "codex_responses" if model.startswith("new-") else ""

    def build_extra_body(self, **context):
        return {"mode": context["api_mode"]}


@pytest.mark.parametrize(
    ("model", "demanded", "path", "mode"),
    [
        ("old-1", None, "/v1/chat/completions", "chat_completions"),
        ("new-1", None, "/v1/responses", "codex_responses"),
        ("new-1", "chat_completions", "/v1/chat/completions", "chat_completions"),
        ("old-1", "codex_responses", "/v1/responses", None),
    ],
)
def test_a_profile_chooses_the_format_by_model(way, lane, served, model, demanded, path, mode):
    """The format is the one for the model unless the operator demands one; either is the profile's own."""
    lane.server.queue_response(ANSWERS[path])
    said = {"model": {"provider": "acme", **({"api_mode": demanded} if demanded else {})}}
    way.complete(served(ByModel, said, fallback_models=(model,)).llm("p"))
    (request,) = lane.server.requests
    assert (request.path, request.body.get("mode")) == (path, mode)


class ByKey(ProviderProfile):
    """A provider whose keys of one kind go to another place, which speaks another format."""

    def get_base_url(self, base_url, *, api_key="", api_mode="", **context):
        return base_url.replace("/v1", "/anthropic") if api_key.startswith("plan-") else base_url

    def get_api_mode(self, model, base_url=""):
        return ""


def test_each_key_goes_to_its_own_place(way, lane, served, monkeypatch):
    """When the first key is refused and the second one is of another kind, address and key go together."""
    monkeypatch.setenv("ACME_KEY", "plan-12345")
    monkeypatch.setenv("ACME_OTHER_KEY", "usual-12345")
    lane.server.queue_response("", status=401)
    host = served(ByKey, auth_type="api_key", env_vars=("ACME_KEY", "ACME_OTHER_KEY"))
    way.complete(host.llm("p"))
    sent = [(request.path, request.headers["authorization"]) for request in lane.server.requests]
    assert sent == [
        ("/anthropic/chat/completions", "Bearer plan-12345"),
        ("/v1/chat/completions", "Bearer usual-12345"),
    ]


class Headers(ProviderProfile):
    """A profile written for a client that takes headers and body fields among its keywords."""

    extras: dict

    def build_api_kwargs_extras(self, **context):
        return {"a": 1}, self.extras


def test_keywords_of_a_client_are_headers_and_fields(way, lane, served):
    """``extra_headers`` goes into the headers, ``extra_body`` into the body; the operator's header beats it."""
    extras = {"extra_headers": {"X-A": "1", "X-B": "2"}, "extra_body": {"b": 2}, "c": 3}
    config = {"model": {"provider": "acme", "extra_headers": {"x-b": "mine"}}}
    way.complete(served(Headers, config, extras=extras).llm("p"))
    (request,) = lane.server.requests
    assert (request.headers["x-a"], request.headers["x-b"]) == ("1", "mine")
    assert {key: request.body.get(key) for key in ("a", "b", "c", "extra_headers", "extra_body")} == {
        "a": 1, "b": 2, "c": 3, "extra_headers": None, "extra_body": None,
    }  # fmt: skip


@pytest.mark.parametrize("extras", [{"extra_headers": "X-A: 1"}, {"extra_body": [1]}])
def test_what_is_neither_is_an_error(way, served, extras):
    """Headers that are no mapping are blamed on the hook."""
    with pytest.raises(ProviderHookError, match="build_api_kwargs_extras"):
        way.complete(served(Headers, extras=extras).llm("p"))


class Lighter(ProviderProfile):
    """A provider whose models take other efforts."""

    def get_reasoning(self, model, reasoning_config):
        return None if model == "plain" else {**reasoning_config, "effort": "low"}

    def build_extra_body(self, *, reasoning_config=None, supports_reasoning=False, **context):
        return {"told": [reasoning_config, supports_reasoning]}


@pytest.mark.parametrize(
    ("model", "told", "sent"),
    [
        ("m", [{"enabled": True, "effort": "low"}, True], {"effort": "low", "summary": "auto"}),
        ("plain", [None, False], None),
    ],
)
def test_a_profile_adapts_the_effort(way, lane, served, model, told, sent):
    """What ``get_reasoning`` returns is what the format writes, and what the other hooks are told."""
    lane.server.queue_response(ANSWERS["/v1/responses"])
    config = {"auxiliary": {"plugin": {"reasoning_effort": "xhigh"}}}
    host = served(Lighter, config, fallback_models=(model,), api_mode="codex_responses")
    way.complete(host.llm("p"))
    (body,) = lane.server.bodies
    assert (body["told"], body.get("reasoning")) == (told, sent)


class Settled(ProviderProfile):
    """A profile that reads its section of the configuration."""

    def build_extra_body(self, *, settings=None, **context):
        return {"colour": settings.get("colour")}


def test_a_profile_is_told_its_settings(way, lane, served):
    """The section of ``config.yaml`` that bears the provider's name, and no other."""
    way.complete(served(Settled, {"acme": {"colour": "blue"}, "other": {"colour": "red"}}).llm("p"))
    assert lane.server.bodies[0]["colour"] == "blue"


class Extra(ProviderProfile):
    """A profile that adds fields to the body."""

    def build_extra_body(self, **context):
        return {"tier": "profile", "seed": "profile", "place": "profile", "nested": {"profile": 1}}


def test_the_operators_fields_beat_the_profiles_r26_14(way, lane, served):
    """A field of one name: the profile's, then the provider's entry, then ``model``; a mapping is replaced whole."""
    config = {
        "model": {"provider": "acme", "extra_body": {"tier": "model", "nested": {"model": 1}}},
        "providers": {"acme": {"extra_body": {"tier": "entry", "seed": "entry", "nested": {"entry": 1}}}},
    }
    way.complete(served(Extra, config).llm("p"))
    sent = {key: lane.server.bodies[0].get(key) for key in ("tier", "seed", "place", "nested")}
    assert sent == {"tier": "model", "seed": "entry", "place": "profile", "nested": {"model": 1}}


def test_a_task_of_its_own_beats_the_entry_r26_14(way, lane, served):
    """``auxiliary.plugin`` is the caller's part: its fields beat those of the entry and of the profile."""
    config = {
        "providers": {"acme": {"extra_body": {"tier": "entry", "seed": "entry"}}},
        "auxiliary": {"plugin": {"provider": "acme", "extra_body": {"tier": "task"}}},
    }
    way.complete(served(Extra, config).llm("p"))
    assert [lane.server.bodies[0][key] for key in ("tier", "seed", "place")] == ["task", "entry", "profile"]


class Refusing(ProviderProfile):
    """A profile that refuses what it is asked."""

    error: Exception

    def get_base_url(self, base_url, **context):
        raise self.error


def test_an_error_of_the_host_s_own_kind_is_told_as_it_is(way, lane, served):
    """Its text and its hint reach whoever called, with the provider's name; nothing is sent."""
    hint = "do this"
    with pytest.raises(ProviderHookError, match="provider 'acme': no such place") as raised:
        way.complete(served(Refusing, error=HermesError("no such place", hint=hint)).llm("p"))
    assert raised.value.hint == hint
    with pytest.raises(MissingCredentialError, match="no such key"):
        way.complete(served(Refusing, error=MissingCredentialError("no such key")).llm("p"))
    with pytest.raises(ProviderHookError, match="its hook get_base_url raised ZeroDivisionError"):
        way.complete(served(Refusing, error=ZeroDivisionError()).llm("p"))
    assert lane.server.requests == []


def test_an_unavailable_provider_says_why(way, lane, served):
    """A call to it fails with the reason before anything is sent, and the list tells it too."""
    host = served(unavailable="it lives elsewhere")
    with pytest.raises(ProviderError, match="'acme' cannot be used here: it lives elsewhere"):
        way.complete(host.llm("p"))
    (row,) = [row for row in host.providers if row.name == "acme"]
    assert (row.unavailable, lane.server.requests) == ("it lives elsewhere", [])


def test_an_unavailable_provider_is_left_out_of_a_chain(way, lane, served):
    """As a fallback it is passed over."""
    lane.server.queue_response("", status=500)
    chain = [{"provider": "acme"}, {"provider": "spare"}]
    host = served(
        config={"model": {"provider": "first"}, "fallback_providers": chain}, unavailable="it lives elsewhere"
    )
    for name in ("first", "spare"):
        profile = ProviderProfile(name, base_url=lane.server.base_url, auth_type="none", fallback_models=("m",))
        host.program_context().register_provider(profile)
    assert way.complete(host.llm("p")).provider == "spare"


HINTS = {"refusal_hint": "ask for access", "error_hints": {"free_tier": "turn on billing"}}


@pytest.mark.parametrize(
    ("status", "body", "error", "hint"),
    [
        (401, {"error": {"message": "no"}}, AuthenticationError, "ask for access"),
        (403, {"error": {"message": "no"}}, AuthenticationError, "ask for access"),
        (429, {"error": {"message": "quota FREE_TIER_requests"}}, RateLimitError, "turn on billing"),
        (429, {"error": {"message": "slow down"}}, RateLimitError, "wait a little"),
    ],
)
def test_a_refusal_comes_with_the_profile_s_hint(way, lane, served, status, body, error, hint):
    """What is special about a provider's refusals is said by its profile, else the host's own hint stands."""
    lane.server.queue_response(body, status=status)
    with pytest.raises(error) as raised:
        way.complete(served(**HINTS).llm("p"))
    assert raised.value.hint.startswith(hint)


def test_a_server_of_one_s_own_demands_no_key(way, lane, served, monkeypatch):
    """A local provider is called without a key, and with one where there is one."""
    host = served(auth_type="api_key", env_vars=("ACME_KEY",), is_local=True)
    way.complete(host.llm("p"))
    monkeypatch.setenv("ACME_KEY", "k-12345")
    way.complete(served(auth_type="api_key", env_vars=("ACME_KEY",), is_local=True).llm("p"))
    assert [request.headers.get("authorization") for request in lane.server.requests] == [None, "Bearer k-12345"]
