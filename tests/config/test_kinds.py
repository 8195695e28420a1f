"""What a value may be: how each kind reads what people write."""

import pytest

from hermes_core.config.kinds import (
    ADDRESS,
    API_MODE,
    COUNT,
    HEADERS,
    NUMBER,
    SECONDS,
    SWITCH,
    TEXT,
    VARIABLE,
    one_of,
    section,
    whole,
)

READ = {
    "a text is trimmed": (TEXT, " a b ", "a b"),
    "a number is no text": (TEXT, 5, None),
    "a variable's name": (VARIABLE, " ACME_KEY ", "ACME_KEY"),
    "a name with a dash is no variable": (VARIABLE, "ACME-KEY", None),
    "a key is no variable's name": (VARIABLE, "sk-abc", None),
    "true": (SWITCH, True, True),
    "a word": (SWITCH, " Off ", False),
    "one": (SWITCH, 1, True),
    "two is no switch": (SWITCH, 2, None),
    "another word is no switch": (SWITCH, "maybe", None),
    "a count": (COUNT, 5, 5),
    "a whole number with a point": (COUNT, 5.0, 5),
    "half a thing": (COUNT, 5.5, None),
    "nothing to count": (COUNT, 0, None),
    "true is no count": (COUNT, True, None),
    "a text is no count": (COUNT, "5", None),
    "infinity is no count": (COUNT, float("inf"), None),
    "above a range": (whole(0, 6), 7, None),
    "the end of a range": (whole(0, 6), 6, 6),
    "zero is a number": (NUMBER, 0, 0),
    "below zero": (NUMBER, -0.1, None),
    "seconds": (SECONDS, 1.5, 1.5),
    "seconds in quotes r23-05": (SECONDS, " 45 ", 45.0),
    "no seconds": (SECONDS, 0, None),
    "zero in quotes": (SECONDS, "0.0", None),
    "a word for seconds": (SECONDS, "soon", None),
    "not a number": (SECONDS, float("nan"), None),
    "an address": (ADDRESS, "https://x.test/v1", "https://x.test/v1"),
    "an address in capitals": (ADDRESS, "HTTP://x.test", "HTTP://x.test"),
    "an address with a port": (ADDRESS, "http://127.0.0.1:80", "http://127.0.0.1:80"),
    "an address with a query": (ADDRESS, "https://x.test?v=a@b", "https://x.test?v=a@b"),
    "an address with a placeholder": (ADDRESS, "{endpoint}/v1", "{endpoint}/v1"),
    "an empty address": (ADDRESS, "", ""),
    "no scheme": (ADDRESS, "x.test/v1", None),
    "no host": (ADDRESS, "https:///v1", None),
    "another scheme": (ADDRESS, "file:///etc/passwd", None),
    "a user in an address": (ADDRESS, "https://u:p@x.test/v1", None),
    "blanks in an address": (ADDRESS, "https://x.test/ v1", None),
    "headers": (HEADERS, {"X-A": "a", "X-N": 5, "X-T": True, "X-0": None}, {"X-A": "a", "X-N": "5", "X-T": "True"}),
    "a list among headers": (HEADERS, {"X-A": ["a"]}, None),
    "a wire format": (API_MODE, " gemini ", "gemini"),
    "the older name of a wire format": (API_MODE, "openai_chat", "chat_completions"),
    "one of a few": (one_of("a", "b"), "b", "b"),
    "none of a few": (one_of("a", "b"), "c", None),
    "a list for one of a few": (one_of("a", "b"), ["a"], None),
    "a mapping": (section(), {"a": 1}, {"a": 1}),
    "a text for a mapping": (section(), "m", None),
    "a text that stands for a key": (section(text_key="default"), "m", "m"),
}


@pytest.mark.parametrize(("kind", "value", "expected"), READ.values(), ids=READ)
def test_a_value_is_read_as_its_kind(kind, value, expected):
    """A value that fits is given as the host uses it; one that does not is None."""
    found = kind.read(value)
    assert (expected, type(expected)) == (found, type(found))
