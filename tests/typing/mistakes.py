"""What a type checker has to catch: each marked line is an error, and there is no other.

``test_typing.py`` has mypy check this file; nothing in it is run.
"""

from __future__ import annotations

from hermes_core import PluginLlm, PluginLlmCompleteResult, PluginLlmUsage


def mistakes(llm: PluginLlm, result: PluginLlmCompleteResult) -> None:
    """One mistake a line."""
    llm.complete("ping")  # wrong: text in place of messages
    llm.complete([{"role": "user"}], "openrouter")  # wrong: the provider is no positional argument
    llm.complete([{"role": "user"}], max_tokens="64")  # wrong: a limit is a number
    llm.complete([{"role": "user"}], stream=True)  # wrong: there is no streaming
    llm.complete_structured(instructions="x")  # wrong: input is missing
    llm.complete_structured("x", [])  # wrong: nothing is positional
    llm.complete_structured(instructions="x", input=["x"])  # wrong: a block is no text
    assert llm.acomplete([{"role": "user"}]).text  # wrong: not awaited
    assert result.parsed  # wrong: a chat answer is not parsed
    PluginLlmUsage(5)  # wrong: counts go by name
    assert llm.api_key  # wrong: a plugin never sees a key
