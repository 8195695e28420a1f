"""What plugins do around a model call: change it, answer it, hear of it."""

import ast
import asyncio
import logging
import sqlite3
import time
from contextlib import closing

import pytest

from hermes_core import Host
from hermes_core.errors import BudgetExceededError, ServerError
from hermes_core.testing import FakeProvider

MESSAGES = [{"role": "user", "content": "ping"}]
SCHEMA = {"type": "object", "required": ["a"]}
SHAPES = {"plain": "def", "async": "async def"}


@pytest.fixture
def server():
    """A running provider."""
    with FakeProvider() as server:
        yield server


@pytest.fixture(params=["complete", "acomplete"])
def ask(request, home, load_host, server):
    """Write plugins, and ask through a host that has loaded them; plugins later in the alphabet are asked first."""

    def run(messages=MESSAGES, *, plugins, **arguments):
        imports = "from dataclasses import replace\nfrom hermes_core import Completion, LlmCall, hookimpl\n"
        for name, code in plugins.items():
            home.plugin(name, imports + code, name=name)
        overlay = {**server.config, "plugins": {"enabled": [*plugins]}, "auxiliary": {"transient_retries": 0}}
        run.host = load_host(config=overlay)
        method = getattr(run.host.llm("caller"), request.param)
        answer = method(messages, **arguments)
        return asyncio.run(answer) if request.param == "acomplete" else answer

    return run


def hook(name, arguments, body, shape="plain", options=""):
    """The code of one hook."""
    return f"@hookimpl{options}\n{SHAPES[shape]} {name}({arguments}):\n    {body}\n"


@pytest.mark.parametrize("shape", SHAPES)
def test_a_call_may_be_changed(ask, server, shape):
    """What shapes the request is sent as a plugin wants it, whether it is asked or awaited."""
    body = "return replace(call, temperature=0.5, max_tokens=7, messages=[{'role': 'user', 'content': 'changed'}])"
    ask(plugins={"acme": hook("hermes_llm_prepare", "call", body, shape)})
    (sent,) = [request.body for request in server.requests]
    assert (sent["temperature"], sent["max_tokens"], sent["messages"][0]["content"]) == (0.5, 7, "changed")


def test_each_gets_what_the_one_before_returned(ask, server):
    """Changes add up, in the order of the hooks."""
    body = "return replace(call, messages=[*call.messages, {'role': 'user', 'content': '%s'}])"
    ask(plugins={name: hook("hermes_llm_prepare", "call", body % name) for name in "abc"})
    assert [message["content"] for message in server.requests[0].body["messages"]] == ["ping", "c", "b", "a"]


def test_who_calls_whom_cannot_be_changed(ask, server, caplog):
    """A plugin that changes caller, route or deadline of a call changes nothing."""
    body = "return replace(call, plugin_id='x', method='x', provider='x', model='x', timeout=1e-9)"
    result = ask(plugins={"acme": hook("hermes_llm_prepare", "call", body)})
    assert (result.audit["plugin_id"], server.requests[0].body["model"]) == ("caller", "fake-model")


def test_a_hook_is_told_who_is_asked(ask, server):
    """The call that a hook gets says which provider and model are asked first."""
    body = (
        "return replace(call, messages=[{'role': 'user', 'content': f'{call.provider} {call.model} {ctx.plugin_id}'}])"
    )
    ask(plugins={"acme": hook("hermes_llm_prepare", "ctx, call", body)})
    assert server.requests[0].body["messages"][0]["content"] == "custom fake-model acme"


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        pytest.param("raise RuntimeError('boom')", "RuntimeError: boom", id="it raises"),
        pytest.param("raise SystemExit(3)", "SystemExit: 3", id="it exits"),
        pytest.param("return 5", "int, which is no LlmCall", id="it returns a number"),
        pytest.param("return replace(call, messages=[])", "messages must be", id="it takes the messages away"),
        pytest.param("return replace(call, temperature=9)", "temperature must be", id="it overheats"),
        pytest.param("return replace(call, max_tokens=0)", "max_tokens must be", id="it leaves no room"),
        pytest.param("return replace(call, purpose=5)", "purpose must be text", id="its purpose is a number"),
        pytest.param("return replace(call, schema_prompt=['x'])", "schema_prompt must", id="its prompt is a list"),
        pytest.param("return replace(call, response_format='json')", "response_format must", id="its format is text"),
        pytest.param("return replace(call, response_format={})", "response_format must", id="its format has no type"),
        pytest.param(
            "return replace(call, response_format={'type': 'json_schema', 'json_schema': 5})",
            "json_schema must",
            id="its schema is a number",
        ),
        pytest.param(
            "return replace(call, response_format={'type': {1}})", "response_format must", id="its type is a set"
        ),
        pytest.param(
            "return replace(call, response_format={'type': 'x', 'y': {1}})",
            "what JSON can",
            id="it holds a set",
        ),
    ],
)
@pytest.mark.parametrize("shape", SHAPES)
def test_one_that_fails_is_passed_over_r01_04(ask, server, body, reason, shape):
    """A hook that fails is its plugin's blame, with the reason on its row, and the call is made as it was."""
    assert ask(plugins={"acme": hook("hermes_llm_prepare", "call", body, shape)}).text == "pong"
    assert reason in ask.host.plugin("acme").reason


def test_a_hook_that_fails_every_time_is_warned_of_once(ask, caplog):
    """However often a hook fails in one way, one warning names its plugin."""
    plugins = {"flop": hook("hermes_llm_prepare", "call", "raise RuntimeError('flop')")}
    ask(plugins=plugins)
    for _ in range(3):
        ask.host.llm("caller").complete(MESSAGES)
    warnings = [record for record in caplog.records if record.levelno == logging.WARNING]
    assert len([record for record in warnings if "plugin=flop" in record.getMessage()]) <= 1


@pytest.mark.parametrize("shape", SHAPES)
def test_a_call_may_be_answered(ask, server, shape):
    """A plugin's answer is used instead of the network, and attributed as it says."""
    body = "return Completion(text='canned', model='can-1', provider='shelf')"
    result = ask(plugins={"acme": hook("hermes_llm_answer", "call", body, shape)})
    assert (result.text, result.model, result.provider, server.requests) == ("canned", "can-1", "shelf", [])


def test_an_answer_that_names_nobody_is_the_routes(ask):
    """An answer without provider and model is attributed to those that would have been asked."""
    result = ask(plugins={"acme": hook("hermes_llm_answer", "call", "return Completion(text='canned')")})
    assert (result.provider, result.model) == ("custom", "fake-model")


def test_the_first_answer_wins(ask, server):
    """Answers are asked for in the order of the hooks until one comes; what is none is passed over."""
    plugins = {
        "a": hook("hermes_llm_answer", "call", "return Completion(text='a')"),
        "b": hook("hermes_llm_answer", "call", "return Completion(text='b')"),
        "c": hook("hermes_llm_answer", "call", "return 'no completion'"),
        "d": hook("hermes_llm_answer", "call", "return None"),
    }
    assert (ask(plugins=plugins).text, server.requests) == ("b", [])
    assert "no Completion" in ask.host.plugin("c").reason


NO_COMPLETIONS = {
    "its text is None": "text=None",
    "its text is bytes": "text=b'x'",
    "its model is None": "text='x', model=None",
    "its provider is a number": "text='x', provider=5",
    "its reasoning is None": "text='x', reasoning=None",
    "its usage is a mapping": "text='x', usage={'total_tokens': 5}",
    "its usage is None": "text='x', usage=None",
    "its usage is below 0": "text='x', usage=PluginLlmUsage(total_tokens=-5)",
    "its usage counts in words": "text='x', usage=PluginLlmUsage(input_tokens='many')",
    "its cost is no number": "text='x', usage=PluginLlmUsage(cost_usd=float('nan'))",
    "whether it has content is None": "text='x', has_content=None",
}


@pytest.mark.parametrize("fields", NO_COMPLETIONS.values(), ids=NO_COMPLETIONS)
def test_an_answer_of_wrong_types_is_passed_over(ask, server, fields):
    """A completion whose fields are not what they must be is its plugin's blame, and the provider is asked."""
    code = "from hermes_core.types.llm import PluginLlmUsage\n"
    assert (
        ask(plugins={"acme": code + hook("hermes_llm_answer", "call", f"return Completion({fields})")}).text == "pong"
    )
    assert "hermes_llm_answer raised it returned a Completion whose" in ask.host.plugin("acme").reason


def test_the_end_of_a_call_tells_who_answered_and_when_it_began(ask):
    """The listener is told the provider and the model that answered, and the time at which the call began."""
    code = """
heard = []
@hookimpl
def hermes_llm_prepare(call):
    return replace(call, started=1.0)
@hookimpl
def hermes_llm_done(call, completion):
    heard.extend([completion.provider, completion.model, call.started])
def register(ctx):
    ctx.register_command("heard", handler=lambda raw: repr(heard))
"""
    before = time.time()
    ask(plugins={"acme": code})
    provider, model, started = ast.literal_eval(ask.host.run_command("heard"))
    assert (provider, model, before - 0.01 <= started <= time.time()) == ("custom", "fake-model", True)


HEARS = """
heard = []
@hookimpl
{shape} hermes_llm_done(call, completion, error):
    heard.append((call.plugin_id, completion and completion.text, error and type(error).__name__))
def register(ctx):
    ctx.register_command("heard", handler=lambda raw: repr(heard))
"""


@pytest.mark.parametrize("shape", SHAPES)
def test_the_end_of_a_call_is_told(ask, shape):
    """Each finished call is told once, with its answer."""
    ask(plugins={"acme": HEARS.format(shape=SHAPES[shape])})
    assert ask.host.run_command("heard") == repr([("caller", "pong", None)])


def test_a_failure_is_told_too(ask, server):
    """A call that failed is told with its error, which the caller gets all the same."""
    server.queue_response("busy", status=500)
    with pytest.raises(ServerError):
        ask(plugins={"acme": HEARS.format(shape="def")})
    assert ask.host.run_command("heard") == repr([("caller", None, "ServerError")])


def test_a_call_that_was_not_let_in_is_not_told(ask):
    """What the gate refuses, or an argument spoils, never was a call."""
    with pytest.raises(PermissionError):
        ask(plugins={"acme": HEARS.format(shape="def")}, model="other")
    with pytest.raises(ValueError, match="temperature"):
        ask.host.llm("caller").complete(MESSAGES, temperature=9)
    assert ask.host.run_command("heard") == "[]"


def test_telling_that_fails_hides_nothing(ask, server):
    """A hook that raises when it is told changes neither an answer nor an error."""
    code = hook("hermes_llm_done", "call", "raise RuntimeError('deaf')")
    assert ask(plugins={"acme": code}).text == "pong"
    server.queue_response("busy", status=500)
    with pytest.raises(ServerError):
        ask.host.llm("caller").complete(MESSAGES)


def test_a_plain_hook_never_blocks_the_event_loop(home, load_host, server):
    """In an awaited call, a hook that blocks does so in a thread of its own: the loop goes on."""
    code = "import time\n" + hook("hermes_llm_prepare", "call", "time.sleep(0.3)")
    home.plugin("slow", "from hermes_core import hookimpl\n" + code, name="slow")
    host = load_host(config={**server.config, "plugins": {"enabled": ["slow"]}})

    async def count():
        ticks = 0
        call = asyncio.create_task(host.llm("caller").acomplete(MESSAGES))
        while not call.done():
            await asyncio.sleep(0.01)
            ticks += 1
        await call
        return ticks

    assert asyncio.run(count()) > 10


def test_an_async_hook_runs_within_a_running_loop(home, load_host, server):
    """A blocking call from within a running event loop still has its async hooks awaited."""
    code = hook("hermes_llm_prepare", "call", "return replace(call, max_tokens=3)", "async")
    home.plugin("acme", "from hermes_core import hookimpl\nfrom dataclasses import replace\n" + code, name="acme")
    host = load_host(config={**server.config, "plugins": {"enabled": ["acme"]}})

    async def call():
        return host.llm("caller").complete(MESSAGES)

    asyncio.run(call())
    assert server.requests[0].body["max_tokens"] == 3


def test_a_program_may_hook_in_too(server):
    """A program that embeds the host may offer hooks like a plugin, and hears of its own calls."""
    with Host.load(config=server.config) as host:
        assert host.llm("program").complete(MESSAGES).text == "pong"


BUDGETS = {"plugins": {"entries": {"caller": {"llm": {"max_calls_per_hour": 2}}}}}


@pytest.mark.parametrize("method", ["complete", "acomplete"])
def test_a_budget_is_held(load_host, server, method):
    """A plugin whose budget is used up is refused before anything is sent; others go on."""
    host = load_host(config={**server.config, **BUDGETS})

    def ask(plugin):
        answer = getattr(host.llm(plugin), method)(MESSAGES)
        return asyncio.run(answer) if method == "acomplete" else answer

    assert [ask("caller").text for _ in range(2)] == ["pong", "pong"]
    with pytest.raises(RuntimeError, match="max_calls_per_hour"):
        ask("caller")
    assert (ask("other").text, len(server.requests)) == ("pong", 3)


@pytest.mark.parametrize("method", ["complete", "acomplete"])
def test_a_budget_that_cannot_be_checked_in_time_is_an_error_that_says_why(load_host, server, method):
    """Where another process holds the ledger, a call with a budget ends within its time, and the error says why."""
    host = load_host(config={**server.config, **BUDGETS})
    host.home.mkdir(parents=True, exist_ok=True)

    def ask():
        answer = getattr(host.llm("caller"), method)(MESSAGES, timeout=1)
        return asyncio.run(answer) if method == "acomplete" else answer

    with closing(sqlite3.connect(host.home / "usage.db")) as other:
        other.execute("begin exclusive")
        with pytest.raises(BudgetExceededError, match=r"usage\.db") as caught:
            ask()
        assert ("another process holds it" in caught.value.hint, server.requests) == (True, [])
