"""Where a call goes when its first provider cannot answer it: fallbacks, images, agents, and what is left out."""

import asyncio
import json
import time

import pytest

from hermes_core import Host
from hermes_core.errors import (
    InvalidRequestError,
    MissingCredentialError,
    ProviderError,
    ProviderTransportError,
    RateLimitError,
    ServerError,
    VisionUnavailableError,
)
from hermes_core.testing import FakeProvider

MESSAGES = [{"role": "user", "content": "ping"}]
PICTURE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgoAAAANSUhEUg=="}}
SEEN = [{"role": "user", "content": [{"type": "text", "text": "what is it?"}, PICTURE]}]


@pytest.fixture
def servers():
    """Three running providers."""
    with FakeProvider() as one, FakeProvider() as two, FakeProvider() as three:
        yield {"one": one, "two": two, "three": three}


@pytest.fixture(params=["complete", "acomplete"])
def ask(request, home, servers):
    """Ask through a host whose providers are ``one``, ``two`` and ``three``, each with its key and models."""
    hosts = []
    for name, server in servers.items():
        home.plugin(
            name,
            name=name,
            profile={
                "base_url": server.base_url,
                "env_vars": [f"{name.upper()}_KEY"],
                "fallback_models": [f"{name}-best"],
                "default_aux_model": f"{name}-cheap",
            },
        )
    home.write(".env", "ONE_KEY=key-one-1\nTWO_KEY=key-two-1\nTHREE_KEY=key-three-1")

    def run(messages=MESSAGES, *, resolver=None, **arguments):
        config = {"model": {"provider": "one"}, "auxiliary": {"transient_retries": 0}}
        for key in [key for key in arguments if key in ("model_config", "chain", "auxiliary", "entry", "providers")]:
            value = arguments.pop(key)
            if key == "providers":
                config["providers"] = value
            elif key == "entry":
                config["plugins"] = {"entries": {"p": {"llm": value}}}
            elif key == "chain":
                config["fallback_providers"] = value
            elif key == "auxiliary":
                config["auxiliary"] |= value
            else:
                config["model"] |= value
        host = Host.load(home.path, config, agent_resolver=resolver)
        hosts.append(host)
        method = getattr(host.llm("p"), request.param)
        answer = method(messages, **arguments)
        return asyncio.run(answer) if request.param == "acomplete" else answer

    yield run
    for host in hosts:
        host.close()


def models(server):
    """The models a server was asked for."""
    return [request.body["model"] for request in server.requests]


def fails(server, status=500, times=1, **headers):
    """Have a server refuse the next requests."""
    for _ in range(times):
        server.queue_response({"error": {"message": "no"}}, status=status, headers=headers)


@pytest.mark.parametrize(
    ("entry", "model"),
    [
        pytest.param({"provider": "two"}, "two-cheap", id="without a model: the provider's own"),
        pytest.param({"provider": "two", "model": "mine"}, "mine", id="with a model: that one"),
    ],
)
def test_a_fallback_is_asked_for_its_own_model_r17_06(ask, servers, entry, model):
    """A fallback never gets the model of the provider that failed."""
    fails(servers["one"])
    result = ask(chain=[entry])
    assert (result.provider, models(servers["two"])) == ("two", [model])


def test_every_entry_is_asked_until_one_answers_r17_10(ask, servers):
    """The chain is walked to its end, and no target is asked twice."""
    fails(servers["one"], times=3)
    fails(servers["two"], times=3)
    chain = [{"provider": name} for name in ("two", "one", "two", "three")]
    result = ask(chain=chain, model_config={"default": "one-cheap"})
    assert (result.provider, [len(server.requests) for server in servers.values()]) == ("three", [1, 1, 1])


def test_an_entry_without_a_key_is_left_out_r17_05(ask, servers, home):
    """A fallback that has no credential costs nothing: the next one is asked."""
    home.write(".env", "ONE_KEY=key-one-1\nTHREE_KEY=key-three-1")
    fails(servers["one"])
    assert ask(chain=[{"provider": "two"}, {"provider": "three"}]).provider == "three"
    assert servers["two"].requests == []


@pytest.mark.parametrize("provider", ["nowhere", "", 5])
def test_an_entry_that_is_none_is_left_out(ask, servers, provider):
    """An entry of an unknown provider, or of none, keeps nobody from the next one."""
    fails(servers["one"])
    assert ask(chain=[{"provider": provider}, {"provider": "three"}]).provider == "three"


def test_the_first_ones_error_is_raised(ask, servers):
    """When nobody answers, the error is the first provider's, and says who else was asked."""
    fails(servers["one"], 503)
    fails(servers["two"], 429)
    with pytest.raises(ServerError, match=r"^one answered 503") as caught:
        ask(chain=[{"provider": "two"}])
    assert [(one.provider, one.status) for one in caught.value.attempts] == [("one", 503), ("two", 429)]
    assert "two/two-cheap: RateLimitError 429" in caught.value.__notes__[0]


def test_the_result_names_who_answered_r28_06(ask, servers, home):
    """Result and audit line name the fallback that answered, with all attempts."""
    fails(servers["one"])
    result = ask(chain=[{"provider": "two"}])
    line = (home.path / "logs/agent.log").read_text()
    assert (result.provider, len(result.audit["attempts"])) == ("two", 2)
    assert "provider=two" in line
    assert "attempts=2 fallback=1 status=ok" in line


def test_no_key_leaves_its_provider(ask, servers):
    """Each server gets its own provider's key, whoever failed before."""
    fails(servers["one"], 401)
    ask(chain=[{"provider": "two"}])
    sent = {name: [request.headers["authorization"] for request in server.requests] for name, server in servers.items()}
    assert sent == {"one": ["Bearer key-one-1"], "two": ["Bearer key-two-1"], "three": []}


def test_a_fallback_with_an_address_of_its_own(ask, servers):
    """An entry may say where its provider is, and with which key."""
    fails(servers["one"])
    entry = {"provider": "custom", "model": "m", "base_url": servers["three"].base_url, "api_key": "key-own-1"}
    ask(chain=[entry])
    assert servers["three"].requests[0].headers["authorization"] == "Bearer key-own-1"


def test_the_plugins_own_chain_comes_first(ask, servers):
    """``auxiliary.plugin.fallback_chain`` is asked before the chain of everybody."""
    fails(servers["one"])
    result = ask(chain=[{"provider": "two"}], auxiliary={"plugin": {"fallback_chain": [{"provider": "three"}]}})
    assert result.provider == "three"


GRANTS = {"allow_provider_override": True, "allow_model_override": True}


@pytest.mark.parametrize("override", [{"provider": "two"}, {"model": "mine"}], ids=str)
def test_what_the_plugin_chose_fails_closed_r17_11(ask, servers, override):
    """A call with a provider or model of the plugin's choice goes nowhere else."""
    for server in servers.values():
        fails(server, 503)
    with pytest.raises(ServerError):
        ask(chain=[{"provider": "three"}], entry=GRANTS, **override)
    assert servers["three"].requests == []


def test_the_operator_may_open_the_chain(ask, servers):
    """``allow_fallback`` lets such a call go on; but to no other model than the one that was chosen, if it is gone."""
    fails(servers["two"], 503)
    chain = [{"provider": "three"}]
    assert ask(chain=chain, entry={**GRANTS, "allow_fallback": True}, provider="two").provider == "three"
    fails(servers["one"], 404)
    with pytest.raises(InvalidRequestError):
        ask(chain=chain, entry={**GRANTS, "allow_fallback": True}, model="mine")


def test_a_provider_without_a_key_gives_way(ask, servers, home):
    """When the provider that is configured has no credential, the first fallback that has one answers."""
    home.write(".env", "TWO_KEY=key-two-1")
    assert ask(chain=[{"provider": "three"}, {"provider": "two"}]).provider == "two"
    home.write(".env", "")
    with pytest.raises(MissingCredentialError, match="ONE_KEY"):
        ask(chain=[{"provider": "two"}])


def test_a_limited_fallback_leaves_the_first_ones_key_alone_r17_07(ask, servers, home):
    """A fallback's 429 rests its own key, and no other."""
    fails(servers["one"], 500)
    fails(servers["two"], 429)
    with pytest.raises(ServerError):
        ask(chain=[{"provider": "two"}])
    stored = json.loads((home.path / "auth.json").read_text())["credential_pool"]
    assert {name: [entry["last_error_code"] for entry in entries] for name, entries in stored.items()} == {"two": [429]}


def test_the_callers_time_is_the_limit_r18_08(ask, servers):
    """A server that asks for an hour is not waited for; the call ends in its time."""
    fails(servers["one"], 429)
    servers["one"].queue_response({"error": {"message": "no"}}, status=429, headers={"Retry-After": "3600"})
    started = time.monotonic()
    with pytest.raises(RateLimitError):
        ask(timeout=2, auxiliary={"transient_retries": 2})
    assert time.monotonic() - started < 2


def test_a_slow_server_leaves_time_for_the_next(ask, servers):
    """While a fallback is left, a server that does not answer gets two thirds of the time."""
    servers["one"].queue_response({}, delay=3)
    assert ask(timeout=1.5, chain=[{"provider": "two"}]).provider == "two"


def test_a_dead_server_leads_to_the_next(ask, servers, home):
    """A connection that is refused leads to the fallback; without one, it is an error."""
    dead = {"base_url": "http://127.0.0.1:9/v1"}
    assert ask(chain=[{"provider": "two"}], model_config=dead).provider == "two"
    with pytest.raises(ProviderTransportError):
        ask(model_config=dead)


@pytest.mark.parametrize(
    ("refusal", "key"),
    [
        pytest.param("Unsupported parameter: 'temperature'", "temperature", id="temperature r16-01"),
        pytest.param("response_format: Extra inputs are not permitted", "response_format", id="json mode r16-07"),
    ],
)
def test_what_is_refused_is_left_out_and_remembered(home, servers, refusal, key):
    """A parameter that a provider refuses is sent no more: not in this call, and not in the next."""
    server = servers["one"]
    server.answer('{"a": 1}')
    server.queue_response({"error": {"message": refusal}}, status=400)
    with Host.load(config=server.config) as host:
        for _ in range(2):
            result = host.llm("p").complete_structured(
                instructions="go", input=[{"type": "text", "text": "x"}], json_mode=True, temperature=0.5
            )
            assert result.parsed == {"a": 1}
    assert [key in request.body for request in server.requests] == [True, False, False]


def test_a_parameter_that_stays_refused_is_an_error(servers):
    """A provider that refuses everything is asked a few times, and no more."""
    server = servers["one"]
    for name in ("temperature", "max_tokens", "temperature", "max_tokens", "temperature"):
        server.queue_response({"error": {"message": f"Unsupported parameter: {name}"}}, status=400)
    with Host.load(config=server.config) as host, pytest.raises(InvalidRequestError):
        host.llm("p").complete(MESSAGES, temperature=0.5, max_tokens=9)
    assert len(server.requests) == 3


def test_an_image_goes_to_the_vision_model_r27_01(ask, servers):
    """An image for a model known to take none goes to ``auxiliary.vision``, and only there."""
    result = ask(
        SEEN, model_config={"supports_vision": False}, auxiliary={"vision": {"provider": "two", "model": "eyes"}}
    )
    assert (result.provider, models(servers["two"]), servers["one"].requests) == ("two", ["eyes"], [])


def test_a_model_that_sees_is_asked_itself_r27_02(ask, servers):
    """A model that takes images, or is not known to take none, gets them."""
    assert ask(SEEN, auxiliary={"vision": {"provider": "two"}}).provider == "one"


def test_an_image_goes_to_a_provider_that_has_a_key_r27_04(ask, servers, home):
    """Where no vision model is configured, the first bundled provider of the vision order that has a key is asked."""
    home.write(".env", "ONE_KEY=key-one-1\nOPENROUTER_API_KEY=key-router-1\nDEEPINFRA_API_KEY=key-infra-1\n")
    providers = {
        "openrouter": {"base_url": servers["two"].base_url},
        "deepinfra": {"base_url": servers["three"].base_url},
    }
    result = ask(SEEN, model_config={"supports_vision": False}, providers=providers)
    keys = [request.headers["authorization"] for request in servers["two"].requests]
    assert (result.provider, keys) == ("openrouter", ["Bearer key-router-1"])
    assert models(servers["two"]) == ["google/gemini-3-flash-preview"]
    assert (servers["one"].requests, servers["three"].requests) == ([], [])


def test_no_vision_is_a_clear_error_r27_04(ask, servers):
    """Without any model that takes images the call is an error, and nothing is sent without them."""
    with pytest.raises(VisionUnavailableError, match="one/one-best"):
        ask(SEEN, model_config={"supports_vision": False})
    assert servers["one"].requests == []


def test_what_the_plugin_chose_is_not_rerouted(ask, servers):
    """An image for a model that the plugin chose is never sent to another."""
    with pytest.raises(ProviderError):
        ask(
            SEEN,
            model_config={"supports_vision": False},
            auxiliary={"vision": {"provider": "two"}},
            entry=GRANTS,
            model="mine",
        )
    assert servers["two"].requests == []


def test_plugins_may_have_a_provider_of_their_own(ask, servers):
    """``auxiliary.plugin`` says who answers plugins, and what is merged into their requests."""
    task = {"provider": "two", "model": "small", "extra_body": {"tier": "flex"}}
    assert ask(auxiliary={"plugin": task}).provider == "two"
    assert [(sent.body["model"], sent.body["tier"]) for sent in servers["two"].requests] == [("small", "flex")]


def test_plugins_may_have_a_model_of_their_own(ask, servers):
    """A task that names a model alone asks the usual provider for it, at its address and with its key."""
    address = {"provider": "custom", "base_url": servers["three"].base_url, "api_key": "key-custom-1", "default": "big"}
    ask(model_config=address, auxiliary={"plugin": {"model": "small"}})
    (sent,) = servers["three"].requests
    assert (sent.body["model"], sent.headers["authorization"]) == ("small", "Bearer key-custom-1")


def test_images_may_have_a_model_of_their_own(ask, servers):
    """A vision model at the usual provider is asked there, and said to take images by being named."""
    address = {"provider": "custom", "base_url": servers["three"].base_url, "api_key": "key-custom-1", "default": "big"}
    ask(SEEN, model_config={**address, "supports_vision": False}, auxiliary={"vision": {"model": "eyes"}})
    assert models(servers["three"]) == ["eyes"]


def test_what_a_plugin_may_choose_beats_the_task(ask):
    """A granted ``provider=`` is asked, whatever ``auxiliary.plugin`` says."""
    assert ask(auxiliary={"plugin": {"provider": "two"}}, entry=GRANTS, provider="three").provider == "three"


def test_a_task_that_fails_falls_back(ask, servers):
    """What answers plugins usually is followed by the same fallbacks as any other."""
    servers["two"].queue_response({}, status=500)
    assert ask(auxiliary={"plugin": {"provider": "two"}}, chain=[{"provider": "three"}]).provider == "three"


def test_an_agent_has_a_provider_of_its_own(ask, servers):
    """A granted ``agent_id`` uses what the program's resolver says of that agent."""
    agents = {"scribe": {"provider": "two", "model": "ink"}}
    grant = {"allow_agent_id_override": True}
    result = ask(resolver=agents.get, entry=grant, agent_id="scribe")
    assert (result.provider, result.agent_id, models(servers["two"])) == ("two", "scribe", ["ink"])
    assert ask(resolver=agents.get, entry=grant, agent_id="nobody").provider == "one"


def test_an_agent_has_a_home_of_its_own(ask, servers, home, tmp_path):
    """An agent with a home uses that home's configuration, keys and fallbacks; the caller's own keeps the account."""
    other, three = tmp_path / "other", servers["three"]
    other.mkdir()
    fallback = {"provider": "custom", "model": "ink-2", "base_url": three.base_url, "key_env": "OTHER_KEY"}
    main = {"provider": "custom", "default": "ink", "base_url": servers["two"].base_url, "key_env": "OTHER_KEY"}
    config = {"model": main, "fallback_providers": [fallback], "auxiliary": {"transient_retries": 0}}
    (other / "config.yaml").write_text(json.dumps(config))
    (other / ".env").write_text("OTHER_KEY=key-other-1")
    fails(servers["two"])
    result = ask(resolver={"scribe": {"home": other}}.get, entry={"allow_agent_id_override": True}, agent_id="scribe")
    keys = [server.requests[0].headers["authorization"] for server in (servers["two"], three)]
    assert (result.model, result.agent_id, keys) == ("ink-2", "scribe", ["Bearer key-other-1"] * 2)
    assert (servers["one"].requests, "agent=scribe" in (home.path / "logs/agent.log").read_text()) == ([], True)


def test_an_agent_may_be_of_the_same_home(ask, servers, home):
    """A resolver that names the host's own home changes nothing."""
    agents = {"scribe": {"home": home.path, "model": "ink"}}
    ask(resolver=agents.get, entry={"allow_agent_id_override": True}, agent_id="scribe")
    assert models(servers["one"]) == ["ink"]
