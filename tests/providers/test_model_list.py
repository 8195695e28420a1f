"""Asking a provider which models it serves, against a real server on this machine."""

import re
import time

import pytest

from hermes_core import ProviderProfile
from hermes_core.providers.model_list import MOST_BYTES
from hermes_core.testing import FakeProvider


@pytest.fixture
def server():
    """A provider on this machine."""
    with FakeProvider() as running:
        yield running


def test_the_list_is_asked_at_the_address_r26_01(server):
    """``<base_url>/models`` is asked with the host's user agent and the key as a bearer token."""
    found = ProviderProfile("acme", base_url=server.base_url).fetch_models(api_key="k-1234")
    (request,) = server.requests
    assert (
        found,
        request.method,
        request.path,
        request.headers["authorization"],
        request.headers["accept"],
    ) == (["fake-model"], "GET", "/v1/models", "Bearer k-1234", "application/json")
    assert re.fullmatch(r"hermes-cli/\d+\.\d+\.\d+\S*", request.headers["user-agent"])


def test_without_a_key_none_is_sent(server):
    """No key, no header."""
    ProviderProfile("acme", base_url=server.base_url).fetch_models()
    assert "authorization" not in server.requests[0].headers


@pytest.mark.parametrize("name", ["User-Agent", "user-agent"])
def test_a_profiles_headers_override_ours_r26_01(server, name):
    """A profile's ``default_headers`` are sent, and replace the host's own whatever their case."""
    profile = ProviderProfile("acme", base_url=server.base_url, default_headers={name: "acme/1", "X-Team": "a"})
    profile.fetch_models()
    headers = server.requests[0].headers
    assert (headers["user-agent"], headers["x-team"]) == ("acme/1", "a")


@pytest.mark.parametrize(
    ("fields", "argument", "path"),
    [
        pytest.param({"base_url": "{root}/v1"}, None, "/v1/models", id="the profile's address"),
        pytest.param({"base_url": "{root}/v1/"}, None, "/v1/models", id="a trailing slash"),
        pytest.param(
            {"base_url": "http://127.0.0.1:1"}, "{root}/other/v2", "/other/v2/models", id="the caller's address"
        ),
        pytest.param(
            {"base_url": "{root}/v1", "models_url": "{root}/list?a=1"}, None, "/list?a=1", id="a list's address"
        ),
        pytest.param(
            {"models_url": "{root}/list"}, "{root}/other", "/list", id="a list's address beats the caller's r26-02"
        ),
    ],
)
def test_which_address_is_asked_r26_02(server, fields, argument, path):
    """``models_url`` beats the caller's ``base_url``, which beats the profile's; paths are kept."""
    root = server.base_url.removesuffix("/v1")
    profile = ProviderProfile("acme", **{key: value.format(root=root) for key, value in fields.items()})
    assert profile.fetch_models(base_url=argument and argument.format(root=root)) == ["fake-model"]
    assert [path] == [request.path for request in server.requests]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        pytest.param({"data": [{"id": "a"}, {"id": "b"}]}, ["a", "b"], id="the usual shape"),
        pytest.param([{"id": "a"}], ["a"], id="a bare list"),
        pytest.param({"data": []}, [], id="an empty list"),
        pytest.param({"data": [{"id": None}, {"id": 1}, {"id": "a"}, {"id": "a"}]}, ["a"], id="odd ids r26-05"),
        pytest.param({"data": [{"id": ""}, {}, None, ["a"], 5, {"id": None, "name": "x"}]}, [], id="items without ids"),
        pytest.param(
            {"data": [{"id": "a", "supported_parameters": ["tools"]}, {"id": "b", "supported_parameters": ["stop"]}]},
            ["a"],
            id="without tools",
        ),
        pytest.param({"models": ["a", "b"]}, ["a", "b"], id="ids alone, under another word"),
        pytest.param({"models": [{"name": "models/a"}, {"model": "b"}]}, ["a", "b"], id="names in place of ids"),
        pytest.param(
            {"data": [{"id": " a\n"}, {"id": "\x1b[31mb"}, {"id": "c" * 257}]}, [], id="ids nobody could type"
        ),
    ],
)
def test_ids_are_read(server, body, expected):
    """Ids are the texts under ``id``, each once, in the server's order."""
    server.queue_response(body)
    assert ProviderProfile("acme", base_url=server.base_url).fetch_models() == expected


@pytest.mark.parametrize(
    ("body", "status", "headers"),
    [
        pytest.param("{", 200, {}, id="no JSON"),
        pytest.param("", 200, {}, id="nothing"),
        pytest.param("<html>", 200, {"Content-Type": "text/html"}, id="a page"),
        pytest.param("[" * 100_000, 200, {}, id="a hundred thousand brackets"),
        pytest.param("\ud83d".encode("utf-8", "surrogatepass").decode("latin-1"), 200, {}, id="bytes of no encoding"),
        pytest.param("null", 200, {}, id="null"),
        pytest.param({"list": ["a"]}, 200, {}, id="another shape"),
        pytest.param({"data": {"a": {"id": "a"}}}, 200, {}, id="a mapping of models"),
        pytest.param({"data": [{"id": "a"}]}, 403, {}, id="forbidden"),
        pytest.param({"data": [{"id": "a"}]}, 500, {}, id="a broken server"),
        pytest.param("", 302, {"Location": "ftp://127.0.0.1/models"}, id="a redirect out of the web"),
        pytest.param("x", 200, {"Content-Encoding": "gzip"}, id="a body that is not what it says"),
    ],
)
def test_a_failure_is_none(server, body, status, headers):
    """Whatever goes wrong, the answer is None, and nothing is raised."""
    server.queue_response(body, status=status, headers=headers)
    assert ProviderProfile("acme", base_url=server.base_url).fetch_models() is None


@pytest.mark.parametrize(
    "address",
    [
        pytest.param("", id="no address"),
        pytest.param("http://127.0.0.1:1/v1", id="nobody listens"),
        pytest.param("127.0.0.1/v1", id="no scheme"),
        pytest.param("acp://copilot", id="another scheme"),
        pytest.param("http://[::1", id="no URL"),
        pytest.param("http://127.0.0.1:99999/v1", id="no port"),
        pytest.param("http://127.0.0.1:x/v1", id="a word as port"),
        pytest.param("http://a\x00b/v1", id="a NUL byte"),
    ],
)
def test_an_address_that_cannot_be_asked_is_none(address):
    """An address that is none, or where nobody answers, gives None."""
    assert ProviderProfile("acme", base_url=address).fetch_models() is None


@pytest.mark.parametrize("key", ["k-\u028b123", "k-\r\nX: y", "k-\x00"])
def test_a_key_that_fits_no_header_is_none_r19_11(server, key):
    """A key that cannot be a header is not sent, and no header is made of it."""
    assert ProviderProfile("acme", base_url=server.base_url).fetch_models(api_key=key) is None
    assert server.requests == []


SECRETS = {"authorization", "x-team-key", "x-api-key"}


@pytest.mark.parametrize("mode", ["chat_completions", "anthropic_messages"])
def test_a_redirect_elsewhere_takes_no_secret_along(server, mode):
    """Whoever an address redirects to gets neither the key nor a header of the operator's, on the way back neither."""
    headers = {"X-Team-Key": "t-123456"}
    with FakeProvider() as other:
        server.queue_response("", status=307, headers={"Location": f"{other.base_url}/models"})
        other.queue_response("", status=302, headers={"Location": f"{server.base_url}/models?back=1"})
        profile = ProviderProfile("acme", base_url=server.base_url, default_headers=headers, api_mode=mode)
        assert profile.fetch_models(api_key="k-1234") == ["fake-model"]
        first, back = server.requests
        assert [SECRETS & {*request.headers} != set() for request in (first, *other.requests, back)] == [
            True,
            False,
            False,
        ]


def test_a_redirect_at_the_same_place_is_asked_alike(server):
    """A redirect within one origin is followed as if it had been the address."""
    server.queue_response("", status=308, headers={"Location": "/v2/models"})
    assert ProviderProfile("acme", base_url=server.base_url).fetch_models(api_key="k-1234") == ["fake-model"]
    assert [(request.path, request.headers["authorization"]) for request in server.requests] == [
        ("/v1/models", "Bearer k-1234"), ("/v2/models", "Bearer k-1234"),
    ]  # fmt: skip


def test_a_redirect_without_end_is_none(server):
    """A server that redirects to itself is given up after a few rounds."""
    for _ in range(20):
        server.queue_response("", status=302, headers={"Location": "/v1/models"})
    assert ProviderProfile("acme", base_url=server.base_url).fetch_models() is None
    assert len(server.requests) == 6


KEYED = {
    "most wires": ("chat_completions", [200], ["authorization"]),
    "anthropic": ("anthropic_messages", [200], ["x-api-key"]),
    "anthropic, where a bearer token is wanted": ("anthropic_messages", [401, 200], ["x-api-key", "authorization"]),
    "gemini": ("gemini", [200], ["x-goog-api-key"]),
    "gemini, where a bearer token is wanted": ("gemini", [403, 200], ["x-goog-api-key", "authorization"]),
}


@pytest.mark.parametrize(("mode", "statuses", "names"), KEYED.values(), ids=KEYED)
def test_the_key_is_sent_as_the_wire_wants_it_r26_07(server, mode, statuses, names):
    """The header of the wire format comes first, a bearer token when that is refused; the key is in no address."""
    for status in statuses:
        server.queue_response({"data": [{"id": "a"}]}, status=status)
    profile = ProviderProfile("acme", base_url=server.base_url, api_mode=mode)
    assert profile.fetch_models(api_key="k-1234") == ["a"]
    sent = [[name for name, value in request.headers.items() if "k-1234" in value] for request in server.requests]
    assert sent == [[name] for name in names]
    assert not any("k-1234" in request.path for request in server.requests)


def test_a_refused_key_is_not_tried_elsewhere(server):
    """After a refusal in every form, no other place is asked."""
    for _ in range(2):
        server.queue_response("", status=401)
    profile = ProviderProfile("acme", base_url=server.base_url, api_mode="anthropic_messages")
    assert profile.fetch_models(api_key="k-1234") is None
    assert [request.path for request in server.requests] == ["/v1/models", "/v1/models"]


PLACES = {
    "the address itself": ("/api", "chat_completions", ["/api/models"]),
    "then with a version": ("/api", "chat_completions", ["/api/models", "/api/v1/models"]),
    "then without one": ("/api/v1/", "chat_completions", ["/api/v1/models", "/api/models"]),
    "with a version first": ("/api", "anthropic_messages", ["/api/v1/models", "/api/models"]),
    "its query stays": ("/v1?a=1", "chat_completions", ["/v1/models?a=1", "/models?a=1"]),
}


@pytest.mark.parametrize(("path", "mode", "asked"), PLACES.values(), ids=PLACES)
def test_a_list_is_looked_for_where_it_may_be_r26_15(server, path, mode, asked):
    """Where there is no list below the address, it is looked for with ``/v1`` added or taken off."""
    for _ in asked[1:]:
        server.queue_response("", status=404)
    root = server.base_url.removesuffix("/v1")
    assert ProviderProfile("acme", base_url=root + path, api_mode=mode).fetch_models() == ["fake-model"]
    assert [request.path for request in server.requests] == asked


PAGED = {
    "a token": ({"models": [{"name": "models/a"}], "nextPageToken": "t&2"}, "gemini", "/v1/models?pageToken=t%262"),
    "a token in snakes": (
        {"data": [{"id": "a"}], "next_page_token": "2"},
        "chat_completions",
        "/v1/models?page_token=2",
    ),
    "more behind an id": (
        {"data": [{"id": "a"}], "has_more": True, "last_id": "a"},
        "anthropic_messages",
        "/v1/models?after_id=a",
    ),
}


@pytest.mark.parametrize(("first", "mode", "second"), PAGED.values(), ids=PAGED)
def test_every_page_is_read(server, first, mode, second):
    """A list that comes in pages is read to its end."""
    server.queue_response(first)
    server.queue_response({"data": [{"id": "b"}, {"id": "a"}], "has_more": False})
    assert ProviderProfile("acme", base_url=server.base_url, api_mode=mode).fetch_models() == ["a", "b"]
    assert [request.path for request in server.requests] == ["/v1/models", second]


def test_pages_that_repeat_end(server):
    """A server that gives the same page again and again is asked for it twice."""
    for _ in range(9):
        server.queue_response({"data": [{"id": "a"}], "next_page_token": "same"})
    assert ProviderProfile("acme", base_url=server.base_url).fetch_models() == ["a"]
    assert len(server.requests) == 2


def test_a_page_that_fails_is_no_list(server):
    """Half of a list is not taken for the whole."""
    server.queue_response({"data": [{"id": "a"}], "next_page_token": "2"})
    server.queue_response("", status=500)
    assert ProviderProfile("acme", base_url=server.base_url).fetch_models() is None


def test_a_list_without_end_is_given_up(server):
    """A body larger than any list is not read to its end."""
    server.queue_response("[" + " " * (MOST_BYTES + 1) + "]")
    assert ProviderProfile("acme", base_url=server.base_url).fetch_models() is None


def test_a_list_that_trickles_is_given_up(server):
    """The time is one for the whole list, not for each byte of it."""
    server.queue_response({"data": [{"id": "a" * 100}]}, drip=0.05)
    begun = time.monotonic()
    assert ProviderProfile("acme", base_url=server.base_url).fetch_models(timeout=0.5) is None
    assert time.monotonic() - begun < 3


def test_a_login_in_the_address_gets_no_key_r26_15(server):
    """As with a call, a key is not sent to an address that holds a login."""
    base_url = server.base_url.replace("//", "//ann:pass-word-1@")
    assert ProviderProfile("acme", base_url=base_url).fetch_models(api_key="k-1234") is None
    assert server.requests == []


@pytest.mark.parametrize("variable", ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "HTTPS_PROXY"])
@pytest.mark.parametrize("scheme", ["http", "socks", "socks5"])
def test_loopback_is_never_proxied_r25_03_r25_05(server, monkeypatch, variable, scheme):
    """A server on this machine is asked directly, whatever proxy the environment names."""
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.setenv(variable, f"{scheme}://127.0.0.1:1")
    assert ProviderProfile("acme", base_url=server.base_url).fetch_models() == ["fake-model"]


def test_openrouter_sends_no_key(load_host, server):
    """OpenRouter's list is public: its key stays here."""
    profile = load_host().providers.get("openrouter")
    profile.models_url = f"{server.base_url}/models"
    assert profile.fetch_models(api_key="k-1234") == ["fake-model"]
    assert "authorization" not in server.requests[0].headers


def test_custom_is_asked_where_an_address_is_known(load_host, server):
    """A custom endpoint has no list until an address is given."""
    profile = load_host().providers.get("custom")
    assert (profile.fetch_models(), profile.fetch_models(base_url=server.base_url)) == (None, ["fake-model"])


@pytest.mark.parametrize("name", ["k3", "K3"])
def test_kimi_leaves_out_the_coding_model_elsewhere(load_host, server, name):
    """On an endpoint that is not Kimi's coding one, the model ``k3`` is not listed."""
    server.models = ["kimi-k2", name, "k3-mini"]
    profile = load_host().providers.get("kimi")
    assert profile.fetch_models(base_url=f"{server.base_url}/") == ["kimi-k2", "k3-mini"]


def test_kimi_passes_a_failure_through(load_host, server):
    """Kimi's list is None when it cannot be had."""
    server.queue_response("", status=401)
    assert load_host().providers.get("kimi").fetch_models(base_url=server.base_url) is None
