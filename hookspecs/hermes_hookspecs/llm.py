"""Hooks around a model call that a plugin makes with ``ctx.llm``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hermes_hookspecs.markers import hookspec

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from hermes_core import Completion, LlmCall, PluginContext


class LlmSpecs:
    """``async def`` implementations are awaited; in an async call, plain ones run in a worker thread.

    One that fails is reported with its plugin's name and passed over; the call goes on. So is one that is
    awaited, or runs in a thread, when the time of the call is over.

    A plugin may call ``ctx.llm`` in a hook: its own hooks are not asked about that call, those of others are.
    A thread that it starts itself does not know that it belongs to a hook.
    """

    @hookspec
    def hermes_llm_prepare(self, ctx: PluginContext, call: LlmCall) -> LlmCall | None | Awaitable[LlmCall | None]:
        """Change a call before it is sent.

        Called for each call, after the trust gate. Each implementation gets what the one before it
        returned. Only fields that shape the request count: route, credentials and time limit are the host's.

        Args:
            ctx: Your plugin's own context.
            call: The call as it stands.

        Returns:
            A changed copy, or None to leave it.

        Example:
            >>> from dataclasses import replace
            >>> from hermes_core import hookimpl
            >>> @hookimpl
            ... def hermes_llm_prepare(call):
            ...     return replace(call, max_tokens=min(call.max_tokens or 512, 512))
        """
        return None

    @hookspec
    def hermes_llm_answer(self, ctx: PluginContext, call: LlmCall) -> Completion | None | Awaitable[Completion | None]:
        """Answer a call in place of the network: a cache, a replay, a test double.

        Called for each call, after ``hermes_llm_prepare``. The first answer wins, and no provider is
        asked.

        Args:
            ctx: Your plugin's own context.
            call: The call as it would be sent.

        Returns:
            An answer, or None to let the next one, or the provider, answer.

        Example:
            >>> from hermes_core import Completion, hookimpl
            >>> @hookimpl
            ... def hermes_llm_answer(call):
            ...     if call.messages[-1]["content"] == "ping":
            ...         return Completion(text="pong", model="canned")
        """
        return None

    @hookspec
    def hermes_llm_done(
        self, ctx: PluginContext, call: LlmCall, completion: Completion | None, error: BaseException | None
    ) -> None | Awaitable[None]:
        """Hear of a finished call, failed ones too.

        A call that was refused before anything was sent (its arguments, the trust gate, a budget) and one
        that its caller cancelled are not told of; the audit has both.

        Called once per call, after its audit line is written, with a second left to all that listen when the
        call has used up its time. What it returns is ignored.

        Args:
            ctx: Your plugin's own context.
            call: The call as it was sent.
            completion: The answer, with the provider that gave it, or None. An answer that breaks the caller's
                schema comes with an error.
            error: Why there is none, or None.

        Example:
            >>> from hermes_core import hookimpl
            >>> spent = {}
            >>> @hookimpl
            ... def hermes_llm_done(call, completion):
            ...     if completion:
            ...         spent[call.plugin_id] = spent.get(call.plugin_id, 0) + completion.usage.total_tokens
        """
