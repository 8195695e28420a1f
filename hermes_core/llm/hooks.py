"""What plugins do around a model call; one that fails in it is blamed, and passed over."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from hermes_core.errors import PluginContractError
from hermes_core.llm.answer import completion_problem
from hermes_core.llm.messages import check_messages, check_options, check_response_format
from hermes_core.llm.steps import Ask, Deadline
from hermes_core.types.call import LlmCall

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hermes_core.llm.steps import Flow
    from hermes_core.plugins.listener import Listener
    from hermes_core.types.call import Completion

PREPARE, ANSWER, DONE = "hermes_llm_prepare", "hermes_llm_answer", "hermes_llm_done"


GRACE_SECONDS = 1.0
"""How much longer than its time a call may take, so that plugins hear of its end."""

_KEPT = ("plugin_id", "method", "provider", "model", "timeout", "started")
"""Fields of a call that are the host's to set."""


class LlmHooks(NamedTuple):
    """The implementations of the three hooks, in the order they are called."""

    prepare: Sequence[Listener] = ()
    answer: Sequence[Listener] = ()
    done: Sequence[Listener] = ()


def prepared_call(call: LlmCall, listeners: Sequence[Listener], deadline: Deadline) -> Flow[LlmCall]:
    """The call as the plugins want it; who calls, and whom, stays as it was."""
    for listener in listeners:
        wanted = yield from _asked(listener, PREPARE, deadline, call=call)
        if wanted is None:
            continue
        try:
            call = replace(_checked(listener, wanted), **{name: getattr(call, name) for name in _KEPT})
        except ValueError as error:
            listener.blame(PREPARE, PluginContractError(str(error), plugin=listener.plugin))
        except PluginContractError as error:
            listener.blame(PREPARE, error)
    return call


def _checked(listener: Listener, wanted: object) -> LlmCall:
    """A prepared call, as the caller's own arguments are checked.

    Raises:
        PluginContractError: It is none.
        ValueError: It cannot be made.
    """
    if not isinstance(wanted, LlmCall):
        message = f"it returned {type(wanted).__name__}, which is no LlmCall"
        raise PluginContractError(message, plugin=listener.plugin)
    check_options(
        PREPARE,
        temperature=wanted.temperature,
        max_tokens=wanted.max_tokens,
        timeout=None,
        schema_prompt=wanted.schema_prompt,
        purpose=wanted.purpose,
    )
    check_response_format(PREPARE, wanted.response_format)
    return replace(wanted, messages=check_messages(PREPARE, wanted.messages))


def answer_of(call: LlmCall, listeners: Sequence[Listener], deadline: Deadline) -> Flow[Completion | None]:
    """The first answer that a plugin gives in place of the network, or None."""
    for listener in listeners:
        answer = yield from _asked(listener, ANSWER, deadline, call=call)
        if answer is None:
            continue
        problem = completion_problem(answer)
        if not problem:
            return answer  # type: ignore[no-any-return]
        listener.blame(ANSWER, PluginContractError(f"it returned {problem}", plugin=listener.plugin))
    return None


def told(
    call: LlmCall,
    completion: Completion | None,
    error: BaseException | None,
    listeners: Sequence[Listener],
    deadline: Deadline,
) -> Flow[None]:
    """Tell the plugins how a call ended; all together have ``GRACE_SECONDS`` when the call has used up its time."""
    if listeners and deadline.remaining() < GRACE_SECONDS:
        deadline = Deadline(GRACE_SECONDS)
    for listener in listeners:
        yield from _asked(listener, DONE, deadline, call=call, completion=completion, error=error)


def _asked(listener: Listener, hook: str, deadline: Deadline, **arguments: Any) -> Flow[Any]:
    """What one implementation returns; None when it raises or is late, which is its plugin's blame."""
    if listener.is_running:
        return None
    seconds = max(deadline.remaining(), 0.0)
    try:
        return (yield Ask(lambda: listener.call(**arguments), listener.is_async, seconds))
    except Exception as error:  # noqa: BLE001 - plugin boundary; what ends the call itself is none of these
        listener.blame(hook, error)
        return None
