"""What happens when a provider fails: who is asked, in what order, and what is raised; asked and awaited alike."""

import asyncio
import json
import socket
from concurrent.futures import ThreadPoolExecutor
from itertools import product

import pytest

from hermes_core import Host
from hermes_core.errors import HermesError
from hermes_core.testing import FakeProvider, Reply
from hermes_core.testing.fake_provider import completion_body

MESSAGES = [{"role": "user", "content": "ping"}]
REFUSED = {"error": {"message": "no"}}
BILLED = {"error": {"message": "You exceeded your current quota, please check your plan and billing details."}}

FAULTS = {
    "400": Reply(400, body=REFUSED),
    "401": Reply(401, body=REFUSED),
    "402": Reply(402, body=REFUSED),
    "403": Reply(403, body=REFUSED),
    "404": Reply(404, body=REFUSED),
    "408": Reply(408, body=REFUSED),
    "413": Reply(413, body=REFUSED),
    "422": Reply(422, body=REFUSED),
    "429": Reply(429, body=REFUSED),
    "429 with Retry-After": Reply(429, {"Retry-After": "0.1"}, REFUSED),
    "429 with a long Retry-After": Reply(429, {"Retry-After": "3600"}, REFUSED),
    "429 about money": Reply(429, body=BILLED),
    "500": Reply(500, body=REFUSED),
    "502": Reply(502, body="<html>bad gateway</html>"),
    "503": Reply(503, body=REFUSED),
    "504": Reply(504, body=REFUSED),
    "529": Reply(529, body=REFUSED),
    "connection refused": None,
    "reset in mid-body": Reply(body=completion_body("pong"), cut=20),
    "no answer in time": Reply(delay=6.0),
    "200 with an error": Reply(body=REFUSED),
    "200 with an error of status 429": Reply(body={"error": {"message": "no", "code": 429}}),
    "200 with a web page": Reply(headers={"Content-Type": "text/html"}, body="<html>hello</html>"),
    "200 with nothing": Reply(body=""),
    "200 with broken JSON": Reply(body='{"choices": ['),
    "200 with null content": Reply(body={"choices": [{"message": {"content": None}, "finish_reason": "stop"}]}),
}
SETUPS = {"neither": (1, False), "two keys": (2, False), "a fallback": (1, True), "both": (2, True)}

ONCE, TWICE, EACH = "k1", "k1 k1", "k1 k2"
EXPECTED = {
    "400": (ONCE, ONCE, False, "InvalidRequestError"),
    "401": (ONCE, EACH, True, "AuthenticationError"),
    "402": (ONCE, EACH, True, "InvalidRequestError"),
    "403": (ONCE, ONCE, True, "AuthenticationError"),
    "404": (ONCE, ONCE, True, "InvalidRequestError"),
    "408": (TWICE, TWICE, True, "ServerError"),
    "413": (ONCE, ONCE, False, "InvalidRequestError"),
    "422": (ONCE, ONCE, False, "InvalidRequestError"),
    "429": (TWICE, "k1 k2 k2", True, "RateLimitError"),
    "429 with Retry-After": (TWICE, "k1 k2 k2", True, "RateLimitError"),
    "429 with a long Retry-After": (ONCE, EACH, True, "RateLimitError"),
    "429 about money": (ONCE, EACH, True, "RateLimitError"),
    "500": (TWICE, TWICE, True, "ServerError"),
    "502": (TWICE, TWICE, True, "ServerError"),
    "503": (TWICE, TWICE, True, "ServerError"),
    "504": (TWICE, TWICE, True, "ServerError"),
    "529": (TWICE, TWICE, True, "ServerError"),
    "connection refused": ("", "", True, "ProviderTransportError"),
    "reset in mid-body": (TWICE, TWICE, True, "ProviderTransportError"),
    "no answer in time": (ONCE, ONCE, True, "ProviderTimeoutError"),
    "200 with an error": (TWICE, TWICE, True, "ResponseFormatError"),
    "200 with an error of status 429": (TWICE, "k1 k2 k2", True, "RateLimitError"),
    "200 with a web page": (TWICE, TWICE, True, "ResponseFormatError"),
    "200 with nothing": (TWICE, TWICE, True, "ResponseFormatError"),
    "200 with broken JSON": (TWICE, TWICE, True, "ResponseFormatError"),
    "200 with null content": (TWICE, TWICE, True, "ResponseFormatError"),
}
"""Fault → the keys asked when there is one and when there are two, whether a fallback is asked, and the error."""


class Scene(FakeProvider):
    """One server for all scenes: the path says which, and who of it is asked."""

    def next_response(self, request):
        """The fault of the scene from its first provider, an answer from the second."""
        _, number, who, *_ = request.path.split("/")
        return FAULTS[[*FAULTS][int(number)]] if who == "first" else super().next_response(request)


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory):
    """Every scene, played once, all at the same time: what was asked, and what came of it."""
    homes = tmp_path_factory.mktemp("homes")
    with socket.socket() as closed, Scene() as server, ThreadPoolExecutor(48) as threads:
        closed.bind(("127.0.0.1", 0))
        nobody = f"http://127.0.0.1:{closed.getsockname()[1]}"
        root = server.base_url.removesuffix("/v1")

        def play(scene):
            fault, setup, way = scene
            keys, falls_back = SETUPS[setup]
            number = f"{[*FAULTS].index(fault)}"
            home = homes / f"{number}-{setup}-{way}"
            address = nobody if FAULTS[fault] is None else root
            for name, base, count in (("first", address, keys), ("second", root, 1)):
                folder = home / "plugins" / name
                folder.mkdir(parents=True)
                block = {
                    "base_url": f"{base}/{number}/{name}/{way}-{setup.replace(' ', '-')}/v1",
                    "env_vars": [f"{name.upper()}_{place}_KEY" for place in range(count)],
                    "fallback_models": ["m"],
                }
                (folder / "plugin.yaml").write_text(json.dumps({"name": name, "profile": block}))
            env = ["FIRST_0_KEY=k1-of-first", "FIRST_1_KEY=k2-of-first", "SECOND_0_KEY=k-of-second"]
            (home / ".env").write_text("\n".join(env))
            config = {"model": {"provider": "first"}, "auxiliary": {"transient_retries": 1}}
            if falls_back:
                config["fallback_providers"] = [{"provider": "second"}]
            with Host.load(home, config=config) as host:
                method = getattr(host.llm("p"), way)
                try:
                    answer = method(MESSAGES, timeout=5)
                    result = asyncio.run(answer) if way == "acomplete" else answer
                    ended = f"answered by {result.provider}"
                    told = [(one["provider"], one["error"]) for one in result.audit["attempts"]]
                except HermesError as error:
                    ended = type(error).__name__
                    told = [(one.provider, one.error) for one in error.attempts]
            mark = f"/{number}/", f"/{way}-{setup.replace(' ', '-')}/"
            asked = [
                (request.path.split("/")[2], request.headers["authorization"].removeprefix("Bearer ").split("-")[0])
                for request in [*server.requests]
                if all(part in request.path for part in mark)
            ]
            return asked, ended, told

        scenes = [*product(FAULTS, SETUPS, ("complete", "acomplete"))]
        yield dict(zip(scenes, threads.map(play, scenes), strict=True))


@pytest.mark.parametrize("setup", SETUPS)
@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("way", ["complete", "acomplete"])
def test_who_is_asked_and_what_is_raised(outcomes, way, fault, setup):
    """Each failure has one course, whether the call is blocking or awaited; the error is the first provider's."""
    asked, ended, _ = outcomes[fault, setup, way]
    keys, falls_back = SETUPS[setup]
    alone, together, next_one, error = EXPECTED[fault]
    of_first = [("first", key) for key in (alone, together)[keys - 1].split()]
    second = [("second", "k")] if falls_back and next_one else []
    assert (asked, ended) == ([*of_first, *second], "answered by second" if second else error)


@pytest.mark.parametrize("setup", SETUPS)
@pytest.mark.parametrize("fault", FAULTS)
def test_every_request_is_told(outcomes, fault, setup):
    """The audit of an answer, and the error of a failure, hold each request with its provider and its error."""
    asked, ended, told = outcomes[fault, setup, "complete"]
    assert outcomes[fault, setup, "acomplete"][2] == told
    requests = len(asked) + (told.count(("first", "ProviderTransportError")) if fault == "connection refused" else 0)
    assert len(told) == requests
    assert [error == "" for _, error in told] == [*[False] * (len(told) - 1), ended.startswith("answered")]
