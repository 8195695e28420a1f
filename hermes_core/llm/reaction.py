"""What a failure means: for the same request, for the credential, and for the next route."""

from __future__ import annotations

import random
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from hermes_core.errors import (
    AuthenticationError,
    MissingCredentialError,
    OAuthError,
    ProviderError,
    ProviderHookError,
    ProviderStatusError,
    ProviderTimeoutError,
    ProviderTransportError,
    RateLimitError,
    ResponseFormatError,
    VisionUnavailableError,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

TRANSIENT = frozenset({408, 500, 502, 503, 504, *range(520, 525), 529})
"""Statuses of a server that may be well again in a moment."""

LONGEST_WAIT = 30.0
"""Seconds a server may ask to wait that are still waited; it is passed over when it asks for more."""

_BILLING = (
    "credit", "insufficient funds", "can only afford", "billing", "payment required", "out of funds",
    "balance_depleted", "insufficient balance", "insufficient_quota", "free tier", "free-tier",
    "requires a subscription", "upgrade for access", "upgrade for higher limits", "session usage limit",
    "quota exceeded", "quota_exceeded", "exceeded your current quota", "tokens per day", "daily limit", "daily quota",
    "resource exhausted", "resource_exhausted", "weekly limit",
)  # fmt: skip
_OVERLOADED = ("overloaded", "over capacity", "at capacity", "server is busy", "high demand", "temporarily unavailable")
_OTHER_MODEL = (
    "model_not_found", "model not found", "no such model", "unknown model", "model does not exist",
    "does not exist or you do not have access", "is not a valid model", "invalid model", "model is not supported",
    "not supported when using", "unsupported model", "model is not available", "no endpoints found",
)  # fmt: skip
_ELSEWHERE_PERHAPS = (ProviderHookError, MissingCredentialError, OAuthError, VisionUnavailableError)
"""Failures of one route before anything was sent, that another route may not have."""

_OTHER_CREDENTIAL = ("bad-credentials", "bad credentials", "error code: 401")


class Reaction(NamedTuple):
    """What to do after a failure.

    Attributes:
        retries: How often the same request may be sent once more with the same credential; None for as often
            as the operator allows for a passing trouble.
        credential: What has become of the credential: ``refused``, ``limited`` (for a while), ``unpaid``, or
            ``""`` when it has nothing to do with the failure. In the first three cases another one is tried first.
        falls_back: Whether the next route is asked.
        needs_other_model: Whether it is the model that is not there, so that a plugin which chose it is told.
    """

    retries: int | None = 0
    credential: str = ""
    falls_back: bool = True
    needs_other_model: bool = False


PASSING = Reaction(retries=None)
NEXT = Reaction()
FINAL = Reaction(falls_back=False)
REFUSED = Reaction(credential="refused")
LIMITED = Reaction(retries=1, credential="limited")
UNPAID = Reaction(credential="unpaid")
ELSEWHERE = Reaction(needs_other_model=True)
GARBLED = Reaction(retries=1)

MEANINGS = {"passing": PASSING, "elsewhere": NEXT, "limited": LIMITED, "refused": REFUSED, "unpaid": UNPAID}
"""Words by which a profile's ``error_meanings`` name a reaction."""


def reaction_to(error: ProviderError, meanings: Mapping[str, str] = MappingProxyType({})) -> Reaction:
    """What to do after a failed attempt.

    Args:
        error: What it raised.
        meanings: What the provider's profile knows of its errors: words in a refusal → one of ``MEANINGS``.

    Example:
        >>> reaction_to(RateLimitError("slow down", status_code=429)).credential
        'limited'
    """
    if isinstance(error, ProviderStatusError):
        text = f"{error} {error.body}".lower()
        special = next((meaning for words, meaning in meanings.items() if words in text), "")
        return MEANINGS.get(special) or _to_status(error)
    if isinstance(error, ProviderTimeoutError):
        return NEXT
    if isinstance(error, ProviderTransportError):
        return PASSING if error.retryable and "certificate verify failed" not in str(error).lower() else NEXT
    if isinstance(error, ResponseFormatError):
        return GARBLED
    return NEXT if isinstance(error, _ELSEWHERE_PERHAPS) else FINAL


def _to_status(error: ProviderStatusError) -> Reaction:
    status, text = error.status_code, f"{error} {error.body}".lower()
    if status == 402 or (status in (403, 404, 429) and any(phrase in text for phrase in _BILLING)):
        return UNPAID
    if status == 401 or (status == 403 and any(phrase in text for phrase in _OTHER_CREDENTIAL)):
        return REFUSED
    if isinstance(error, AuthenticationError):
        return NEXT
    if isinstance(error, RateLimitError):
        return PASSING if any(phrase in text for phrase in _OVERLOADED) else LIMITED
    if status in TRANSIENT:
        return PASSING
    if status >= 500:
        return NEXT
    if status == 404 or (status == 400 and any(phrase in text for phrase in _OTHER_MODEL)):
        return ELSEWHERE
    return FINAL


def wait_before(retry: int, asked: float | None) -> float | None:
    """Seconds to wait before the ``retry``-th repetition, the first being 0; None when that is too long.

    Args:
        retry: How many there have been.
        asked: Seconds the server asked for, or None.
    """
    if asked is not None:
        return asked if asked <= LONGEST_WAIT else None
    return min(2.0**retry, 8.0) * random.uniform(1.0, 1.25)  # noqa: S311 - spreads clients, hides nothing
