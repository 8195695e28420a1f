"""How much the operator wants models to think: ``auxiliary.plugin.reasoning_effort``."""

from __future__ import annotations

import pytest

from hermes_core import ProviderProfile
from hermes_core.llm.effort import EFFORTS, reasoning_config

OFF = {"enabled": False, "effort": "none"}


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        *(pytest.param(effort, {"enabled": True, "effort": effort}, id=effort) for effort in EFFORTS),
        pytest.param(" High ", {"enabled": True, "effort": "high"}, id="blanks-and-capitals"),
        *(pytest.param(word, OFF, id=f"{word}-is-off") for word in ("none", "disabled", "False", "off", False)),
        pytest.param(None, None, id="nothing"),
        pytest.param("", None, id="empty"),
    ],
)
def test_an_effort_is_read(written, meant):
    """A known word is an effort, or none; nothing leaves it to the model."""
    assert reasoning_config(written) == meant


@pytest.mark.parametrize("written", ["extreme", True, 0, 5, ["high"]])
def test_another_word_is_refused(written):
    """What is no effort is an error that lists them."""
    with pytest.raises(ValueError, match=r"one of none, minimal, .*ultra, got"):
        reasoning_config(written)


class Asked(ProviderProfile):
    """A profile that remembers what it was asked."""

    def build_api_kwargs_extras(self, **context):
        self.context = context
        return {}, {}


@pytest.mark.parametrize(
    ("written", "given"),
    [
        pytest.param("low", ({"enabled": True, "effort": "low"}, True), id="an-effort"),
        pytest.param(None, (None, False), id="nothing"),
        pytest.param("extreme", (None, False), id="another-word-is-ignored"),
    ],
)
def test_the_profile_is_told_the_effort(way, lane, written, given):
    """A profile's hook gets the operator's effort; a word that is none is said once to the operator and ignored."""
    said = []
    config = {"model": {"provider": "acme"}, "auxiliary": {"plugin": {"reasoning_effort": written}}}
    host = lane.bare_host(config, say=said.append)
    profile = Asked("acme", base_url=lane.server.base_url, auth_type="none", fallback_models=("m",))
    host.program_context().register_provider(profile)
    for _ in range(2):
        way.complete(host.llm("p"))
    assert (profile.context["reasoning_config"], profile.context["supports_reasoning"]) == given
    assert [line for line in said if "reasoning_effort" in line] == said
    assert len(said) == (written == "extreme")
