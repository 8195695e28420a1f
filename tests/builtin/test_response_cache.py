"""``response-cache``: what is kept, for whom and how long, and that it never costs a call."""

import asyncio
import os
import sqlite3
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from hermes_core.errors import ServerError, StructuredOutputError
from hermes_core.llm.ledger import read_usage_of
from hermes_core.testing.fake_provider import completion_body

MESSAGES = [{"role": "user", "content": "ping"}]
JSON = {"instructions": "Extract.", "input": [{"type": "text", "text": "a"}], "json_schema": {"required": ["a"]}}
FILE = "plugin-data/llm/response-cache/answers.db"


@pytest.fixture
def cached(host_with):
    """Load a host with the cache, and these settings."""

    def load(*, shared=None, **settings):
        return host_with("response-cache", **(shared or {}), **settings)

    return load


@pytest.fixture
def change(home):
    """Change the kept answers behind the plugin's back."""

    def run(statement):
        connection = sqlite3.connect(home.path / FILE)
        with connection:
            connection.execute(statement)
        connection.close()

    return run


def test_the_same_call_is_answered_once(cached, ask, server):
    """A call that was answered before is answered from the file, in a later process too."""
    first = ask(cached())
    again = ask(cached())
    assert (first.text, again.text, len(server.requests)) == ("pong", "pong", 1)


def test_a_kept_answer_says_so(cached, ask, home):
    """Result, audit line and ledger show a kept answer as the cache's, with nothing spent; the model stays."""
    host = cached()
    ask(host)
    again = ask(host)
    host.close()
    usage = again.usage
    assert (again.provider, again.model, usage.total_tokens, usage.cost_usd) == ("response-cache", "fake-model", 0, 0)
    lines = (home.path / "logs/agent.log").read_text(encoding="utf-8").splitlines()
    assert "provider=response-cache model=fake-model" in lines[-1]
    spent = {row["provider"]: row["total_tokens"] for row in read_usage_of(home.path, "provider")}
    assert spent == {"custom": 6, "response-cache": 0}


def test_blocking_and_awaited_calls_share_their_answers(cached, server):
    """What a blocking call was answered, an awaited one is answered too."""
    llm = cached().llm("caller")
    llm.complete(MESSAGES)
    assert (asyncio.run(llm.acomplete(MESSAGES)).provider, len(server.requests)) == ("response-cache", 1)


def test_it_is_off_unless_it_is_enabled(load_host, server, ask):
    """A host that does not name the plugin asks the provider each time."""
    host = load_host(config=server.config)
    ask(host)
    ask(host)
    assert (len(server.requests), host.plugin("response-cache").state) == (2, "off")


@pytest.mark.parametrize(
    "other",
    [
        pytest.param({"messages": [{"role": "user", "content": "pang"}]}, id="of other messages"),
        pytest.param({"plugin": "another"}, id="of another plugin"),
        pytest.param({"max_tokens": 5}, id="with another limit"),
        pytest.param({"temperature": 0}, id="with another temperature"),
        pytest.param(JSON, id="that wants JSON"),
    ],
)
def test_another_call_is_asked(cached, ask, server, other):
    """Whatever shapes the answer, and whoever asks, makes it another call."""
    server.answer('{"a": 1}')
    host = cached()
    ask(host)
    ask(host, **other)
    assert len(server.requests) == 2


def test_another_model_is_asked(cached, ask, server):
    """The answer of one model is not given for another."""
    ask(cached())
    ask(cached(shared={"model": {"default": "other-model"}}))
    assert len(server.requests) == 2


@pytest.mark.parametrize(
    ("settings", "asked"), [pytest.param({}, 2, id="unless"), pytest.param({"sampled": True}, 1, id="when")]
)
def test_calls_that_want_variety_are_kept_only(cached, ask, server, settings, asked):
    """An answer at a temperature above 0 is kept only when the operator says so."""
    host = cached(**settings)
    for _ in range(2):
        ask(host, temperature=0.7)
    assert len(server.requests) == asked


def cut_off():
    """An answer that ran into its limit."""
    body = completion_body("po")
    body["choices"][0]["finish_reason"] = "length"
    return body


@pytest.mark.parametrize(
    "body", [pytest.param(cut_off(), id="one that was cut off"), pytest.param(completion_body(""), id="an empty one")]
)
def test_an_answer_that_is_not_whole_is_not_kept(cached, ask, server, body):
    """What ended before its end, or says nothing, is asked for again."""
    server.queue_response(body)
    host = cached()
    ask(host)
    assert (ask(host).text, len(server.requests)) == ("pong", 2)


def test_a_failure_is_not_kept(cached, ask, server):
    """After an error, the provider is asked again."""
    server.queue_response("busy", status=500)
    host = cached()
    with pytest.raises(ServerError):
        ask(host)
    assert ask(host).text == "pong"


def test_text_is_not_kept_where_json_was_wanted(cached, ask, server):
    """An answer that is no JSON is asked for again; in a code fence it is JSON."""
    server.queue("Sorry.", '```json\n{"a": 1}\n```')
    host = cached()
    assert [ask(host, **JSON).parsed for _ in range(3)] == [None, {"a": 1}, {"a": 1}]
    assert len(server.requests) == 2


def test_an_answer_of_the_wrong_shape_is_not_kept(cached, ask, server):
    """JSON that breaks its schema is asked for again."""
    server.queue('{"b": 1}', '{"a": 1}')
    host = cached()
    with pytest.raises(StructuredOutputError):
        ask(host, **JSON)
    assert ask(host, **JSON).parsed == {"a": 1}


def test_a_kept_answer_that_is_of_no_use_is_forgotten(cached, ask, server, change):
    """A kept answer that the caller cannot use fails one call, and the next one is asked."""
    server.answer('{"a": 1}')
    host = cached()
    ask(host, **JSON)
    change("update answers set answer = replace(answer, '\\\"a\\\"', '\\\"b\\\"')")
    with pytest.raises(StructuredOutputError):
        ask(host, **JSON)
    assert (ask(host, **JSON).parsed, len(server.requests)) == ({"a": 1}, 2)


def test_the_answer_of_another_plugin_is_not_kept(cached, ask, home, server):
    """Only what the provider said is kept, not what a plugin says in its place."""
    code = (
        "from hermes_core import Completion, hookimpl\n@hookimpl\ndef hermes_llm_answer(): return Completion(text='x')"
    )
    home.plugin("canned", code, name="canned")
    assert ask(cached(shared={"enabled": ["canned"]})).text == "x"
    assert (ask(cached()).text, len(server.requests)) == ("pong", 1)


def test_an_old_answer_is_asked_for_again(cached, ask, server, change):
    """An answer counts for ``ttl`` seconds."""
    host = cached(ttl=60)
    ask(host)
    change("update answers set at = at - 59")
    ask(host)
    assert len(server.requests) == 1
    change("update answers set at = at - 2")
    ask(host)
    assert len(server.requests) == 2


def test_the_oldest_answers_make_room(cached, ask, server):
    """All answers together fill no more than ``max_mb``; the newest are there."""
    server.answer("x" * 10_000)
    host = cached(max_mb=0.2)
    for number in range(40):
        ask(host, messages=[{"role": "user", "content": f"{number}"}])
    ask(host, messages=[{"role": "user", "content": "39"}])
    assert len(server.requests) == 40
    ask(host, messages=[{"role": "user", "content": "0"}])
    assert len(server.requests) == 41


def test_the_file_does_not_grow(cached, ask, server, home):
    """The file itself stays near ``max_mb``, however much goes through it."""
    server.answer("x" * 10_000)
    host = cached(max_mb=0.2)
    for number in range(60):
        ask(host, messages=[{"role": "user", "content": f"{number}"}])
    host.close()
    assert (home.path / FILE).stat().st_size < 300_000


def test_the_files_are_their_owners_alone(cached, ask, home):
    """No other user may read what was answered."""
    ask(cached())
    folder = (home.path / FILE).parent
    modes = {path.name: path.stat().st_mode & 0o777 for path in folder.iterdir()}
    assert (set(modes.values()), "answers.db-wal" in modes) == ({0o600}, True)


DAMAGED = {
    "garbage": lambda path: path.write_bytes(b"garbage " * 1000),
    "a file cut short": lambda path: path.write_bytes(b"SQLite format 3\0" + b"\1" * 100),
    "another program's": lambda path: (
        sqlite3.connect(path).executescript("create table answers (x)").connection.close()
    ),
}


@pytest.mark.parametrize("damage", DAMAGED)
def test_a_damaged_file_costs_no_call(cached, ask, home, server, damage):
    """Without a usable file calls go on, and the plugin's row names the file and the remedy."""
    path = home.write(FILE, "")
    DAMAGED[damage](path)
    host = cached()
    assert [ask(host).text for _ in range(2)] == ["pong", "pong"]
    reason = host.plugin("response-cache").reason
    assert (len(server.requests), str(path) in reason, "hermes response-cache clear" in reason) == (2, True, True)


def test_a_file_that_is_damaged_meanwhile_costs_no_call(cached, ask, home):
    """A file that another program writes over while it is in use is no answer, and no error."""
    host = cached()
    ask(host)
    (home.path / FILE).write_bytes(b"garbage " * 4096)
    assert ask(host).text == "pong"


READ_ONLY = """
import tempfile
from hermes_core.testing import FakeProvider

def calls(folder):
    with FakeProvider() as server:
        with Host.load(folder, {**server.config, "plugins": {"enabled": ["response-cache"]}}) as host:
            for _ in range(2):
                print(host.llm("caller").complete([{"role": "user", "content": "ping"}]).provider, end=" ")
            print(host.plugin("response-cache").reason)

with tempfile.TemporaryDirectory() as folder:
    calls(folder)
"""


def test_a_home_that_may_not_be_written_costs_no_call(as_nobody):
    """In a home that the user may only read, calls are answered as without the cache."""
    as_nobody.folder.chmod(0o555)
    done = as_nobody("import sys\ncalls(sys.argv[1])", as_nobody.folder, first=READ_ONLY)
    kept, not_kept = done.stdout.splitlines()
    assert kept == "custom response-cache "
    assert not_kept.startswith("custom custom ")
    assert "Permission denied" in not_kept


@pytest.mark.parametrize("setting", ["ttl", "max_mb"])
@pytest.mark.parametrize("value", ["soon", -1, True])
def test_a_setting_that_is_no_number_costs_no_call(cached, ask, setting, value):
    """A wrong setting is named on the plugin's row, and calls go on."""
    host = cached(**{setting: value})
    assert ask(host).text == "pong"
    assert f"plugins.entries.response-cache.settings.{setting}" in host.plugin("response-cache").reason


def test_many_threads_use_it_at_once(cached, server):
    """Calls of many threads are each answered, and each different one is asked at least once, and kept."""
    llm = cached().llm("caller")

    def call(number):
        return llm.complete([{"role": "user", "content": str(number % 10)}]).text

    with ThreadPoolExecutor(8) as pool:
        assert {*pool.map(call, range(200))} == {"pong"}
    before = len(server.requests)
    for number in range(10):
        call(number)
    assert len(server.requests) == before


def test_a_file_that_another_process_is_just_making_is_waited_for(cached, home, server):
    """Who opens the file while another process sets it up waits until that is done."""
    path = home.write(FILE, "")
    maker = sqlite3.connect(path)
    maker.execute("begin immediate")
    llm = cached().llm("caller")
    with ThreadPoolExecutor(1) as thread:
        call = thread.submit(llm.complete, MESSAGES)
        time.sleep(0.1)
        maker.rollback()
        maker.close()
        call.result()
    assert (llm.complete(MESSAGES).provider, len(server.requests)) == ("response-cache", 1)


CALLS = """
import sys
from hermes_core import Host
config = {"model": {"provider": "custom", "base_url": sys.argv[1], "default": "m"},
          "plugins": {"enabled": ["response-cache"]}}
with Host.load(config=config) as host:
    llm = host.llm("caller")
    for number in range(40):
        llm.complete([{"role": "user", "content": str(number)}])
    assert not host.plugin("response-cache").reason, host.plugin("response-cache").reason
"""


def test_several_processes_use_it_at_once(run_python, server, home, cached):
    """Processes that write at the same time find what the others have written, and lose nothing."""
    with ThreadPoolExecutor(3) as pool:
        ended = [*pool.map(lambda _: run_python(CALLS, server.base_url), range(3))]
    assert [(done.returncode, done.stderr) for done in ended] == [(0, "")] * 3
    before = len(server.requests)
    assert run_python(CALLS, server.base_url).returncode == 0
    assert len(server.requests) == before


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this platform")
def test_a_forked_child_uses_it_too(run_python, server):
    """A child made by fork reads what its parent kept and keeps more, and the parent goes on."""
    script = """
    import os, sys
    from hermes_core import Host
    config = {"model": {"provider": "custom", "base_url": sys.argv[1], "default": "m"},
              "plugins": {"enabled": ["response-cache"]}}
    host = Host.load(config=config)
    def call(text):
        return host.llm("caller").complete([{"role": "user", "content": text}]).provider
    call("parent")
    child = os.fork()
    if not child:
        os._exit((call("parent"), call("child")) != ("response-cache", "custom"))
    _, status = os.waitpid(child, 0)
    print(os.waitstatus_to_exitcode(status), call("child"), call("parent"), host.plugin("response-cache").reason)
    """
    assert run_python(script, server.base_url).stdout.split() == ["0", "response-cache", "response-cache"]


def test_a_busy_file_never_blocks_the_event_loop(cached, home, server, until):
    """While another program writes the file, an awaited call waits and the event loop does not."""
    host = cached()
    host.llm("caller").complete([{"role": "user", "content": "first"}])

    async def main():
        writer = sqlite3.connect(home.path / FILE)
        writer.execute("begin immediate")
        call = asyncio.create_task(host.llm("caller").acomplete(MESSAGES))
        await until(lambda: len(server.requests) == 2)
        await asyncio.sleep(0.05)
        assert not call.done()
        writer.rollback()  # the loop, were it blocked, would not come to this before the cache has given up
        writer.close()
        await call

    asyncio.run(main())
    assert (host.llm("caller").complete(MESSAGES).provider, host.plugin("response-cache").reason) == (
        "response-cache",
        "",
    )


def test_it_lets_the_file_go(cached, home):
    """A host that closes lets go of the file: what SQLite keeps beside it is gone."""
    host = cached()
    host.llm("caller").complete(MESSAGES)
    host.close()
    assert [path.name for path in (home.path / FILE).parent.iterdir()] == ["answers.db"]
