"""What the profile makes of a request."""

import copy

import pytest

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "examples": [{"city": "Paris"}]}
SYSTEM = {"role": "system", "content": "Be brief."}


@pytest.fixture
def adapt(part):
    """The function under test, called with a schema as a host wraps it."""

    def call(messages, schema=None, max_tokens=100):
        wanted = {"type": "json_schema", "json_schema": {"name": "n", "schema": schema, "strict": False}}
        return part("messages").adapt(messages, wanted if schema is not None else None, max_tokens)

    return call


def user(*texts):
    """A user turn; several texts become a list of parts."""
    content = texts[0] if len(texts) == 1 else [{"type": "text", "text": text} for text in texts]
    return {"role": "user", "content": content}


def test_one_user_turn(adapt):
    """Instruction and text become one user turn."""
    assert adapt([SYSTEM, user("Hello")])["messages"] == [user("Be brief.\n\nHello")]


def test_parts_are_joined(adapt):
    """Text parts become one string, a blank line between them."""
    assert adapt([SYSTEM, user("Summarise.", "One.", "Two.")])["messages"] == [
        user("Be brief.\n\nSummarise.\n\nOne.\n\nTwo.")
    ]


def test_turns_are_kept(adapt):
    """A conversation keeps its turns; the system message goes into the first one."""
    answer = {"role": "assistant", "content": "Hi Ada."}
    assert adapt([SYSTEM, user("I am Ada."), answer, user("Who am I?")])["messages"] == [
        user("Be brief.\n\nI am Ada."),
        answer,
        user("Who am I?"),
    ]


def test_system_alone(adapt):
    """A lone system message is said by the user."""
    assert adapt([SYSTEM])["messages"] == [user("Be brief.")]


def test_callers_objects_stay(adapt):
    """Neither the messages nor the schema of the caller change."""
    messages, schema = [SYSTEM, user("Where?", "In Paris.")], copy.deepcopy(SCHEMA)
    before = copy.deepcopy((messages, schema))
    adapt(messages, schema)
    assert (messages, schema) == before


@pytest.mark.parametrize(("given", "sent"), [(None, 512), (64, 64)])
def test_max_tokens_is_always_sent(adapt, given, sent):
    """A token limit goes out with each request."""
    assert adapt([user("Hi")], max_tokens=given)["max_tokens"] == sent


def test_chat_has_no_response_format(adapt):
    """Nothing is said about the form of free text."""
    assert set(adapt([user("Hi")])) == {"messages", "max_tokens"}


def test_worked_example(adapt):
    """The schema's first example is a finished exchange under the same instruction."""
    assert adapt([SYSTEM, user("Where?", "In Rome.")], SCHEMA)["messages"] == [
        user("Be brief.\n\nWhere?\n\nParis"),
        {"role": "assistant", "content": '{"city":"Paris"}'},
        user("Be brief.\n\nWhere?\n\nIn Rome."),
    ]


def test_example_input(adapt):
    """``x-example-input`` is the text that the example is the answer to."""
    schema = {**SCHEMA, "x-example-input": "She flew to Paris."}
    assert adapt([user("Where?", "In Rome.")], schema)["messages"][0] == user("Where?\n\nShe flew to Paris.")


def test_no_example_inside_a_conversation(adapt):
    """A conversation of several turns is its own example."""
    turns = [user("Where?"), {"role": "assistant", "content": "?"}, user("In Rome.")]
    assert adapt(turns, SCHEMA)["messages"] == turns


def test_schema_keeps_its_name(adapt):
    """The schema sent is the bounded one, under the caller's name."""
    sent = adapt([user("Hi")], SCHEMA)["response_format"]
    assert (sent["type"], sent["json_schema"]["name"], sent["json_schema"]["strict"]) == ("json_schema", "n", False)
    assert "maxLength" in sent["json_schema"]["schema"]["properties"]["city"]


@pytest.mark.parametrize(
    "schema", [True, {}, {"type": "object"}, {"additionalProperties": {"type": "integer"}}], ids=str
)
def test_free_form_schema_has_a_grammar(adapt, schema):
    """An object with any fields is decoded by a grammar that ends."""
    sent = adapt([user("Hi")], schema)
    assert sent["response_format"] == {"type": "text"}
    assert "root ::=" in sent["grammar"]


def test_json_mode_has_a_grammar(part):
    """JSON mode is decoded by a grammar that ends, shorter for a smaller limit."""
    make = part("messages").adapt
    large, small = (make([user("Hi")], {"type": "json_object"}, limit)["grammar"] for limit in (512, 64))
    assert "{0,80}" in large
    assert "{0,24}" in small


@pytest.mark.parametrize("text", ["会议在星期一。", "0123 4567 8901"], ids=["Chinese", "digits"])
def test_language_of_the_text_counts(adapt, text):
    """The same limit leaves fewer characters to a text that takes more tokens."""

    def longest_string(words):
        sent = adapt([user(words)], {"type": "array", "items": {"type": "string"}})["response_format"]
        return sent["json_schema"]["schema"]["items"]["maxLength"]

    assert longest_string(text) < longest_string("The meeting is on Monday.")
