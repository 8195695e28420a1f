"""The one flow of a model call: a generator that decides, and does no input or output itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hermes_core.errors import OAuthError, ProviderError, ProviderStatusError, ProviderTimeoutError
from hermes_core.llm.attempt import attempt
from hermes_core.llm.reaction import reaction_to, wait_before
from hermes_core.llm.steps import Block, Sleep
from hermes_core.types.address import host_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from hermes_core.auth.keys import Credential
    from hermes_core.llm.attempt import Attempt, Means
    from hermes_core.llm.reaction import Reaction
    from hermes_core.llm.route import Route
    from hermes_core.llm.steps import Flow
    from hermes_core.types.call import Completion, LlmCall

MOST_ATTEMPTS = 12
"""Requests that one call may make, all routes, credentials and repetitions together."""

SHARE = 2 / 3
"""Of the time left, how much an attempt may take while another route is left to ask."""


def completion(
    call: LlmCall,
    routes: Sequence[Route],
    means: Means,
    *,
    retries: int = 0,
    more: Callable[[], Sequence[Route]] | None = None,
    model_is_chosen: bool = False,
) -> Flow[Completion]:
    """Ask the routes in order until one answers.

    Args:
        call: What is asked.
        routes: Where, in order of preference.
        means: What each attempt has at hand; its ``attempts`` and ``learned`` are filled in.
        retries: How often a request is repeated that failed by something passing.
        more: Gives the routes to ask when those are through; may block. None when there are no others.
        model_is_chosen: Whether the plugin chose the model, so that no other will do in its place.

    Raises:
        ProviderError: No route answered; the first one's error, its ``attempts`` those of all.
    """
    deadline, attempts = means.deadline, means.attempts
    first: ProviderError | None = None
    waiting = list(routes)
    while waiting:
        route = waiting.pop(0)
        share = SHARE if waiting or more is not None else 1.0
        try:
            return (yield from _by_route(call, route, means, retries, share))
        except ProviderError as error:
            if isinstance(error, ProviderTimeoutError) and deadline.remaining() <= 0:
                error.args = deadline.passed(
                    host_of(route.base_url)
                ).args  # the transport knows what was left, the caller what was given
            first = first or error
            reaction = reaction_to(error, route.profile.error_meanings)
            given_up = deadline.remaining() <= 0 or len(attempts) >= MOST_ATTEMPTS
            if given_up or not reaction.falls_back or (reaction.needs_other_model and model_is_chosen):
                break
            if not waiting and more is not None:
                waiting, more = [*(yield Block(more))], None
    assert first is not None
    _tell(first, attempts)
    raise first


def _by_route(call: LlmCall, route: Route, means: Means, retries: int, share: float) -> Flow[Completion]:
    """Ask one route, with one credential after the other, and once more after what passes."""
    credential, tried, repeated = route.credential, set[str](), 0
    renewed: set[str] = set()
    while True:
        seconds = min(means.deadline.left() * share, route.timeout or means.deadline.seconds)
        try:
            if credential.is_stale and credential.id not in renewed:
                renewed.add(credential.id)
                credential = yield from _fresh(route, credential, means)
            answer = yield from attempt(call, route, credential, means, seconds)
        except ProviderError as error:
            means.note(route, error)
            reaction = reaction_to(error, route.profile.error_meanings)
            if len(means.attempts) >= MOST_ATTEMPTS:
                raise
            other = yield from _other_credential(route, credential, error, reaction, tried, renewed, means)
            if other is not None:
                credential = other
                continue
            allowed = retries if reaction.retries is None else min(reaction.retries, retries)
            wait = wait_before(repeated, getattr(error, "retry_after", None)) if repeated < allowed else None
            if wait is None or wait >= means.deadline.remaining() * share:
                raise
            repeated += 1
            yield Sleep(wait)
        except BaseException as error:
            if not isinstance(error, Exception | GeneratorExit):  # cancelled, while this was under way
                means.note(route, error)
            raise
        else:
            means.note(route)
            return answer


def _other_credential(
    route: Route,
    credential: Credential,
    error: ProviderError,
    reaction: Reaction,
    tried: set[str],
    renewed: set[str],
    means: Means,
) -> Flow[Credential | None]:
    """What to go on with after a credential was refused: the same login with a fresh token, another one, or None."""
    pool = route.pool
    is_login = isinstance(error, OAuthError)
    if pool is None or not (reaction.credential or is_login):
        return None
    if reaction.credential == "refused" and credential.kind == "oauth" and credential.id not in renewed:
        renewed.add(credential.id)
        try:
            return (yield from _fresh(route, credential, means))
        except OAuthError:
            pass  # it is refused for good, then
    if isinstance(error, ProviderStatusError):
        status, headers, body = error.status_code, error.headers, error.body
        yield Block(lambda: pool.mark(credential, status, headers, body))
    tried.add(credential.id)
    return None if route.pinned else pool.select(exclude=tried)


def _fresh(route: Route, credential: Credential, means: Means) -> Flow[Credential]:
    """A login whose token has ended, or is about to, with a new one."""
    pool, deadline = route.pool, means.deadline
    if pool is None:
        return credential
    try:
        fresh: Credential = yield Block(lambda: pool.refresh(credential, deadline.left()), deadline.left())
    except TimeoutError as error:
        raise deadline.passed() from error
    return fresh


def _tell(error: ProviderError, attempts: Sequence[Attempt]) -> None:
    """Have an error say who was asked, and what each of them said."""
    error.attempts = tuple(attempts)
    if len(attempts) > 1:
        tried = (
            f"{one.provider}/{one.model}: {one.error}" + (f" {one.status}" if one.status else "") for one in attempts
        )
        error.add_note("asked in turn: " + "; ".join(tried))
