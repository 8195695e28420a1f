"""Images that the host fetches for a provider: from where it may, what it takes, and what it never asks."""

from __future__ import annotations

import base64
import json
import ssl
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from hermes_core import ProviderProfile
from hermes_core.errors import ProviderTimeoutError, UnsupportedInputError
from hermes_core.llm.backends import PublicBackend
from hermes_core.llm.image_input import MAX_IMAGE_BYTES
from hermes_core.llm.images import MAX_REDIRECTS, are_remote, fetch_image, inlined
from hermes_core.types.address import is_public

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 8
DATA_URL = f"data:image/png;base64,{base64.b64encode(PNG).decode()}"
URL = "https://pictures.test/a.png"
PUBLIC, ANOTHER_PUBLIC = "93.184.216.34", "2606:2800:220:1:248:1893:25c8:1946"

PRIVATE = {
    "loopback": "127.0.0.1",
    "loopback-further-on": "127.8.9.10",
    "this-host": "0.0.0.0",
    "a-home-network": "192.168.1.1",
    "an-office-network": "10.1.2.3",
    "another-office-network": "172.31.255.255",
    "the-cloud-s-metadata": "169.254.169.254",
    "a-carrier-s-network": "100.64.0.1",
    "a-benchmark-network": "198.18.0.1",
    "documentation": "203.0.113.5",
    "reserved": "240.0.0.1",
    "broadcast": "255.255.255.255",
    "multicast": "224.0.0.1",
    "ipv6-loopback": "::1",
    "ipv6-unspecified": "::",
    "ipv6-link": "fe80::1%eth0",
    "ipv6-private": "fd12:3456::1",
    "ipv6-old-site": "fec0::1",
    "ipv6-multicast": "ff02::1",
    "ipv6-documentation": "2001:db8::1",
    "ipv6-tunnel": "2001:0:4136:e378:8000:63bf:3fff:fdd2",
    "loopback-as-ipv6": "::ffff:127.0.0.1",
    "an-office-as-ipv6": "::ffff:10.0.0.1",
    "loopback-through-6to4": "2002:7f00:1::1",
    "an-office-through-nat64": "64:ff9b::a00:1",
    "a-name": "localhost",
    "a-cloud-s-own-service": "168.63.129.16",
    "nothing": "",
}


@pytest.mark.parametrize("address", PRIVATE.values(), ids=PRIVATE)
def test_an_address_of_this_machine_or_network_is_not_public(address):
    """Whatever leads to this machine, its network, or nowhere is not public, however it is written."""
    assert not is_public(address)


@pytest.mark.parametrize("address", ["9.9.9.9", PUBLIC, ANOTHER_PUBLIC, "::ffff:9.9.9.9", "64:ff9b::909:909"])
def test_an_address_of_the_internet_is_public(address):
    """So is an IPv6 address that stands for a public IPv4 one."""
    assert is_public(address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.server.requests.append((self.path, {name.lower(): value for name, value in self.headers.items()}))
        status, headers, body = self.server.pages.get(self.path, (404, {}, b""))
        self.send_response(status)
        for name, value in ({"Content-Length": str(len(body))} | headers).items():
            self.send_header(name, value)
        self.end_headers()
        for byte in [body] if "X-Slow" not in headers else (body[n : n + 1] for n in range(len(body))):
            self.wfile.write(byte)
            time.sleep(0.1 if "X-Slow" in headers else 0)

    def log_message(self, *args):
        pass


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        """A client that goes away is no news."""


@pytest.fixture(scope="module")
def web_server(certificate):
    """A web server behind a certificate."""
    server = _Server(("127.0.0.1", 0), _Handler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


class Internet(PublicBackend):
    """The public internet: its names, and one web server that is at every address of it."""

    def __init__(self, server, certificate) -> None:
        super().__init__()
        self.server = server
        self.tls = ssl.create_default_context(cafile=certificate)
        self.names: dict[str, list] = {"pictures.test": [PUBLIC]}
        self.looked_up: list[str] = []
        self.connected: list[str] = []
        self.down: set[str] = set()

    def addresses(self, host, port):
        self.looked_up.append(host)
        found = self.names.get(host, [host])
        return found.pop(0) if found and isinstance(found[0], list) else found

    def connect(self, address, port, *options):
        self.connected.append(address)
        where = 1 if address in self.down else self.server.server_port
        return super().connect("127.0.0.1", where, *options)

    def serve(self, path="/a.png", body=PNG, status=200, **headers: str) -> None:
        """Have a page; a header's underscores are dashes."""
        written = {name.replace("_", "-"): value for name, value in headers.items()}
        self.server.pages[path] = status, {"Content-Type": "image/png"} | written, body

    def redirect(self, path: str, to: str, status: int = 302) -> None:
        """Have a page that leads elsewhere."""
        self.server.pages[path] = status, {"Location": to}, b""

    def fetch(self, url=URL, timeout=20.0) -> str:
        """Fetch an image."""
        return fetch_image(url, timeout, self, self.tls)

    @property
    def paths(self) -> list[str]:
        """What the server was asked for."""
        return [path for path, _ in self.server.requests]


@pytest.fixture
def internet(web_server, certificate) -> Internet:
    """An internet with one picture."""
    web_server.pages, web_server.requests = {}, []
    internet = Internet(web_server, certificate)
    internet.serve()
    return internet


def test_an_image_becomes_a_data_url(internet):
    """The bytes come back with the type that their server gave them."""
    assert internet.fetch() == DATA_URL


def test_nothing_is_told_but_who_asks(internet):
    """The request has no key, no cookie, and the host's own name."""
    internet.serve("/a.png?size=1&x=%20")
    internet.fetch(f"{URL}?size=1&x=%20")
    ((path, headers),) = internet.server.requests
    assert path == "/a.png?size=1&x=%20"
    assert (headers.keys(), headers["host"]) == ({"host", "user-agent", "accept"}, "pictures.test")


@pytest.mark.parametrize(
    "url",
    [
        "http://pictures.test/a.png",
        "ftp://pictures.test/a.png",
        "file:///etc/hostname",
        "//pictures.test/a.png",
        "a.png",
        "https:///a.png",
        "https://ann:word@pictures.test/a.png",
        "https://pictures.test:port/a.png",
        "https://pictures.test/\x00",
    ],
)
def test_only_https_without_a_login_is_asked(internet, url):
    """Another scheme, a login or no address at all is refused before anything is looked up."""
    with pytest.raises(UnsupportedInputError):
        internet.fetch(url)
    assert (internet.looked_up, internet.connected) == ([], [])


@pytest.mark.parametrize("address", PRIVATE.values(), ids=PRIVATE)
def test_a_name_that_leads_inside_is_not_asked(internet, address):
    """A host whose address is not public gets no connection."""
    internet.names["pictures.test"] = [address]
    with pytest.raises(UnsupportedInputError, match="not public"):
        internet.fetch()
    assert internet.connected == []


@pytest.mark.parametrize(
    "found", [[PUBLIC, "10.0.0.1"], ["10.0.0.1", PUBLIC], []], ids=["public-first", "private-first", "nowhere"]
)
def test_every_address_of_a_name_must_be_public(internet, found):
    """A name that leads inside as well is not asked outside either."""
    internet.names["pictures.test"] = found
    with pytest.raises(UnsupportedInputError, match="not public"):
        internet.fetch()
    assert internet.connected == []


@pytest.mark.parametrize("host", ["127.0.0.1", "[::1]", "localhost"])
def test_the_systems_own_lookup_is_checked(host):
    """Addresses and names of this machine are refused with the usual backend."""
    with pytest.raises(UnsupportedInputError):
        fetch_image(f"https://{host}:1/a.png", 5)


def test_the_connection_goes_to_the_address_that_was_checked(internet):
    """A name is looked up once; were it looked up again to connect, it could lead elsewhere by then."""
    internet.names["pictures.test"] = [[PUBLIC], ["127.0.0.1"]]
    assert internet.fetch() == DATA_URL
    assert (internet.looked_up, internet.connected) == (["pictures.test"], [PUBLIC])


def test_the_next_address_is_tried(internet):
    """A name with several addresses is reached at the first that answers."""
    internet.names["pictures.test"] = [ANOTHER_PUBLIC, PUBLIC]
    internet.down.add(ANOTHER_PUBLIC)
    assert internet.fetch() == DATA_URL
    assert internet.connected == [ANOTHER_PUBLIC, PUBLIC]


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("to", ["/a.png", URL, "https://more.pictures.test/a.png"])
def test_a_redirect_is_followed(internet, status, to):
    """A picture may be elsewhere, also at another public host."""
    internet.names["more.pictures.test"] = [ANOTHER_PUBLIC]
    internet.redirect("/old.png", to, status)
    assert internet.fetch("https://pictures.test/old.png") == DATA_URL


@pytest.mark.parametrize(
    "to",
    [
        "http://pictures.test/a.png",
        "https://inside.pictures.test/a.png",
        "https://127.0.0.1/a.png",
        "file:///etc/hostname",
        "https://ann:word@pictures.test/a.png",
        "https://[broken",
    ],
)
def test_a_redirect_is_checked_like_the_first_address(internet, to):
    """A redirect away from https, or to an address inside, is refused, and not asked."""
    internet.names["inside.pictures.test"] = ["10.0.0.1"]
    internet.redirect("/old.png", to)
    with pytest.raises(UnsupportedInputError):
        internet.fetch("https://pictures.test/old.png")
    assert internet.paths == ["/old.png"]


def test_a_name_is_checked_again_after_a_redirect(internet):
    """A name that leads inside by the time it is asked again is refused."""
    internet.names["pictures.test"] = [[PUBLIC], ["10.0.0.1"]]
    internet.redirect("/old.png", "/a.png")
    internet.server.pages["/old.png"][1]["Connection"] = "close"
    with pytest.raises(UnsupportedInputError, match="not public"):
        internet.fetch("https://pictures.test/old.png")
    assert internet.paths == ["/old.png"]


@pytest.mark.parametrize("to", ["/old.png", ""], ids=["to-itself", "to-nowhere"])
def test_a_circle_of_redirects_ends(internet, to):
    """Only so many redirects are followed."""
    internet.redirect("/old.png", to)
    with pytest.raises(UnsupportedInputError, match="redirects"):
        internet.fetch("https://pictures.test/old.png")
    assert len(internet.paths) == MAX_REDIRECTS + 1


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        pytest.param({"status": 404}, "answered 404", id="not-found"),
        pytest.param({"status": 206}, "answered 206", id="a-part-of-it"),
        pytest.param({"Content_Type": "text/html"}, "called it 'text/html'", id="a-web-page"),
        pytest.param({"Content_Type": "imagery/png"}, "called it 'imagery/png'", id="a-type-that-begins-alike"),
        pytest.param({"Content_Type": ""}, "called it ''", id="no-type"),
        pytest.param({"Content_Encoding": "gzip"}, "is no image", id="compressed-though-not-asked-to"),
        pytest.param({"body": b"\0" * (MAX_IMAGE_BYTES + 1)}, "larger than 20 MiB", id="too-large"),
        pytest.param(
            {"Content_Length": "99999", "Connection": "close"}, "could not be fetched", id="shorter-than-said"
        ),
    ],
)
def test_what_is_no_usable_image_is_refused(internet, answer, said):
    """Another status or type, too many bytes or too few are refused."""
    internet.serve(**answer)
    with pytest.raises(UnsupportedInputError, match=said):
        internet.fetch(timeout=2)


def test_the_largest_image_is_taken(internet):
    """20 MiB are not too large."""
    internet.serve(body=b"\0" * MAX_IMAGE_BYTES)
    assert len(internet.fetch()) > MAX_IMAGE_BYTES


def test_the_type_is_written_plainly(internet):
    """Parameters and capitals of a type are dropped."""
    internet.serve(Content_Type="Image/JPEG; charset=binary")
    assert internet.fetch().startswith("data:image/jpeg;base64,")


def test_a_server_that_drips_is_left(internet):
    """The time is for everything: bytes that trickle in do not begin it anew."""
    internet.serve(body=PNG * 10, X_Slow="yes")
    with pytest.raises(UnsupportedInputError, match="could not be fetched"):
        internet.fetch(timeout=0.3)


def test_a_certificate_that_nobody_vouches_for_is_refused(internet):
    """Pictures come from whom the URL names, or not at all."""
    with pytest.raises(UnsupportedInputError, match="certificate"):
        fetch_image(URL, 20, internet)
    assert internet.paths == []


def test_a_certificate_for_another_name_is_refused(internet):
    """The certificate must be the URL's host's, though the connection goes to an address."""
    internet.names["other.test"] = [PUBLIC]
    with pytest.raises(UnsupportedInputError, match="certificate"):
        internet.fetch("https://other.test/a.png")


def test_no_proxy_is_asked(internet, monkeypatch):
    """A proxy would look the name up by itself, so none is used."""
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:1")
    assert internet.fetch() == DATA_URL


def test_a_key_in_the_url_is_not_shown(internet):
    """The error names the host alone."""
    with pytest.raises(UnsupportedInputError, match=r"'pictures\.test'") as caught:
        internet.fetch("https://pictures.test/missing.png?signature=s-123456")
    assert "s-123456" not in f"{caught.value}{caught.value.hint}{caught.value.__cause__}"


def test_a_host_beyond_ascii_is_found(internet):
    """Names of all scripts can be looked up, and paths too."""
    internet.names["xn--bcher-kva.pictures.test"] = [PUBLIC]
    internet.serve("/%C3%A9.png")
    assert internet.fetch("https://bücher.pictures.test/é.png") == DATA_URL


def image(url: str) -> dict:
    """A user's message with one image."""
    return {
        "role": "user",
        "content": [{"type": "text", "text": "a"}, {"type": "image_url", "image_url": {"url": url}}],
    }


def test_each_image_is_fetched_once():
    """The same picture in two messages is asked for once; pictures that are there stay, messages are not changed."""
    messages = [image(URL), image(URL), image(DATA_URL), {"role": "system", "content": "s"}]
    before = json.dumps(messages)
    asked = []

    def fetch(url, timeout):
        asked.append((url, timeout))
        return "data:image/png;base64,AAAA"

    found = inlined(messages, 5, fetch)
    assert [url for url, _ in asked] == [URL]
    assert asked[0][1] <= 5
    assert found == [image("data:image/png;base64,AAAA"), image("data:image/png;base64,AAAA"), *messages[2:]]
    assert json.dumps(messages) == before


def test_all_images_share_the_time():
    """What the first took is gone for the second."""
    given = []

    def fetch(url, timeout):
        given.append(timeout)
        time.sleep(0.05)
        return DATA_URL

    inlined([image(f"{URL}?1"), image(f"{URL}?2")], 5, fetch)
    assert given[1] <= given[0] - 0.05


@pytest.mark.parametrize(
    ("message", "is_remote"),
    [
        pytest.param(image(URL), True, id="https"),
        pytest.param(image("HTTP://pictures.test/a"), True, id="http-which-is-refused-later"),
        pytest.param(image(DATA_URL), False, id="data"),
        pytest.param(image("DATA:image/png,x"), False, id="data-in-capitals"),
        pytest.param({"role": "user", "content": [{"type": "image_url", "image_url": URL}]}, True, id="short-form"),
        pytest.param({"role": "user", "content": URL}, False, id="a-url-in-the-text"),
        pytest.param({"role": "user", "content": [None, "x", {"type": "image_url"}]}, False, id="odd-parts"),
        pytest.param({"role": "user"}, False, id="no-content"),
    ],
)
def test_images_elsewhere_are_found(message, is_remote):
    """Only an image part that is no ``data:`` URL must be fetched."""
    assert are_remote([message]) is is_remote


class Illustrating(ProviderProfile):
    """A profile that adds an image of its own."""

    def prepare_messages(self, messages):
        return [*messages, image(self.url)]


@pytest.mark.parametrize("wire", ["gemini", "bedrock_converse"])
@pytest.mark.parametrize(
    "url", ["https://127.0.0.1:1/a.png", "https://localhost:1/a.png", "http://pictures.test/a.png"]
)
def test_a_call_with_such_an_image_fails_before_it_is_sent(way, lane, wire, url):
    """A picture that may not be fetched, whoever added it, is a ValueError with a remedy; nothing is sent."""
    host = lane.bare_host({"model": {"provider": "acme"}})
    fields = {"base_url": lane.server.base_url, "auth_type": "none", "fallback_models": ("m",), "api_mode": wire}
    host.program_context().register_provider(Illustrating("acme", url=url, **fields))
    with pytest.raises(UnsupportedInputError, match="inside the request") as caught:
        way.complete(host.llm("p"))
    assert isinstance(caught.value, ValueError)
    assert (caught.value.provider, caught.value.hint) == ("acme", "give the image's bytes as data")
    assert lane.server.requests == []


def test_a_format_that_takes_urls_gets_them(way, lane):
    """Where the provider fetches images itself, the host does not."""
    body = {"content": [{"type": "text", "text": "pong"}], "stop_reason": "end_turn"}
    lane.server.queue_response(body)
    way.structured(lane.llm({"model": {"api_mode": "anthropic_messages"}}), input=[{"type": "image", "url": URL}])
    assert URL in json.dumps(lane.server.bodies)


def test_the_calls_own_deadline_is_the_error(way, lane):
    """When the time for the whole call ends while a picture is fetched, that is what is told."""
    llm = lane.llm({"model": {"api_mode": "gemini"}})
    with pytest.raises(ProviderTimeoutError, match="within 1e-06 s"):
        way.structured(llm, input=[{"type": "image", "url": URL}], timeout=1e-6)
