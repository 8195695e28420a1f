"""Images: what a plugin may hand in, and what goes on the wire."""

from __future__ import annotations

import base64

import pytest

from hermes_core import PluginLlmImageInput, ProviderProfile
from hermes_core.errors import VisionUnavailableError

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 8
JPEG = b"\xff\xd8\xff\xe0" + b"\0" * 8
GIF = b"GIF89a" + b"\0" * 8
OLD_GIF = b"GIF87a" + b"\0" * 8
WEBP = b"RIFF\x10\0\0\0WEBPVP8 "
WAVE = b"RIFF\x10\0\0\0WAVEfmt "
UNKNOWN = b"some picture"


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
        "http://127.0.0.1:1/a.png",
        "HTTPS://Pictures.Test/A.PNG",
        data_url("image/png", PNG),
        data_url("image/webp", WEBP),
    ],
    ids=["https", "http", "upper-case", "data-png", "data-webp"],
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
    ],
)
def test_a_url_that_reaches_elsewhere_is_refused_r27_09(way, lane, url):
    """Files, bare paths, scripts and other schemes are a ValueError, and nothing is sent."""
    with pytest.raises(ValueError, match=f"^{way.structured_name}: an image url must start with https://"):
        way.structured(lane.llm(), input=[{"type": "image", "url": url}])
    assert lane.server.requests == []


@pytest.mark.parametrize(
    "url",
    ["data:image/png;base64,", "data:image/png;base64,@@@", "data:image/png;base64,QUJD=QUJD", "data:image/"],
    ids=["empty", "no-base64", "padding-inside", "no-data"],
)
def test_a_malformed_data_url_is_refused_r27_08(way, lane, url):
    """A data URL whose data is missing or is no base64 is a ValueError, and nothing is sent."""
    with pytest.raises(ValueError, match=way.structured_name):
        way.structured(lane.llm(), input=[{"type": "image", "url": url}])
    assert lane.server.requests == []


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
