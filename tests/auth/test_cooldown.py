"""How long a refused credential rests."""

import json

import pytest

from hermes_core.auth.cooldown import LONGEST, error_code, read_duration, read_moment, reset_moment, resting_until

NOW = 1_800_000_000.0
DATE = "Fri, 15 Jan 2027 08:00:30 GMT"  # NOW + 30

HEADERS = {
    "Retry-After in seconds": ({"retry-after": "30"}, 30),
    "Retry-After in parts of one": ({"retry-after": "1.5"}, 1.5),
    "Retry-After as a date": ({"retry-after": DATE}, 30),
    "Retry-After of zero": ({"retry-after": "0"}, 0),
    "Retry-After in the past": ({"retry-after": "Fri, 15 Jan 2016 08:00:30 GMT"}, 0),
    "Retry-After beats the limits": ({"retry-after": "5", "x-ratelimit-reset": "60"}, 5),
    "a reset in seconds": ({"x-ratelimit-reset": "60"}, 60),
    "a reset as a moment": ({"x-ratelimit-reset": str(int(NOW + 60))}, 60),
    "a reset as a moment in milliseconds": ({"x-ratelimit-reset": str(int((NOW + 60) * 1000))}, 60),
    "a reset as a date": ({"anthropic-ratelimit-requests-reset": "2027-01-15T08:01:00Z"}, 60),
    "a reset as a duration": ({"x-ratelimit-reset-requests": "1m30s"}, 90),
    "a reset of milliseconds": ({"x-ratelimit-reset-requests": "250ms"}, 0.25),
    "the limit that is used up": (
        {
            "x-ratelimit-remaining-requests": "0",
            "x-ratelimit-reset-requests": "6m0s",
            "x-ratelimit-remaining-tokens": "100",
            "x-ratelimit-reset-tokens": "10h",
        },
        360,
    ),
    "the longer of two that are used up": (
        {
            "x-ratelimit-remaining-requests": "0",
            "x-ratelimit-reset-requests": "6m",
            "x-ratelimit-remaining-tokens": "0",
            "x-ratelimit-reset-tokens": "10m",
        },
        600,
    ),
    "no limit that is used up": ({"x-ratelimit-remaining-tokens": "9", "x-ratelimit-reset-tokens": "10h"}, None),
    "the shorter of two that do not say": ({"x-ratelimit-reset-a": "9", "x-ratelimit-reset-b": "7"}, 7),
    "a month at most r18_04": ({"retry-after": "99999999"}, LONGEST),
    "a limit without a reset": ({"x-ratelimit-remaining": "0"}, None),
    "nothing": ({}, None),
    **{f"nonsense: {text!r}": ({"retry-after": text}, None) for text in ("soon", "-5", "nan", "inf", "", "1e3", "١٢")},
}


@pytest.mark.parametrize(("headers", "seconds"), HEADERS.values(), ids=HEADERS)
def test_headers_say_when_to_come_back(headers, seconds):
    """``Retry-After`` and the reset headers, in each of the spellings that providers use."""
    expected = None if seconds is None else pytest.approx(NOW + seconds)
    assert reset_moment(headers, b"", NOW) == expected


BODIES = {
    "a field reset_at": ({"error": {"reset_at": NOW + 60}}, 60),
    "a field resets_at, deep down": ({"error": {"details": [{"resets_at": int((NOW + 60) * 1000)}]}}, 60),
    "a field retry_until as a date": ({"retry_until": "2027-01-15T08:01:00+00:00"}, 60),
    "a field retry_after": ({"error": {"retry_after": 42}}, 42),
    "a field resets_in_seconds as text": ({"error": {"resets_in_seconds": "42"}}, 42),
    "headers in the body": ({"error": {"metadata": {"headers": {"X-RateLimit-Reset": str(int(NOW + 60))}}}}, 60),
    "quotaResetDelay in seconds": ('{"details": [{"quotaResetDelay": "3600.5s"}]}', 3600.5),
    "quotaResetDelay in milliseconds": ('{"details": [{"quotaResetDelay": "750ms"}]}', 0.75),
    "retryDelay": ({"details": [{"retryDelay": "34s"}]}, 34),
    "retry after N seconds": ("Rate limit: retry after 12 seconds.", 12),
    "retry after N": ({"error": "Please retry after 5"}, 5),
    "try again in": ({"error": {"message": "Please try again in 6m0s. Visit …"}}, 360),
    "try again in milliseconds": ("try again in 20ms", 0.02),
    "resets in hours and minutes": ("Your limit resets in 2hr 5min", 7500),
    "resets in hours": ("Limit reset in 3hr", 10800),
    "resets in minutes": ("resets in 45min", 2700),
    "in words": ("Try again in 1 hour and 30 minutes", 5400),
    "words without a time": ("You are going too fast, please retry later.", None),
    "a number that is no time": ("error 429 after 3 attempts", None),
    "HTML": ("<html>429</html>", None),
    "bytes that are no text": (b"\xff\xfe", None),
}


@pytest.mark.parametrize(("body", "seconds"), BODIES.values(), ids=BODIES)
def test_a_body_says_when_to_come_back(body, seconds):
    """Where no header does, the body's fields or words say it."""
    text = body if isinstance(body, str | bytes) else json.dumps(body)
    expected = None if seconds is None else pytest.approx(NOW + seconds)
    assert reset_moment({}, text, NOW) == expected


@pytest.mark.parametrize(
    "body",
    [
        "retry after " + "1 " * 40_000,
        "retry after " + "1s" * 30_000 + "x",
        "retry after " + "1" * 60_000,
        "retry" + " " * 60_000,
        "try again in " * 5_000,
        '{"a":' * 50_000,
        json.dumps([[[[[[[[[[{"reset_at": 1}]]]]]]]]]]),
        '{"reset_at": 1e400, "retry_after": {"x": 1}, "resets_at": true}',
    ],
    ids=["numbers", "durations", "one number", "blanks", "words", "braces", "too deep", "no times"],
)
def test_a_hostile_body_does_no_harm(body):
    """No body makes the host fail, keeps it busy for minutes, or a credential resting for years."""
    found = reset_moment({}, body, NOW)
    assert found is None or NOW <= found <= NOW + LONGEST


DAY = 86400
LIMITED = {"last_status": "exhausted", "last_status_at": NOW, "last_error_code": 429}
RESTS = {
    "never refused": ({}, False, 0),
    "in order again": ({**LIMITED, "last_status": "ok"}, False, 0),
    "a rate limit": (LIMITED, False, NOW + 3600),
    "a rate limit of the only one r18_03": (LIMITED, True, NOW + 60),
    "a bill": ({**LIMITED, "last_error_code": 402}, False, NOW + 3600),
    "a bill of the only one": ({**LIMITED, "last_error_code": 402}, True, NOW + 3600),
    "a refusal": ({**LIMITED, "last_error_code": 401}, False, NOW + 300),
    "no code": ({**LIMITED, "last_error_code": None}, False, NOW + 3600),
    "a word of the provider": ({**LIMITED, "last_error_reset_at": NOW + 10 * DAY}, False, NOW + 10 * DAY),
    "a far word about the only one r18_04": ({**LIMITED, "last_error_reset_at": NOW + 10 * DAY}, True, NOW + 3600),
    "a near word about the only one": ({**LIMITED, "last_error_reset_at": NOW + 5}, True, NOW + 5),
    "times as text": ({**LIMITED, "last_status_at": "2027-01-15T08:00:00Z"}, False, NOW + 3600),
    "times in milliseconds": ({**LIMITED, "last_error_reset_at": (NOW + 5) * 1000}, False, NOW + 5),
    "no time": ({**LIMITED, "last_status_at": None}, False, 3600),
}


@pytest.mark.parametrize(("entry", "is_only_one", "until"), RESTS.values(), ids=RESTS)
def test_how_long_an_entry_rests(entry, is_only_one, until):
    """What the provider said, else what is usual for the status; the only credential there is rests briefly."""
    assert resting_until(entry, is_only_one=is_only_one, cooldown=3600.0) == until


@pytest.mark.parametrize(("cooldown", "seconds"), [(0, 0), (90, 90), (7200, 7200)])
def test_the_operator_says_how_long_is_usual_r18_07(cooldown, seconds):
    """The configured cooldown is how long a refused credential rests when its provider does not say."""
    assert resting_until(LIMITED, is_only_one=False, cooldown=cooldown) == NOW + seconds


@pytest.mark.parametrize("value", ["soon", "", None, True, -1, [], float("nan"), "0001-01-01T00:00:00+23:00"])
def test_what_is_no_moment_is_none(value):
    """A moment that cannot be read is none, and no error."""
    assert read_moment(value) is None


@pytest.mark.parametrize("text", ["", "s", "5 parsecs", "-1", "1m!", "1s 2", "nan"])
def test_what_is_no_duration_is_none(text):
    """A duration that cannot be read is none, and no error."""
    assert read_duration(text) is None


@pytest.mark.parametrize(
    ("body", "code"),
    [
        pytest.param('{"error": {"code": "Token_Revoked"}}', "token_revoked", id="a code"),
        pytest.param('{"error": {"code": null, "type": "insufficient_quota"}}', "insufficient_quota", id="a type"),
        pytest.param('{"error": {"code": 429}}', "429", id="a number"),
        pytest.param('{"error": "invalid_grant"}', "invalid_grant", id="the error itself"),
        pytest.param('{"code": "slow"}', "slow", id="outside an error"),
        pytest.param("{}", "", id="nothing"),
        pytest.param("[]", "", id="a list"),
        pytest.param("<html>", "", id="HTML"),
        pytest.param(b"\xff", "", id="no text"),
    ],
)
def test_the_code_of_an_error(body, code):
    """A provider's own word for what went wrong, wherever it stands."""
    assert error_code(body) == code
