"""The one flow, driven by hand: what it asks for, what it makes of each outcome; and the two loops that drive it."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace

import pytest

from hermes_core import ApiMode, Completion, LlmCall, ProviderProfile
from hermes_core.auth.keys import NO_CREDENTIAL, Credential
from hermes_core.errors import (
    AuthenticationError,
    HermesError,
    InvalidRequestError,
    MissingCredentialError,
    ProviderError,
    ProviderHookError,
    ProviderStatusError,
    ProviderTimeoutError,
    ProviderTransportError,
    RateLimitError,
    ResponseFormatError,
    ServerError,
)
from hermes_core.llm.async_driver import arun
from hermes_core.llm.attempt import IMAGE_SECONDS, Means
from hermes_core.llm.driver import run
from hermes_core.llm.flow import completion
from hermes_core.llm.route import Route
from hermes_core.llm.steps import Block, Deadline, Send, Sleep
from hermes_core.llm.wire.chat_completions import CHAT_COMPLETIONS
from hermes_core.providers.profile import EndpointHost
from hermes_core.types.wire import HttpRequest, HttpResponse

CALL = LlmCall(plugin_id="p", messages=({"role": "user", "content": "ping"},))
GOOD = {"model": "m-1", "choices": [{"message": {"content": "pong"}, "finish_reason": "stop"}]}


def response(status: int = 200, body: object = GOOD, **headers: str) -> HttpResponse:
    """What a server sent back; a header's underscores are dashes."""
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    return HttpResponse(
        status=status, headers={name.replace("_", "-"): value for name, value in headers.items()}, body=raw
    )


class Hand:
    """Drives one call's flow step by step."""

    def __init__(self, clock, profile=None, wire=CHAT_COMPLETIONS, call=CALL, **route: object) -> None:
        self._attempts: list = []
        profile = profile or ProviderProfile("acme", base_url="https://api.acme.test/v1")
        route = {"base_url": profile.base_url, "credential": Credential("k-acme-1", "env:ACME_API_KEY"), **route}
        self.flow = completion(
            call,
            [Route(profile=profile, provider="acme", model="m", **route)],
            Means(
                wires={wire.name: wire},
                host=lambda provider: EndpointHost(home=None, settings={}, allow_downloads=False, say=print),
                deadline=Deadline(10, clock=clock),
                attempts=self._attempts,
                variable=lambda profile, name: f"{name} for {profile.name}",
                image_seconds=lambda: IMAGE_SECONDS,
                learned={},
            ),
        )
        self.step = next(self.flow)

    @property
    def attempts(self) -> list:
        """Provider, model and error of each request."""
        return [one[:3] for one in self._attempts]

    def answer(self, outcome: object) -> Completion:
        """Send the outcome of the last step; returns what the flow ends with."""
        with pytest.raises(StopIteration) as stop:
            self.flow.send(outcome)
        return stop.value.value

    def refuse(self, outcome: object) -> ProviderError:
        """Send the outcome of the last step; returns the error the flow ends with."""
        with pytest.raises(ProviderError) as caught:
            self.flow.send(outcome)
        return caught.value

    def fail(self, error: BaseException) -> BaseException:
        """Throw what went wrong with the last step; returns what the flow ends with."""
        with pytest.raises(type(error)) as caught:
            self.flow.throw(error)
        return caught.value


@pytest.fixture
def hand(clock):
    """Start the flow of a call on one route."""

    def start(profile=None, **route):
        return Hand(clock, profile, **route)

    return start


class Opening(ProviderProfile):
    """A profile that opens its own endpoint."""

    def open_endpoint(self, host):
        return "http://127.0.0.1:5/v1", "k-opened-1"


def test_the_first_step_sends_the_request(hand):
    """A plain route asks for one thing: that its request be sent within the time left."""
    step = hand().step
    assert isinstance(step, Send)
    assert (step.request.url, step.timeout) == ("https://api.acme.test/v1/chat/completions", 10)
    assert step.request.headers["Authorization"] == "Bearer k-acme-1"


def test_an_answer_ends_the_flow(hand):
    """A good answer is the flow's result, and one attempt without an error."""
    driven = hand()
    assert driven.answer(response()) == Completion(text="pong", model="m-1", finish_reason="stop")
    assert driven.attempts == [("acme", "m", "")]


def test_an_endpoint_is_opened_in_a_blocking_step(hand):
    """A profile that opens its endpoint is first asked in a step that may block; its address and key are then used."""
    driven = hand(Opening("acme"), credential=NO_CREDENTIAL)
    assert isinstance(driven.step, Block)
    sent = driven.flow.send(driven.step.function())
    assert (sent.request.url, sent.request.headers["Authorization"]) == (
        "http://127.0.0.1:5/v1/chat/completions", "Bearer k-opened-1",
    )  # fmt: skip


def test_what_is_sent_has_the_time_that_is_left(hand, clock):
    """One clock runs over all steps: what opening took is gone for sending."""
    driven = hand(Opening("acme"))
    clock.now += 4
    assert driven.flow.send(driven.step.function()).timeout == 6


def test_nothing_is_sent_after_the_deadline(hand, clock):
    """When the time is over before the request, it is a timeout, and an attempt that failed."""
    driven = hand(Opening("acme"))
    clock.now += 10
    error = driven.refuse(driven.step.function())
    assert isinstance(error, ProviderTimeoutError)
    assert driven.attempts == [("acme", "m", "ProviderTimeoutError")]


def test_the_deadline_counts_from_the_start_of_the_call(clock):
    """A deadline that began earlier has less left, and tells the whole of it in its error."""
    deadline = Deadline(10, started=clock.now - 7, clock=clock)
    assert deadline.left() == 3
    clock.now += 3
    with pytest.raises(ProviderTimeoutError, match="within 10 s"):
        deadline.left()


STATUSES = {
    300: (InvalidRequestError, False),
    302: (InvalidRequestError, False),
    400: (InvalidRequestError, False),
    401: (AuthenticationError, False),
    402: (InvalidRequestError, False),
    403: (AuthenticationError, False),
    404: (InvalidRequestError, False),
    408: (ServerError, True),
    413: (InvalidRequestError, False),
    422: (InvalidRequestError, False),
    429: (RateLimitError, True),
    500: (ServerError, True),
    502: (ServerError, True),
    503: (ServerError, True),
    529: (ServerError, True),
}


@pytest.mark.parametrize(
    ("status", "kind", "retryable"), [(status, *row) for status, row in STATUSES.items()], ids=map(str, STATUSES)
)
def test_each_status_has_its_error(hand, status, kind, retryable):
    """A status that is no success is a typed error with the status, the provider's words and whom it came from."""
    driven = hand()
    error = driven.refuse(response(status, {"error": {"message": "so it is"}}, x_request_id="r-1"))
    assert type(error) is kind
    assert isinstance(error, RuntimeError)
    assert (error.status_code, error.retryable, error.request_id) == (status, retryable, "r-1")
    assert (error.provider, error.model, str(error)) == (
        "acme", "m", f"acme answered {status} for model 'm': so it is",
    )  # fmt: skip
    assert driven.attempts == [("acme", "m", kind.__name__)]


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        pytest.param("7", 7.0, id="seconds"),
        pytest.param("1.5", 1.5, id="half-seconds"),
        pytest.param("0", 0.0, id="zero"),
        pytest.param(None, None, id="no-header"),
        pytest.param("", None, id="empty"),
        pytest.param("soon", None, id="word"),
        pytest.param("nan", None, id="not-a-number"),
        pytest.param("inf", None, id="infinity"),
        pytest.param("-5", None, id="negative"),
    ],
)
@pytest.mark.parametrize("status", [429, 503])
def test_the_provider_says_when_to_come_back(hand, status, header, seconds):
    """``retry_after`` is the header's seconds, or None when it holds no usable number."""
    headers = {} if header is None else {"retry_after": header}
    assert hand().refuse(response(status, {}, **headers)).retry_after == seconds


@pytest.mark.parametrize(
    ("body", "said"),
    [
        pytest.param({"error": {"message": "m"}}, "m", id="error-object"),
        pytest.param({"error": "m"}, "m", id="error-text"),
        pytest.param({"message": "m"}, "m", id="message-at-the-root"),
        pytest.param({"Message": "m"}, "m", id="message-with-a-capital"),
        pytest.param({"detail": "m"}, '{"detail": "m"}', id="another-shape-is-shown-whole"),
        pytest.param(b"<html>bad gateway</html>", "<html>bad gateway</html>", id="html-is-shown"),
        pytest.param(b"", "(no text)", id="nothing"),
        pytest.param(b"\xff\xfe", "\ufffd\ufffd", id="bytes-that-are-no-text"),
        pytest.param({"error": {"message": 5}}, '{"error": {"message": 5}}', id="message-that-is-no-text"),
        pytest.param(["m"], '["m"]', id="list"),
        pytest.param(b"[" * 5000, "[" * 200, id="too-deep"),
    ],
)
def test_the_providers_words_are_told(hand, body, said):
    """The error's text holds the message of the body, or the body's beginning."""
    assert str(hand().refuse(response(400, body))) == f"acme answered 400 for model 'm': {said}"


def test_a_long_error_body_is_cut(hand):
    """An error keeps at most 500 characters of the body, and tells at most 200."""
    error = hand().refuse(response(500, b"x" * 1_000_000))
    assert isinstance(error, ProviderStatusError)
    assert (len(error.body), len(str(error)) < 300) == (500, True)


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        pytest.param(b"<html>hello</html>", "text/html", id="html"),
        pytest.param(b"", "no content type", id="nothing"),
        pytest.param(b"\xff\xfe\x00", "no content type", id="no-text"),
        pytest.param(b'data: {"choi', "text/event-stream", id="event-stream-cut-off-r15_08"),
        pytest.param(b'{"choices": [', "application/json", id="cut-off"),
        pytest.param(b"[" * 100_000, "application/json", id="nested-too-deep-r13_21"),
    ],
)
def test_a_success_that_is_no_json_is_an_error_of_the_format(hand, body, kind):
    """A 200 whose body is no JSON is never an empty answer; the error shows type and beginning, and stays short."""
    headers = {} if kind == "no content type" else {"content_type": kind}
    driven = hand()
    error = driven.refuse(response(200, body, **headers))
    assert type(error) is ResponseFormatError
    assert kind in str(error)
    assert len(str(error)) < 400
    assert (error.provider, driven.attempts) == ("acme", [("acme", "m", "ResponseFormatError")])


def test_an_error_object_in_a_success_names_its_provider_r15_01(hand):
    """A 200 that holds an error is an error of the provider that sent it, and a failed attempt."""
    driven = hand()
    error = driven.refuse(response(200, {"error": {"message": "overloaded", "code": 502}}))
    assert (type(error), error.provider, error.model) == (ServerError, "acme", "m")
    assert "overloaded" in str(error)
    assert driven.attempts == [("acme", "m", "ServerError")]


def test_an_event_stream_reaches_the_wire_as_its_events(clock):
    """A wire format is given the list of the events when a server streams unasked."""
    wire = ApiMode(
        name="odd",
        encode=lambda request: HttpRequest(url=request.base_url, headers={}, body=b"{}"),
        decode=lambda body: Completion(text=repr(body)),
    )
    answer = Hand(clock, wire=wire, api_mode="odd").answer(response(200, b'data: {"a": 1}\n\ndata: 2\n\n'))
    assert answer.text == "[{'a': 1}, 2]"


@pytest.mark.parametrize(
    "made",
    [
        pytest.param(None, id="nothing"),
        pytest.param("hi", id="text"),
        pytest.param(Completion(text=None), id="a completion without text"),
        pytest.param(Completion(text="x", usage={"total_tokens": 5}), id="a completion whose usage is a mapping"),
        pytest.param(Completion(text="x", model=5), id="a completion whose model is a number"),
    ],
)
def test_a_wire_that_makes_no_completion_is_an_error_of_its_route(clock, made):
    """What ``decode`` returns in a completion's place is blamed on the wire, and breaks nothing else."""
    wire = ApiMode(
        name="odd",
        encode=lambda request: HttpRequest(url=request.base_url, headers={}, body=b"{}"),
        decode=lambda body: made,
    )
    with pytest.raises(ProviderHookError, match="'odd': decode returned"):
        Hand(clock, wire=wire, api_mode="odd").flow.send(response())


@pytest.mark.parametrize("half", ["encode", "sign"])
@pytest.mark.parametrize(
    ("made", "problem"),
    [
        pytest.param(None, "no HttpRequest", id="nothing"),
        pytest.param(("https://a.test", {}, b""), "no HttpRequest", id="a tuple"),
        pytest.param(HttpRequest(url=None, headers={}, body=b""), "url and body", id="no address"),
        pytest.param(HttpRequest(url="https://a.test", headers={}, body="{}"), "url and body", id="a body of text"),
        pytest.param(HttpRequest(url="https://a.test", headers=None, body=b""), "headers", id="no headers"),
        pytest.param(HttpRequest(url="https://a.test", headers={"x": None}, body=b""), "'x' is None", id="a none"),
    ],
)
def test_a_wire_that_makes_no_request_is_an_error_of_its_route(clock, half, made, problem):
    """What ``encode`` or ``sign`` returns in a request's place is blamed on the wire; nothing is sent."""
    good = HttpRequest(url="https://a.test", headers={}, body=b"{}")
    encoded, sign = (made, None) if half == "encode" else (good, lambda request, variables: made)
    wire = ApiMode(name="odd", encode=lambda request: encoded, decode=lambda body: body, sign=sign)
    with pytest.raises(ProviderHookError, match=f"'odd': {half} returned .*{problem}"):
        Hand(clock, wire=wire, api_mode="odd").step.function()


def test_reasoning_is_taken_out_whatever_the_wire(clock):
    """Think tags are a habit of models, so no wire format needs to know of them."""
    wire = ApiMode(
        name="odd",
        encode=lambda request: HttpRequest(url=request.base_url, headers={}, body=b"{}"),
        decode=lambda body: Completion(text=body),
    )
    answer = Hand(clock, wire=wire, api_mode="odd").answer(response(200, "<think>hm</think>hi"))
    assert (answer.text, answer.reasoning) == ("hi", "hm")


@pytest.mark.parametrize("error", [ProviderTransportError("gone"), ProviderTimeoutError("late")])
def test_an_error_of_the_network_ends_the_flow(hand, error):
    """What the transport raises is the flow's error, with whom it concerns, and a failed attempt."""
    driven = hand()
    raised = driven.fail(error)
    assert (raised, raised.provider, raised.model) == (error, "acme", "m")
    assert driven.attempts == [("acme", "m", type(error).__name__)]


@pytest.mark.parametrize("error", [KeyboardInterrupt(), asyncio.CancelledError(), SystemExit(1)])
def test_an_interrupt_goes_through_and_is_counted(hand, error):
    """Cancellation and Ctrl-C go through the flow as they are, never retried; what was under way is an attempt."""
    driven = hand()
    assert driven.fail(error) is error
    assert driven.attempts == [("acme", "m", type(error).__name__)]


def test_an_abandoned_flow_ends_quietly(hand):
    """Closing a flow that waits for an outcome raises nothing and records nothing."""
    driven = hand()
    driven.flow.close()
    assert driven.attempts == []


def test_an_unknown_wire_names_the_nearest(clock):
    """A route whose wire nobody offers is an error that quotes it and names the known ones."""
    with pytest.raises(HermesError, match="'chat_completion'; did you mean 'chat_completions'") as caught:
        Hand(clock, api_mode="chat_completion")
    assert "chat_completions" in caught.value.hint


@pytest.mark.parametrize("error", [KeyError("output"), SystemExit(3), GeneratorExit(), StopIteration()], ids=repr)
@pytest.mark.parametrize("half", ["encode", "decode"])
def test_a_wire_that_raises_is_an_error_of_its_route(clock, half, error):
    """What a plugin's wire format raises unasked becomes an error that names the wire, not the program's end."""

    def fail(_given):
        raise error

    halves = {
        "encode": lambda request: HttpRequest(url=request.base_url, headers={}, body=b"{}"),
        "decode": lambda body: Completion(text=str(body)),
        half: fail,
    }
    with pytest.raises(ProviderHookError, match=f"'odd': {half} raised {type(error).__name__}"):
        Hand(clock, wire=ApiMode(name="odd", **halves), api_mode="odd").flow.send(response())


def looking() -> LlmCall:
    """A call that holds an image."""
    part = {"type": "image_url", "image_url": {"url": "https://pictures.test/a.png"}}
    return LlmCall(plugin_id="p", messages=({"role": "user", "content": [part]},))


INLINING = replace(CHAT_COMPLETIONS, name="inlining", inlines_images=True)


def test_images_are_fetched_in_a_blocking_step(clock):
    """A wire that takes images only inside the request has them fetched first, in a step that may block."""
    driven = Hand(clock, wire=INLINING, call=looking(), api_mode="inlining")
    assert (type(driven.step), driven.step.timeout) == (Block, 10)
    sent = driven.flow.send([{"role": "user", "content": "fetched"}])
    assert json.loads(sent.request.body)["messages"] == [{"role": "user", "content": "fetched"}]


def test_without_an_image_nothing_is_fetched(clock):
    """A call without images takes one step on every wire."""
    assert isinstance(Hand(clock, wire=INLINING, api_mode="inlining").step, Send)


def signing(sign) -> ApiMode:
    """A wire that signs."""
    return replace(CHAT_COMPLETIONS, name="signing", sign=sign, sign_variables=("A", "B"))


def test_a_request_is_signed_in_a_blocking_step(clock):
    """What a wire's ``sign`` returns is what is sent; it is given its variables, in a step that may block."""

    def sign(request, variables):
        return request._replace(headers={**request.headers, **variables})

    driven = Hand(clock, wire=signing(sign), api_mode="signing")
    assert (type(driven.step), driven.step.timeout) == (Block, 10)
    sent = driven.flow.send(driven.step.function())
    assert (sent.request.headers["A"], sent.request.headers["B"]) == ("A for acme", "B for acme")


def test_a_signer_that_raises_is_an_error_of_its_route(clock):
    """What ``sign`` raises unasked names the wire; an error of ours goes through as it is."""
    driven = Hand(clock, wire=signing(lambda request, variables: variables["C"]), api_mode="signing")
    with pytest.raises(ProviderError, match="'signing': sign raised KeyError") as caught:
        driven.step.function()
    assert driven.fail(caught.value) is caught.value


@pytest.mark.parametrize("kind", ["images", "sign"])
@pytest.mark.parametrize(
    ("error", "took", "told"),
    [
        pytest.param(TimeoutError(), 0, ProviderTimeoutError, id="the-driver-gave-up"),
        pytest.param(MissingCredentialError("none"), 10, ProviderTimeoutError, id="it-failed-when-the-time-was-over"),
        pytest.param(MissingCredentialError("none"), 5, MissingCredentialError, id="it-failed-in-time"),
    ],
)
def test_a_step_that_outlasts_the_deadline_is_a_timeout(clock, kind, error, took, told):
    """Blocking and awaiting drivers tell the same: what fails after the deadline failed by it."""
    wire, call = (INLINING, looking()) if kind == "images" else (signing(lambda request, variables: request), CALL)
    driven = Hand(clock, wire=wire, call=call, api_mode=wire.name)
    clock.now += took
    with pytest.raises(told) as caught:
        driven.flow.throw(error)
    assert driven.attempts == [("acme", "m", told.__name__)]
    assert told is MissingCredentialError or str(caught.value).startswith("no answer within 10 s")


@pytest.mark.parametrize("header", ["x-request-id", "request-id", "x-amzn-requestid"])
def test_a_request_is_named_as_the_provider_names_it(hand, header):
    """The id of a failed request is found under each vendor's name for it."""
    assert hand().refuse(response(500, {}, **{header: "r-1"})).request_id == "r-1"


class Doing:
    """A transport in memory that tells what it was asked."""

    def __init__(self, *, awaits: bool, outcome: object) -> None:
        self.outcome = outcome
        self.sent: list = []
        self.send = self._asend if awaits else self._send

    def _send(self, request, timeout, tls):
        self.sent.append((request, timeout))
        if isinstance(self.outcome, BaseException):
            raise self.outcome
        return self.outcome

    async def _asend(self, request, timeout, tls):
        return self._send(request, timeout, tls)


@pytest.fixture
def drive(way):
    """Drive a flow to its end with a transport that has one outcome."""

    def to_the_end(flow, outcome=None):
        transport = Doing(awaits=way.awaits, outcome=outcome)
        if not way.awaits:
            return run(flow, transport), transport.sent

        async def main():
            return await arun(flow, transport)

        return asyncio.run(main()), transport.sent

    return to_the_end


REQUEST = HttpRequest(url="http://127.0.0.1:1", headers={}, body=b"")


def test_a_driver_does_each_kind_of_step(drive):
    """Send, Block and Sleep are done in order, and each outcome goes back into the flow."""

    def flow():
        sent = yield Send(request=REQUEST, timeout=3)
        slept = yield Sleep(seconds=0)
        called = yield Block(function=lambda: "called")
        return sent, slept, called

    assert drive(flow(), "sent") == (("sent", None, "called"), [(REQUEST, 3)])


def test_a_driver_throws_what_went_wrong_into_the_flow(drive):
    """A step's error comes up where the flow yielded it; the flow may go on."""

    def flow():
        try:
            yield Send(request=REQUEST, timeout=3)
        except ProviderTransportError as error:
            told = f"after {error}"
        return (yield Block(function=lambda: told))

    assert drive(flow(), ProviderTransportError("gone"))[0] == "after gone"


def test_a_flow_that_asks_for_nothing_is_driven_too(drive):
    """A flow may end before its first step."""

    def flow():
        return "at once"
        yield

    assert drive(flow()) == ("at once", [])


def test_a_flow_that_fails_is_over(drive):
    """What a flow raises reaches the caller, and the flow is closed."""

    def flow():
        yield Sleep(seconds=0)
        message = "so"
        raise ValueError(message)

    running = flow()
    with pytest.raises(ValueError, match="so"):
        drive(running)
    assert running.gi_frame is None


@pytest.mark.parametrize("error", [KeyboardInterrupt, asyncio.CancelledError], ids=["ctrl-c", "cancelled"])
def test_an_interrupt_closes_the_flow_with_its_own_name(drive, error):
    """A flow that is interrupted in mid-step is told by what, and is closed before the caller hears of it."""
    seen = []

    def flow():
        try:
            yield Send(request=REQUEST, timeout=3)
        except BaseException as interrupt:
            seen.append(type(interrupt))
            raise

    running = flow()
    with pytest.raises(error):
        drive(running, error())
    assert (seen, running.gi_frame) == ([error], None)
