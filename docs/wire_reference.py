"""What cog writes into wires.md: the tables that the wire formats are made of."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from hermes_core.llm.wire import OWN, Wires
from hermes_core.llm.wire.anthropic_messages import MAX_TOKENS
from hermes_core.llm.wire.select import MANDATED, USUAL
from hermes_core.types.wire import WireRequest

if TYPE_CHECKING:
    from collections.abc import Iterable

BASES = {
    "chat_completions": ("https://api.openai.com/v1", "gpt-5.4"),
    "anthropic_messages": ("https://api.anthropic.com", "claude-sonnet-4-6"),
    "codex_responses": ("https://api.openai.com/v1", "gpt-5.4"),
    "gemini": ("https://generativelanguage.googleapis.com/v1beta", "gemini-2.5-flash"),
    "bedrock_converse": ("https://bedrock-runtime.us-east-1.amazonaws.com", "amazon.nova-lite-v1:0"),
}


def addresses() -> str:
    """Where each format's requests go, and in which header the key."""
    rows = []
    for name in OWN:
        request = _sample(name)
        headers = {key.lower(): value for key, value in request.headers.items()}
        key = next(f"`{header}: {value}`" for header, value in headers.items() if "KEY" in value)
        rows.append((f"`{name}`", f"`{request.url}`", key))
    return _table(("`api_mode`", "a request goes to", "the key goes into"), rows)


def selection() -> str:
    """Which addresses speak which format."""
    rows = [(f"`{host}{path}`", "", f"`{mode}`", "always") for host, path, mode in MANDATED]
    rows += [("`bedrock-runtime.*.amazonaws.com`", "", "`bedrock_converse`", "always")]
    rows += [("any path that ends in `/anthropic` or `/anthropic/v1`", "", "`anthropic_messages`", "unless configured")]
    rows += [
        (f"`{host}`", f"`{names}`".replace("|", r"\|") if names else "", f"`{mode}`", "unless configured")
        for host, names, mode in USUAL
    ]
    return _table(("address", "model", "`api_mode`", "when"), rows)


def answers() -> str:
    """How reasons to stop and counts are read."""
    rows = []
    for name in OWN[1:]:
        module: Any = importlib.import_module(f"hermes_core.llm.wire.{name}")
        for finish in ("stop", "length", "tool_calls", "content_filter"):
            theirs = [f"`{reason}`" for reason, ours in module.FINISH.items() if ours == finish]
            rows.append((f"`{name}`", f"`{finish}`", ", ".join(theirs) or "as its output says"))
        for field, paths in module.USAGE.items():
            rows.append((f"`{name}`", f"`{field}`", " + ".join(f"`{path}`" for path in paths)))
    return _table(("`api_mode`", "ours", "theirs"), rows)


def limits() -> str:
    """The output limit that Anthropic's format sends when nobody gives one."""
    rows = [(f"`{name}`" if name else "any other", f"{tokens:,}") for name, tokens in MAX_TOKENS.items()]
    return _table(("the model's name contains", "tokens"), rows)


def _sample(name: str) -> Any:
    base_url, model = BASES[name]
    return Wires({})[name].encode(WireRequest(base_url=base_url, model=model, messages=[], api_key="KEY"))


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "\n" + "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n\n"
