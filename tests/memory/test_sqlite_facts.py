"""The memory provider sqlite: facts, its tools, and what the built-in memory tells it."""

import json

import pytest


def call(provider, tool, **args):
    """Run a tool as the model does; returns what it says."""
    return json.loads(provider.handle_tool_call(tool, args))


def test_every_tool_is_declared_as_a_bare_schema(memory):
    """Each tool has a name, a description and parameters."""
    schemas = memory().get_tool_schemas()
    assert [schema["name"] for schema in schemas] == ["memory_search", "memory_add", "memory_update", "memory_forget"]
    assert all(schema["description"] and schema["parameters"]["type"] == "object" for schema in schemas)


def test_tools_can_be_asked_for_before_the_file_is_opened(load_host):
    """Tool schemas need no initialised provider."""
    assert load_host().memory_provider("sqlite").get_tool_schemas()


def test_a_fact_is_added_changed_and_forgotten(memory):
    """Each change shows in the next search and recall."""
    provider = memory()
    added = call(provider, "memory_add", content="Ann's birthday is 3 June")
    assert "3 June" in provider.prefetch("birthday")
    changed = call(provider, "memory_update", id=added["id"], content="Ann's birthday is 4 June")
    assert "3 June" not in provider.prefetch("birthday")
    assert [row["text"] for row in call(provider, "memory_search", query="birthday")["results"]] == [
        "Ann's birthday is 4 June"
    ]
    assert call(provider, "memory_forget", id=changed["id"]) == {"forgotten": True}
    assert call(provider, "memory_search", query="birthday")["count"] == 0
    assert call(provider, "memory_forget", id=changed["id"]) == {"forgotten": False}


def test_a_fact_is_kept_once(memory):
    """The same fact with other blanks or capitals is known already."""
    provider = memory()
    first = call(provider, "memory_add", content="Ann likes tea")
    assert call(provider, "memory_add", content=" ann  likes TEA ") == {"id": first["id"], "status": "known already"}


def test_a_message_can_be_forgotten_with_all_its_pieces(told):
    """A long message is kept in pieces; forgetting any of them forgets it, and nothing else."""
    long = "the zebra runs. " * 300
    provider = told(("hello", long), "the zebra sleeps")
    piece = next(row for row in provider.search("zebra", 50) if "runs" in row["text"])
    assert call(provider, "memory_forget", id=piece["id"]) == {"forgotten": True}
    assert {row["text"] for row in provider.export_records()} == {"hello", "the zebra sleeps", "I see."}


@pytest.mark.parametrize(
    ("tool", "args", "said"),
    [
        ("memory_add", {}, "'content'"),
        ("memory_add", {"content": "  "}, "'content'"),
        ("memory_search", {"query": 3}, "'query'"),
        ("memory_search", {"query": "x", "limit": "many"}, "'limit'"),
        ("memory_update", {"id": 5, "content": "x"}, "no fact 5"),
        ("memory_forget", {"id": True}, "'id'"),
        ("nonsense", {}, "no tool 'nonsense'"),
    ],
)
def test_a_wrong_call_is_told_to_the_model(memory, tool, args, said):
    """What is wrong with a call stands in its result."""
    assert said in json.loads(memory().handle_tool_call(tool, args))["error"]


def test_what_the_builtin_memory_writes_is_mirrored(memory):
    """An entry added, replaced or removed there is so here; what was retracted is not recalled any more."""
    provider = memory()
    provider.on_memory_write("add", "user", "Lives in Lisbon")
    assert "Lisbon" in provider.prefetch("lives")
    provider.on_memory_write("replace", "user", "Lives in Porto", {"previous_content": "Lives in Lisbon"})
    assert "Lisbon" not in provider.prefetch("lives")
    assert "Porto" in provider.prefetch("lives")
    provider.on_memory_write("remove", "user", "", {"previous_content": "Lives in Porto"})
    assert provider.prefetch("lives") == ""


@pytest.mark.parametrize("semantic", [False, True])
def test_nothing_relates_to_what_was_never_said(told, semantic):
    """A search for unknown words is empty, by words and by meaning."""
    provider = told("The cat sleeps", "Ann likes tea", settings={"semantic": semantic})
    assert provider.search("quaternion") == []
    assert provider.prefetch("tax return deadline") == ""


@pytest.mark.parametrize("other", [{"user_id": "bob"}, {"agent_identity": "work"}, {}])
def test_what_is_kept_for_one_is_not_seen_by_another(memory, home, other):
    """Neither recall, search, export nor forgetting crosses from one user or agent to another in one file."""
    mine = memory(user_id="ann")
    fact, _ = mine.add_fact("the secret fact", "tool")
    mine.sync_turn("the secret garden", "indeed")
    mine.flush()
    other = memory(**other)
    other.sync_turn("a public garden", "indeed")
    other.flush()
    assert other.get_status_config()["of other users and agents"] == 3
    assert "secret" not in other.prefetch("secret garden fact")
    assert all("secret" not in row["text"] for row in other.search("secret garden fact"))
    assert all("secret" not in row["text"] for row in other.export_records())
    assert [other.forget(number) for number in (fact, fact + 1, fact + 2, 2**62)] == [True, True, False, False]
    assert "secret fact" in mine.prefetch("secret garden")
    assert "secret garden" in mine.prefetch("secret garden")
