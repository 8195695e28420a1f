"""What each failure means for the same request, for the credential, and for the next route."""

import pytest

from hermes_core.auth.keys import NO_CREDENTIAL
from hermes_core.errors import (
    InvalidRequestError,
    MissingCredentialError,
    ProviderHookError,
    ProviderTimeoutError,
    ProviderTransportError,
    ResponseFormatError,
    UnknownProviderError,
)
from hermes_core.llm.reaction import (
    ELSEWHERE,
    FINAL,
    GARBLED,
    LIMITED,
    LONGEST_WAIT,
    NEXT,
    PASSING,
    REFUSED,
    UNPAID,
    reaction_to,
    wait_before,
)
from hermes_core.llm.route import Route
from hermes_core.llm.status import status_error
from hermes_core.providers.profile import ProviderProfile
from hermes_core.types.wire import HttpResponse


def refused_connection(*, retryable=True, text="connection refused"):
    """An error of the network."""
    error = ProviderTransportError(text)
    error.retryable = retryable
    return error


@pytest.mark.parametrize(
    ("status", "body", "expected"),
    [
        pytest.param(400, "messages: too short", FINAL, id="400 about the request is final"),
        pytest.param(400, "model_not_found: gpt-9", ELSEWHERE, id="400 about the model leads to the next route"),
        pytest.param(400, "context_length_exceeded", FINAL, id="a context that overflows is final"),
        pytest.param(400, "content policy", FINAL, id="a refusal for its content is final"),
        pytest.param(401, "", REFUSED, id="401 refuses the credential"),
        pytest.param(402, "", UNPAID, id="402 wants money"),
        pytest.param(403, "", NEXT, id="403 leads to the next route"),
        pytest.param(403, "your credit balance is too low", UNPAID, id="403 about money wants money"),
        pytest.param(403, "bad-credentials", REFUSED, id="403 about the key refuses the credential"),
        pytest.param(404, "", ELSEWHERE, id="404 leads to the next route"),
        pytest.param(404, "insufficient funds for this model", UNPAID, id="404 about money wants money"),
        pytest.param(408, "", PASSING, id="408 passes"),
        pytest.param(409, "", FINAL, id="409 is final"),
        pytest.param(413, "", FINAL, id="413 is final"),
        pytest.param(422, "", FINAL, id="422 is final"),
        pytest.param(429, "slow down", LIMITED, id="429 limits the credential"),
        pytest.param(429, "the model is overloaded", PASSING, id="429 of an overloaded server passes"),
        pytest.param(429, "You exceeded your current quota", UNPAID, id="429 about the quota wants money"),
        pytest.param(500, "", PASSING, id="500 passes"),
        pytest.param(501, "", NEXT, id="501 leads to the next route"),
        pytest.param(502, "", PASSING, id="502 passes"),
        pytest.param(503, "", PASSING, id="503 passes"),
        pytest.param(504, "", PASSING, id="504 passes"),
        pytest.param(522, "", PASSING, id="522 passes"),
        pytest.param(529, "", PASSING, id="529 passes"),
        pytest.param(302, "", FINAL, id="a redirection is final"),
    ],
)
def test_a_status(status, body, expected):
    """Each status, and what the body says of it, has one meaning."""
    assert reaction_to(answered(status, body)) == expected


def answered(status, body):
    """The error of an answer."""
    route = Route(profile=ProviderProfile("acme"), provider="acme", model="m", base_url="", credential=NO_CREDENTIAL)
    return status_error(HttpResponse(status=status, headers={}, body=body.encode()), route)


@pytest.mark.parametrize(
    ("provider", "status", "body", "expected"),
    [
        ("openrouter", 429, '{"error": {"message": "Provider returned error", "code": 429}}', NEXT),
        ("openrouter", 429, '{"error": {"message": "Rate limit exceeded"}}', LIMITED),
        ("zai", 429, '{"error": {"code": "1305", "message": "busy"}}', PASSING),
        ("zai", 429, '{"error": {"code": "1302", "message": "slow down"}}', LIMITED),
        ("zai", 429, '{"error": {"code": "1113", "message": "The service may be temporarily overloaded"}}', PASSING),
    ],
)
def test_a_provider_may_know_its_errors_better(load_host, provider, status, body, expected):
    """What a profile says of words in an error beats the usual meaning of its status."""
    meanings = load_host().providers.get(provider).error_meanings
    assert reaction_to(answered(status, body), meanings) == expected


def test_a_meaning_that_is_none_is_passed_over():
    """A word that names no reaction changes nothing."""
    assert reaction_to(answered(429, "slow down"), {"slow": "no such word"}) == LIMITED


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        pytest.param(refused_connection(), PASSING, id="a broken connection passes"),
        pytest.param(refused_connection(retryable=False), NEXT, id="an address that cannot be used does not"),
        pytest.param(
            refused_connection(text="[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed"),
            NEXT,
            id="a certificate that is not trusted does not",
        ),
        pytest.param(ProviderTimeoutError("no answer within 2 s"), NEXT, id="a slow server is left for the next"),
        pytest.param(ResponseFormatError("no message"), GARBLED, id="an answer that is none is asked for once more"),
        pytest.param(ProviderHookError("boom"), NEXT, id="a hook that raises leads to the next route"),
        pytest.param(MissingCredentialError("no key"), NEXT, id="a missing credential leads to the next route"),
        pytest.param(UnknownProviderError("no such"), FINAL, id="a provider that is not there is final"),
    ],
)
def test_another_failure(error, expected):
    """What is no status has a meaning too."""
    assert reaction_to(error) == expected


def test_waiting_grows_and_is_spread():
    """Without a word of the server, the wait doubles up to eight seconds, and is up to a quarter longer."""
    for retry, least in enumerate((1, 2, 4, 8, 8)):
        waits = [wait_before(retry, None) for _ in range(100)]
        assert least <= min(waits) < max(waits) <= least * 1.25


@pytest.mark.parametrize(("asked", "wait"), [(0.0, 0.0), (3.5, 3.5), (LONGEST_WAIT, LONGEST_WAIT), (31.0, None)])
def test_a_server_may_ask_for_its_time(asked, wait):
    """What a server asks for is waited, up to a limit."""
    assert wait_before(0, asked) == wait


def test_a_request_that_is_wrong_is_final():
    """A request that would be refused again is not sent again, to nobody."""
    assert reaction_to(InvalidRequestError("no", status_code=418)) == FINAL
