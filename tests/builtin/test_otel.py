"""``otel``: one span a call, by the GenAI semantic conventions, and nothing in it that was said."""

import asyncio
import json
import time

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from hermes_core.config.redact import register_secret
from hermes_core.errors import ServerError, StructuredOutputError

MESSAGES = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "ping"}]
JSON = {"instructions": "Extract.", "input": [{"type": "text", "text": "a"}], "json_schema": {"required": ["a"]}}
SECRET = "sk-planted-0123456789abcdef"


@pytest.fixture(scope="session")
def exporter():
    """Where this process's spans go; a process has one tracer provider."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    trace.set_tracer_provider(provider)
    return exporter


@pytest.fixture
def spans(exporter):
    """The finished spans of a test, in the order in which they ended."""
    exporter.clear()
    return exporter.get_finished_spans


@pytest.fixture
def traced(host_with):
    """Load a host with the plugin, and these settings."""
    return lambda *enabled, **settings: host_with("otel", enabled=enabled, **settings)


def test_a_call_is_a_span(traced, ask, spans):
    """A call is a client span, named and described as the conventions say."""
    ask(traced(), temperature=0.5, max_tokens=7, purpose="tests")
    (span,) = spans()
    assert (span.name, span.kind, span.status.status_code) == (
        "chat fake-model",
        trace.SpanKind.CLIENT,
        trace.StatusCode.UNSET,
    )
    assert dict(span.attributes) == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "custom",
        "gen_ai.request.model": "fake-model",
        "gen_ai.request.temperature": 0.5,
        "gen_ai.request.max_tokens": 7,
        "gen_ai.output.type": "text",
        "gen_ai.response.model": "fake-model",
        "gen_ai.response.finish_reasons": ("stop",),
        "gen_ai.usage.input_tokens": 5,
        "gen_ai.usage.output_tokens": 1,
        "hermes.plugin.id": "caller",
        "hermes.purpose": "tests",
    }
    assert (span.instrumentation_scope.name, "opentelemetry.io/schemas" in span.instrumentation_scope.schema_url) == (
        "hermes_core",
        True,
    )


def test_what_was_not_asked_for_is_not_there(traced, ask, spans):
    """A call without temperature and limit has no such attributes."""
    ask(traced())
    assert not {"gen_ai.request.temperature", "gen_ai.request.max_tokens"} & {*spans()[0].attributes}


def test_a_span_lasts_as_long_as_its_call(traced, ask, spans, server, home):
    """A span begins when the call began, before any hook and the provider had their time, and ends with it."""
    slow = "import time\nfrom hermes_core import hookimpl\n@hookimpl\ndef hermes_llm_prepare(): time.sleep(0.05)\n"
    home.plugin("slow", slow, name="slow")
    server.queue_response("busy", status=500, delay=0.05)
    before = time.time_ns()
    with pytest.raises(ServerError):
        ask(traced("slow"))
    (span,) = spans()
    assert before - 1_000 <= span.start_time
    assert span.end_time - span.start_time >= 100_000_000
    assert span.end_time <= time.time_ns()


def test_its_parent_is_the_callers_span(traced, ask, spans):
    """The span that is current where the call is made is the parent, also where the hook runs in another thread."""
    host = traced()
    with trace.get_tracer("program").start_as_current_span("work") as work:
        ask(host)
    span = spans()[0]
    assert (span.parent.span_id, span.context.trace_id) == (work.context.span_id, work.context.trace_id)


def test_calls_at_once_keep_their_parents(traced, spans):
    """Awaited calls that run at once are each below their own task's span."""
    llm = traced().llm("caller")

    async def work(number):
        with trace.get_tracer("program").start_as_current_span(f"work {number}"):
            await llm.acomplete(MESSAGES, purpose=f"work {number}")

    async def main():
        await asyncio.gather(*map(work, range(8)))

    asyncio.run(main())
    parents = {span.context.span_id: span.name for span in spans() if span.parent is None}
    calls = {span.attributes["hermes.purpose"]: parents[span.parent.span_id] for span in spans() if span.parent}
    assert calls == {f"work {number}": f"work {number}" for number in range(8)}


def test_without_a_callers_span_it_is_a_root(traced, ask, spans):
    """A call outside any span begins a trace of its own."""
    ask(traced())
    assert spans()[0].parent is None


def test_a_failure_is_an_error(traced, ask, spans, server):
    """A call that the provider refuses is an error of the provider's status; what it said stays out of the span."""
    server.queue_response({"error": {"message": f"no: ping {SECRET}"}}, status=503)
    with pytest.raises(ServerError):
        ask(traced())
    (span,) = spans()
    assert (span.status.status_code, span.attributes["error.type"]) == (trace.StatusCode.ERROR, "503")
    assert "ping" not in span.to_json()


def test_an_error_without_a_status_is_its_class(traced, ask, spans, server):
    """What failed without a status is named by its class; the tokens that were spent are there all the same."""
    server.answer('{"b": 1}')
    with pytest.raises(StructuredOutputError):
        ask(traced(), **JSON)
    attributes = spans()[0].attributes
    found = [attributes[name] for name in ("error.type", "gen_ai.output.type", "gen_ai.usage.input_tokens")]
    assert found == ["StructuredOutputError", "json", 5]


@pytest.mark.parametrize("setting", [{}, {"capture_content": False}, {"capture_content": "yes"}], ids=str)
def test_what_was_said_stays_out(traced, ask, spans, server, setting):
    """Unless the setting is true itself, no span holds what was asked or answered."""
    server.answer("a private answer")
    ask(traced(**setting))
    assert not [word for word in ("Be brief.", "ping", "private") if word in spans()[0].to_json()]


def test_what_was_said_may_be_captured(traced, ask, spans):
    """With the setting, messages and answer are there in the form of the conventions."""
    ask(traced(capture_content=True), messages=MESSAGES)
    attributes = spans()[0].attributes
    assert json.loads(attributes["gen_ai.input.messages"]) == [
        {"role": "system", "parts": [{"type": "text", "content": "Be brief."}]},
        {"role": "user", "parts": [{"type": "text", "content": "ping"}]},
    ]
    assert json.loads(attributes["gen_ai.output.messages"]) == [
        {"role": "assistant", "parts": [{"type": "text", "content": "pong"}], "finish_reason": "stop"}
    ]


def test_images_stay_out(traced, ask, spans):
    """Of an image, a captured message says that there was one."""
    image = {"type": "image", "data": b"\x89PNG\r\n\x1a\n", "mime_type": "image/png"}
    ask(traced(capture_content=True), instructions="Look.", input=[image])
    (message,) = json.loads(spans()[0].attributes["gen_ai.input.messages"])
    assert message["parts"][-1] == {"type": "blob", "modality": "image"}


def test_secrets_stay_out(traced, ask, spans, server):
    """No secret that the host knows is in a span, whatever is captured."""
    register_secret(SECRET)
    server.answer(f"it is {SECRET}")
    ask(traced(capture_content=True), messages=[{"role": "user", "content": f"my key {SECRET}"}], purpose=SECRET)
    shown = spans()[0].to_json()
    assert (SECRET in shown, "[redacted]" in shown) == (False, True)


def test_a_kept_answer_is_the_caches(host_with, ask, spans):
    """An answer of the response cache is a span too, attributed to it, with no tokens."""
    host = host_with("otel", enabled=["response-cache"])
    ask(host)
    ask(host)
    attributes = spans()[-1].attributes
    found = [attributes[f"gen_ai.{name}"] for name in ("provider.name", "response.model", "usage.input_tokens")]
    assert [*found, attributes["hermes.usage.cost_usd"]] == ["response-cache", "fake-model", 0, 0.0]


def test_a_call_that_is_given_up_leaves_nothing(traced, spans, server, until):
    """A call that is cancelled has no span, and the next one is not disturbed."""
    server.queue_response("late", delay=0.3)
    llm = traced().llm("caller")

    async def main():
        call = asyncio.create_task(llm.acomplete(MESSAGES))
        await until(lambda: server.requests)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        await llm.acomplete(MESSAGES)

    asyncio.run(main())
    assert len(spans()) == 1


def test_without_a_tracer_provider_nothing_happens(run_python, server):
    """In a program that has set no tracer provider, calls go on as ever."""
    script = """
    import sys
    from hermes_core import Host
    model = {"provider": "custom", "base_url": sys.argv[1], "default": "m"}
    with Host.load(config={"model": model, "plugins": {"enabled": ["otel"]}}) as host:
        print(host.llm("caller").complete([{"role": "user", "content": "ping"}]).text, host.plugin("otel").state)
    """
    assert run_python(script, server.base_url).stdout == "pong loaded\n"


def test_without_the_extra_its_row_says_what_to_install(run_python, server):
    """Without OpenTelemetry the plugin is a failed row that names the command, and calls go on."""
    script = """
    import sys
    sys.modules["opentelemetry"] = None
    from hermes_core import Host
    model = {"provider": "custom", "base_url": sys.argv[1], "default": "m"}
    with Host.load(config={"model": model, "plugins": {"enabled": ["otel"]}}) as host:
        print(host.llm("caller").complete([{"role": "user", "content": "ping"}]).text)
        row = host.plugin("otel")
        print(row.state, row.reason, row.remedy, sep="|")
    """
    text, row = run_python(script, server.base_url).stdout.splitlines()
    state, reason, remedy = row.split("|")
    command = "pip install 'hermes-plugin-host[otel]'"
    assert (text, state, remedy, command in reason) == ("pong", "failed", command, True)
