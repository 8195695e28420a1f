"""The one flow of a model call: a generator that decides, and does no input or output itself."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar
from urllib.parse import urlsplit

from hermes_core.config.redact import redact, register_secret
from hermes_core.config.truth import is_number
from hermes_core.errors import (
    AuthenticationError,
    HermesError,
    InvalidRequestError,
    ProviderError,
    ProviderHookError,
    ProviderStatusError,
    ProviderTimeoutError,
    RateLimitError,
    ResponseFormatError,
    ServerError,
    describe,
    near,
)
from hermes_core.llm.answer import MAX_ERROR_BYTES, read_body, reported_error, settled, status_of
from hermes_core.llm.request import assemble
from hermes_core.providers.profile import EndpointHost, ProviderProfile

if TYPE_CHECKING:
    from hermes_core.auth.keys import Credential
    from hermes_core.auth.pool import CredentialPool
    from hermes_core.llm.plan import Route
    from hermes_core.types.call import Completion, LlmCall
    from hermes_core.types.wire import ApiMode, HttpRequest, HttpResponse, WireRequest

T = TypeVar("T")

IMAGE_SECONDS = 30.0
"""For fetching the images of a call, unless the configuration says otherwise."""


class Send(NamedTuple):
    """Step: send a request; the outcome is its ``HttpResponse``. ``timeout`` is in seconds."""

    request: HttpRequest
    timeout: float


class Block(NamedTuple):
    """Step: call a function that may block; the outcome is what it returns.

    An awaiting driver gives up on it after ``timeout`` seconds, if there is one.
    """

    function: Callable[[], Any]
    timeout: float | None = None


class Sleep(NamedTuple):
    """Step: wait for ``seconds``."""

    seconds: float


class Ask(NamedTuple):
    """Step: call a plugin's hook; the outcome is what it returns, awaited if need be.

    One that is not ``is_async`` may block. What is awaited is given up after ``timeout`` seconds.
    """

    function: Callable[[], Any]
    is_async: bool
    timeout: float


Step: TypeAlias = Send | Block | Sleep | Ask
Flow: TypeAlias = Generator[Step, Any, T]
"""A generator of steps; a driver sends each one's outcome back in, or throws its error."""


class Deadline:
    """The one clock of a call.

    Args:
        seconds: How long everything may take.
        started: When it began, by ``clock``; now when None.
        clock: Tells the time in seconds.
    """

    def __init__(
        self, seconds: float, started: float | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.seconds = seconds
        self._clock = clock
        self._end = (clock() if started is None else started) + seconds

    def left(self) -> float:
        """Seconds left.

        Raises:
            ProviderTimeoutError: None are.
        """
        left = self.remaining()
        if left <= 0:
            raise self.passed()
        return left

    def remaining(self) -> float:
        """Seconds left, fewer than none when it has passed."""
        return self._end - self._clock()

    def forgive(self, seconds: float) -> None:
        """Move it on by time that does not count: the operator watched a download."""
        self._end += seconds

    def passed(self) -> ProviderTimeoutError:
        """The error to raise when it has passed."""
        return ProviderTimeoutError(f"no answer within {self.seconds:g} s")


class Attempt(NamedTuple):
    """One route that was tried, for the audit: the error's class name, or ``""``."""

    provider: str
    model: str
    error: str = ""


def completion(
    call: LlmCall,
    routes: Sequence[Route],
    *,
    wires: Mapping[str, ApiMode],
    host: Callable[[str], EndpointHost],
    deadline: Deadline,
    attempts: list[Attempt],
    variable: Callable[[ProviderProfile, str], str] = lambda _profile, _name: "",
    image_seconds: Callable[[], float] = lambda: IMAGE_SECONDS,
) -> Flow[Completion]:
    """Ask the routes in order until one answers.

    Args:
        call: What is asked.
        routes: Where, in order of preference.
        wires: The wire formats, by name.
        host: What a provider's profile may ask of the host, by the provider's name.
        deadline: The call's one clock.
        attempts: Filled with each route tried.
        variable: A variable that a provider's wire may sign with, by its name; ``""`` when it is not set.
        image_seconds: Tells how long fetching the images of an attempt may take.

    Raises:
        ProviderError: No route answered; the first one's error.
    """
    (route,) = routes  # more than one, with retries and rotation, is what this generator is shaped for
    try:
        answer = yield from _attempt(
            call,
            route,
            wires=wires,
            host=host,
            deadline=deadline,
            variable=variable,
            image_seconds=image_seconds,
        )
    except ProviderError as error:
        error.provider, error.model = route.provider, route.model
        if isinstance(error, ProviderTimeoutError):  # the transport knows what was left, the caller what was given
            error.args = deadline.passed().args
        attempts.append(Attempt(provider=route.provider, model=route.model, error=type(error).__name__))
        raise
    attempts.append(Attempt(provider=route.provider, model=route.model))
    return answer


def _attempt(
    call: LlmCall,
    route: Route,
    *,
    wires: Mapping[str, ApiMode],
    host: Callable[[str], EndpointHost],
    deadline: Deadline,
    variable: Callable[[ProviderProfile, str], str],
    image_seconds: Callable[[], float],
) -> Flow[Completion]:
    credential = route.credential
    if credential.is_stale and route.pool is not None:
        credential = yield from _fresh(route.pool, credential, deadline)
    base_url, api_key = credential.base_url or route.base_url, credential.value
    if type(route.profile).open_endpoint is not ProviderProfile.open_endpoint:
        asked = host(route.provider)
        before = deadline.left()
        try:
            opened = yield Block(lambda: _open_endpoint(route, asked), None if asked.allow_downloads else before)
        except TimeoutError as error:
            raise deadline.passed() from error
        if asked.allow_downloads:
            deadline.forgive(before - deadline.remaining())
        if opened is not None:
            base_url, api_key = opened
            register_secret(api_key)
    check_address(base_url, route.provider)
    wire = wires.get(route.api_mode)
    if wire is None:
        message = f"no plugin offers the wire format {route.api_mode!r}{near(route.api_mode, wires)}"
        raise ProviderError(message, hint=f"known: {', '.join(sorted(wires))}")
    assembled = assemble(call, route, base_url, api_key)
    if wire.inlines_images:
        assembled = yield from _with_images(assembled, image_seconds, deadline)
    request = _by_wire(route, "encode", lambda: wire.encode(assembled))
    if wire.sign is not None:
        request = yield from _signed(route, wire, request, variable, deadline)
    response: HttpResponse = yield Send(request=request, timeout=deadline.left())
    if not 200 <= response.status < 300:
        raise status_error(response, route)
    body = read_body(response)
    reported = reported_error(body)
    if reported is not None:
        raise _disguised_error(reported, response, route)
    return _by_wire(route, "decode", lambda: settled(wire.decode(body), call))


def _with_images(request: WireRequest, allowed: Callable[[], float], deadline: Deadline) -> Flow[WireRequest]:
    """The request with every image in it, those given by a URL fetched."""
    from hermes_core.llm.images import are_remote, inlined

    if not are_remote(request.messages):
        return request
    seconds = min(allowed(), deadline.left())
    return request._replace(messages=(yield from _blocking(lambda: inlined(request.messages, seconds), deadline)))


def _signed(
    route: Route,
    wire: ApiMode,
    request: HttpRequest,
    variable: Callable[[ProviderProfile, str], str],
    deadline: Deadline,
) -> Flow[HttpRequest]:
    """The request as its wire signs it, with the variables that the wire asked for and nothing else."""
    sign = wire.sign
    assert sign is not None
    variables = {name: value for name in wire.sign_variables if (value := variable(route.profile, name))}
    return (yield from _blocking(lambda: _by_wire(route, "sign", lambda: sign(request, variables)), deadline))


def _blocking(function: Callable[[], T], deadline: Deadline) -> Flow[T]:
    """Call a function that may block; what fails after the deadline failed by it."""
    try:
        done: T = yield Block(function, deadline.left())
    except (TimeoutError, HermesError) as error:
        if isinstance(error, TimeoutError) or deadline.remaining() <= 0:
            raise deadline.passed() from error
        raise
    return done


def _fresh(pool: CredentialPool, credential: Credential, deadline: Deadline) -> Flow[Credential]:
    """A login whose token is about to end, with a new one."""
    try:
        fresh: Credential = yield Block(lambda: pool.refresh(credential, deadline.left()), deadline.left())
    except TimeoutError as error:
        raise deadline.passed() from error
    return fresh


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


def _by_wire(route: Route, half: str, function: Callable[[], T]) -> T:
    """Call one half of a wire format; what it raises unasked is blamed on it."""
    try:
        return function()
    except HermesError:
        raise
    except Exception as error:
        message = f"the wire format {route.api_mode!r}: {half} raised {describe(error)}"
        raise ProviderHookError(message, provider=route.provider) from error


def check_address(base_url: str, provider: str) -> None:
    """Refuse an address that no request can go to.

    Raises:
        ProviderError: It has no scheme, no host, no usable port, or holds a login.
    """
    hint = "correct base_url: it looks like https://api.example.com/v1"
    if not base_url:
        message = f"provider {provider!r} has no address"
        raise ProviderError(message, provider=provider, hint="set model.base_url in config.yaml")
    try:
        parts = urlsplit(base_url)
        sound = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        sound = False
    if not sound:
        message = f"the address of provider {provider!r} cannot be used: {redact(base_url.rpartition('@')[2])!r}"
        raise ProviderError(message, provider=provider, hint=hint)
    if "@" in parts.netloc:
        message = f"the address of provider {provider!r} holds a login, which is never sent"
        raise ProviderError(message, provider=provider, hint="take it out of base_url, and give the key as api_key")


REQUEST_IDS = ("x-request-id", "request-id", "x-amzn-requestid")
"""Headers in which providers name a request, for when one has to be asked about it."""

_HINTS: dict[type[ProviderStatusError], str] = {
    AuthenticationError: "check the provider's key, and what it may be used for",
    RateLimitError: "wait a little, or choose another provider or model",
    ServerError: "try again later, or choose another provider or model",
    InvalidRequestError: "check the model's name and what the call asks of it",
}


def status_error(response: HttpResponse, route: Route) -> ProviderStatusError:
    """The typed error for an answer that is no success."""
    status = response.status
    text = redact(response.body[:MAX_ERROR_BYTES].decode("utf-8", "replace"))
    classes = {401: AuthenticationError, 403: AuthenticationError, 429: RateLimitError, 408: ServerError}
    kind = classes.get(status) or (ServerError if status >= 500 else InvalidRequestError)
    request_id = next((response.headers[name] for name in REQUEST_IDS if name in response.headers), "")
    error = kind(
        f"{route.provider} answered {status} for model {route.model!r}: {_reason(text)}",
        status_code=status,
        body=text[:500],
        request_id=request_id,
        provider=route.provider,
        model=route.model,
        hint=_HINTS[kind],
    )
    try:
        after = float(response.headers.get("retry-after", ""))
    except ValueError:
        after = -1.0
    error.retry_after = after if is_number(after) and after >= 0 else None
    return error


def _disguised_error(error: Any, response: HttpResponse, route: Route) -> ProviderError:
    """The error that came as a success: the one of the status it names, else one of the format."""
    status = status_of(error)
    try:
        body = json.dumps({"error": error})
    except RecursionError:
        body = ""
    if status is not None:
        return status_error(response._replace(status=status, body=body.encode()), route)
    code = error.get("code") or error.get("type") if isinstance(error, Mapping) else None
    code = redact(str(code))[:50] if isinstance(code, str | int) else ""
    return ResponseFormatError(f"the provider answered 200 with an error: {_reason(redact(body))}", code=code)


def _reason(text: str) -> str:
    """The message in an error body, or its beginning."""
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        body = None
    error = body.get("error", body) if isinstance(body, Mapping) else None
    message = error.get("message") or error.get("Message") if isinstance(error, Mapping) else error
    return str(message if isinstance(message, str) else text)[:200].strip() or "(no text)"
