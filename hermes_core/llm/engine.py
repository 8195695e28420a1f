"""The model lane of one host: gate, plan, flow, parse and audit around every call."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from hermes_core.errors import HermesError, StructuredOutputError, near
from hermes_core.llm.audit import AuditLine, recorded
from hermes_core.llm.driver import run
from hermes_core.llm.flow import Block, Deadline, Flow, completion
from hermes_core.llm.structured import NotJsonError, parse_json, violations
from hermes_core.llm.trust import Overrides, TrustPolicy, authorize, policy_of
from hermes_core.types.llm import PluginLlmCompleteResult, PluginLlmStructuredResult

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from hermes_core.config.settings import Config
    from hermes_core.llm.async_transport import AsyncTransport
    from hermes_core.llm.plan import Planner, Route
    from hermes_core.llm.transport import Transport
    from hermes_core.providers.profile import EndpointHost
    from hermes_core.types.call import Completion, LlmCall
    from hermes_core.types.wire import ApiMode

DEFAULT_TIMEOUT = 30.0
"""Seconds over everything a call does, when neither the call nor the configuration says."""


class Request(NamedTuple):
    """What one of the four methods was asked for.

    Attributes:
        method: Its name.
        purpose: Free text for the audit.
        overrides: What the plugin wants in place of what the user is using.
        build: Makes the call, after the gate; raises ValueError for a malformed block.
        wants_json: Whether the answer is to be parsed.
        schema: What the parsed answer must match, or None.
        schema_name: For the audit.
    """

    method: str
    purpose: str
    overrides: Overrides
    build: Callable[[], LlmCall]
    wants_json: bool = False
    schema: Any = None
    schema_name: str = ""

    @property
    def is_structured(self) -> bool:
        """Whether the result is a structured one."""
        return self.method.endswith("_structured")


class Engine(Protocol):
    """What answers ``PluginLlm``; the host's ``LlmEngine``, or a test's own."""

    def answer(self, plugin_id: str, request: Request) -> PluginLlmCompleteResult:
        """Answer a request in this thread."""

    async def aanswer(self, plugin_id: str, request: Request) -> PluginLlmCompleteResult:
        """Answer a request without blocking the event loop."""


@dataclass(kw_only=True)
class LlmEngine:
    """The engine of a host.

    Attributes:
        home: Whose log the audit goes to.
        config: Gives the configuration as it is now.
        settings_of: Gives a plugin's ``llm`` section, and the id the configuration knows it by.
        canonical: Maps a provider's name or alias to its one name.
        planner: Chooses routes.
        wires: Gives the wire formats on offer, by name.
        endpoint_host: What a provider's profile may ask of the host.
        transport: Sends requests, and waits.
    """

    home: Path
    config: Callable[[], Config]
    settings_of: Callable[[Config, str], tuple[str, Any]]
    canonical: Callable[[str], str]
    planner: Planner
    wires: Callable[[], dict[str, ApiMode]]
    endpoint_host: Callable[[Config, str], EndpointHost]
    transport: Transport
    _planned_under: Config | None = field(default=None, init=False, repr=False)

    def answer(self, plugin_id: str, request: Request) -> PluginLlmCompleteResult:
        """Answer a request in this thread."""
        return run(self._lane(plugin_id, request), self.transport)

    async def aanswer(self, plugin_id: str, request: Request) -> PluginLlmCompleteResult:
        """Answer a request without blocking the event loop."""
        from hermes_core.llm.async_driver import arun

        return await arun(self._lane(plugin_id, request), self.async_transport)

    @cached_property
    def async_transport(self) -> AsyncTransport:
        """Sends requests in event loops."""
        from hermes_core.llm.async_transport import AsyncTransport

        return AsyncTransport()

    def _lane(self, plugin_id: str, request: Request) -> Flow[PluginLlmCompleteResult]:
        overrides = request.overrides
        line = AuditLine(
            event=request.method, plugin=plugin_id, purpose=request.purpose,
            agent=overrides.agent_id or "default", profile=overrides.profile,
        )  # fmt: skip
        with recorded(line, self.home):
            config = self.config()
            authorize(self._policy(config, plugin_id), overrides, self.canonical)
            call = request.build()
            deadline = Deadline(call.timeout or self._timeout(config))
            routes = yield from self._routes(config, overrides)
            line.provider, line.model = routes[0].provider, routes[0].model
            answer = yield from completion(
                call,
                routes,
                wires=self._wire,
                host=lambda provider: self.endpoint_host(config, provider),
                deadline=deadline,
                attempts=line.attempts,
            )
            return self._result(request, answer, line)

    def _routes(self, config: Config, overrides: Overrides) -> Flow[list[Route]]:
        """The first plan under a configuration may import plugins, so it may block; later ones do not."""
        if self._planned_under is config:
            return self.planner.routes(config, overrides)
        routes: list[Route] = yield Block(function=lambda: self.planner.routes(config, overrides))
        self._planned_under = config
        return routes

    def _policy(self, config: Config, plugin_id: str) -> TrustPolicy:
        if config.error is not None:
            return TrustPolicy(plugin_id=plugin_id)
        known_as, settings = self.settings_of(config, plugin_id)
        return policy_of(known_as, settings)

    def _timeout(self, config: Config) -> float:
        for task in ("plugin", "plugin_llm"):
            value = config.get("auxiliary", task, "timeout")
            try:
                if value is not None and not isinstance(value, bool) and float(value) > 0:
                    return float(value)
            except (TypeError, ValueError):
                continue
        return DEFAULT_TIMEOUT

    def _wire(self, name: str) -> ApiMode:
        wires = self.wires()
        if name not in wires:
            message = f"no plugin offers the wire format {name!r}{near(name, wires)}"
            raise HermesError(message, hint=f"known: {', '.join(sorted(wires))}")
        return wires[name]

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
