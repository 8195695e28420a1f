"""Model calls answered by functions of the caller's own, for the tests of plugins.

All else is the lane of a host: the gate, the messages, the parsing, the result and the audit line.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from hermes_core.errors import HermesError
from hermes_core.llm.answer import settled
from hermes_core.llm.audit import AuditLine, recorded
from hermes_core.llm.engine import LlmEngine
from hermes_core.llm.flow import Attempt
from hermes_core.llm.messages import with_schema_prompt
from hermes_core.llm.trust import TrustPolicy, authorize, policy_of
from hermes_core.llm.wire.chat_completions import CHAT_COMPLETIONS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hermes_core.llm.client import PluginLlm
    from hermes_core.llm.engine import Request
    from hermes_core.llm.trust import Overrides
    from hermes_core.types.call import LlmCall
    from hermes_core.types.llm import PluginLlmCompleteResult

Answer = tuple[str, str, Any]
"""Provider, model and response: a chat completion in OpenAI's shape, as mappings or as objects."""
Policy = TrustPolicy | Mapping[str, Any] | None
"""What a plugin may override: as its ``llm`` section in ``config.yaml``; None allows nothing."""
PolicyLoader = Callable[[str], Policy]
SyncCaller = Callable[..., Answer]
AsyncCaller = Callable[..., Awaitable[Answer]]

Caller = TypeVar("Caller", bound=Callable[..., Any])


def make_plugin_llm_for_test(
    plugin_id: str,
    *,
    policy: Policy = None,
    sync_caller: SyncCaller | None = None,
    async_caller: AsyncCaller | None = None,
) -> PluginLlm:
    """A ``ctx.llm`` whose calls a function answers, without host, configuration or network.

    Args:
        plugin_id: Whose it is.
        policy: What the plugin may override; nothing when None.
        sync_caller: Answers the blocking methods. It is given, by name, messages, provider_override,
            model_override, profile_override, temperature, max_tokens, timeout and extra_body, and returns
            provider, model and a response in OpenAI's shape.
        async_caller: Likewise for the awaited methods; its answer is awaited.

    Example:
        >>> def answer(**call):
        ...     return "fake", "fake-model", {"choices": [{"message": {"content": call["messages"][-1]["content"]}}]}
        >>> llm = make_plugin_llm_for_test("my-plugin", sync_caller=answer)
        >>> llm.complete([{"role": "user", "content": "ping"}]).text
        'ping'
    """
    from hermes_core.llm.client import PluginLlm

    return PluginLlm(plugin_id, policy_loader=lambda _: policy, sync_caller=sync_caller, async_caller=async_caller)


class InjectedEngine:
    """An engine that asks functions.

    Args:
        policy_loader: Gives what a plugin may override, by its id; asked at every call. None allows nothing.
        sync_caller: As in ``make_plugin_llm_for_test``.
        async_caller: Likewise.
    """

    def __init__(
        self, policy_loader: PolicyLoader | None, sync_caller: SyncCaller | None, async_caller: AsyncCaller | None
    ) -> None:
        self._policy_loader = policy_loader
        self._sync_caller = sync_caller
        self._async_caller = async_caller

    def answer(self, plugin_id: str, request: Request) -> PluginLlmCompleteResult:
        """Answer a request in this thread."""
        with self._lane(plugin_id, request) as lane:
            return lane.result(_given(self._sync_caller, request, "sync_caller")(**lane.arguments))

    async def aanswer(self, plugin_id: str, request: Request) -> PluginLlmCompleteResult:
        """Answer a request, awaiting the function's answer."""
        with self._lane(plugin_id, request) as lane:
            return lane.result(await _given(self._async_caller, request, "async_caller")(**lane.arguments))

    @contextmanager
    def _lane(self, plugin_id: str, request: Request) -> Iterator[_Lane]:
        line = AuditLine(event=request.method, plugin=plugin_id, purpose=request.purpose)
        with recorded(line, None):
            overrides = request.read()
            line.agent, line.profile = overrides.agent_id or "default", overrides.profile
            authorize(self._policy(plugin_id), overrides)
            yield _Lane(request, request.build(), overrides, line)

    def _policy(self, plugin_id: str) -> TrustPolicy:
        policy = self._policy_loader(plugin_id) if self._policy_loader else None
        return policy if isinstance(policy, TrustPolicy) else policy_of(plugin_id, policy or {})


class _Lane(NamedTuple):
    """One call between the gate and the audit."""

    request: Request
    call: LlmCall
    overrides: Overrides
    line: AuditLine

    @property
    def arguments(self) -> dict[str, Any]:
        """What a caller is given."""
        call, asked = self.call, self.overrides
        messages = [dict(message) for message in call.messages]
        return {
            "messages": with_schema_prompt(messages, call.schema_prompt),
            "provider_override": asked.provider or None,
            "model_override": asked.model or None,
            "profile_override": asked.profile or None,
            "temperature": call.temperature,
            "max_tokens": call.max_tokens,
            "timeout": call.timeout,
            "extra_body": {"response_format": call.response_format} if call.response_format else None,
        }

    def result(self, answer: Answer) -> PluginLlmCompleteResult:
        """What the plugin gets for a caller's answer."""
        if not isinstance(answer, tuple) or len(answer) != 3:
            raise TypeError(f"{self.request.method}: a caller must return (provider, model, response)")
        provider, model, response = answer
        self.line.attempts.append(Attempt(provider, model))
        answered = CHAT_COMPLETIONS.decode(_as_json(response))
        return LlmEngine.result(self.request, settled(answered, self.call), self.line, lambda: False)


def _given(caller: Caller | None, request: Request, name: str) -> Caller:
    if caller is None:
        raise HermesError(f"{request.method}: this PluginLlm was made without {name}=")
    return caller


def _as_json(value: Any) -> Any:
    """A response as the JSON it stands for; an object is a mapping of its public attributes."""
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if hasattr(value, "model_dump"):  # as the classes of OpenAI's own client
        value = value.model_dump()
    if isinstance(value, Mapping):
        return {str(key): _as_json(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_as_json(item) for item in value]
    public = {name: getattr(value, name) for name in dir(value) if not name.startswith("_")}
    return {name: _as_json(item) for name, item in public.items() if not callable(item)}
