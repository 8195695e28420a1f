"""Answers a model call that was answered before from a file, without asking a provider.

What shapes the answer is the key: who calls, provider and model, messages, format, temperature and output limit.
The calling plugin is a part of it, so that none can learn from the cache what another one asked.
Kept is what the provider that was asked first has answered in full; what a caller cannot use is forgotten.
"""

from __future__ import annotations

import json
import re
from functools import cache
from hashlib import sha256
from typing import TYPE_CHECKING

from hermes_core import Completion, HermesError, PluginLlmUsage, hookimpl

from .store import Store

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from hermes_core import LlmCall, PluginContext

NAME = "response-cache"
"""The provider that a kept answer is attributed to."""

_KEY_FIELDS = (
    "plugin_id", "provider", "model", "messages", "response_format", "schema_prompt", "temperature", "max_tokens",
)  # fmt: skip
_KEPT_FIELDS = ("text", "model", "reasoning", "finish_reason", "has_content")
_FENCED = re.compile(r"\s*```\w*\s(.*)```\s*", re.DOTALL)

store_at = cache(Store)
"""The store of a path; hosts of one home share it."""


def store_of(ctx: PluginContext) -> Store:
    """The store of a home."""
    return store_at(ctx.home.joinpath("plugin-data", *ctx.plugin_id.split("/"), "answers.db"))


@hookimpl
def hermes_llm_answer(ctx: PluginContext, call: LlmCall) -> Completion | None:
    """The answer that was kept for such a call."""
    if not _may_be_kept(ctx, call):
        return None
    text = store_of(ctx).get(key_of(call), number(ctx, "ttl"))
    if text is None:
        return None
    nothing_spent = PluginLlmUsage(cost_usd=0.0)
    return Completion(provider=NAME, usage=nothing_spent, **json.loads(text))


@hookimpl
def hermes_llm_done(
    ctx: PluginContext, call: LlmCall, completion: Completion | None, error: BaseException | None
) -> None:
    """Keep a good answer."""
    if completion is None or not _may_be_kept(ctx, call):
        return
    if error is not None:
        if completion.provider == NAME:
            store_of(ctx).forget(key_of(call))
    elif completion.provider == call.provider and _is_whole(call, completion):
        text = json.dumps({name: getattr(completion, name) for name in _KEPT_FIELDS})
        store_of(ctx).put(key_of(call), text, number(ctx, "ttl"), number(ctx, "max_mb") * 1e6)


def key_of(call: LlmCall) -> str:
    """What two calls have in common when they are to get one answer."""
    shape = [getattr(call, name) for name in _KEY_FIELDS]
    return sha256(json.dumps(shape, sort_keys=True, default=dict).encode()).hexdigest()


def number(ctx: PluginContext, setting: str) -> float:
    """A setting that is a number, 0 or more.

    Raises:
        HermesError: It is none; names the setting.
    """
    value = ctx.get_config(setting)
    if isinstance(value, int | float) and not isinstance(value, bool) and value >= 0:
        return value
    place = f"plugins.entries.{NAME}.settings.{setting}"
    raise HermesError(f"{place} must be a number, 0 or more, got {value!r}", hint=f"correct {place} in config.yaml")


def _may_be_kept(ctx: PluginContext, call: LlmCall) -> bool:
    """Whether the call asks for no variety, or the operator takes one answer for all of it."""
    return not call.temperature or ctx.get_config("sampled") is True


def _is_whole(call: LlmCall, completion: Completion) -> bool:
    """Whether an answer ended by itself and says something: JSON, where JSON was wanted."""
    if completion.finish_reason not in ("stop", "") or not completion.text.strip():
        return False
    return call.response_format is None or _is_json(completion.text)


def _is_json(text: str) -> bool:
    fenced = _FENCED.fullmatch(text)
    try:
        json.loads(fenced[1] if fenced else text)
    except (ValueError, RecursionError):
        return False
    return True


def register(ctx: PluginContext) -> None:
    """Offer ``hermes response-cache``."""

    def setup(parser: ArgumentParser) -> None:
        from .cli import add_arguments

        add_arguments(parser)

    def run(arguments: Namespace) -> int:
        from .cli import run

        return run(arguments, store_of(ctx))

    ctx.register_cli_command(NAME, help="look at the kept answers, or delete them", setup_fn=setup, handler_fn=run)
    ctx.on_unload(lambda: store_of(ctx).close())
