"""The model lane of one host: gate, plan, flow, parse and audit around every call."""

from __future__ import annotations

import time
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from hermes_core.config.kinds import SECONDS
from hermes_core.config.settings import Config
from hermes_core.config.tasks import auxiliary_task, fallback_chain, transient_retries
from hermes_core.errors import HermesError, MissingCredentialError
from hermes_core.llm.attempt import IMAGE_SECONDS, Means
from hermes_core.llm.audit import AuditLine, recorded
from hermes_core.llm.driver import run
from hermes_core.llm.flow import completion
from hermes_core.llm.hooks import LlmHooks, answer_of, prepared_call, told
from hermes_core.llm.kept import UsualRoute
from hermes_core.llm.ledger import Usage, UsageLedger
from hermes_core.llm.plan import NOBODY, Planner
from hermes_core.llm.steps import Block, Deadline, Flow, blocking
from hermes_core.llm.structured import fails_softly, take_json
from hermes_core.llm.transport import Transport
from hermes_core.llm.trust import Overrides, TrustPolicy, authorize, policy_of
from hermes_core.llm.vision import seeing_route
from hermes_core.types.llm import PluginLlmCompleteResult, PluginLlmStructuredResult, PluginLlmUsage

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from hermes_core.auth.credentials import Credentials
    from hermes_core.llm.async_transport import AsyncTransport
    from hermes_core.llm.attempt import Learned
    from hermes_core.llm.route import Route
    from hermes_core.providers.catalog import ProviderCatalog
    from hermes_core.providers.profile import EndpointHost
    from hermes_core.types.agent import Agent
    from hermes_core.types.call import Completion, LlmCall
    from hermes_core.types.wire import ApiMode


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
        convert: Turns the parsed answer into an instance: that and ``[]``, or itself and what is wrong with it.
        schema_name: For the audit.
    """

    method: str
    purpose: str
    read: Callable[[], Overrides]
    build: Callable[[], LlmCall]
    wants_json: bool = False
    schema: Any = None
    convert: Callable[[Any], tuple[Any, list[str]]] | None = None
    schema_name: str = ""

    @property
    def is_structured(self) -> bool:
        """Whether the result is a structured one."""
        return self.method.endswith("_structured")


class _Prepared(NamedTuple):
    """A call that may be made; ``lane`` makes it, by its own home's ``config``."""

    call: LlmCall
    route: Route
    wires: Mapping[str, ApiMode]
    hooks: LlmHooks
    policy: TrustPolicy
    overrides: Overrides
    lane: LlmEngine
    config: Config
    deadline: Deadline
    admitted: int = 0


class _Known(NamedTuple):
    """Under one configuration: the ways a call has been prepared already, the plugins' policies, and what it says."""

    config: Config
    warm: set[object]
    policies: dict[str, TrustPolicy]
    has_fallback: bool = False
    retries: int = 0
    timeout: float = 0.0


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
    def engine(self) -> LlmEngine:
        """Its model lane."""

    def beside(self, home: str) -> LaneHost:
        """The host of another home; this one for its own home."""

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

    def llm_hooks(self) -> LlmHooks:
        """What plugins do around a model call."""

    def agent(self, agent_id: str) -> Agent:
        """What an agent uses in place of what the user is using."""

    def say(self, line: str) -> None:
        """Show a line to the operator, once."""


class LlmEngine:
    """The engine of a host."""

    def __init__(self, host: LaneHost) -> None:
        self._host = host
        self._planner = Planner.of(host)
        self._usual_route = UsualRoute(self._planner, host.providers, host.credentials.environment)
        self._transport = Transport()
        self._ledger = UsageLedger(host.home)
        self._learned: Learned = {}
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
        self._ledger.close()

    @cached_property
    def _async_transport(self) -> AsyncTransport:
        from hermes_core.llm.async_transport import AsyncTransport

        return AsyncTransport()

    def _lane(self, plugin_id: str, request: Request) -> Flow[PluginLlmCompleteResult]:
        """One call from the gate to the audit; the drivers above do what it yields."""
        if self._closed:
            raise HermesError("this host is closed", hint="load another one")
        line = AuditLine(event=request.method, plugin=plugin_id, purpose=request.purpose)
        way: _Prepared | None = None
        answer: Completion | None = None
        try:
            with recorded(line, self._host.home):
                way = yield from self._let_in(plugin_id, request, line)
                answer = yield from self._answer(way, line)
                softly = partial(self._fails_softly, plugin_id)
                result = self.result(request, answer, line, softly)
        except Exception as error:
            if way is not None:
                yield from told(way.call, answer, error, way.hooks.done, way.deadline)
            raise
        finally:
            if way is not None:
                self._ledger.record(_usage(line, answer), way.admitted)
        yield from told(way.call, answer, None, way.hooks.done, way.deadline)
        return result

    def _let_in(self, plugin_id: str, request: Request, line: AuditLine) -> Flow[_Prepared]:
        """The call as it is to be made, once the gate, the plugin's budget and the hooks have had their say."""
        overrides = request.read()
        line.agent, line.profile = overrides.agent_id or "default", overrides.profile
        way = yield from self._prepared(self._host.config(), plugin_id, request, overrides, line.started)
        line.provider, line.model = way.route.provider, way.route.model
        if way.policy.budget:
            seconds = way.deadline.left() * 0.9  # so that it ends by saying why
            admitted = yield from blocking(
                lambda: self._ledger.admit(plugin_id, way.policy.budget, seconds), way.deadline
            )
            way = way._replace(admitted=admitted)
        if not any(way.hooks):
            return way
        started = time.time() - (time.monotonic() - line.started)
        call = replace(way.call, provider=way.route.provider, model=way.route.model, started=started)
        return way._replace(call=(yield from prepared_call(call, way.hooks.prepare, way.deadline)))

    def _answer(self, way: _Prepared, line: AuditLine) -> Flow[Completion]:
        answer = yield from answer_of(way.call, way.hooks.answer, way.deadline)
        return answer if answer is not None else (yield from way.lane.ask(way, line))

    def ask(self, way: _Prepared, line: AuditLine) -> Flow[Completion]:
        """Ask the providers of this home, one after the other, until one answers."""
        config, route, deadline = way.config, way.route, way.deadline
        chosen = way.overrides.provider or way.overrides.model or way.overrides.profile
        if way.call.has_images and not route.accepts_images and not chosen:
            seeing = yield Block(lambda: seeing_route(self._planner, config, route), deadline.left())
            if seeing is not None:
                route = seeing
                deadline = Deadline(way.call.timeout or auxiliary_task(config, "vision").timeout, line.started)
        known = self._known_under(config)
        falls_back = known.has_fallback and (not chosen or (way.policy.fallback and not way.overrides.profile))
        means = Means(
            wires=way.wires,
            host=lambda provider: self._host.endpoint_host(config, provider),
            deadline=deadline,
            attempts=line.attempts,
            variable=self._planner.variable,
            image_seconds=lambda: SECONDS.read(config.get("auxiliary", "vision", "download_timeout")) or IMAGE_SECONDS,
            learned=self._learned,
        )
        answer = yield from completion(
            way.call,
            [route],
            means,
            retries=known.retries,
            more=(lambda: self._planner.fallbacks(config, route)) if falls_back else None,
            model_is_chosen=bool(way.overrides.model),
        )
        return replace(answer, provider=line.attempts[-1].provider) if way.hooks.done else answer

    def _prepared(
        self, config: Config, plugin_id: str, request: Request, overrides: Overrides, started: float
    ) -> Flow[_Prepared]:
        """The first time under a configuration this may import plugins, so it may block; later it does not."""

        def prepare() -> _Prepared:
            policy = self._policy(config, plugin_id)
            authorize(policy, overrides, self._canonical)
            agent = self._host.agent(overrides.agent_id) if overrides.agent_id else NOBODY
            call, host = request.build(), self._host.beside(agent.home) if agent.home else self._host
            lane, there = (self, config) if host is self._host else (host.engine, host.config())
            route = lane.first_route(there, overrides, agent)
            deadline = Deadline(call.timeout or self._known_under(config).timeout, started)
            hooks = self._host.llm_hooks()
            return _Prepared(call, route, self._host.wires(), hooks, policy, overrides, lane, there, deadline)

        warm, way = self._known_under(config).warm, (request.is_structured, overrides.provider, overrides.agent_id)
        if way in warm:
            return prepare()
        prepared: _Prepared = yield Block(prepare)
        if prepared.lane is self:
            warm.add(way)
        return prepared

    def first_route(self, config: Config, overrides: Overrides, agent: Agent) -> Route:
        """The first route; where it has no credential to begin with, the first fallback that has one."""
        try:
            if any(overrides):
                return self._planner.route(config, overrides, agent)
            return self._usual_route.plan(config)
        except MissingCredentialError:
            if any(overrides):
                raise
            instead = self._planner.fallbacks(config, None)
            if not instead:
                raise
            return instead[0]

    def _policy(self, config: Config, plugin_id: str) -> TrustPolicy:
        if not plugin_id:
            return TrustPolicy(plugin_id=plugin_id)
        policies = self._known_under(config).policies
        if plugin_id not in policies:
            policy = policy_of(*self._host.llm_settings(config, plugin_id))
            if config.error is not None:  # its last good state sets limits, and grants nothing
                policy = TrustPolicy(plugin_id=plugin_id, budget=policy.budget)
            policies[plugin_id] = policy
        return policies[plugin_id]

    def _known_under(self, config: Config) -> _Known:
        """What is known under one reading of the configuration, and under no other."""
        known = self._known
        if known.config is not config:
            task = self._planner.plugin_task(config)
            has_fallback = bool(fallback_chain(config) or task.fallback_chain)
            known = self._known = _Known(config, set(), {}, has_fallback, transient_retries(config), task.timeout)
        return known

    def _canonical(self, name: str) -> str:
        return self._host.providers.resolve(name) or name.strip().lower()

    def _fails_softly(self, plugin_id: str) -> bool:
        return fails_softly(*self._host.llm_settings(self._host.config(), plugin_id))

    @staticmethod
    def result(
        request: Request, answer: Completion, line: AuditLine, softly: Callable[[], bool]
    ) -> PluginLlmCompleteResult:
        """What the plugin gets for an answer; the rest of the audit line is filled in.

        Args:
            request: What the plugin asked for.
            answer: What the model said.
            line: The call's audit line.
            softly: Asked when the answer breaks the schema: whether it then counts as text.
        """
        usage = answer.usage
        if line.attempts:
            line.provider, line.model = line.attempts[-1].provider, line.attempts[-1].model
        line.provider, line.model = answer.provider or line.provider, answer.model or line.model
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
                "finish_reason": answer.finish_reason,
            },
        }
        if not request.is_structured:
            return PluginLlmCompleteResult(**common)
        common["audit"]["schema_name"] = request.schema_name
        result = PluginLlmStructuredResult(**common)
        line.content_type = result.content_type
        if request.wants_json:
            take_json(
                result,
                answer,
                method=request.method,
                schema=request.schema,
                convert=request.convert,
                softly=softly,
            )
            line.content_type = result.content_type
        return result


def _usage(line: AuditLine, answer: Completion | None) -> Usage:
    """A call that is over, for the ledger."""
    used = answer.usage if answer is not None else PluginLlmUsage()
    return Usage(
        at=time.time(),
        plugin=line.plugin,
        method=line.event,
        provider=line.provider,
        model=line.model,
        status=line.status,
        attempts=len(line.attempts),
        ms=line.milliseconds,
        **vars(used),
    )
