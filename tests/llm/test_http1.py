"""HTTP/1.1 as bytes: what is sent, and what is made of an answer however it arrives."""

from __future__ import annotations

from contextlib import suppress

import h11
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hermes_core.errors import ResponseFormatError
from hermes_core.llm.http1 import MAX_BODY, MAX_HEAD, Answer, address_of, head_of
from hermes_core.types.wire import HttpRequest

PLAIN = b"HTTP/1.1 200 OK\r\nContent-Type: a/b\r\nContent-Length: 4\r\n\r\npong"


def answered(pieces, *, hangs_up: bool = False):
    """What comes of an answer that arrives in these pieces: status, body, and whether the connection is kept."""
    answer = Answer()
    found = [answer.feed(piece) for piece in pieces]
    if hangs_up and found[-1:] in ([], [None]):
        found.append(answer.feed(b""))
    assert found[:-1] == [None] * (len(found) - 1)
    return None if found[-1] is None else (found[-1].status, found[-1].body, answer.keeps)


WHOLE = {
    "plain": (PLAIN, (200, b"pong", True)),
    "refusal": (b"HTTP/1.1 429 Too Many Requests\r\nRetry-After: 1\r\nContent-Length: 2\r\n\r\n{}", (429, b"{}", True)),
    "no-reason": (b"HTTP/1.1 200 \r\nContent-Length: 0\r\n\r\n", (200, b"", True)),
    "closing": (PLAIN.replace(b"a/b", b"a/b\r\nConnection: Close"), (200, b"pong", False)),
    "keeping": (PLAIN.replace(b"a/b", b"a/b\r\nConnection: Keep-Alive"), (200, b"pong", True)),
    "name-twice": (PLAIN.replace(b"a/b", b"a/b\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2"), (200, b"pong", True)),
    "length-twice": (PLAIN.replace(b"a/b", b"a/b\r\nContent-Length: 4"), (200, b"pong", True)),
    "chunked": (
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\npo\r\n2;x=1\r\nng\r\n0\r\nTrailer: 1\r\n\r\n",
        (200, b"pong", True),
    ),
    "after-a-notice": (b"HTTP/1.1 100 Continue\r\n\r\n" + PLAIN, (200, b"pong", True)),
    "no-body": (b"HTTP/1.1 204 No Content\r\nContent-Length: 4\r\n\r\n", (204, b"", True)),
    "old": (b"HTTP/1.0 200 OK\r\nContent-Length: 4\r\n\r\npong", (200, b"pong", False)),
    "bare-line-ends": (b"HTTP/1.1 200 OK\nContent-Length: 4\n\npong", (200, b"pong", True)),
    "folded-header": (b"HTTP/1.1 200 OK\r\nX: a\r\n b\r\nContent-Length: 4\r\n\r\npong", (200, b"pong", True)),
}


@pytest.mark.parametrize(("raw", "expected"), WHOLE.values(), ids=WHOLE)
@pytest.mark.parametrize("size", [1, 7, 1000])
def test_an_answer_is_the_same_however_it_arrives(raw, expected, size):
    """Where the network cuts an answer does not matter, whether it is plain or takes all that HTTP has."""
    assert answered([raw[at : at + size] for at in range(0, len(raw), size)]) == expected


def test_what_is_as_long_as_the_connection_lasts_ends_with_it():
    """An answer that names no length is whole when the server hangs up."""
    assert answered([b"HTTP/1.1 200 OK\r\n\r\npo", b"ng"], hangs_up=True) == (200, b"pong", False)


def test_a_connection_with_more_to_say_is_not_kept():
    """Bytes behind an answer are nobody's, so the connection that brought them is used no more."""
    assert answered([PLAIN + b"HTTP/1.1 200 OK\r\n"]) == (200, b"pong", False)
    assert answered([PLAIN.replace(b"1.1", b"1.0") + b"x"]) == (200, b"pong", False)


WRONG = {
    "nothing": b"",
    "no-http": b"SSH-2.0-OpenSSH_9.6\r\n\r\n",
    "cut-off-in-the-head": PLAIN[:30],
    "cut-off-in-the-body": PLAIN[:-1],
    "two-lengths": PLAIN.replace(b"a/b", b"a/b\r\nContent-Length: 5"),
    "length-that-is-none": PLAIN.replace(b"h: 4", b"h: +4"),
    "length-and-chunks-cut-off": PLAIN.replace(b"a/b", b"a/b\r\nTransfer-Encoding: chunked"),
    "name-with-a-blank": PLAIN.replace(b"Type:", b"Type :"),
    "value-with-a-control": PLAIN.replace(b"a/b", b"a\x00b"),
    "head-without-end": b"HTTP/1.1 200 OK\r\nX: " + b"a" * MAX_HEAD,
}


@pytest.mark.parametrize("raw", WRONG.values(), ids=WRONG)
def test_what_is_no_whole_answer_is_an_error(raw):
    """Nothing is made up for what a server left out, or wrote against the rules."""
    with pytest.raises(h11.RemoteProtocolError):
        answered([raw] if raw else [], hangs_up=True)


@given(
    version=st.sampled_from([b"1.1", b"1.0", b"1.2"]),
    status=st.sampled_from([b"200", b"404", b"204", b"99", b"101"]),
    reason=st.sampled_from([b" OK", b"", b" ", b" \xff", b"\t", b" a\rb"]),
    names=st.lists(
        st.sampled_from([b"X", b"X-Y", b"", b"X Y", b"connection", b"TRANSFER-ENCODING", b"content-length"])
    ),
    values=st.lists(st.binary(max_size=4) | st.sampled_from([b"close", b" keep-alive\t", b"chunked", b"4", b"3"])),
    separator=st.sampled_from([b": ", b":", b" : "]),
    body=st.sampled_from([b"pong", b"pon", b"pong!"]),
)
@example(b"1.1", b"200", b" OK", [b"X"], [b"1"], b": ", b"pong")
def test_what_is_read_without_h11_is_read_as_h11_would(version, status, reason, names, values, separator, body):
    """The short way takes nothing that h11 refuses, and makes the same of all that it takes."""
    lines = [name + separator + value for name, value in zip(names, values, strict=False)]
    raw = b"\r\n".join([b"HTTP/" + version + b" " + status + reason, *lines, b"Content-Length: 4", b"", body])
    short, whole = Answer(), Answer()
    with suppress(h11.RemoteProtocolError):
        found = short.feed(raw)
    if short._other is None and found is not None:
        assert found == whole._by_h11(raw)
        assert whole.keeps or not short.keeps


OK = b"HTTP/1.1 200 OK\r\n"
PIECE = b"x" * 2**20
ENDLESS = {
    "by-its-length": (OK + b"Content-Length: %d\r\n\r\n" % (MAX_BODY + 1), b""),
    "in-chunks": (OK + b"Transfer-Encoding: chunked\r\n\r\n", b"100000\r\n%b\r\n" % PIECE),
    "until-it-closes": (OK + b"\r\n", PIECE),
    "old": (b"HTTP/1.0 200 OK\r\n\r\n", PIECE),
}


@pytest.mark.parametrize(("head", "piece"), ENDLESS.values(), ids=ENDLESS)
def test_an_answer_without_end_is_given_up_on(head, piece):
    """No server fills the memory: an answer has its bound, however it says how long it is."""
    with pytest.raises(ResponseFormatError, match="longer than 64 MiB"):
        answered([head, *[piece] * (MAX_BODY // 2**20 + 1)])


def test_the_longest_answer_is_read():
    """The bound itself is still an answer."""
    answer = Answer()
    answer.feed(OK + b"Content-Length: %d\r\n\r\n" % MAX_BODY)
    found = [answer.feed(PIECE) for _ in range(MAX_BODY // 2**20)]
    assert len(found[-1].body) == MAX_BODY


def test_the_body_has_one_length_and_the_host_one_name():
    """A configured Host counts in place of the address's; what says how long the body is, is never taken over."""
    headers = {"HOST": "own.test", "Content-length": "9", "Transfer-Encoding": "chunked", "X": "1"}
    head = head_of(HttpRequest("http://a.test", headers, b"{}"))
    assert head == b"POST / HTTP/1.1\r\nHOST: own.test\r\nX: 1\r\nContent-Length: 2\r\n\r\n"


def test_a_head_names_host_and_length():
    """A request says where it goes, what it carries and how long that is, and leaves out the login of its address."""
    request = HttpRequest("http://ann:pw@[::1]:81/v1/chat?a=1#part", {"X-Key": "k"}, b"{}")
    assert head_of(request) == b"POST /v1/chat?a=1 HTTP/1.1\r\nHost: [::1]:81\r\nX-Key: k\r\nContent-Length: 2\r\n\r\n"


@pytest.mark.parametrize(
    "headers",
    [{"A": "1\r\nB: 2"}, {"A\r\nB": "1"}, {"A B": "1"}, {"A:": "1"}, {"": "1"}, {"A": "ü"}, {"Ä": "1"}, {"A": "\x7f"}],
    ids=ascii,
)
def test_no_header_holds_what_none_can(headers):
    """Nothing that a configuration or a profile gives can end a header, or begin another."""
    with pytest.raises(ValueError, match="holds what no header can"):
        head_of(HttpRequest("http://a.test", headers, b""))


@pytest.mark.parametrize(
    "url",
    [
        "ftp://a.test",
        "http://",
        "http://a.test/b c",
        "http://a.test/ü",
        "http://ü.test",
        "//a",
        "http://a:b",
        "http://a:0",
    ],
)
def test_no_request_goes_to_what_is_no_address(url):
    """An address that cannot stand in a request is refused before anything is sent."""
    with pytest.raises(ValueError, match=r"(?i)host|port"):
        address_of(url)
