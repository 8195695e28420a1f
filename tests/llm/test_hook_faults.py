"""A hook that goes wrong, in whatever way, costs its plugin a reason and the call nothing."""

import asyncio

import pytest

from hermes_core.errors import ProviderTimeoutError
from hermes_core.llm.async_driver import arun
from hermes_core.llm.steps import Block
from hermes_core.testing import FakeProvider

MESSAGES = [{"role": "user", "content": "ping"}]
IMPORTS = """
import asyncio, concurrent.futures, threading, time
from dataclasses import replace
from hermes_core import Completion, LlmCall, hookimpl
"""


@pytest.fixture
def server():
    """A running provider."""
    with FakeProvider() as server:
        yield server


@pytest.fixture(params=["complete", "acomplete"])
def ask(request, home, load_host, server):
    """Ask through a host that has loaded a plugin with this code."""

    def run(code, **arguments):
        home.plugin("acme", IMPORTS + code, name="acme")
        overlay = {**server.config, "plugins": {"enabled": ["acme"]}, "auxiliary": {"transient_retries": 0}}
        run.host = load_host(config=overlay)
        method = getattr(run.host.llm("caller"), request.param)
        if request.param == "acomplete":
            return asyncio.run(awaited(method(MESSAGES, **arguments)))
        try:
            return method(MESSAGES, **arguments)
        finally:
            release()

    async def awaited(answer):
        try:
            return await asyncio.wait_for(answer, 20)
        finally:
            release()  # before the loop waits for its threads

    def release():
        if "release" in run.host.commands:
            run.released = run.host.run_command("release")

    return run


RAISED = {
    "it stops an iteration": "raise StopIteration(5)",
    "it stops an asynchronous one": "raise StopAsyncIteration(5)",
    "it says that a future was cancelled": "raise concurrent.futures.CancelledError",
    "it says that its task was cancelled": "raise asyncio.CancelledError",
    "it ends a generator": "raise GeneratorExit",
    "it exits": "raise SystemExit(3)",
    "it raises what nobody knows": "raise type('Odd', (BaseException,), {})('odd')",
}


@pytest.mark.parametrize("body", RAISED.values(), ids=RAISED)
@pytest.mark.parametrize("shape", ["def", "async def"])
@pytest.mark.parametrize("name", ["hermes_llm_prepare", "hermes_llm_answer", "hermes_llm_done"])
def test_whatever_a_hook_raises_is_its_plugins_blame(ask, name, shape, body):
    """No error of a hook's own passes for the end of the call, of its task or of the program."""
    assert ask(f"@hookimpl\n{shape} {name}(call):\n    {body}\n").text == "pong"
    assert f"{name} raised" in ask.host.plugin("acme").reason


def test_a_hook_that_cancels_its_own_task_cancels_no_call(home, load_host, server):
    """A hook that cancels the task it runs in is blamed; the call goes on."""
    body = "    asyncio.current_task().cancel()\n    await asyncio.sleep(9)\n"
    code = f"@hookimpl\nasync def hermes_llm_prepare(call):\n{body}"
    home.plugin("acme", IMPORTS + code, name="acme")
    host = load_host(config={**server.config, "plugins": {"enabled": ["acme"]}})
    assert asyncio.run(host.llm("caller").acomplete(MESSAGES)).text == "pong"
    assert "nobody cancelled the call" in host.plugin("acme").reason


def test_a_call_that_is_cancelled_ends_while_a_hook_is_awaited(home, load_host, server):
    """Cancelling a call cancels it, and its hook: neither is taken for the plugin's fault."""
    code = "@hookimpl\nasync def hermes_llm_prepare(call):\n    await asyncio.sleep(60)\n"
    home.plugin("acme", IMPORTS + code, name="acme")
    host = load_host(config={**server.config, "plugins": {"enabled": ["acme"]}})

    async def cancel():
        call = asyncio.create_task(host.llm("caller").acomplete(MESSAGES))
        await asyncio.sleep(0.3)
        call.cancel()
        await asyncio.wait([call])
        return call.cancelled()

    assert (asyncio.run(cancel()), host.plugin("acme").reason, server.requests) == (True, "", [])


@pytest.mark.parametrize("error", [StopIteration("five"), GeneratorExit("five"), SystemExit("five")], ids=repr)
def test_a_function_in_a_thread_may_raise_what_no_future_carries(error):
    """What a function in a thread raises reaches the flow of an awaited call, as itself or by its name."""

    def function():
        raise error

    def flow():
        try:
            yield Block(function)
        except RuntimeError as caught:
            return repr(caught)

    caught = asyncio.run(asyncio.wait_for(arun(flow(), None), 20))
    assert caught == f"RuntimeError('{type(error).__name__}: five')"


WAITS = """
released, ended = threading.Event(), []
def release(_raw):
    known = repr(ended)
    released.set()
    return known
def register(ctx):
    ctx.register_command("release", handler=release)
@hookimpl
"""
STUBBORN = """
async def {name}(call):
    until = time.monotonic() + 10
    while not released.is_set() and time.monotonic() < until:
        try:
            await asyncio.to_thread(released.wait, 10)
        except asyncio.CancelledError:
            pass
    ended.append(1)
"""


@pytest.mark.parametrize("name", ["hermes_llm_prepare", "hermes_llm_answer"])
def test_no_async_hook_makes_a_call_outlast_its_time(ask, name):
    """When the time of a call is over it ends, while the hook is still at work, and the hook is blamed."""
    with pytest.raises(ProviderTimeoutError):
        ask(WAITS + STUBBORN.format(name=name), timeout=0.5)
    assert ask.released == "[]"
    assert f"{name} raised TimeoutError" in ask.host.plugin("acme").reason


@pytest.mark.parametrize("ask", ["acomplete"], indirect=True)
def test_an_awaited_call_waits_for_no_thread_of_a_hook(ask):
    """When the time of an awaited call is over it ends, while the thread of a plain hook is still at work."""
    code = "def hermes_llm_done(call):\n    released.wait(10)\n    ended.append(1)\n"
    assert ask(WAITS + code, timeout=0.5).text == "pong"
    assert ask.released == "[]"
    assert "hermes_llm_done raised TimeoutError" in ask.host.plugin("acme").reason


def test_an_argument_with_a_default_of_its_own_is_left_alone(ask):
    """A hook gets what the specification knows; another argument keeps its default, wherever it stands."""
    code = """
heard = []
@hookimpl
def hermes_llm_done(call, sink=heard, completion=None, *, more=7):
    sink.append((call.plugin_id, completion.text, more))
def register(ctx):
    ctx.register_command("heard", handler=lambda raw: repr(heard))
@hookimpl
def hermes_commands(ctx, extra=()):
    return extra
"""
    ask(code)
    assert (ask.host.run_command("heard"), ask.host.plugin("acme").reason) == ("[('caller', 'pong', 7)]", "")


CALLS = {
    "a plain hook": "def {name}(ctx):\n    ctx.llm.complete(INNER)\n",
    "an async hook": "async def {name}(ctx):\n    await ctx.llm.acomplete(INNER)\n",
    "an async hook that blocks": "async def {name}(ctx):\n    ctx.llm.complete(INNER)\n",
}


@pytest.mark.parametrize("code", CALLS.values(), ids=CALLS)
@pytest.mark.parametrize("name", ["hermes_llm_prepare", "hermes_llm_answer", "hermes_llm_done"])
def test_a_hook_that_calls_the_model_is_not_asked_about_that(ask, server, name, code):
    """A call from within a hook around a call does not run that plugin's hooks again."""
    ask("INNER = [{'role': 'user', 'content': 'inner'}]\n@hookimpl\n" + code.format(name=name))
    sent = sorted(request.body["messages"][0]["content"] for request in server.requests)
    assert (sent, ask.host.plugin("acme").reason) == (["inner", "ping"], "")


def test_calls_of_hooks_are_traced(ask, caplog):
    """What HERMES_TRACE_HOOKS shows has the hooks around a model call too."""
    with caplog.at_level("DEBUG", "hermes_core.hooks"):
        ask("@hookimpl\ndef hermes_llm_prepare(call):\n    pass\n")
    assert "call hook=hermes_llm_prepare plugin=acme returned=NoneType" in caplog.text
