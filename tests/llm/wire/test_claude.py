"""What differs between versions of Claude."""

from __future__ import annotations

import pytest

from hermes_core.llm.wire import claude
from hermes_core.llm.wire.claude import Thinking

VERSIONS = {
    "claude-2.1": (2, 1),
    "claude-3-opus-20240229": (3, 0),
    "claude-3-5-haiku-latest": (3, 5),
    "claude-3-7-sonnet-20250219": (3, 7),
    "claude-opus-4-20250514": (4, 0),
    "claude-sonnet-4@20250514": (4, 0),
    "claude-opus-4-1-20250805": (4, 1),
    "anthropic/claude-sonnet-4.5": (4, 5),
    "us.anthropic.claude-haiku-4-5-20251001-v1:0": (4, 5),
    "anthropic.claude-opus-4-6-v1": (4, 6),
    "claude-sonnet-4.6": (4, 6),
    "claude-opus-4-7": (4, 7),
    "claude-fable-5": (5, 0),
    "Claude-Opus-5-5": (5, 5),
    "claude-mythos-preview": (99, 0),
}


@pytest.mark.parametrize(("model", "version"), VERSIONS.items(), ids=VERSIONS)
def test_a_version_is_read_from_the_name(model, version):
    """Every way a name is written holds the version; dates are none, and no number means the newest."""
    assert claude.version(model) == version


@pytest.mark.parametrize("model", ["gpt-5", "MiniMax-M2", "kimi-k2-0905", ""])
def test_other_models_have_none(model):
    """What is no Claude has no version, is sampled, may be forced to use a tool, and may be gone on with."""
    assert claude.version(model) is None
    assert claude.is_sampled(model)
    assert claude.forces_tools(model)
    assert claude.takes_prefill(model)
    assert not claude.decodes_schemas(model)
    assert claude.thinking(model, enabled=True, effort="high") is None


@pytest.mark.parametrize(
    ("rule", "since", "until"),
    [
        pytest.param(claude.is_sampled, (0, 0), (4, 6), id="a-temperature-up-to-4.6"),
        pytest.param(claude.forces_tools, (0, 0), (4, 6), id="a-forced-tool-up-to-4.6"),
        pytest.param(claude.takes_prefill, (0, 0), (4, 5), id="the-assistants-first-words-up-to-4.5"),
        pytest.param(claude.decodes_schemas, (4, 5), (99, 0), id="schemas-from-4.5-on"),
    ],
)
def test_rules_are_bounds_on_the_version(rule, since, until):
    """Each rule holds for a range of versions, whatever the model is called."""
    assert {model for model in VERSIONS if rule(model)} == {
        model for model, version in VERSIONS.items() if since <= version <= until
    }


@pytest.mark.parametrize(
    ("model", "effort", "asked"),
    [
        pytest.param("claude-sonnet-4-5", "low", Thinking(budget=4000), id="low"),
        pytest.param("claude-sonnet-4-5", "medium", Thinking(budget=8000), id="medium"),
        pytest.param("claude-sonnet-4-5", "", Thinking(budget=8000), id="medium-when-nobody-says"),
        pytest.param("claude-opus-4-1", "high", Thinking(budget=16000), id="high"),
        pytest.param("claude-3-7-sonnet", "xhigh", Thinking(budget=32000), id="xhigh"),
        pytest.param("claude-3-7-sonnet", "ultra", Thinking(budget=32000), id="ultra"),
        pytest.param("claude-3-5-sonnet", "high", None, id="an-old-one-does-not-think"),
        pytest.param("claude-haiku-4-5", "high", None, id="haiku-does-not-think"),
        pytest.param("claude-opus-4-6", "minimal", Thinking(effort="low"), id="4.6-minimal-is-low"),
        pytest.param("claude-opus-4-6", "xhigh", Thinking(effort="high"), id="4.6-knows-no-xhigh"),
        pytest.param("claude-opus-4-7", "xhigh", Thinking(effort="xhigh"), id="4.7-knows-xhigh"),
        pytest.param("claude-fable-5", "ultra", Thinking(effort="max"), id="ultra-is-max"),
        pytest.param("claude-fable-5", "", Thinking(effort="medium"), id="adaptive-medium-when-nobody-says"),
    ],
)
def test_thinking_has_a_budget_or_an_effort(model, effort, asked):
    """Versions before 4.6 think within a budget of tokens, later ones as hard as they are told."""
    assert claude.thinking(model, enabled=True, effort=effort) == asked


@pytest.mark.parametrize("model", ["claude-sonnet-4-5", "claude-fable-5"])
def test_thinking_that_is_off_is_not_mentioned(model):
    """Older Claudes do not think unasked, and newer ones refuse to be told not to."""
    assert claude.thinking(model, enabled=False, effort="none") is None
