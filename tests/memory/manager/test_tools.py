"""The tools of a memory provider: which are shown, and what a call of one returns."""

import json
import time

import pytest

from hermes_core.memory import tool_calls
from hermes_core.memory.manager import MemoryManager
from hermes_core.memory.tools import normalize_tool_schema
from hermes_core.tools.names import CORE_TOOLS

from .conftest import LONG, SHORT, Recorder

WRAPPED = {"type": "function", "function": {"name": "wrapped", "parameters": {}}}


@pytest.mark.parametrize(
    ("schema", "bare"),
    [
        ({"name": "a", "parameters": {}}, {"name": "a", "parameters": {}}),
        (WRAPPED, {"name": "wrapped", "parameters": {}}),
        ({"name": ""}, None),
        ({"name": " "}, None),
        ({"name": 5}, None),
        ({"description": "nameless"}, None),
        ({"type": "function", "function": WRAPPED}, None),
        ("a", None),
        (None, None),
        ([], None),
    ],
    ids=str,
)
def test_a_schema_is_brought_into_one_form(schema, bare):
    """A schema is a mapping with a name; one wrapping is taken off, and anything else is none."""
    assert normalize_tool_schema(schema) == bare


def test_the_host_s_own_names_are_kept_from_providers_r06_01(managed, caplog):
    """A tool named as one of the host's own is neither shown nor run; its provider's other tools are."""
    memory = managed(Recorder(tools=("clarify", "recorder_note", "memory")))
    assert (memory.get_all_tool_names(), memory.has_tool("clarify")) == ({"recorder_note"}, False)
    assert "error" in json.loads(memory.handle_tool_call("clarify", {}))
    assert "tool=clarify reason=the name is the host's own" in caplog.text


def test_the_core_tools_are_those_of_the_original():
    """The reserved names are the sixty of the list that memory providers are measured by."""
    assert {"web_search", "memory", "browser_cdp", "ha_call_service", "kanban_attachments", "computer_use"} < CORE_TOOLS


def test_the_first_provider_keeps_a_name(managed, caplog):
    """A name that two providers have is the first one's; the other is warned of, once."""
    first, second = Recorder("builtin", ("note", "one")), Recorder("other", ("note", "two"))
    memory = managed(first, second)
    for _ in range(3):
        assert [schema["name"] for schema in memory.get_all_tool_schemas()] == ["note", "one", "two"]
    memory.handle_tool_call("note", {})
    assert (len(first.named("handle_tool_call")), len(second.named("handle_tool_call"))) == (1, 0)
    assert caplog.text.count("tool=note reason=provider 'builtin' has a tool of that name already") == 1


BAD = {
    "a blank": {"name": "two words"},
    "a dot": {"name": "note.add"},
    "too long": {"name": "n" * 65},
    "no JSON": {"name": "odd", "parameters": {"enum": {1, 2}}},
}


@pytest.mark.parametrize("schema", BAD.values(), ids=BAD)
def test_a_schema_that_would_spoil_the_request_is_left_out(managed, caplog, schema):
    """A tool that an API would refuse the whole request for is neither shown nor run; the others are."""
    memory = managed(Recorder(get_tool_schemas=lambda: (schema, {"name": "note-add_2"})))
    assert memory.get_all_tool_names() == {"note-add_2"}
    assert f"tool={schema['name']}" in caplog.text


@pytest.mark.parametrize("rubbish", [{"name": "a"}, "text", 5], ids=str)
def test_schemas_that_are_no_list_are_none(managed, caplog, rubbish):
    """What is no list of schemas gives no tools, and a warning."""
    memory = managed(Recorder(get_tool_schemas=lambda: rubbish))
    assert (memory.get_all_tool_schemas(), "call=get_tool_schemas" in caplog.text) == ([], True)


def test_tools_that_appear_after_initialize_are_shown_and_run_r06_11():
    """Tools are read again once a provider is ready, by the same rules."""
    provider = Recorder(get_tool_schemas=list)
    with MemoryManager(limits=LONG) as memory:
        memory.add_provider(provider)
        assert memory.get_all_tool_names() == set()
        provider.faults["get_tool_schemas"] = lambda: [{"name": "good"}, {"name": "terminal"}, {"description": "none"}]
        memory.initialize_all("s1")
        assert [schema["name"] for schema in memory.get_all_tool_schemas()] == ["good"]
        assert json.loads(memory.handle_tool_call("good", {})) == {"did": "good"}
        assert "error" in json.loads(memory.handle_tool_call("terminal", {}))


def test_tools_that_go_are_shown_no_more(managed):
    """What is shown is what is run: both follow what the provider says now."""
    provider = Recorder()
    memory = managed(provider)
    provider.faults["get_tool_schemas"] = list
    assert (memory.get_all_tool_schemas(), memory.has_tool("recorder_note")) == ([], False)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"found": [1]}, {"found": [1]}),
        ([1, "ä"], [1, "ä"]),
        (None, {"result": None}),
        (5, {"result": 5}),
        (b"tea", {"result": "tea"}),
        (object(), {"error": "the tool returned an object, which is no JSON"}),
        ({"set": {1}}, {"error": "the tool returned a dict, which is no JSON"}),
        ('{"a": "\ud83d"}', {"a": "\ud83d"}),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_result_is_always_text_r10_02(managed, value, expected):
    """Whatever a provider returns, the model can be sent a text that is JSON."""
    result = managed(Recorder(handle_tool_call=lambda: value)).handle_tool_call("recorder_note", {})
    assert (type(result), json.loads(result)) == (str, expected)


def test_plain_text_is_handed_on(managed):
    """A text that is no JSON is a result too, and goes on as it is."""
    assert managed(Recorder(handle_tool_call=lambda: "tea")).handle_tool_call("recorder_note", {}) == "tea"


def test_an_unknown_tool_is_an_answer_with_an_error(managed):
    """The name of a tool that there is not gives an error in JSON, with a name that is close."""
    answer = json.loads(managed(Recorder()).handle_tool_call("recorder_not", {}))
    assert answer == {
        "error": "unknown memory tool 'recorder_not'; did you mean 'recorder_note'?",
        "tool": "recorder_not",
    }


@pytest.mark.parametrize("args", [None, [], "text", 5], ids=str)
def test_arguments_that_are_no_mapping_are_none(managed, args):
    """A model that sends something else than an object calls the tool without arguments."""
    provider = Recorder()
    managed(provider).handle_tool_call("recorder_note", args)
    assert provider.named("handle_tool_call") == [(("recorder_note", {}), {})]


def test_a_tool_that_hangs_returns_in_time_r08_10(managed, gate):
    """A tool that does not return is an error in JSON once its deadline has passed; the next call does not wait."""
    provider = Recorder(handle_tool_call=gate.wait)
    memory = managed(provider, limits=SHORT)
    began = time.monotonic()
    answers = [json.loads(memory.handle_tool_call("recorder_note", {})) for _ in range(2)]
    assert (time.monotonic() - began < SHORT.tool_timeout + 2, [answer["provider"] for answer in answers]) == (
        True,
        ["recorder"] * 2,
    )
    assert (len(provider.named("handle_tool_call")), memory.stats["providers"][0]["timeouts"]) == (1, 1)


def test_a_tool_that_keeps_failing_says_not_to_try_again_r08_09(managed):
    """From the third failure in a row, the answer says that the provider is unavailable; each is JSON."""
    provider = Recorder(handle_tool_call=lambda: 1 / 0)
    memory = managed(provider)
    answers = [json.loads(memory.handle_tool_call("recorder_note", {})) for _ in range(5)]
    assert ["do not retry" in answer["error"] for answer in answers] == [False, False, True, True, True]
    assert len(provider.named("handle_tool_call")) == tool_calls.STRIKES
    assert memory.prefetch_all("tea") == "about tea"


def test_success_forgives_earlier_failures(managed):
    """Failures count in a row: one success starts the count anew."""
    provider = Recorder()
    memory = managed(provider)
    for _ in range(tool_calls.STRIKES):
        provider.faults["handle_tool_call"] = lambda: 1 / 0
        memory.handle_tool_call("recorder_note", {})
        del provider.faults["handle_tool_call"]
        assert "error" not in json.loads(memory.handle_tool_call("recorder_note", {}))


def test_a_provider_without_handler_is_an_error():
    """A provider that offers a tool and does not run it gives an error that names both."""
    from hermes_core.memory.provider import MemoryProvider

    class Bare(MemoryProvider):
        name = "bare"
        is_available = initialize = lambda self, *args, **options: True

        def get_tool_schemas(self):
            return [{"name": "bare_note"}]

    with MemoryManager(limits=LONG) as memory:
        memory.add_provider(Bare())
        memory.initialize_all("s1")
        assert "'bare' does not say how to run its tool 'bare_note'" in memory.handle_tool_call("bare_note", {})


def test_a_provider_that_two_homes_share_works_for_the_first(managed, tmp_path, caplog):
    """An object that two managers with different homes were given serves one of them: nothing bleeds over."""
    provider = Recorder()
    one = managed(provider, hermes_home=str(tmp_path / "one"))
    other = managed(provider, hermes_home=str(tmp_path / "two"))
    assert (one.prefetch_all("tea"), other.prefetch_all("tea")) == ("about tea", "")
    assert f"works for {tmp_path / 'one'} already" in caplog.text
    one.close()
    again = managed(provider, hermes_home=str(tmp_path / "two"))
    assert again.prefetch_all("tea") == "about tea"


def test_a_tool_may_call_another_of_its_provider(managed):
    """A tool that calls a tool of the same provider gets its answer, and waits for nothing."""
    provider = Recorder(tools=("outer", "inner"))
    memory = managed(provider)

    def call():
        name = provider.named("handle_tool_call")[-1][0][0]
        return memory.handle_tool_call("inner", {}) if name == "outer" else "from within"

    provider.faults["handle_tool_call"] = call
    assert memory.handle_tool_call("outer", {}) == "from within"
