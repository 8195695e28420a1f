"""Secrets the host has read are in nothing that is written, however a text has them; what only looks alike stays."""

import html
import io
import json
import logging
from urllib.parse import quote, quote_plus
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_core.config.redact import (
    REDACTED,
    RedactingFormatter,
    redact,
    redact_answer,
    redact_known,
    redact_record,
    register_address,
    register_secret,
    register_secrets_in,
)


@pytest.fixture
def secret() -> str:
    """A secret no other test has made known, with characters that are written differently in different places."""
    return f"{uuid4().hex}/{uuid4().hex}+\"'\\&<é %={uuid4().hex}"


FORMS = {
    "as it is": str,
    "in upper case": str.upper,
    "in lower case": str.lower,
    "in JSON": json.dumps,
    "in JSON that keeps letters": lambda value: json.dumps(value, ensure_ascii=False),
    "in JSON within JSON within JSON": lambda value: json.dumps(json.dumps(json.dumps([value]))),
    "in JSON that escapes slashes": lambda value: json.dumps(value).replace("/", "\\/"),
    "in an address": quote,
    "in an address, slashes too": lambda value: quote(value, safe=""),
    "in an address within an address": lambda value: quote(quote(value, safe=""), safe=""),
    "in an address, in small letters": lambda value: quote(value, safe="").lower(),
    "in a form": quote_plus,
    "in HTML": html.escape,
    "as Python shows a text": repr,
    "as Python shows bytes": lambda value: repr(value.encode()),
    "as Python shows what is in a list": lambda value: str([{value: value.encode()}]),
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_a_known_secret_is_blanked_however_it_is_written(secret, form):
    """A secret that was read is found in every form in which a server, a library or a log may have it."""
    register_secret(secret)
    shown = redact(f"a {form(secret)} b {form(secret)}")
    assert REDACTED in shown
    assert not any(part in shown.lower() for part in (secret[:8], secret[40:48], secret[-8:]))
    assert shown.startswith("a ")
    assert " b " in shown


@pytest.mark.parametrize("scheme", ["Bearer", "Basic", "token"])
def test_the_word_before_a_secret_is_no_part_of_it(secret, scheme):
    """A header's value may be repeated without its first word."""
    secret = secret.replace(" ", "")
    register_secret(f"{scheme} {secret}")
    assert redact(f"x {secret} y") == f"x {REDACTED} y"


@pytest.mark.parametrize(
    ("value", "text", "expected"),
    [
        pytest.param("", "nothing", "nothing", id="an empty one"),
        pytest.param("abc", "the abc", "the abc", id="three characters"),
        pytest.param("list", "a list of words", "a list of words", id="four letters"),
        pytest.param("answer", "an answer", "an answer", id="six letters"),
        pytest.param("200200", "status 200200", "status 200200", id="six digits"),
        pytest.param(
            "a1b2", f"a1b2 za1b2 a1b2z {'a1b2'.upper()}", f"{REDACTED} za1b2 a1b2z {REDACTED}", id="four mixed"
        ),
        pytest.param("p4ss-w", "(p4ss-w) p4ss-words", f"({REDACTED}) p4ss-words", id="six mixed"),
        pytest.param("zebrafish", "zebrafishes", f"{REDACTED}es", id="nine letters"),
        pytest.param("31415926", "x31415926", f"x{REDACTED}", id="eight digits"),
        pytest.param("lm-studio", "provider=lm-studio", "provider=lm-studio", id="a stand-in for a key"),
        pytest.param("changeme", "please changeme", "please changeme", id="a placeholder"),
        pytest.param("${SOME_KEY}", "set ${SOME_KEY}", "set ${SOME_KEY}", id="a reference that was not filled in"),
    ],
)
def test_what_would_blank_ordinary_text_is_not_blanked(value, text, expected):
    """Short words and stand-ins are no secrets; a short secret is blanked only where it stands alone."""
    register_secret(value)
    assert redact_known(text) == expected


def test_a_secret_within_a_secret_is_blanked_too():
    """Of two secrets of which one contains the other, no part of the longer one is left."""
    pairs = [(f"sk-inner-{number:02}", f"sk-inner-{number:02}-and-tail") for number in range(20)]
    for secret in (word for pair in pairs for word in pair):
        register_secret(secret)
    assert {f"x {REDACTED} y"} == {redact(f"x {longer} y") for _, longer in pairs}


READ = {
    "a key": {"model": {"api_key": "@"}},
    "the older name of a key": {"providers": {"acme": {"api": "@"}}},
    "a password": {"memory": {"acme": {"password": "@"}}},
    "a token, in camels": {"plugins": {"entries": {"p": {"accessToken": "@"}}}},
    "a key in a list": {"fallback_providers": [{"api_key": "@"}]},
    "a header": {"model": {"extra_headers": {"X-Api-Key": "@"}}},
    "a header of another name": {"model": {"default_headers": {"X-Secret-Thing": "@"}}},
    "a header with a scheme": {"model": {"extra_headers": {"Authorization": "Bearer @"}}},
    "a cookie": {"model": {"extra_headers": {"Cookie": "@"}}},
    "a key beside an unset reference": {"model": {"api_key": "@${OTHER_HALF}"}},
    "the query of an address": {"model": {"base_url": "https://acme.test/v1?key=@&api-version=2024-10-21"}},
    "the password of an address": {"database": "postgres://ann:@@db.test/x"},
    "a key in the path of an address": {"model": {"base_url": "https://acme.test/@/v1"}},
    "the token of an address": {"where": "https://@@acme.test/v1"},
}


@pytest.mark.parametrize("tree", READ.values(), ids=READ)
def test_a_configuration_makes_its_secrets_known(tree):
    """What a configuration calls a key, a token or a password is blanked from the moment it was read."""
    secret = uuid4().hex
    register_secrets_in(json.loads(json.dumps(tree).replace("@", secret, 1)))
    assert redact_known(f"x{secret}y") == f"x{REDACTED}y"


@pytest.mark.parametrize(
    "tree",
    [
        {"model": {"default": "zebra-model-1", "provider": "zebra-model-1"}},
        {"model": {"extra_headers": {"X-Title": "zebra-model-1", "HTTP-Referer": "https://zebra-model-1.test"}}},
        {"providers": {"acme": {"key_env": "zebra-model-1", "api": "https://zebra-model-1.test/v1"}}},
        {"model": {"base_url": "https://ann@zebra-model-1.test/zebra-model-1/v1?api-version=zebra-model-1"}},
        {"a": {"sort_key": "zebra-model-1", "max_tokens": "zebra-model-1", "token_limit": "zebra-model-1"}},
    ],
    ids=["model", "ordinary headers", "names of variables", "address", "names that look alike"],
)
def test_the_rest_of_a_configuration_stays_readable(tree):
    """Names, addresses and settings that are no secret are not blanked."""
    register_secrets_in(tree)
    assert redact_known("zebra-model-1") == "zebra-model-1"


def test_a_login_is_known_as_a_header_sends_it():
    """``user:password`` of an address is found in the base64 of Basic authentication too."""
    password = uuid4().hex
    register_address(f"http://ann:{password}%2F1@proxy.test:3128")
    request = httpx_request(f"ann:{password}/1")
    assert password not in redact(f"{password}%2F1 {password}/1")
    assert request not in redact(f"proxy-authorization {request}")


def httpx_request(login: str) -> str:
    """The base64 that a library sends for a login."""
    import httpx

    (value,) = [
        request.headers["authorization"]
        for request in httpx.BasicAuth(*login.split(":")).auth_flow(httpx.Request("GET", "http://x"))
    ]
    return value.removeprefix("Basic ")


@pytest.mark.parametrize("address", ["http://[", "://", "http://a:b@c@d:e/?key", "", "x" * 10_000], ids=repr)
def test_an_address_that_is_none_holds_no_secret(address):
    """What no parser takes for an address is passed over."""
    register_address(address)


@pytest.mark.parametrize("odd", [*map(chr, (0xDCFF, 0xD800, 0)), "${", "é\U0001f511"], ids=ascii)
def test_a_secret_of_any_characters_is_known_too(odd):
    """A variable of the environment may hold bytes of any kind, and a program's configuration any text."""
    secret = f"{uuid4().hex}{odd}{uuid4().hex}"
    register_secret(secret)
    register_address(f"https://ann:{secret}@acme.test")
    assert redact(f"{secret} {secret!r}") == f"{REDACTED} '{REDACTED}'"


def test_an_answer_loses_long_secrets_alone():
    """In what a model says only a secret that cannot be there by chance is blanked, in any of its forms."""
    long, short = f"{uuid4().hex}/é", "zebrafish"
    register_secret(long)
    register_secret(short)
    body = json.dumps({"a": long, "b": short, "c": "é"}, ensure_ascii=False).encode()
    assert json.loads(redact_answer(body)) == {"a": REDACTED, "b": short, "c": "é"}
    assert long not in json.loads(redact_answer(json.dumps([long]).encode()))
    assert redact_answer(b"\xff\xfe\x00") == b"\xff\xfe\x00"


@given(st.text())
def test_blanking_twice_changes_nothing_more(text):
    """A text that was redacted stays as it is."""
    assert redact(redact(text)) == redact(text)


class TestLogging:
    """What the host's handlers write, and libraries' loggers hand on."""

    @pytest.fixture
    def logged(self):
        """Log something to a handler with the host's formatter; returns what it wrote."""

        def log(*args, filters=(), form="%(levelname)s %(message)s", formatter=RedactingFormatter, **keywords) -> str:
            stream = io.StringIO()
            handler = logging.StreamHandler(stream)
            handler.setFormatter(formatter(form))
            logger = logging.Logger("test")  # noqa: LOG001 - one that nobody else has
            logger.addHandler(handler)
            for one in filters:
                logger.addFilter(one)
            logger.error(*args, **keywords)
            return stream.getvalue()

        return log

    def test_a_secret_split_over_arguments_is_blanked(self, logged, secret):
        """A record is redacted as it will read, not piece by piece."""
        register_secret(secret)
        text = logged("key %s%s in %r", secret[:10], secret[10:], {"Authorization": f"Bearer {secret}".encode()})
        assert text == f"ERROR key {REDACTED} in {{'Authorization': b'Bearer {REDACTED}'}}\n"

    def test_a_traceback_is_blanked(self, logged, secret):
        """A traceback with its causes, and one that another handler has formatted before, shows no secret."""
        register_secret(secret)
        error, error.__cause__ = RuntimeError([secret]), ValueError(secret)
        error.__cause__.add_note(secret)
        text = logged("failed", exc_info=error, stack_info=True)
        record = logging.LogRecord("n", 20, "f", 1, "m", (), (RuntimeError, error, None))
        logging.Formatter().format(record)
        text += RedactingFormatter().format(record)
        assert "ValueError" in text
        assert secret[:10] not in text

    def test_a_message_stays_on_one_line_r20_11(self, logged):
        """A line break in what is logged forges no line; a traceback keeps its lines."""
        assert logged("a\r\nERROR b\x1b[2J\u202e c") == "ERROR a ERROR b [2J  c\n"

    def test_a_private_key_is_blanked_before_its_lines_are_joined(self, logged):
        """A secret of several lines is found although the message is put on one."""
        secret = f"{uuid4().hex}\n{uuid4().hex}"
        register_secret(secret)
        assert logged(f"key {secret}.") == f"ERROR key {REDACTED}.\n"

    def test_a_librarys_record_is_blanked_for_everybody(self, logged, secret):
        """A filter takes secrets out of records that go to handlers which are not the host's."""
        register_secret(secret)
        text = logged("GET %s?key=%s", "/v1", secret, filters=[redact_record], formatter=logging.Formatter)
        assert text == f"ERROR GET /v1?key={REDACTED}\n"
