"""A conversation in OpenAI shape, taken apart, and put together as stricter formats want it."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes_core.errors import UnsupportedInputError
from hermes_core.llm.wire.turns import (
    GO_ON,
    PLACEHOLDER,
    Image,
    Text,
    ToolCall,
    ToolResult,
    Turn,
    alternating,
    read,
    text_of,
)


def user(content: object) -> dict:
    """A user's message."""
    return {"role": "user", "content": content}


def calling(*ids: str, content: object = None) -> dict:
    """An assistant's message that calls the tool ``t`` once for each id."""
    calls = [{"id": one, "type": "function", "function": {"name": "t", "arguments": '{"n": 1}'}} for one in ids]
    return {"role": "assistant", "content": content, "tool_calls": calls}


def result(call_id: str, content: object = "r") -> dict:
    """A tool's message."""
    return {"role": "tool", "tool_call_id": call_id, "content": content}


def parts_of(*messages: dict) -> list:
    """The parts of each turn."""
    return [turn.parts for turn in read(messages).turns]


CALL = ToolCall("c1", "t", {"n": 1})
RESULT = ToolResult("c1", "t", (Text("r"),))


@pytest.mark.parametrize(
    ("content", "parts"),
    [
        pytest.param("a", [Text("a")], id="a-string"),
        pytest.param(None, [Text("")], id="null-says-nothing"),
        pytest.param(["a"], [Text("a")], id="a-bare-string-in-a-list"),
        pytest.param([{"type": "text", "text": "a"}], [Text("a")], id="a-text-part"),
        pytest.param([{"type": "refusal", "refusal": "no"}], [Text("no")], id="a-refusal-is-text"),
        pytest.param(
            [{"type": "image_url", "image_url": {"url": "u", "detail": "low"}}], [Image("u", "low")], id="an-image"
        ),
        pytest.param([{"type": "image_url", "image_url": "u"}], [Image("u")], id="an-image-in-short-form"),
    ],
)
def test_content_is_read_part_by_part(content, parts):
    """Strings, lists of parts and null are one list of parts."""
    assert parts_of(user(content)) == [parts]


@pytest.mark.parametrize(
    ("content", "named"),
    [
        pytest.param([{"type": "input_audio", "input_audio": {}}], "'input_audio'", id="audio"),
        pytest.param([{"type": "file", "file": {}}], "'file'", id="a-file"),
        pytest.param([{"type": "text"}], "'text'", id="a-text-part-without-text"),
        pytest.param([{"type": "image_url", "image_url": {}}], "'image_url'", id="an-image-without-a-url"),
        pytest.param([5], "'int'", id="a-number"),
        pytest.param({"type": "text"}, "'text'", id="a-mapping-that-is-no-list"),
    ],
)
def test_a_part_that_cannot_be_carried_is_refused_by_its_type(content, named):
    """Nothing is left out silently: an unknown part is a ValueError that names its type."""
    with pytest.raises(UnsupportedInputError, match=named) as caught:
        read([user(content)])
    assert isinstance(caught.value, ValueError)


def test_an_unknown_role_is_refused():
    """A role that these formats do not know is named."""
    with pytest.raises(UnsupportedInputError, match="'narrator'"):
        read([{"role": "narrator", "content": "a"}])


def test_an_image_for_the_system_is_refused():
    """System text is text."""
    with pytest.raises(UnsupportedInputError, match="system message"):
        read([{"role": "system", "content": [{"type": "image_url", "image_url": {"url": "u"}}]}])


def test_system_and_developer_messages_are_gathered_wherever_they_stand():
    """Every system text counts, in order, but for blank ones."""
    messages = [
        {"role": "system", "content": "a"},
        user("x"),
        {"role": "developer", "content": "b"},
        {"role": "system", "content": " "},
    ]
    assert read(messages).system == ["a", "b"]


def test_a_call_and_its_answer_are_kept_as_such():
    """A tool call that is answered right below it is a call, the answer a result with the tool's name."""
    assert parts_of(calling("c1", content="hm"), result("c1")) == [[Text("hm"), CALL], [RESULT]]


@pytest.mark.parametrize(
    ("messages", "called"),
    [
        pytest.param([calling("c1")], [], id="a-call-that-ends-the-conversation"),
        pytest.param([calling("c1"), user("x"), result("c1")], [], id="a-result-that-comes-too-late"),
        pytest.param([result("c1")], [], id="a-result-without-a-call"),
        pytest.param([calling("c1"), result("c1"), result("c1", "again")], ["c1"], id="a-second-result"),
        pytest.param([calling("c1", "c1"), result("c1")], ["c1"], id="a-second-call-of-one-id"),
        pytest.param([calling("c1", "c2"), result("c2")], ["c2"], id="one-of-two-calls-unanswered"),
        pytest.param([{"role": "function", "name": "t", "content": "r"}], [], id="the-old-function-role"),
    ],
)
def test_calls_and_results_that_do_not_fit_become_text(messages, called):
    """A call without its result, or a result without its call, is told in words, and nothing is lost."""
    turns = read(messages).turns
    parts = [part for turn in turns for part in turn.parts]
    assert [part.id for part in parts if isinstance(part, ToolCall)] == called
    assert [part.id for part in parts if isinstance(part, ToolResult)] == called
    for message in messages:
        for word in (message["content"], "t" if message.get("tool_calls") else None):
            assert word is None or word in repr(parts)


@pytest.mark.parametrize(
    ("written", "id_"),
    [
        pytest.param("functions.t:0", "functions_t_0", id="dots-and-colons"),
        pytest.param("x" * 100, "x" * 64, id="too-long"),
        pytest.param("", "_", id="empty"),
        pytest.param("ü", "_", id="beyond-ascii"),
    ],
)
def test_ids_become_what_every_format_takes(written, id_):
    """Ids are at most 64 letters, digits, underscores and dashes, the same in call and result."""
    (call,), (answer,) = (
        parts_of(calling(written), result(written))[0][1:],
        parts_of(calling(written), result(written))[1],
    )
    assert (call.id, answer.id) == (id_, id_)


@pytest.mark.parametrize(
    ("written", "arguments"),
    [
        pytest.param('{"a": 1}', {"a": 1}, id="an-object"),
        pytest.param({"a": 1}, {"a": 1}, id="a-mapping"),
        pytest.param("", {}, id="nothing"),
        pytest.param(None, {}, id="null"),
        pytest.param("{broken", {"input": "{broken"}, id="broken-json"),
        pytest.param("[1]", {"input": [1]}, id="a-list"),
    ],
)
def test_arguments_become_an_object(written, arguments):
    """A call's arguments are an object, whatever was written."""
    message = calling("c1")
    message["tool_calls"][0]["function"]["arguments"] = written
    assert parts_of(message, result("c1"))[0][-1].arguments == arguments


def test_a_malformed_tool_call_is_told_in_words():
    """A call without its function is no crash."""
    assert isinstance(parts_of({"role": "assistant", "content": "a", "tool_calls": [{"id": "c1"}]})[0][1], Text)


def test_tools_are_named_once(everything):
    """``tools`` names each tool of the history."""
    assert read(everything).tools == ["look_up", "count"]


def test_the_messages_are_not_changed(everything):
    """Reading and merging change nothing of what is given."""
    before = json.dumps(everything)
    alternating(read(everything).turns, user_ends=True)
    assert json.dumps(everything) == before


@pytest.mark.parametrize(
    ("turns", "merged"),
    [
        pytest.param([], [("user", [PLACEHOLDER])], id="nothing-at-all"),
        pytest.param([("user", ["a"]), ("user", ["b"])], [("user", ["a", "b"])], id="neighbours-are-merged"),
        pytest.param([("user", ["a", " "])], [("user", ["a"])], id="blank-text-beside-other-text-goes"),
        pytest.param(
            [("user", ["a"]), ("assistant", [""]), ("user", ["b"])],
            [("user", ["a"]), ("assistant", [PLACEHOLDER]), ("user", ["b"])],
            id="an-empty-turn-gets-a-placeholder",
        ),
        pytest.param(
            [("assistant", ["a"])], [("user", [PLACEHOLDER]), ("assistant", ["a"])], id="the-user-speaks-first"
        ),
        pytest.param(
            [("user", ["a"]), ("assistant", ["b \n"])],
            [("user", ["a"]), ("assistant", ["b"])],
            id="what-is-gone-on-with-ends-in-a-letter",
        ),
    ],
)
def test_turns_alternate_and_none_is_empty(turns, merged):
    """Turns are merged, filled and begun as the stricter formats demand."""
    found = alternating([Turn(role, [*map(Text, texts)]) for role, texts in turns])
    assert [(turn.role, [part.text for part in turn.parts]) for turn in found] == merged


def test_an_empty_turn_may_be_left_out():
    """With no placeholder, a turn that says nothing goes, and its neighbours become one."""
    turns = [Turn("user", [Text("a")]), Turn("assistant", [Text(" ")]), Turn("user", [Text("b")])]
    assert alternating(turns, blank="") == [Turn("user", [Text("a"), Text("b")])]


def test_the_user_may_have_the_last_word():
    """Where a format demands it, the user asks to go on."""
    assert alternating([Turn("assistant", [Text("a")])], user_ends=True)[-1] == Turn("user", [Text(GO_ON)])


def test_results_come_before_text():
    """A result must follow its call at once, so it goes first in its turn."""
    turns = read([calling("c1", "c2"), result("c1"), result("c1", "again"), result("c2"), user("x")]).turns
    kinds = [type(part) for part in alternating(turns)[-1].parts]
    assert kinds[:2] == [ToolResult, ToolResult]


@pytest.mark.parametrize(
    ("url", "inline"),
    [
        pytest.param("data:image/png;base64,AAAA", ("image/png", "AAAA"), id="base64"),
        pytest.param("DATA:image/png;base64,AA\n AA", ("image/png", "AAAA"), id="blanks-in-the-data"),
        pytest.param("data:image/svg+xml,%3Csvg%3E", ("image/svg+xml", "PHN2Zz4="), id="percent-escapes"),
        pytest.param("data:;base64,AAAA", ("image/jpeg", "AAAA"), id="no-type-is-jpeg"),
        pytest.param("data:text/html;base64,AAAA", ("image/jpeg", "AAAA"), id="another-type-is-jpeg"),
        pytest.param("data:image/png;charset=utf-8;base64,AAAA", ("image/png", "AAAA"), id="parameters"),
        pytest.param("https://pictures.test/a.png", None, id="elsewhere"),
    ],
)
def test_a_data_url_is_taken_apart(url, inline):
    """Type and base64 data of a ``data:`` URL; None for an image that is elsewhere."""
    assert Image(url).inline() == inline


def test_parts_are_one_text_only_when_they_are_text():
    """More than text has no text form."""
    assert (text_of([Text("a"), Text("b")]), text_of([Text("a"), Image("u")])) == ("a\n\nb", None)


TEXTS = st.text("ab \n", max_size=3)
MESSAGES = st.one_of(
    st.builds(user, TEXTS | st.none() | st.just([{"type": "image_url", "image_url": {"url": "data:,x"}}])),
    st.builds(lambda text: {"role": "assistant", "content": text}, TEXTS),
    st.builds(lambda text: {"role": "system", "content": text}, TEXTS),
    st.builds(lambda ids, text: calling(*ids, content=text), st.lists(st.sampled_from("xyz"), max_size=3), TEXTS),
    st.builds(result, st.sampled_from("xyz"), TEXTS),
)


@settings(database=None, max_examples=200)
@given(st.lists(MESSAGES, max_size=8))
def test_any_conversation_becomes_one_that_strict_formats_take(messages):
    """Whatever the order of messages: turns alternate, begin and end with the user's, and calls meet their results."""
    turns = alternating(read(messages).turns, user_ends=True)
    assert [turn.role for turn in turns] == ["user" if n % 2 == 0 else "assistant" for n in range(len(turns))]
    assert len(turns) % 2 == 1
    for turn, after in zip(turns, [*turns[1:], Turn("user", [])], strict=True):
        called = [part.id for part in turn.parts if isinstance(part, ToolCall)]
        answered = [part.id for part in after.parts if isinstance(part, ToolResult)]
        assert sorted(called) == sorted(answered)
        assert len({*called}) == len(called)
        assert all(part.text.strip() for part in turn.parts if isinstance(part, Text))
        assert turn.parts
