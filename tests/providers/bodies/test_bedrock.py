"""What Amazon Bedrock is sent, and where."""

from __future__ import annotations

from pathlib import Path

import pytest

from hermes_core import EndpointHost, HermesError

HAIKU = "anthropic.claude-haiku-4-5-20251001-v1:0"
CASES = {
    "nothing said": ({}, {"maxTokens": 4096}),
    **{word: ({"reasoning": word}, {"maxTokens": 4096}) for word in ("none", "low", "high")},
    "a limit": ({"max_tokens": 7, "temperature": 0.3}, {"maxTokens": 7, "temperature": 0.3}),
    "an image": ({"image": True}, {"maxTokens": 4096}),
    "a session": ({"session_id": "s-1"}, {"maxTokens": 4096}),
}


@pytest.mark.parametrize(("asked", "sent"), CASES.values(), ids=CASES)
def test_a_model_is_asked_by_converse(ask, asked, sent):
    """Limit and temperature are configuration of the inference."""
    request = ask("bedrock", HAIKU, **asked)
    assert request.rest == {"inferenceConfig": sent}
    assert request.url == (
        "https://bedrock-runtime.us-east-1.amazonaws.com/model/anthropic.claude-haiku-4-5-20251001-v1%3A0/converse"
    )


GUARDED = {
    "none": ({}, None),
    "an empty one": ({"guardrail": {}}, None),
    "without an id": ({"guardrail": {"trace": "enabled"}}, None),
    "no mapping": ({"guardrail": "abc"}, None),
    "one": (
        {"guardrail": {"guardrail_identifier": "abc", "guardrail_version": "1", "stream_processing_mode": "sync"}},
        {"guardrailIdentifier": "abc", "guardrailVersion": "1"},
    ),
    "with a trace": (
        {"guardrail": {"guardrail_identifier": "abc", "guardrail_version": 1, "trace": "enabled"}},
        {"guardrailIdentifier": "abc", "guardrailVersion": "1", "trace": "enabled"},
    ),
}


@pytest.mark.parametrize(("settings", "config"), GUARDED.values(), ids=GUARDED)
def test_a_guardrail_goes_with_every_request(ask, settings, config):
    """The operator's guardrail, in the words of the API."""
    assert ask("bedrock", HAIKU, settings=settings).body.get("guardrailConfig") == config


USUAL = "https://bedrock-runtime.us-east-1.amazonaws.com"
REGIONS = {
    "the settings": ({"region": "eu-west-1"}, {"AWS_REGION": "eu-west-2"}, USUAL, "eu-west-1"),
    "the newer variable": ({}, {"AWS_REGION": "eu-west-2", "AWS_DEFAULT_REGION": "eu-west-3"}, USUAL, "eu-west-2"),
    "the older variable": ({}, {"AWS_DEFAULT_REGION": "eu-west-3"}, USUAL, "eu-west-3"),
    "an address of one's own": ({"region": "eu-west-1"}, {}, "https://vpce.acme.test", None),
}


@pytest.mark.parametrize(("settings", "variables", "base_url", "region"), REGIONS.values(), ids=REGIONS)
def test_the_region_is_part_of_the_address(bundled, settings, variables, base_url, region):
    """Settings, then variables; an address that the operator gives stays as it is."""
    host = EndpointHost(
        home=Path("/nonexistent"),
        settings=settings,
        allow_downloads=False,
        say=print,
        base_url=base_url,
        variable=lambda name: variables.get(name, ""),
    )
    opened = bundled.providers.get("aws").open_endpoint(host)
    assert opened == (region and (f"https://bedrock-runtime.{region}.amazonaws.com", ""))


def test_a_region_is_a_word(bundled):
    """What would lead to another host is an error."""
    host = EndpointHost(Path("/nonexistent"), {"region": "evil.test/"}, False, print, base_url=USUAL)
    with pytest.raises(HermesError, match="no region of AWS"):
        bundled.providers.get("aws").open_endpoint(host)
