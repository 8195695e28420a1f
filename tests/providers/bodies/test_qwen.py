"""What Qwen's portal is sent."""

from __future__ import annotations

import copy

import pytest

ALWAYS = {"vl_high_resolution_images": True, "max_tokens": 65536}
CASES = {
    "nothing said": ({}, {}),
    "off": ({"reasoning": "none"}, {}),
    "low": ({"reasoning": "low"}, {}),
    "high, with tools": ({"reasoning": "high", "tools": True}, {}),
    "an image": ({"image": True}, {}),
    "a temperature and a limit": ({"temperature": 0.3, "max_tokens": 7}, {"temperature": 0.3, "max_tokens": 7}),
    "a session": ({"session_id": "s-1"}, {}),
}


@pytest.mark.parametrize(("asked", "sent"), CASES.values(), ids=CASES)
def test_qwen_looks_closely(ask, asked, sent):
    """Images are seen in full, and an answer always has a limit; nothing is said of reasoning."""
    assert ask("qwen-oauth", "qwen3-coder", **asked).rest == {**ALWAYS, **sent}


def text(words, **more):
    """A text part."""
    return {"type": "text", "text": words, **more}


CACHED = {"cache_control": {"type": "ephemeral"}}
PICTURE = {"type": "image_url", "image_url": {"url": "u"}}
MESSAGES = {
    "nothing": ([], []),
    "a string": ([{"role": "user", "content": "hi"}], [{"role": "user", "content": [text("hi")]}]),
    "a bare string in a list": ([{"role": "user", "content": ["hi"]}], [{"role": "user", "content": [text("hi")]}]),
    "odd parts go": ([{"role": "user", "content": [text("hi"), 5, None]}], [{"role": "user", "content": [text("hi")]}]),
    "unless nothing is left": ([{"role": "user", "content": [5]}], [{"role": "user", "content": [5]}]),
    "nothing said": ([{"role": "assistant", "content": None}], [{"role": "assistant", "content": None}]),
    "an image": ([{"role": "user", "content": [PICTURE]}], [{"role": "user", "content": [PICTURE]}]),
    "the first system message is cached, by its last part": (
        [
            {"role": "user", "content": "a"},
            {"role": "system", "content": ["b", "c"]},
            {"role": "system", "content": "d"},
        ],
        [
            {"role": "user", "content": [text("a")]},
            {"role": "system", "content": [text("b"), text("c", **CACHED)]},
            {"role": "system", "content": [text("d")]},
        ],
    ),
}


@pytest.mark.parametrize(("messages", "prepared"), MESSAGES.values(), ids=MESSAGES)
def test_qwen_gets_parts(bundled, messages, prepared):
    """All content is a list of parts, the first system message is marked for the cache, and nothing given changes."""
    given = copy.deepcopy(messages)
    found = bundled.providers.get("qwen-oauth").prepare_messages(given)
    assert (found, given) == (prepared, messages)


def test_qwens_copies_of_images_are_its_own(bundled):
    """An image's description is copied, so that changing what is sent leaves the conversation alone."""
    given = [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "u"}}]}]
    bundled.providers.get("qwen-oauth").prepare_messages(given)[0]["content"][0]["image_url"]["url"] = "changed"
    assert given[0]["content"][0]["image_url"]["url"] == "u"


@pytest.mark.parametrize(("given", "top"), [({"a": 1}, {"metadata": {"a": 1}}), ({}, {}), (None, {})])
def test_qwen_is_told_of_the_session(bundled, given, top):
    """What a host knows of a session goes along as metadata, when there is any."""
    assert bundled.providers.get("qwen-oauth").build_api_kwargs_extras(qwen_session_metadata=given) == ({}, top)
