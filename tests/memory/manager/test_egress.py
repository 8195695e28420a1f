"""What is told to a provider holds no secrets."""

import json

import pytest

from hermes_core.config.redact import register_secret
from hermes_core.memory.egress import without_secrets

from .conftest import Recorder

KEY = "sk-proj-abc123def456ghi789"
WORD = "Sesame-2468-open"


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        pytest.param(f"my key is {KEY}", "my key is [redacted]", id="a shape"),
        pytest.param("plain words", "plain words", id="nothing"),
        pytest.param([f"password={WORD}", f"so {WORD}"], ["password=[redacted]", "so [redacted]"], id="in all parts"),
        pytest.param({"a": [{"b": KEY}]}, {"a": [{"b": "[redacted]"}]}, id="deep"),
        pytest.param({"api_key": WORD, "x": WORD}, {"api_key": "[redacted]", "x": "[redacted]"}, id="by its name"),
        pytest.param({"n": 5, "f": None}, {"n": 5, "f": None}, id="no text"),
        pytest.param(("a", "b"), ["a", "b"], id="a tuple"),
    ],
)
def test_secrets_are_blanked_wherever_they_lie(told, expected):
    """Each text is blanked, however deep; a secret found in one part is blanked in all."""
    assert without_secrets(told) == expected


def test_what_was_read_by_the_host_is_blanked():
    """A secret that the host knows is blanked though nothing about it looks like one."""
    register_secret("correct-horse-42")
    assert without_secrets(["say correct-horse-42"]) == ["say [redacted]"]


def test_what_is_handed_over_is_a_copy():
    """A provider that changes what it is told changes nothing of the host's."""
    messages = [{"content": "hi", "parts": ["a"]}]
    copy = without_secrets(messages)
    copy[0]["parts"].append("b")
    assert messages == [{"content": "hi", "parts": ["a"]}]


def test_no_moment_hands_a_secret_over(managed):
    """Queries, turns, messages, tool arguments, results and writes are all told without secrets."""
    provider = Recorder()
    memory = managed(provider)
    messages = [{"role": "user", "content": f"use {KEY}"}]
    memory.on_turn_start(1, f"use {KEY}")
    memory.prefetch_all(f"use {KEY}")
    memory.queue_prefetch_all(f"use {KEY}")
    memory.handle_tool_call("recorder_note", {"content": f"token: {KEY}"})
    memory.on_memory_write("add", "user", f"use {KEY}", {"old_text": KEY})
    memory.on_delegation(f"use {KEY}", KEY)
    memory.on_pre_compress(messages)
    memory.sync_all(f"use {KEY}", f"I use {KEY}", messages=messages)
    memory.on_session_end(messages)
    told = json.dumps([call for call in provider.calls if call[0] != "initialize"], default=str)
    assert (KEY in told, told.count("[redacted]")) == (False, 13)
    assert messages == [{"role": "user", "content": f"use {KEY}"}]


def test_a_word_of_one_part_is_blanked_in_the_other(managed):
    """A password that the user names is blanked where the answer repeats it."""
    provider = Recorder()
    memory = managed(provider)
    memory.sync_all(f"password={WORD}", f"You said {WORD}.")
    memory.flush()
    assert provider.named("sync_turn")[0][0] == ("password=[redacted]", "You said [redacted].")
