"""Images: what a plugin may hand in, and what goes on the wire."""

from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_core import LlmCall, PluginLlmImageInput, ProviderProfile
from hermes_core.errors import VisionUnavailableError
from hermes_core.llm.image_input import MAX_IMAGE_BYTES, is_public_host
from hermes_core.llm.messages import check_messages

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 8
JPEG = b"\xff\xd8\xff\xe0" + b"\0" * 8
GIF = b"GIF89a" + b"\0" * 8
OLD_GIF = b"GIF87a" + b"\0" * 8
WEBP = b"RIFF\x10\0\0\0WEBPVP8 "
WAVE = b"RIFF\x10\0\0\0WAVEfmt "
UNKNOWN = b"some picture"
PICTURE = "https://pictures.test/a.png"


def data_url(mime: str, data: bytes) -> str:
    """Bytes as they go on the wire."""
    return f"data:{mime};base64,{base64.b64encode(data).decode()}"


@pytest.fixture
def sent(way, lane):
    """Send one image block; returns the URL that the server got."""

    def send(block) -> str:
        way.structured(lane.llm(), input=[block])
        part = lane.server.bodies[0]["messages"][-1]["content"][-1]
        assert part.keys() == {"type", "image_url"}
        assert part["image_url"].keys() == {"url"}
        return part["image_url"]["url"]

    return send


@pytest.mark.parametrize("make", [bytes, bytearray, memoryview], ids=["bytes", "bytearray", "memoryview"])
@pytest.mark.parametrize("as_block", [True, False], ids=["mapping", "dataclass"])
def test_raw_data_becomes_a_data_url(sent, make, as_block):
    """Bytes of any kind, in a mapping or a dataclass, are sent as a base64 ``data:`` URL."""
    block = {"type": "image", "data": make(PNG)} if as_block else PluginLlmImageInput(make(PNG))
    assert sent(block) == data_url("image/png", PNG)


@pytest.mark.parametrize(
    ("data", "said", "mime"),
    [
        pytest.param(JPEG, "image/png", "image/jpeg", id="jpeg-called-png-is-jpeg"),
        pytest.param(GIF, "image/png", "image/gif", id="gif-called-png-is-gif"),
        pytest.param(OLD_GIF, "image/jpeg", "image/gif", id="old-gif-called-jpeg-is-gif"),
        pytest.param(WEBP, "image/png", "image/webp", id="webp-called-png-is-webp"),
        pytest.param(PNG, "image/jpeg", "image/png", id="png-called-jpeg-is-png"),
        pytest.param(JPEG, "image/jpeg", "image/jpeg", id="jpeg-called-jpeg-is-jpeg"),
        pytest.param(UNKNOWN, "image/avif", "image/avif", id="unknown-bytes-are-what-the-plugin-says"),
        pytest.param(WAVE, "image/bmp", "image/bmp", id="a-riff-that-is-no-webp-is-what-the-plugin-says"),
        pytest.param(b"\x89PN", "image/heic", "image/heic", id="half-a-signature-is-none"),
    ],
)
def test_the_bytes_say_what_type_they_are_r27_06(sent, data, said, mime):
    """A type that contradicts the image's first bytes is corrected; bytes that say nothing leave it."""
    assert sent({"type": "image", "data": data, "mime_type": said}) == data_url(mime, data)


def test_unknown_bytes_without_a_type_are_called_png(sent):
    """The type is image/png when neither the plugin nor the bytes say."""
    assert sent({"type": "image", "data": UNKNOWN}) == data_url("image/png", UNKNOWN)


@pytest.mark.parametrize(
    "url",
    [
        "https://pictures.test/a.png?size=1&x=%20#top",
        "http://pictures.test:8080/a.png",
        "HTTPS://Pictures.Test/A.PNG",
        "https://bücher.test/ü.png",
        "https://8.8.8.8/a.png",
        "https://[2606:4700::1111]/a.png",
        data_url("image/png", PNG),
        data_url("image/webp", WEBP),
        data_url("image/svg+xml", UNKNOWN),
        data_url("image/svg+xml;charset=utf-8", UNKNOWN),
        data_url("IMAGE/PNG", PNG).replace("base64", "BASE64"),
    ],
    ids=[
        "https",
        "http",
        "upper-case",
        "letters-beyond-ascii",
        "public-ipv4",
        "public-ipv6",
        "data-png",
        "data-webp",
        "data-of-another-type",
        "data-with-a-parameter",
        "data-in-upper-case",
    ],
)
@pytest.mark.parametrize("as_block", [True, False], ids=["mapping", "dataclass"])
def test_a_url_is_sent_verbatim_r27_08(sent, url, as_block):
    """http, https and image data URLs reach the provider letter by letter."""
    assert sent({"type": "image", "url": url} if as_block else PluginLlmImageInput(url=url)) == url


@pytest.mark.parametrize("as_block", [True, False], ids=["mapping", "dataclass"])
def test_the_url_wins_over_the_data(sent, as_block):
    """With both, the URL is what is sent."""
    both = {"data": PNG, "url": "https://pictures.test/a.png"}
    assert sent({"type": "image", **both} if as_block else PluginLlmImageInput(**both)) == both["url"]


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/hostname",
        "FILE:///etc/hostname",
        "/etc/hostname",
        "./a.png",
        "a.png",
        "C:\\a.png",
        "//pictures.test/a.png",
        "ftp://pictures.test/a.png",
        "javascript:alert(1)",
        "blob:https://pictures.test/1",
        "data:text/html;base64,PGI+",
        "data:,hello",
        " file:///etc/hostname",
        "httpx://pictures.test/a.png",
        "https:/pictures.test/a.png",
        "https:pictures.test/a.png",
    ],
)
def test_a_url_that_reaches_elsewhere_is_refused_r27_09(way, lane, url):
    """Files, bare paths, scripts and other schemes are a ValueError, and nothing is sent."""
    with pytest.raises(ValueError, match=rf"^{way.structured_name}: input\[0\]: an image url must start with https://"):
        way.structured(lane.llm(), input=[{"type": "image", "url": url}])
    assert lane.server.requests == []


@pytest.mark.parametrize(
    "url",
    [
        "data:image/png;base64,",
        "data:image/png;base64,@@@",
        "data:image/png;base64,QUJD=QUJD",
        "data:image/",
        "data:image/png;base64;x=y,QUJD",
        "data:image/png,QUJD",
        "data:image/p<g;base64,QUJD",
        "data:image/png;base64,QU JD",
    ],
    ids=[
        "empty",
        "no-base64",
        "padding-inside",
        "no-data",
        "base64-in-the-middle",
        "not-said-to-be-base64",
        "odd-type",
        "blank-inside",
    ],
)
def test_a_malformed_data_url_is_refused_r27_08(way, lane, url):
    """A data URL whose data is missing or is no base64 is a ValueError, and nothing is sent."""
    with pytest.raises(ValueError, match=way.structured_name):
        way.structured(lane.llm(), input=[{"type": "image", "url": url}])
    assert lane.server.requests == []


@pytest.mark.parametrize(
    ("data", "said", "mime"),
    [
        pytest.param(JPEG, "image/png", "image/jpeg", id="jpeg-called-png-is-jpeg"),
        pytest.param(PNG, "image/jpeg;charset=x", "image/png", id="png-called-jpeg-is-png"),
        pytest.param(WEBP, "image/x-unknown", "image/webp", id="webp-called-something-is-webp"),
    ],
)
def test_a_data_url_says_what_its_bytes_say_r27_06(sent, data, said, mime):
    """A ``data:`` URL whose type contradicts its first bytes is corrected."""
    assert sent({"type": "image", "url": data_url(said, data)}) == data_url(mime, data)


@pytest.mark.parametrize(
    "mime", ["text/html", "image/", "image", "png", "image/png; charset=x", "image/a b", 5, ["image/png"]]
)
def test_bytes_that_are_said_to_be_no_image_are_refused(way, lane, mime):
    """Where the bytes say nothing, what the plugin calls them has to be a type of image."""
    with pytest.raises(ValueError, match=rf"^{way.structured_name}: input\[0\]: mime_type must be a type of image"):
        way.structured(lane.llm(), input=[{"type": "image", "data": UNKNOWN, "mime_type": mime}])
    assert lane.server.requests == []


@pytest.mark.parametrize("mime", [None, "", "text/html"], ids=["none", "empty", "wrong"])
def test_bytes_that_say_what_they_are_need_no_type(sent, mime):
    """A known signature decides, whatever the plugin calls it."""
    assert sent({"type": "image", "data": JPEG, "mime_type": mime}) == data_url("image/jpeg", JPEG)


def test_a_view_counts_in_bytes(sent):
    """A view of wider items, or of every other byte, is sent as the bytes it shows."""
    wide = memoryview(PNG).cast("I")
    every_other = memoryview(bytes(byte for pair in zip(PNG, PNG, strict=True) for byte in pair))[::2]
    assert sent({"type": "image", "data": wide}) == data_url("image/png", PNG)
    assert sent({"type": "image", "data": every_other}) == data_url("image/png", PNG)


def image_of(size: int) -> bytes:
    """A PNG's first bytes, and nothing else, this long."""
    return PNG + bytes(size - len(PNG))


@pytest.mark.parametrize("as_url", [False, True], ids=["bytes", "data-url"])
def test_the_largest_image_is_sent(sent, as_url):
    """An image of 20 MiB, as it is before base64, goes through."""
    url = data_url("image/png", image_of(MAX_IMAGE_BYTES))
    data = {"url": url} if as_url else {"data": image_of(MAX_IMAGE_BYTES)}
    assert sent({"type": "image", **data}) == url


@pytest.mark.parametrize("as_url", [False, True], ids=["bytes", "data-url"])
def test_a_larger_image_is_refused(way, lane, as_url):
    """One byte more is a ValueError that tells the limit, and nothing is sent."""
    image = image_of(MAX_IMAGE_BYTES + 1)
    block = {"type": "image", **({"url": data_url("image/png", image)} if as_url else {"data": image})}
    with pytest.raises(ValueError, match=r"input\[0\]: an image must have .* 20 MiB \(20971520 bytes\), got 20971521"):
        way.structured(lane.llm(), input=[block])
    assert lane.server.requests == []


IN_CHAT = {
    "an image block with an address": {"type": "image", "url": PICTURE},
    "an image block with bytes": {"type": "image", "data": PNG},
    "an image block of ours": PluginLlmImageInput(PNG),
    "an image part": {"type": "image_url", "image_url": {"url": PICTURE}},
    "an image part that is text": {"type": "image_url", "image_url": PICTURE},
    "an image part of another type": {"type": "input_image", "image_url": PICTURE},
    "an image part of no type": {"image_url": {"url": PICTURE}},
}


@pytest.mark.parametrize("part", IN_CHAT.values(), ids=IN_CHAT)
def test_an_image_in_a_chat_message_is_sent_as_an_image_part(way, lane, part):
    """However an image is given in a message, it is sent, and counted, as an image part."""
    way.complete(lane.llm(), messages=[{"role": "user", "content": [part]}])
    (sent,) = lane.server.bodies[0]["messages"][0]["content"]
    url = sent["image_url"]["url"] if isinstance(sent["image_url"], dict) else sent["image_url"]
    assert (sent["type"], url) in [("image_url", PICTURE), ("image_url", data_url("image/png", PNG))]
    assert LlmCall(plugin_id="p", messages=check_messages("complete", [{"role": "user", "content": [part]}])).has_images


REFUSED_IN_CHAT = {
    "a file": {"type": "image", "url": "file:///etc/passwd"},
    "a private address": {"type": "image", "url": "http://127.0.0.1/a"},
    "a private address in an input image": {"type": "input_image", "image_url": "http://127.0.0.1/a"},
    "a source of another vendor's": {"type": "image", "source": {"type": "url", "url": "http://127.0.0.1/a"}},
    "a file id": {"type": "input_image", "file_id": "f"},
    "an image without a type": {"image": {"format": "png"}},
    "text as its data": {"type": "image", "data": "QUJD"},
    "within what a tool found": {"type": "tool_result", "content": [{"type": "image", "url": "http://10.0.0.1/a"}]},
}


@pytest.mark.parametrize("part", REFUSED_IN_CHAT.values(), ids=REFUSED_IN_CHAT)
def test_an_image_in_a_chat_message_meets_the_rules(way, lane, part):
    """An image in a message is checked like any other, and one of a shape that cannot be is refused by its place."""
    with pytest.raises(ValueError, match=r"messages\[0\] content\[0\].* image"):
        way.complete(lane.llm(), messages=[{"role": "user", "content": [part]}])
    assert lane.server.requests == []


NO_PUBLIC_HOST = {
    "loopback": "127.0.0.1",
    "loopback-elsewhere": "127.9.9.9",
    "loopback-short": "127.1",
    "loopback-decimal": "2130706433",
    "loopback-hexadecimal": "0x7f000001",
    "loopback-octal": "017700000001",
    "loopback-octal-parts": "0177.0.0.1",
    "loopback-hexadecimal-parts": "0x7f.0.0.1",
    "loopback-mixed-parts": "127.0x0.1",
    "loopback-with-a-dot": "127.0.0.1.",
    "loopback-with-leading-zeros": "127.000.000.001",
    "loopback-in-full-width-digits": "\uff11\uff12\uff17.0.0.1",
    "loopback-with-ideographic-dots": "127\u30020\u30020\u30021",
    "loopback-with-a-soft-hyphen": "127.0.0.\u00ad1",
    "loopback-percent-encoded": "%31%32%37.0.0.1",
    "nothing": "0.0.0.0",
    "nothing-short": "0",
    "this-network": "0.1.2.3",
    "private-10": "10.1.2.3",
    "private-172": "172.16.0.1",
    "private-192": "192.168.1.1",
    "carrier": "100.64.0.1",
    "link-local": "169.254.1.1",
    "metadata": "169.254.169.254",
    "metadata-decimal": "2852039166",
    "metadata-of-another-cloud": "100.100.100.200",
    "metadata-of-a-third": "192.0.0.192",
    "service-of-a-cloud": "168.63.129.16",
    "metadata-by-name": "metadata.google.internal",
    "multicast": "224.0.0.1",
    "broadcast": "255.255.255.255",
    "reserved": "240.0.0.1",
    "documentation": "192.0.2.1",
    "no-address-at-all": "256.1.1.1",
    "too-many-parts": "1.2.3.4.5",
    "ipv6-loopback": "[::1]",
    "ipv6-loopback-in-full": "[0:0:0:0:0:0:0:1]",
    "ipv6-nothing": "[::]",
    "ipv6-mapped": "[::ffff:127.0.0.1]",
    "ipv6-mapped-in-hexadecimal": "[::ffff:7f00:1]",
    "ipv6-compatible": "[::127.0.0.1]",
    "ipv6-6to4": "[2002:7f00:1::]",
    "ipv6-nat64": "[64:ff9b::7f00:1]",
    "ipv6-teredo": "[2001:0:7f00:1::]",
    "ipv6-unique-local": "[fd00:ec2::254]",
    "ipv6-link-local": "[fe80::1]",
    "ipv6-link-local-with-a-zone": "[fe80::1%25eth0]",
    "ipv6-multicast": "[ff02::1]",
    "ipv6-documentation": "[2001:db8::1]",
    "localhost": "localhost",
    "localhost-in-capitals": "LocalHost",
    "localhost-with-a-dot": "localhost.",
    "below-localhost": "a.localhost",
    "localhost-in-full-width": "\uff4cocalhost",
    "one-word": "intranet",
    "mdns": "printer.local",
    "internal": "db.internal",
    "lan": "nas.lan",
    "home": "router.home.arpa",
    "odd-letters": "exa$mple.test",
    "a-label-too-long-for-a-name": "\u00fc" + "a" * 70 + ".test",
}


@pytest.mark.parametrize("scheme", ["https", "http"])
@pytest.mark.parametrize("host", NO_PUBLIC_HOST.values(), ids=NO_PUBLIC_HOST)
def test_an_address_that_is_not_public_is_refused(lane, scheme, host):
    """Addresses and names of this machine, of private networks and of a cloud's own services are never passed on."""
    with pytest.raises(
        ValueError, match=r"input\[0\]: an image url must lead to a public host.*give the image's bytes"
    ):
        lane.llm().complete_structured(
            instructions="Look.", input=[{"type": "image", "url": f"{scheme}://{host}:8443/a.png"}]
        )
    assert lane.server.requests == []


@pytest.mark.parametrize(
    "host", ["example.com", "a-b.example.co", "xn--bcher-kva.test", "1.example.com", "8.8.8.8", "0x.test"]
)
def test_a_public_host_is_public_host(host):
    """Ordinary names and public addresses count."""
    assert is_public_host(host)


@given(st.ip_addresses(v=4))
def test_an_address_is_public_only_where_the_registry_says_so(address):
    """No address that is not globally reachable passes, whatever it is."""
    assert not is_public_host(str(address)) or (address.is_global and not address.is_multicast)


@given(st.ip_addresses(v=4), st.sampled_from(["{0}", "0x{0:x}", "0{0:o}"]))
def test_a_number_is_no_address(address, spelling):
    """An address written as one number is refused, public or not: who fetches it may read it otherwise."""
    assert not is_public_host(spelling.format(int(address)))


@pytest.mark.parametrize(
    ("url", "said"),
    [
        pytest.param("https://", "must be an address like", id="no-host"),
        pytest.param("https:///a.png", "must be an address like", id="no-host-but-a-path"),
        pytest.param("https://pictures.test:99999/a.png", "must be an address like", id="no-such-port"),
        pytest.param("https://[::1/a.png", "must be an address like", id="half-a-bracket"),
        pytest.param("https://pictures.test/a b.png", "must be an address like", id="a-blank"),
        pytest.param("https://pictures.test/a.png\n", "must be an address like", id="a-newline"),
        pytest.param("https://127.0.0.1\\@pictures.test/", "must be an address like", id="a-backslash"),
        pytest.param("https://user:secret@pictures.test/a.png", "may hold no login", id="a-login"),
        pytest.param("https://user@pictures.test/a.png", "may hold no login", id="a-user"),
        pytest.param("https://@pictures.test/a.png", "may hold no login", id="an-empty-login"),
        pytest.param("https://pictures.test@127.0.0.1/", "may hold no login", id="a-host-as-login"),
    ],
)
def test_a_doubtful_url_is_refused(way, lane, url, said):
    """What parsers read differently, or what holds a login, is a ValueError that does not repeat it."""
    with pytest.raises(ValueError, match=said) as caught:
        way.structured(lane.llm(), input=[{"type": "image", "url": url}])
    assert "secret" not in str(caught.value)
    assert lane.server.requests == []


CHAT_PARTS = {
    "a-file": ({"url": "file:///etc/hostname"}, "must start with https://"),
    "a-file-as-text": ("file:///etc/hostname", "must start with https://"),
    "a-private-address": ({"url": "https://10.0.0.1/a.png"}, "must lead to a public host"),
    "a-private-address-as-text": ("https://10.0.0.1/a.png", "must lead to a public host"),
    "a-login": ({"url": "https://u:p@pictures.test/a.png"}, "may hold no login"),
    "too-large": ({"url": data_url("image/png", image_of(MAX_IMAGE_BYTES + 1))}, "20 MiB"),
    "no-image": ({"url": "data:text/html;base64,PGI+"}, "must start with https://"),
    "nothing": (None, "must start with https://"),
    "a-mapping-without-a-url": ({"detail": "low"}, "must start with https://"),
    "bytes": ({"url": PNG}, "must start with https://"),
}


@pytest.mark.parametrize(("image", "said"), CHAT_PARTS.values(), ids=CHAT_PARTS)
@pytest.mark.parametrize("kind", ["image_url", "input_image"])
def test_an_image_in_a_message_meets_the_same_rules(way, lane, image, said, kind):
    """An image part of a chat message is refused for the same reasons, with its place, and nothing is sent."""
    messages = [
        {"role": "system", "content": "Look."},
        {"role": "user", "content": [{"type": "text", "text": "?"}, {"type": kind, "image_url": image}]},
    ]
    with pytest.raises(ValueError, match=rf"^{way.complete_name}: messages\[1\] content\[1\]: .*{said}"):
        way.complete(lane.llm(), messages=messages)
    assert lane.server.requests == []


def test_an_image_in_a_message_is_corrected_in_a_copy(way, lane):
    """A wrong type in a message's ``data:`` URL is corrected on the wire, and not in the plugin's own list."""
    wrong = {"type": "image_url", "image_url": {"url": data_url("image/png", JPEG), "detail": "low"}}
    messages = [{"role": "user", "content": [wrong]}]
    way.complete(lane.llm(), messages=messages)
    assert lane.server.bodies[0]["messages"][0]["content"] == [
        {"type": "image_url", "image_url": {"url": data_url("image/jpeg", JPEG), "detail": "low"}}
    ]
    assert wrong["image_url"]["url"] == data_url("image/png", JPEG)


@pytest.mark.parametrize(
    "block",
    [
        pytest.param({"type": "image"}, id="mapping-with-neither"),
        pytest.param({"type": "image", "data": None}, id="data-none"),
        pytest.param({"type": "image", "data": b""}, id="data-empty"),
        pytest.param({"type": "image", "data": "aGk="}, id="data-as-text"),
        pytest.param({"type": "image", "data": [1, 2]}, id="data-as-a-list"),
        pytest.param({"type": "image", "url": ""}, id="url-empty"),
        pytest.param({"type": "image", "url": 5}, id="url-no-text"),
        pytest.param({"type": "image", "url": b"https://pictures.test/a.png"}, id="url-bytes"),
        pytest.param(PluginLlmImageInput(), id="dataclass-with-neither"),
        pytest.param(PluginLlmImageInput(data=bytearray()), id="dataclass-with-empty-data"),
        pytest.param(PluginLlmImageInput(data=memoryview(b"")), id="dataclass-with-an-empty-view"),
    ],
)
def test_an_image_block_without_an_image_is_refused(way, lane, block):
    """A block with neither usable data nor a URL is a ValueError, and nothing is sent."""
    with pytest.raises(ValueError, match=f"^{way.structured_name}: "):
        way.structured(lane.llm(), input=[block])
    assert lane.server.requests == []


def test_the_file_name_is_not_sent(way, lane):
    """``file_name`` stays with the host."""
    block = PluginLlmImageInput(PNG, file_name="passport-of-ann.png")
    way.structured(lane.llm(), input=[block])
    assert "passport" not in str(lane.server.bodies)


def test_a_buffer_that_changes_later_changes_nothing(way, lane):
    """What is sent is the data as it was when the call was made."""
    data = bytearray(PNG)
    block = {"type": "image", "data": data}
    way.structured(lane.llm(), input=[block])
    data[:] = b"x" * len(data)
    assert data_url("image/png", PNG) in str(lane.server.bodies)


@pytest.mark.parametrize(
    ("model", "profile"),
    [
        pytest.param({"supports_vision": False}, {}, id="configured-false"),
        pytest.param({"supports_vision": "no"}, {}, id="configured-no"),
        pytest.param({}, {"supports_vision_user_messages": False}, id="profile-false"),
    ],
)
def test_a_model_known_to_take_no_image_gets_none(way, lane, model, profile):
    """An image for a text-only model is an error that names the model; the image is never left out silently."""
    host = lane.bare_host({"model": {"provider": "acme", **model}})
    host.program_context().register_provider(
        ProviderProfile("acme", base_url=lane.server.base_url, auth_type="none", fallback_models=("m",), **profile)
    )
    with pytest.raises(VisionUnavailableError, match="acme/m"):
        way.structured(host.llm("p"), input=[{"type": "image", "data": PNG}])
    assert lane.server.requests == []


def test_the_operators_word_on_vision_beats_the_profiles(way, lane):
    """``model.supports_vision: true`` sends the image to a provider whose profile says it takes none."""
    host = lane.bare_host({"model": {"provider": "acme", "supports_vision": "yes"}})
    host.program_context().register_provider(
        ProviderProfile(
            "acme", base_url=lane.server.base_url, auth_type="none", fallback_models=("m",),
            supports_vision_user_messages=False,
        )
    )  # fmt: skip
    assert way.structured(host.llm("p"), input=[{"type": "image", "data": PNG}]).text == "pong"


def test_an_unknown_model_is_sent_the_image(way, lane):
    """Where nobody says, the model is taken to see: the provider decides."""
    assert way.structured(lane.llm(), input=[{"type": "image", "data": PNG}]).text == "pong"


def test_an_image_in_a_chat_message_counts_too(way, lane):
    """A chat message that holds an image meets the same rule as an image block."""
    message = {"role": "user", "content": [{"type": "image_url", "image_url": {"url": data_url("image/png", PNG)}}]}
    with pytest.raises(VisionUnavailableError):
        way.complete(lane.llm({"model": {"supports_vision": False}}), messages=[message])
