"""``ctx.llm``: the four methods a plugin calls."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from hermes_core.llm import messages as write
from hermes_core.llm.engine import Request
from hermes_core.llm.structured import check_schema
from hermes_core.llm.trust import Overrides, read_overrides
from hermes_core.plugins import current
from hermes_core.types.call import LlmCall

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from hermes_core.llm.engine import Engine
    from hermes_core.llm.injected import AsyncCaller, PolicyLoader, SyncCaller
    from hermes_core.types.llm import PluginLlmCompleteResult, PluginLlmInput, PluginLlmStructuredResult, T


class PluginLlm:
    """The supported way for a plugin to make a model call.

    The host chooses provider and model (what the user is using), holds the credentials, and writes one
    audit line per call. A test may have functions answer instead: ``make_plugin_llm_for_test``.
    Arguments of all four methods:

    Args:
        messages: The conversation, ``[{"role": "user", "content": "…"}]``.
        instructions: What to do with ``input``.
        input: Text and image blocks; see ``PluginLlmInput``.
        json_schema: What the answer must match: any JSON schema, or a class (a dataclass, a TypedDict, a
            pydantic model) whose instance ``parsed`` then is.
        json_mode: Ask for JSON without a schema.
        schema_name: Shown to the model and in the audit.
        system_prompt: Added before the instructions, as a system message.
        provider: Another provider, if the operator allows it.
        model: Another model, if the operator allows it.
        temperature: 0 to 2; the provider's own when None.
        max_tokens: Limit of the answer, in tokens.
        timeout: Seconds over everything the call does; 30 when neither this nor the configuration says.
        agent_id: Another agent, if the operator allows it.
        profile: Another stored credential, if the operator allows it.
        purpose: Why, in a few words, for the audit.

    Raises:
        PluginLlmTrustError: An override is not granted; names the key that would grant it.
        ValueError: An argument is malformed.
        StructuredOutputError: A ``ValueError``: the answer is JSON, but breaks the schema.
        ProviderError: No provider, no credential, a refusal, or no answer in time.

    Example:
        >>> from hermes_core import Host
        >>> from hermes_core.testing import FakeProvider
        >>> with FakeProvider() as server, Host.load(config=server.config) as host:
        ...     host.llm("my-plugin").complete([{"role": "user", "content": "ping"}]).text
        'pong'
    """

    def __init__(
        self,
        plugin_id: str,
        engine: Engine | None = None,
        *,
        policy_loader: PolicyLoader | None = None,
        sync_caller: SyncCaller | None = None,
        async_caller: AsyncCaller | None = None,
    ) -> None:
        if engine is None and (policy_loader or sync_caller or async_caller):
            from hermes_core.llm.injected import InjectedEngine

            engine = InjectedEngine(policy_loader, sync_caller, async_caller)
        self._plugin_id = plugin_id
        self._given_engine = engine

    def __repr__(self) -> str:
        return f"<PluginLlm {self._plugin_id!r}>"

    @property
    def _engine(self) -> Engine:
        """The engine it was made for, else that of the host whose plugin code is running."""
        return self._given_engine or cast("Engine", current.host().engine)

    def complete(
        self,
        messages: Sequence[Mapping[str, Any]],
        *,
        provider: str | None = None,
        model: str | None = None,
        temperature: float | None = None,
        max_tokens: int | None = None,
        timeout: float | None = None,
        agent_id: str | None = None,
        profile: str | None = None,
        purpose: str | None = None,
    ) -> PluginLlmCompleteResult:
        """Get a chat answer."""
        return self._engine.answer(self._plugin_id, self._chat("complete", **_arguments(locals())))

    async def acomplete(
        self,
        messages: Sequence[Mapping[str, Any]],
        *,
        provider: str | None = None,
        model: str | None = None,
        temperature: float | None = None,
        max_tokens: int | None = None,
        timeout: float | None = None,
        agent_id: str | None = None,
        profile: str | None = None,
        purpose: str | None = None,
    ) -> PluginLlmCompleteResult:
        """Get a chat answer."""
        return await self._engine.aanswer(self._plugin_id, self._chat("acomplete", **_arguments(locals())))

    def complete_structured(
        self,
        *,
        instructions: str,
        input: Sequence[PluginLlmInput],  # noqa: A002 - the published name of the argument
        json_schema: type[T] | Mapping[str, Any] | bool | None = None,
        json_mode: bool = False,
        schema_name: str | None = None,
        system_prompt: str | None = None,
        provider: str | None = None,
        model: str | None = None,
        temperature: float | None = None,
        max_tokens: int | None = None,
        timeout: float | None = None,
        agent_id: str | None = None,
        profile: str | None = None,
        purpose: str | None = None,
    ) -> PluginLlmStructuredResult[T]:
        """Get a typed answer."""
        request = self._structured("complete_structured", **_arguments(locals()))
        return cast("PluginLlmStructuredResult[T]", self._engine.answer(self._plugin_id, request))

    async def acomplete_structured(
        self,
        *,
        instructions: str,
        input: Sequence[PluginLlmInput],  # noqa: A002 - the published name of the argument
        json_schema: type[T] | Mapping[str, Any] | bool | None = None,
        json_mode: bool = False,
        schema_name: str | None = None,
        system_prompt: str | None = None,
        provider: str | None = None,
        model: str | None = None,
        temperature: float | None = None,
        max_tokens: int | None = None,
        timeout: float | None = None,
        agent_id: str | None = None,
        profile: str | None = None,
        purpose: str | None = None,
    ) -> PluginLlmStructuredResult[T]:
        """Get a typed answer."""
        request = self._structured("acomplete_structured", **_arguments(locals()))
        return cast("PluginLlmStructuredResult[T]", await self._engine.aanswer(self._plugin_id, request))

    def _chat(self, method: str, *, messages: Any, **options: Any) -> Request:
        return self._request(method, options, lambda: {"messages": write.check_messages(method, messages)})

    def _structured(
        self,
        method: str,
        *,
        instructions: Any,
        input: Any,  # noqa: A002 - the published name of the argument
        json_schema: Any,
        **options: Any,
    ) -> Request:
        json_mode, schema_name, system_prompt = (
            options[name] for name in ("json_mode", "schema_name", "system_prompt")
        )
        wants_json = json_mode is True or json_schema is not None
        schema = dict(json_schema) if isinstance(json_schema, Mapping) else json_schema
        convert, judges, problem = None, False, ""
        if isinstance(json_schema, type):
            from hermes_core.llm.typed import wanted

            schema, convert, judges, problem = wanted(json_schema)

        def build() -> dict[str, Any]:
            if problem:
                raise ValueError(f"{method}: json_schema: {problem}")
            if schema is not None:
                check_schema(method, schema)
            return {
                "messages": write.structured_messages(
                    method, instructions, input, system_prompt, wants_json=wants_json
                ),
                "schema_prompt": write.schema_prompt(schema, schema_name),
                "response_format": write.response_format(schema, schema_name, json_mode=json_mode),
            }

        return self._request(
            method,
            options,
            build,
            lambda: write.check_request(method, instructions, input),
            wants_json=wants_json,
            schema=None if judges else schema,
            convert=convert,
            schema_name=schema_name if isinstance(schema_name, str) else "",
        )

    def _request(
        self,
        method: str,
        options: dict[str, Any],
        build: Callable[[], dict[str, Any]],
        check: Callable[[], None] = lambda: None,
        **structured: Any,
    ) -> Request:
        """A request whose arguments are looked at when the lane asks: ``check`` before the gate, all else after it."""
        asked = {name: options.pop(name) for name in Overrides._fields}
        purpose = options["purpose"] if isinstance(options["purpose"], str) else ""

        def read() -> Overrides:
            check()
            return read_overrides(method, **asked)

        def call() -> LlmCall:
            write.check_options(method, **options)
            sampling = {name: options[name] for name in ("temperature", "max_tokens", "timeout")}
            return LlmCall(plugin_id=self._plugin_id, method=method, purpose=purpose, **sampling, **build())

        return Request(method=method, purpose=purpose, read=read, build=call, **structured)


def _arguments(local: dict[str, Any]) -> dict[str, Any]:
    """A method's own arguments, so that the four signatures are written once each and passed on whole."""
    del local["self"]
    return local
