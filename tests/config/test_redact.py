"""Secrets that were resolved are in nothing that is written."""

import pytest

from hermes_core.config.redact import REDACTED, redact, register_secret


@pytest.mark.parametrize(
    ("secret", "text", "expected"),
    [
        pytest.param("sk-redact-1", "a sk-redact-1 b sk-redact-1", f"a {REDACTED} b {REDACTED}", id="each time"),
        pytest.param("sk-redact-2", "?key=sk-redact-2&x=1", f"?key={REDACTED}&x=1", id="in a URL r20-01"),
        pytest.param("abc", "the abc", "the abc", id="too short to be a key"),
        pytest.param("", "nothing", "nothing", id="an empty one"),
    ],
)
def test_a_registered_secret_is_blanked(secret, text, expected):
    """A registered secret is blanked wherever it stands; a value too short to be one blanks nothing."""
    register_secret(secret)
    assert redact(text) == expected


def test_a_secret_within_a_secret_is_blanked_too():
    """Of two secrets of which one contains the other, no part of the longer one is left."""
    pairs = [(f"sk-inner-{number:02}", f"sk-inner-{number:02}-and-tail") for number in range(20)]
    for secret in (word for pair in pairs for word in pair):
        register_secret(secret)
    assert {f"x {REDACTED} y"} == {redact(f"x {longer} y") for _, longer in pairs}
