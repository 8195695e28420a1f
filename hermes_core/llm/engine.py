"""The model lane of one host: gate, plan, flow, parse and audit around every call."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from hermes_core.config.settings import Config
from hermes_core.config.truth import is_number
from hermes_core.errors import HermesError, StructuredOutputError
from hermes_core.llm.audit import AuditLine, recorded
from hermes_core.llm.driver import run
from hermes_core.llm.flow import Block, Deadline, Flow, completion
from hermes_core.llm.structured import NotJsonError, parse_json, violations
from hermes_core.llm.trust import Overrides, TrustPolicy, authorize, policy_of
from hermes_core.types.llm import PluginLlmCompleteResult, PluginLlmStructuredResult

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from hermes_core.types.call import LlmCall
    from hermes_core.types.wire import ApiMode
from typing import TYPE_CHECKING

from hermes_core.llm.plan import Planner, Route
from hermes_core.llm.transport import Transport

if TYPE_CHECKING:
    from hermes_core.auth.credentials import Credentials
    from hermes_core.llm.async_transport import AsyncTransport
    from hermes_core.providers.catalog import ProviderCatalog
    from hermes_core.providers.profile import EndpointHost
    from hermes_core.types.call import Completion

DEFAULT_TIMEOUT = 30.0
"""Seconds over everything a call does, when neither the call nor the configuration says."""


class Request(NamedTuple):
    """What one of the four methods was asked for.

    Attributes:
        method: Its name.
        purpose: Free text for the audit.
        read: Checks the arguments that come before the gate, and gives what the plugin wants in place of what
            the user is using.
        build: Makes the call, after the gate; raises ValueError for a malformed block.
        wants_json: Whether the answer is to be parsed.
        schema: What the parsed answer must match, or None.
        schema_name: For the audit.
    """

    method: str
    purpose: str
    read: Callable[[], Overrides]
    build: Callable[[], LlmCall]
    wants_json: bool = False
    schema: Any = None
    schema_name: str = ""

    @property
    def is_structured(self) -> bool:
        """Whether the result is a structured one."""
        return self.method.endswith("_structured")


class _Prepared(NamedTuple):
    call: LlmCall
    routes: list[Route]
    wires: Mapping[str, ApiMode]


class _Known(NamedTuple):
    """Under one configuration: the ways a call has been prepared already, and the plugins' policies."""

    config: Config
    warm: set[object]
    policies: dict[str, TrustPolicy]


class Engine(Protocol):
    """What answers ``PluginLlm``; the host's ``LlmEngine``, or a test's own."""

    def answer(self, plugin_id: str, request: Request) -> PluginLlmCompleteResult:
        """Answer a request in this thread."""

    async def aanswer(self, plugin_id: str, request: Request) -> PluginLlmCompleteResult:
        """Answer a request without blocking the event loop."""


class LaneHost(Protocol):
    """What the model lane needs of its host."""

    home: Path

    @property
    def credentials(self) -> Credentials:
        """The home's credentials."""

    @property
    def providers(self) -> ProviderCatalog:
        """The providers."""

    def config(self) -> Config:
        """The configuration as it is now."""

    def llm_settings(self, config: Config, plugin_id: str) -> tuple[str, Mapping[str, Any]]:
        """The id the configuration knows a plugin by, and the plugin's ``llm`` section."""

    def wires(self) -> Mapping[str, ApiMode]:
        """The wire formats on offer, by name."""

    def endpoint_host(self, config: Config, provider: str) -> EndpointHost:
        """What a provider's profile may ask of the host."""

    def say(self, line: str) -> None:
        """Show a line to the operator, once."""


class LlmEngine:
    """The engine of a host."""

    def __init__(self, host: LaneHost) -> None:
        self._host = host
        self._planner = Planner(host.providers, host.credentials, host.say)
        self._transport = Transport()
        self._known = _Known(Config(), set(), {})
        self._closed = False

    def answer(self, plugin_id: str, request: Request) -> PluginLlmCompleteResult:
        """Answer a request in this thread."""
        return run(self._lane(plugin_id, request), self._transport)

    async def aanswer(self, plugin_id: str, request: Request) -> PluginLlmCompleteResult:
        """Answer a request without blocking the event loop."""
        from hermes_core.llm.async_driver import arun

        return await arun(self._lane(plugin_id, request), self._async_transport)

    def close(self) -> None:
        """Take no more calls, and close idle connections; those of event loops close with their loop."""
        self._closed = True
        self._transport.close()

    @cached_property
    def _async_transport(self) -> AsyncTransport:
        from hermes_core.llm.async_transport import AsyncTransport

        return AsyncTransport()

    def _lane(self, plugin_id: str, request: Request) -> Flow[PluginLlmCompleteResult]:
        """One call from the gate to the audit; the drivers above do what it yields."""
        if self._closed:
            raise HermesError("this host is closed", hint="load another one")
        line = AuditLine(event=request.method, plugin=plugin_id, purpose=request.purpose)
        with recorded(line, self._host.home):
            overrides = request.read()
            line.agent, line.profile = overrides.agent_id or "default", overrides.profile
            config = self._host.config()
            call, routes, wires = yield from self._prepared(config, plugin_id, request, overrides)
            line.provider, line.model = routes[0].provider, routes[0].model
            answer = yield from completion(
                call,
                routes,
                wires=wires,
                host=lambda provider: self._host.endpoint_host(config, provider),
                deadline=Deadline(call.timeout or default_timeout(config), line.started),
                attempts=line.attempts,
            )
            return self._result(request, answer, line)

    def _prepared(self, config: Config, plugin_id: str, request: Request, overrides: Overrides) -> Flow[_Prepared]:
        """The first time under a configuration this may import plugins, so it may block; later it does not."""

        def prepare() -> _Prepared:
            authorize(self._policy(config, plugin_id), overrides, self._canonical)
            return _Prepared(request.build(), self._planner.routes(config, overrides), self._host.wires())

        warm, way = self._known_under(config).warm, (request.is_structured, overrides.provider)
        if way in warm:
            return prepare()
        prepared: _Prepared = yield Block(prepare)
        warm.add(way)
        return prepared

    def _policy(self, config: Config, plugin_id: str) -> TrustPolicy:
        if config.error is not None or not plugin_id:
            return TrustPolicy(plugin_id=plugin_id)
        policies = self._known_under(config).policies
        if plugin_id not in policies:
            policies[plugin_id] = policy_of(*self._host.llm_settings(config, plugin_id))
        return policies[plugin_id]

    def _known_under(self, config: Config) -> _Known:
        """What is known under one reading of the configuration, and under no other."""
        known = self._known
        if known.config is not config:
            known = self._known = _Known(config, set(), {})
        return known

    def _canonical(self, name: str) -> str:
        return self._host.providers.resolve(name) or name.strip().lower()

    def _result(self, request: Request, answer: Completion, line: AuditLine) -> PluginLlmCompleteResult:
        route = line.attempts[-1]
        usage = answer.usage
        line.provider, line.model = answer.provider or route.provider, answer.model or route.model
        line.tokens, line.input, line.output = usage.total_tokens, usage.input_tokens, usage.output_tokens
        line.cost = usage.cost_usd
        common: dict[str, Any] = {
            "text": answer.text,
            "provider": line.provider,
            "model": line.model,
            "agent_id": line.agent,
            "usage": usage,
            "audit": {
                "plugin_id": line.plugin,
                "purpose": request.purpose,
                "profile": line.profile,
                "attempts": [attempt._asdict() for attempt in line.attempts],
                "duration_ms": line.milliseconds,
            },
        }
        if not request.is_structured:
            return PluginLlmCompleteResult(**common)
        common["audit"]["schema_name"] = request.schema_name
        result = PluginLlmStructuredResult(**common)
        line.content_type = result.content_type
        if not request.wants_json:
            return result
        try:
            result.parsed = parse_json(answer.text)
        except NotJsonError:
            return result
        found = violations(result.parsed, request.schema) if request.schema is not None else []
        if found:
            shown = "; ".join(found[:3]) + (f"; and {len(found) - 3} more" if len(found) > 3 else "")
            message = f"{request.method}: the answer did not match the schema: {shown}"
            raise StructuredOutputError(message, result=result, errors=found)
        result.content_type = line.content_type = "json"
        return result


def default_timeout(config: Config) -> float:
    """Seconds a call may take when it does not say so itself."""
    for task in ("plugin", "plugin_llm"):
        value = config.get("auxiliary", task, "timeout")
        try:
            seconds = float(value) if isinstance(value, str) else value
        except ValueError:
            continue
        if is_number(seconds) and seconds > 0:
            return float(seconds)
    return DEFAULT_TIMEOUT
