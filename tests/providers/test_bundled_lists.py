"""The model lists of bundled providers that ask for them in a way of their own."""

from __future__ import annotations

import pytest

from hermes_core.testing import FakeProvider


@pytest.fixture
def server():
    """A provider on this machine."""
    with FakeProvider() as running:
        yield running


@pytest.fixture
def profile_of(load_host):
    """A bundled profile by name."""
    return load_host().providers.get


@pytest.mark.parametrize("name", ["bedrock", "copilot-acp", "vertex"])
def test_some_have_no_list(profile_of, name):
    """Where a list cannot be had, nobody is asked."""
    assert profile_of(name).fetch_models(api_key="k-12345") is None


def test_anthropic_is_asked_with_its_own_header(profile_of, server):
    """The key is in ``x-api-key``, the version beside it; without a key, or elsewhere, nobody is asked."""
    root = server.base_url.removesuffix("/v1")
    assert profile_of("anthropic").fetch_models(api_key="k-12345", base_url="https://openrouter.ai/api/v1") is None
    assert profile_of("anthropic").fetch_models(api_key="k-12345", base_url=root) == ["fake-model"]
    assert profile_of("anthropic").fetch_models(base_url=root) is None
    (request,) = server.requests
    assert request.path == "/v1/models"
    assert (request.headers["x-api-key"], request.headers["anthropic-version"]) == ("k-12345", "2023-06-01")


def test_a_custom_endpoint_is_asked_where_it_is(profile_of, server):
    """Without an address there is nobody to ask."""
    assert profile_of("custom").fetch_models(api_key="k-12345") is None
    assert profile_of("custom").fetch_models(base_url=server.base_url) == ["fake-model"]


CATALOG = {
    "data": [
        {"id": "a/chats", "metadata": {"tags": ["chat"]}},
        {"id": "a/sees", "metadata": {"tags": ["chat", "vision"]}},
        {"id": "a/sees-too", "metadata": {"tags": ["vision", "chat"]}},
        {"id": "a/paints", "metadata": {"tags": ["image-gen", "vision"]}},
        {"id": "a/untagged", "metadata": {}},
        {"id": "a/reasons", "metadata": {"tags": ["reasoning", 7]}},
        {"id": "a/bge-Embedding", "metadata": {"tags": []}},
        {"id": "a/whisper-large", "metadata": {}},
        {"id": "a/no-metadata", "metadata": None},
        {"id": "a/none-at-all"},
        "a/bare",
    ]
}


def test_deepinfra_lists_what_chats(profile_of, server):
    """Its catalog is asked for in its own order; what is for something else, or says nothing, is left out."""
    server.queue_response(CATALOG)
    found = profile_of("deepinfra").fetch_models(api_key="k-12345", base_url=server.base_url)
    assert found == ["a/chats", "a/sees", "a/sees-too", "a/untagged", "a/reasons"]
    assert server.requests[0].path == "/v1/models?filter=true&sort_by=hermes"


def test_deepinfra_knows_a_model_for_images(profile_of, server):
    """The first that chats and sees, asked for once; nobody is asked without a key."""
    profile = profile_of("deepinfra")
    assert (profile.default_vision_model(), profile.get_vision_model(server.base_url, "")) == (None, None)
    server.queue_response(CATALOG)
    assert [profile.get_vision_model(server.base_url, "k-12345") for _ in range(2)] == ["a/sees", "a/sees"]
    assert len(server.requests) == 1


def test_deepinfra_remembers_that_it_found_none(profile_of, server):
    """A catalog that fails is not asked for again at the next image."""
    server.queue_response("", status=500)
    assert [profile_of("deepinfra").get_vision_model(server.base_url, "k-12345") for _ in range(2)] == [None, None]
    assert len(server.requests) == 1
