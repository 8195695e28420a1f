"""One attempt: a call asked of one provider with one credential, and what came back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple, TypeVar
from urllib.parse import urlsplit

from hermes_core.config.redact import redact, register_secret
from hermes_core.errors import (
    HermesError,
    ProviderError,
    ProviderHookError,
    ProviderStatusError,
    ProviderTimeoutError,
    ProviderTransportError,
    describe,
    near,
)
from hermes_core.llm.answer import completion_problem, read_body, reported_error, settled
from hermes_core.llm.downgrade import MOST_CHANGES, change_for, changed
from hermes_core.llm.prices import estimate
from hermes_core.llm.request import assemble
from hermes_core.llm.route import destination
from hermes_core.llm.status import disguised_error, status_error
from hermes_core.llm.steps import Block, Send, blocking
from hermes_core.providers.foreign import opens_endpoint
from hermes_core.types.address import host_of
from hermes_core.types.wire import HttpRequest

if TYPE_CHECKING:
    from collections.abc import Callable

    from hermes_core.auth.keys import Credential
    from hermes_core.llm.route import Route
    from hermes_core.llm.steps import Deadline, Flow
    from hermes_core.providers.profile import EndpointHost, ProviderProfile
    from hermes_core.types.call import Completion, LlmCall
    from hermes_core.types.wire import ApiMode, WireRequest

T = TypeVar("T")

IMAGE_SECONDS = 30.0
"""For fetching the images of a call, unless the configuration says otherwise."""

Learned = dict[tuple[str, str], tuple[str, ...]]
"""Provider and model → what they refused, and is left out from then on; see ``downgrade``."""


class Attempt(NamedTuple):
    """One request, for the audit.

    Attributes:
        error: The error's class name, or ``""``.
        status: The status of a refusal, or None.
    """

    provider: str
    model: str
    error: str = ""
    status: int | None = None


class Means(NamedTuple):
    """What every attempt of a call has at hand.

    Attributes:
        wires: The wire formats, by name.
        host: What a provider's profile may ask of the host, by the provider's name.
        deadline: The call's one clock.
        attempts: Filled with each request made.
        variable: A variable that a provider's wire may sign with, by its name; ``""`` when it is not set.
        image_seconds: Tells how long fetching the images of an attempt may take.
        learned: What providers have refused so far.
    """

    wires: Mapping[str, ApiMode]
    host: Callable[[str], EndpointHost]
    deadline: Deadline
    attempts: list[Attempt]
    variable: Callable[[ProviderProfile, str], str]
    image_seconds: Callable[[], float]
    learned: Learned

    def note(self, route: Route, error: BaseException | None = None) -> None:
        """Keep an attempt for the audit, and say on a provider's error whose it is."""
        if isinstance(error, ProviderError):
            error.provider, error.model = route.provider, route.model
            error.hint = error.hint or _remedy(error, route)
        name, status = type(error).__name__ if error is not None else "", getattr(error, "status_code", None)
        self.attempts.append(Attempt(route.provider, route.model, name, status))


def _remedy(error: ProviderError, route: Route) -> str:
    """What helps when a provider gave no answer at all; the address is named by its host, as the rest may be secret."""
    if not isinstance(error, ProviderTransportError):
        return ""
    asked = host_of(route.base_url) or route.provider
    if isinstance(error, ProviderTimeoutError):
        return f"{asked} takes long: give it more with timeout= or auxiliary.plugin.timeout, or choose another model"
    return f"does {asked} run, and is model.base_url right? `hermes doctor` asks it"


def attempt(call: LlmCall, route: Route, credential: Credential, means: Means, seconds: float) -> Flow[Completion]:
    """Ask one route with one credential, at most ``seconds`` for the answer.

    What the provider says it does not take is left out, and the request sent once more.

    Raises:
        ProviderError: There is no answer.
    """
    base_url, api_key = credential.base_url or route.base_url, credential.value
    if opens_endpoint(route.profile):
        opened = yield from _opened(route, base_url, api_key, means)
        base_url, api_key = opened or (base_url, api_key)
    base_url, api_mode = destination(route, base_url, api_key)
    check_address(base_url, route.provider)
    wire = means.wires.get(api_mode)
    if wire is None:
        message = f"no plugin offers the wire format {api_mode!r}{near(api_mode, means.wires)}"
        raise ProviderError(message, hint=f"known: {', '.join(sorted(means.wires))}")
    whole = assemble(call, route, base_url, api_mode, api_key)
    if wire.inlines_images:
        whole = yield from _with_images(whole, means)
    target, tried = (route.provider, route.model), 0
    while True:
        asked = changed(whole, means.learned.get(target, ()))
        try:
            return (yield from _sent(call, route, wire, asked, means, seconds))
        except ProviderStatusError as error:
            change = change_for(error, asked)
            if not change or tried == MOST_CHANGES:
                raise
            tried += 1
            means.learned[target] = (*means.learned.get(target, ()), change)
            means.note(route, error)


def _sent(
    call: LlmCall, route: Route, wire: ApiMode, asked: WireRequest, means: Means, seconds: float
) -> Flow[Completion]:
    request = _by_wire(route, wire, "encode", lambda: wire.encode(asked), _request_problem)
    if wire.sign is not None:
        request = yield from _signed(route, wire, request, means)
    response = yield Send(request, min(means.deadline.left(), seconds), route.tls)
    if not 200 <= response.status < 300:
        raise status_error(response, route)
    body = read_body(response)
    reported = reported_error(body)
    if reported is not None:
        raise disguised_error(reported, response, route)
    answer = _by_wire(route, wire, "decode", lambda: wire.decode(body), completion_problem)
    usage = answer.usage
    if usage.cost_usd is None and usage.total_tokens:
        usage.cost_usd = estimate(usage, route.model, asked.base_url, route.provider)
    return settled(answer, call)


def _opened(route: Route, base_url: str, api_key: str, means: Means) -> Flow[tuple[str, str] | None]:
    """Address and key of an endpoint that the profile opens itself; the time of a download does not count."""
    asked, deadline = means.host(route.provider), means.deadline
    asked = asked._replace(
        settings=route.settings,
        base_url=base_url,
        api_key=api_key,
        variable=lambda name: means.variable(route.profile, name),
    )
    before = deadline.left()
    try:
        opened: tuple[str, str] | None = yield Block(
            lambda: _open_endpoint(route, asked), None if asked.allow_downloads else before
        )
    except TimeoutError as error:
        raise deadline.passed() from error
    if asked.allow_downloads:
        deadline.forgive(before - deadline.remaining())
    if opened is not None:
        register_secret(opened[1])
    return opened


def _with_images(request: WireRequest, means: Means) -> Flow[WireRequest]:
    """The request with every image in it, those given by a URL fetched."""
    from hermes_core.llm.images import are_remote, inlined

    if not are_remote(request.messages):
        return request
    seconds = min(means.image_seconds(), means.deadline.left())
    return request._replace(messages=(yield from blocking(lambda: inlined(request.messages, seconds), means.deadline)))


def _signed(route: Route, wire: ApiMode, request: HttpRequest, means: Means) -> Flow[HttpRequest]:
    """The request as its wire signs it, with the variables that the wire asked for and nothing else."""
    sign = wire.sign
    assert sign is not None
    variables = {name: value for name in wire.sign_variables if (value := means.variable(route.profile, name))}

    def signed() -> HttpRequest:
        return _by_wire(route, wire, "sign", lambda: sign(request, variables), _request_problem)

    return (yield from blocking(signed, means.deadline))


def _open_endpoint(route: Route, host: EndpointHost) -> tuple[str, str] | None:
    try:
        opened = route.profile.open_endpoint(host)
    except (HermesError, KeyboardInterrupt):
        raise
    except BaseException as error:
        message = f"provider {route.provider!r}: its hook open_endpoint raised {describe(error)}"
        raise ProviderHookError(message, provider=route.provider) from error
    is_pair = isinstance(opened, tuple) and len(opened) == 2 and all(isinstance(part, str) for part in opened)
    if opened is not None and not is_pair:
        message = f"provider {route.provider!r}: its hook open_endpoint must return (base_url, api_key) or None"
        raise ProviderHookError(message, provider=route.provider)
    return opened


def _by_wire(
    route: Route, wire: ApiMode, half: str, function: Callable[[], T], problem_of: Callable[[object], str]
) -> T:
    """Call one half of a wire format; what it raises unasked, or should not return, is blamed on it."""
    try:
        made = function()
        problem = problem_of(made)
    except (HermesError, KeyboardInterrupt):
        raise
    except BaseException as error:
        message = f"the wire format {wire.name!r}: {half} raised {describe(error)}"
        raise ProviderHookError(message, provider=route.provider) from error
    if problem:
        message = f"the wire format {wire.name!r}: {half} returned {problem}"
        raise ProviderHookError(message, provider=route.provider)
    return made


def _request_problem(request: object) -> str:
    """What keeps a wire's request from being sent, without anything it holds; ``""`` when nothing does."""
    if not isinstance(request, HttpRequest):
        return f"{type(request).__name__}, which is no HttpRequest"
    if not isinstance(request.url, str) or not isinstance(request.body, bytes):
        kinds = f"{type(request.url).__name__} and {type(request.body).__name__}"
        return f"an HttpRequest whose url and body must be str and bytes, and are {kinds}"
    if not isinstance(request.headers, Mapping):
        return f"an HttpRequest whose headers are {type(request.headers).__name__}, and must be a mapping"
    for name, value in request.headers.items():
        if not isinstance(name, str) or not isinstance(value, str):
            return f"an HttpRequest whose header {name!r:.100} is {type(value).__name__}, and must be str"
    return ""


def check_address(base_url: str, provider: str) -> None:
    """Refuse an address that no request can go to.

    Raises:
        ProviderError: It has no scheme, no host, no usable port, or holds a fragment or a login.
    """
    hint = "correct base_url: it looks like https://api.example.com/v1"
    if not base_url:
        message = f"provider {provider!r} has no address"
        raise ProviderError(message, provider=provider, hint="set model.base_url in config.yaml")
    try:
        parts = urlsplit(base_url)
        sound = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0 and not parts.fragment
    except ValueError:
        sound = False
    if not sound:
        message = f"the address of provider {provider!r} cannot be used: {redact(base_url.rpartition('@')[2])!r}"
        raise ProviderError(message, provider=provider, hint=hint)
    if "@" in parts.netloc:
        message = f"the address of provider {provider!r} holds a login, which is never sent"
        raise ProviderError(message, provider=provider, hint="take it out of base_url, and give the key as api_key")
