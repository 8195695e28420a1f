"""The operator's record: one line a call, whose fields, order and file do not change."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import re
import shutil
import tempfile
import threading
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes_core import StructuredOutputError
from hermes_core.errors import AuthenticationError, HermesError
from hermes_core.llm import audit
from hermes_core.llm.audit import AuditLine

MESSAGES = [{"role": "user", "content": "ping"}]
LOGGER = logging.getLogger("agent.plugin_llm")
ANY_TEXT = st.text() | st.text(st.sampled_from('ab\ud800\udfff\u2028\x85\r\n\x1c" ='))
CHAT = "plugin provider model purpose tokens agent profile input output cost ms attempts fallback status".split()
STRUCTURED = [*CHAT[:4], "content_type", *CHAT[4:]]


def test_a_line_has_its_form(call, lane):
    """Time, level, logger, event word, then the fields in the published order."""
    lane.server.answer("{}")
    arguments = {"json_mode": True} if call.is_structured else {}
    call(lane.llm(plugin="tools/mine"), purpose="hooks.rewrite", **arguments)
    (line,) = lane.log_text().splitlines()
    found = re.fullmatch(
        r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} INFO agent\.plugin_llm: "
        rf"plugin_llm\.{call.method} plugin=tools/mine provider=custom model=fake-model purpose=hooks\.rewrite "
        + ("content_type=json " if call.is_structured else "")
        + r"tokens=6 agent=default profile= input=5 output=1 cost= ms=\d+ attempts=1 fallback=0 status=ok",
        line,
    )
    assert found, line


def test_each_call_writes_one_line_r28_01(call, lane):
    """Three calls, three lines, in all four methods."""
    llm = lane.llm()
    for number in range(3):
        call(llm, purpose=f"n{number}")
    assert [(line["event"], line["purpose"]) for line in lane.log()] == [
        (call.method, "n0"), (call.method, "n1"), (call.method, "n2"),
    ]  # fmt: skip


def test_the_fields_stand_in_order(call, lane):
    """A reader may count on the order of the fields."""
    call(lane.llm())
    (line,) = lane.log()
    assert [*line] == ["event", *(STRUCTURED if call.is_structured else CHAT)]


FAILURES = {
    "provider-refuses-the-key": (401, {}, "AuthenticationError"),
    "provider-is-broken": (500, {}, "ServerError"),
    "provider-is-busy": (429, {}, "RateLimitError"),
    "answer-is-none": (200, {"choices": []}, "ResponseFormatError"),
    "answer-is-an-error": (200, {"error": "quota"}, "ResponseFormatError"),
    "answer-is-no-json": (200, "<html>", "ResponseFormatError"),
}


@pytest.mark.parametrize(("status", "body", "error"), FAILURES.values(), ids=FAILURES)
def test_a_failed_call_writes_its_line_too_r28_07(call, lane, status, body, error):
    """A call that fails leaves the same line, with no tokens, and the error's class as its status."""
    lane.server.queue_response(body, status=status)
    with pytest.raises(HermesError):
        call(lane.llm(), purpose="why")
    (line,) = lane.log()
    expected = {
        "event": call.method, "plugin": "p", "provider": "custom", "model": "fake-model", "purpose": "why",
        "tokens": "0", "input": "0", "output": "0", "attempts": "1", "status": f"error:{error}",
    }  # fmt: skip
    assert {name: line[name] for name in expected} == expected


MISTAKES = {
    "override-refused": ("complete", {"model": "other"}),
    "override-of-the-wrong-type": ("complete", {"model": ["other"]}),
    "override-blank": ("complete", {"model": " "}),
    "messages-malformed": ("complete", {"messages": []}),
    "number-malformed": ("complete", {"max_tokens": 0}),
    "instructions-empty": ("structured", {"instructions": ""}),
    "input-empty": ("structured", {"input": []}),
    "block-malformed": ("structured", {"input": [5]}),
    "schema-invalid": ("structured", {"json_schema": {"type": "nope"}}),
}


@pytest.mark.parametrize(("method", "arguments"), MISTAKES.values(), ids=MISTAKES)
def test_a_call_that_was_refused_writes_its_line_too_r28_07(way, lane, method, arguments):
    """Whatever is wrong with a call, it leaves one line with plugin, purpose and the error's class."""
    try:
        getattr(way, method)(lane.llm(), purpose="why", **arguments)
    except Exception as error:  # noqa: BLE001 - of whatever class, the line has to name it
        raised = type(error).__name__
    assert [(line["plugin"], line["purpose"], line["status"]) for line in lane.log()] == [
        ("p", "why", f"error:{raised}")
    ]


def test_a_missing_key_leaves_a_line(way, lane):
    """A call that found no credential is in the record."""
    host = lane.bare_host({"model": {"provider": "openrouter"}})
    with pytest.raises(HermesError):
        way.complete(host.llm("p"))
    assert [line["status"] for line in lane.log()] == ["error:MissingCredentialError"]


def test_a_breach_of_the_schema_leaves_a_line_with_its_tokens(way, lane):
    """A call whose answer broke the schema was paid for, and its line tells so."""
    lane.server.answer("[]")
    with pytest.raises(StructuredOutputError):
        way.structured(lane.llm(), json_schema={"type": "object"})
    (line,) = lane.log()
    assert [line[name] for name in ("tokens", "input", "output", "content_type", "status")] == [
        "6", "5", "1", "text", "error:StructuredOutputError",
    ]  # fmt: skip


def test_a_cancelled_call_leaves_a_line(lane, raw_server):
    """A call whose task is cancelled leaves its one line, which counts the request that was under way."""
    arrived, go_on = threading.Event(), threading.Event()
    server = raw_server(lambda _connection: (arrived.set(), go_on.wait(30)))
    llm = lane.bare_host(server.config).llm("p")

    async def main() -> None:
        task = asyncio.create_task(llm.acomplete(MESSAGES, timeout=30, purpose="why"))
        await asyncio.to_thread(arrived.wait, 30)
        task.cancel()
        await asyncio.wait([task])

    asyncio.run(main())
    go_on.set()
    found = [(line["purpose"], line["status"], line["attempts"]) for line in lane.log()]
    assert found == [("why", "error:CancelledError", "1")]


@pytest.mark.parametrize(
    ("purpose", "written"),
    [
        pytest.param("", "purpose= ", id="nothing"),
        pytest.param("hooks.error-rewrite", "purpose=hooks.error-rewrite ", id="plain"),
        pytest.param("two words", 'purpose="two words" ', id="blank-is-quoted"),
        pytest.param("status=ok", 'purpose="status=ok" ', id="equals-sign-is-quoted"),
        pytest.param('say "hi"', "purpose=\"say 'hi'\" ", id="quotes-are-changed"),
        pytest.param('"', 'purpose="\'" ', id="one-quote"),
        pytest.param("x\nINFO fake", 'purpose="x INFO fake" ', id="newline-becomes-a-blank-r20_11"),
        pytest.param(
            "a\r\n\tb\x00c\x1bd\x7fe\x85f\u2028g", 'purpose="a b c d e f g" ', id="controls-become-blanks-r20_11"
        ),
        pytest.param("日本語", "purpose=日本語 ", id="other-letters-stay"),
        pytest.param("x" * 10_000, f"purpose={'x' * 200} ", id="10-kB-become-200-characters-r20_11"),
    ],
)
def test_a_purpose_cannot_break_the_line_r20_11(way, lane, purpose, written):
    """Control characters become blanks, what could be misread is quoted, and the length is bounded."""
    way.complete(lane.llm(), purpose=purpose)
    (line,) = lane.log_text().splitlines()
    assert written in line
    assert len(line) < 800


@pytest.mark.parametrize("plugin", ["x\nINFO fake", "x status=ok", "y" * 10_000], ids=["newline", "fields", "10-kB"])
def test_a_plugin_id_cannot_break_the_line_r20_11(way, lane, plugin):
    """A plugin's id is as little trusted as its purpose."""
    way.complete(lane.llm(plugin=plugin))
    (line,) = lane.log_text().splitlines()
    assert len(line) < 800
    assert len(lane.log()) == 1
    assert lane.log()[0]["provider"] == "custom"


def test_a_providers_name_for_its_model_cannot_break_the_line_r20_11(way, lane):
    """What a provider calls its model is as little trusted."""
    body = {"model": "m\nINFO fake status=ok " + "x" * 10_000, "choices": [{"message": {"content": "hi"}}]}
    lane.server.queue_response(body)
    way.complete(lane.llm())
    (line,) = lane.log_text().splitlines()
    assert len(line) < 800


@settings(database=None, deadline=None, max_examples=200)
@given(ANY_TEXT, ANY_TEXT)
def test_any_text_makes_one_line_that_can_be_written_r20_11(purpose, model):
    """Whatever text a plugin or a provider gives, the line is one line of bounded length, and can be encoded."""
    line = str(AuditLine(event="complete", plugin="p", purpose=purpose, model=model))
    assert line.splitlines() == [line]
    assert len(line) < 1200
    assert line.encode("utf-8")


@pytest.mark.parametrize("place", ["purpose", "model-of-the-provider"])
def test_half_a_surrogate_does_not_end_the_record(way, lane, place):
    """Text that UTF-8 cannot hold costs its character, not the record of this and every later call."""
    if place == "model-of-the-provider":
        lane.server.queue_response('{"model": "m\\ud800", "choices": [{"message": {"content": "hi"}}]}')
    llm = lane.llm()
    way.complete(llm, purpose="x\ud800" if place == "purpose" else "x")
    way.complete(llm, purpose="after")
    assert len(lane.log()) == 2
    assert lane.log()[1]["purpose"] == "after"


AUDIT_KEYS = {"plugin_id", "purpose", "profile"}


def test_the_result_mirrors_the_line(call, lane):
    """``result.audit`` holds plugin, purpose and profile; a structured result the schema's name too."""
    answer = call(lane.llm(), purpose="why")
    expected = {"plugin_id": "p", "purpose": "why", "profile": ""}
    if call.is_structured:
        expected["schema_name"] = ""
    assert {name: answer.audit[name] for name in expected} == expected
    assert ("schema_name" in answer.audit) is call.is_structured
    assert json.loads(json.dumps(answer.audit)) == answer.audit


def test_a_results_audit_is_its_own(way, lane):
    """What a plugin does to one result's audit is seen in no other."""
    llm = lane.llm()
    first = way.complete(llm, purpose="why")
    first.audit.clear()
    assert way.complete(llm, purpose="why").audit["purpose"] == "why"


def test_the_log_never_holds_what_was_said(call, lane):
    """Neither the conversation, nor schema, nor answer is in the record."""
    lane.server.answer("the-answer")
    arguments = {"instructions": "the-question", "json_schema": {"title": "the-schema"}} if call.is_structured else {}
    if not call.is_structured:
        arguments["messages"] = [{"role": "user", "content": "the-question"}]
    call(lane.llm(), **arguments)
    assert not re.search("the-(question|answer|schema)", lane.log_text())


def test_two_homes_keep_their_own_records(way, lane, tmp_path):
    """Hosts of two homes in one process write each to its own file."""
    other = tmp_path / "other"
    one, two = lane.host(), lane.bare_host(lane.server.config, home=other)
    way.complete(one.llm("p"), purpose="one")
    way.complete(two.llm("p"), purpose="two")
    way.complete(one.llm("p"), purpose="one-again")
    assert [line["purpose"] for line in lane.log()] == ["one", "one-again"]
    assert [line["purpose"] for line in lane.log(other)] == ["two"]


def test_two_hosts_of_one_home_write_each_line_once(way, lane):
    """Hosts that share a home share its file, and no line comes twice."""
    one, two = lane.host(), lane.host()
    way.complete(one.llm("p"), purpose="one")
    way.complete(two.llm("p"), purpose="two")
    one.close()
    way.complete(two.llm("p"), purpose="two-again")
    assert [line["purpose"] for line in lane.log()] == ["one", "two", "two-again"]


def test_two_spellings_of_one_home_share_its_record(way, lane, tmp_path):
    """A home reached by a link has one record; no line is lost or doubled."""
    link = tmp_path / "link"
    link.symlink_to(lane.home)
    one, two = lane.host(), lane.bare_host(lane.server.config, home=link)
    way.complete(one.llm("p"), purpose="one")
    way.complete(two.llm("p"), purpose="two")
    assert [line["purpose"] for line in lane.log()] == ["one", "two"]


def test_a_host_leaves_logging_as_it_found_it(way, lane):
    """The handler goes with the last host of its home, and the root logger is never touched."""
    before = [*LOGGER.handlers], [*logging.getLogger().handlers], logging.getLogger().level
    host = lane.host()
    way.complete(host.llm("p"))
    assert len(LOGGER.handlers) == len(before[0]) + 1
    host.close()
    assert ([*LOGGER.handlers], [*logging.getLogger().handlers], logging.getLogger().level) == before


def test_no_call_goes_unrecorded_after_close(way, lane):
    """A plugin that calls on after its host was closed is refused, or recorded like any other."""
    host = lane.host()
    llm = host.llm("p")
    host.close()
    with suppress(HermesError):
        way.complete(llm, purpose="late")
    assert [line["purpose"] for line in lane.log()] == ["late"] * len(lane.server.requests)


def test_closing_twice_does_nothing(way, lane):
    """A host closed twice takes no other host's handler away."""
    one, two = lane.host(), lane.host()
    way.complete(one.llm("p"))
    way.complete(two.llm("p"))
    one.close()
    one.close()
    way.complete(two.llm("p"), purpose="still-here")
    assert lane.log()[-1]["purpose"] == "still-here"


def test_loading_a_host_begins_no_log(lane):
    """A home gets its log with the first call, not before."""
    lane.host()
    assert not (lane.home / "logs").exists()


SWITCHES = {
    "all-logging-switched-off": "logging.disable(logging.CRITICAL)",
    "loggers-disabled-by-a-configuration": "logging.config.dictConfig({'version': 1})",
    "logger-configured": "logging.config.dictConfig({'version': 1, 'loggers': {log.name: {'level': 'ERROR'}}})",
    "level-raised": "log.setLevel(logging.CRITICAL)",
    "filter": "log.addFilter(lambda record: False)",
    "handler-taken-away": "log.handlers.clear()",
    "handlers-closed": "logging.shutdown()",
}


@pytest.mark.parametrize("switch", SWITCHES.values(), ids=SWITCHES)
def test_nothing_in_a_programs_logging_hides_the_record(lane, script, switch):
    """Whatever a program that embeds the host does to logging, each call is in the home's record, once."""
    text = f"""
        import logging, logging.config, sys
        from hermes_core import Host
        log = logging.getLogger("agent.plugin_llm")
        config = {{"model": {{"provider": "custom", "base_url": sys.argv[2], "default": "m"}}}}
        with Host.load(sys.argv[1], config=config) as host:
            for purpose in ("before", "after"):
                host.llm("p").complete([{{"role": "user", "content": "ping"}}], purpose=purpose)
                {switch}
    """
    script(text, lane.home, lane.server.base_url)
    assert [line["purpose"] for line in lane.log()] == ["before", "after"]


def test_other_handlers_get_the_same_line(call, lane, caplog):
    """A program's own handlers see each call once, as the record has it."""
    call(lane.llm(), purpose="why")
    (record,) = [record for record in caplog.records if record.name == LOGGER.name]
    assert (record.levelname, record.hermes_home) == ("INFO", str(lane.home))
    assert lane.log_text().endswith(f"INFO agent.plugin_llm: {record.getMessage()}\n")


def test_a_call_under_way_at_close_is_recorded(lane, raw_server):
    """A call that ends after its host was closed leaves its line, and no file open."""
    arrived, go_on = threading.Event(), threading.Event()

    def answer() -> str:
        arrived.set()
        go_on.wait(30)
        return "pong"

    host = lane.bare_host(raw_server.answering(answer).config)
    thread = threading.Thread(target=host.llm("p").complete, args=(MESSAGES,), kwargs={"purpose": "late"})
    thread.start()
    arrived.wait(30)
    file = LOGGER.handlers[-1]
    host.close()
    go_on.set()
    thread.join()
    assert [(line["purpose"], line["status"]) for line in lane.log()] == [("late", "ok")]
    assert file._file == -1


@pytest.mark.parametrize("level", ["WARNING", "ERROR", "CRITICAL"])
def test_no_level_hides_the_record(way, lane, level):
    """The record is written whatever ``logging.level`` says."""
    way.complete(lane.llm({"logging": {"level": level}}))
    assert len(lane.log()) == 1


def test_the_record_is_rotated(way, lane):
    """The file is turned over at its size, and as many old ones are kept as configured."""
    audit.attach(lane.home, max_bytes=2000, backups=2)  # hosts of the home share this handler
    try:
        llm = lane.llm()
        for number in range(40):
            way.complete(llm, purpose=f"n{number}")
    finally:
        audit.detach(lane.home)
    files = sorted((lane.home / "logs").iterdir())
    assert [path.name for path in files] == ["agent.log", "agent.log.1", "agent.log.2"]
    assert all(path.stat().st_size <= 2000 for path in files)
    lines = [line for path in reversed(files) for line in path.read_text().splitlines()]
    assert [re.search(r"purpose=n(\d+)", line)[1] for line in lines] == [str(n) for n in range(40 - len(lines), 40)]


@pytest.mark.parametrize(
    ("section", "size", "backups"),
    [
        ({}, 5, 3),
        ({"max_size_mb": 1, "backup_count": 7}, 1, 7),
        ({"max_size_mb": "x", "backup_count": -1}, 5, 3),
        ({"max_size_mb": True, "backup_count": None}, 5, 3),
    ],
    ids=["usual", "configured", "nonsense", "odd-types"],
)
def test_size_and_number_of_files_are_configured(way, lane, section, size, backups):
    """``logging.max_size_mb`` and ``backup_count`` count; what is no such number is the usual one."""
    way.complete(lane.llm({"logging": section}))
    handler = LOGGER.handlers[-1]
    assert (handler.maxBytes, handler.backupCount) == (size * 2**20, backups)


def replaced(path: Path) -> None:
    """Move the file away and begin a new one, as logrotate and a second process of ours do."""
    path.rename(f"{path}.1")
    path.touch()


@pytest.mark.parametrize(
    "move", [Path.unlink, lambda path: path.rename(f"{path}.old"), replaced], ids=["deleted", "moved", "replaced"]
)
def test_a_file_that_somebody_took_away_is_begun_anew(way, lane, move):
    """After another program has moved or deleted the file, the next line is in a new one of the same name."""
    llm = lane.llm()
    way.complete(llm, purpose="before")
    move(lane.home / "logs" / "agent.log")
    way.complete(llm, purpose="after")
    assert [line["purpose"] for line in lane.log()] == ["after"]


def test_a_home_that_cannot_be_written_is_said_once(way, lane, caplog):
    """Where no log can be written, one warning names the file, and calls go on."""
    lane.write("logs", "a file where the folder should be")
    llm = lane.llm()
    assert [way.complete(llm).text for _ in range(3)] == ["pong"] * 3
    warnings = [record.message for record in caplog.records if record.levelno == logging.WARNING]
    assert len(warnings) == 1
    assert "agent.log" in warnings[0]


@pytest.fixture
def others_home():
    """A home that everybody may enter and nobody may write to."""
    folder = Path(tempfile.mkdtemp(prefix="hermes-test-"))
    home = folder / "home"
    home.mkdir()
    home.chmod(0o555)
    folder.chmod(0o755)
    yield home
    home.chmod(0o755)
    shutil.rmtree(folder)


def test_somebody_elses_home_is_said_once_r22_06(server, others_home, script):
    """In a home of another user's, calls are answered and one warning says that the record is not kept."""
    text = """
        import logging, os, sys, tempfile
        from hermes_core import Host
        home, base_url = sys.argv[1:3]
        config = {"model": {"provider": "custom", "base_url": base_url, "default": "m"}}
        messages = [{"role": "user", "content": "ping"}]
        with tempfile.TemporaryDirectory() as folder, Host.load(folder, config=config) as host:
            host.llm("p").complete(messages)  # another user may not be able to import what is not imported by now
        if os.geteuid() == 0:
            os.setgroups([]), os.setgid(65534), os.setuid(65534)
        logging.basicConfig(level=logging.WARNING, stream=sys.stdout, format="%(levelname)s %(message)s")
        with Host.load(home, config=config) as host:
            for _ in range(3):
                print(host.llm("p").complete(messages).text)
    """
    environment = {**os.environ, "HERMES_MANAGED_DIR": str(others_home.parent / "managed")}
    printed = script(text, others_home, server.base_url, env=environment).splitlines()
    assert [line for line in printed if line == "pong"] == ["pong"] * 3
    (warning,) = [line for line in printed if line.startswith("WARNING")]
    assert "agent.log" in warning


def test_a_log_that_becomes_writable_is_written_again(way, lane):
    """A disk that was full for a while does not end the record for good."""
    blocker = lane.write("logs", "in the way")
    llm = lane.llm()
    way.complete(llm, purpose="lost")
    blocker.unlink()
    way.complete(llm, purpose="kept")
    assert [line["purpose"] for line in lane.log()] == ["kept"]


def test_the_records_own_error_is_no_errors_error(way, lane):
    """A provider's refusal reaches the plugin also where the log cannot be written."""
    lane.write("logs", "in the way")
    lane.server.queue_response({}, status=401)
    with pytest.raises(AuthenticationError):
        way.complete(lane.llm())
