# pyright: strict
"""What a type checker has to catch: each marked line is an error, and there is no other.

``test_typing.py`` has mypy and pyright check this file; nothing in it is run.
"""

from __future__ import annotations

from dataclasses import dataclass

from hermes_core import PluginLlm, PluginLlmCompleteResult, PluginLlmInput, PluginLlmStructuredResult, PluginLlmUsage


@dataclass
class Ticket:
    """What a support reply is about."""

    urgency: float


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


def typed(llm: PluginLlm, blocks: list[PluginLlmInput]) -> str:
    """Mistakes about typed answers, one a line."""
    llm.complete_structured(instructions="x", input=blocks, json_schema="object")  # wrong: a schema is no text
    llm.complete_structured(instructions="x", input=blocks, json_schema=Ticket(0.5))  # wrong: an instance is no class
    llm.complete_structured(instructions="x", input=blocks, json_schema=[Ticket])  # wrong: a list is no class
    llm.complete_structured(instructions="x", input=blocks, json_mode="yes")  # wrong: a flag is no text
    result = llm.complete_structured(instructions="x", input=blocks, json_schema=Ticket)
    wrong: PluginLlmStructuredResult[int] = result  # wrong: it holds a ticket
    assert result.parsed.urgency  # wrong: there may be no answer
    if result.parsed is None:
        return wrong.text
    result.parsed["urgency"]  # wrong: a ticket is no dict
    return result.parsed.category  # wrong: a ticket has no such field


async def awaited(llm: PluginLlm, blocks: list[PluginLlmInput]) -> None:
    """The same of the awaited twin."""
    result = await llm.acomplete_structured(instructions="x", input=blocks, json_schema=Ticket)
    assert result.parsed.urgency  # wrong: there may be no answer
