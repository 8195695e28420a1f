"""What operations do to a list of entries."""

from contextlib import suppress

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hermes_core.errors import MemoryWriteError
from hermes_core.memory.changes import Change, Operation, apply, read_operations
from hermes_core.memory.entries import entry_id, join, parse

TEA, TEAPOT, COFFEE = "likes tea", "likes tea from a pot", "hates coffee"


def add(content):
    """An operation that adds."""
    return Operation("add", content)


def replace(old_text, content):
    """An operation that replaces."""
    return Operation("replace", content, old_text)


def remove(old_text):
    """An operation that removes."""
    return Operation("remove", "", old_text)


@pytest.mark.parametrize(
    ("operations", "after", "changes"),
    [
        pytest.param([add("new")], [TEA, COFFEE, "new"], [Change("add", "new")], id="add"),
        pytest.param([add(TEA)], [TEA, COFFEE], [None], id="add what is there"),
        pytest.param([replace("tea", "x")], ["x", COFFEE], [Change("replace", "x", TEA)], id="replace by a part"),
        pytest.param([replace(TEA, TEA)], [TEA, COFFEE], [None], id="replace by itself"),
        pytest.param([replace("tea", COFFEE)], [COFFEE], [Change("remove", "", TEA)], id="replace by another entry"),
        pytest.param([remove("coffee")], [TEA], [Change("remove", "", COFFEE)], id="remove by a part"),
        pytest.param([remove(entry_id(TEA))], [COFFEE], [Change("remove", "", TEA)], id="remove by id"),
        pytest.param([replace("likes", "x"), add(TEA)], ["x", COFFEE, TEA], [
            Change("replace", "x", TEA), Change("add", TEA)], id="several, in order"),
    ],
)  # fmt: skip
def test_operations_are_done_in_order(operations, after, changes):
    """Each operation sees what those before it did; what changes nothing is no change."""
    assert apply([TEA, COFFEE], operations, 1000) == (after, changes)


def test_a_whole_entry_beats_a_part_of_another():
    """Text that is an entry means this entry, though it occurs in others too."""
    assert apply([TEAPOT, TEA], [remove(TEA)], 1000)[0] == [TEAPOT]


@pytest.mark.parametrize(
    ("operation", "reason", "said"),
    [
        pytest.param(remove("likes"), "ambiguous", "2 entries contain", id="several entries"),
        pytest.param(remove("milk"), "no_match", "no entry contains 'milk'", id="no entry"),
        pytest.param(replace("", "x"), "no_match", "replace needs old_text", id="nothing said"),
    ],
)
def test_an_entry_that_is_not_found(operation, reason, said):
    """What is not clear is refused, with what the model needs to say it clearly."""
    with pytest.raises(MemoryWriteError, match=said) as caught:
        apply([TEA, TEAPOT], [operation], 1000)
    details = caught.value.details
    assert caught.value.reason == reason
    if reason == "ambiguous":
        assert details == {"matches": [TEA, TEAPOT], "match_ids": [entry_id(TEA), entry_id(TEAPOT)]}
    else:
        assert details["current_entries"] == [TEA, TEAPOT]
        assert details["entry_ids"] == [entry_id(TEA), entry_id(TEAPOT)]
        assert details["usage"] == "3% — 32/1,000 chars"


def test_previews_of_matches_are_short():
    """An entry among several matches is shown in one line of at most 80 letters."""
    with pytest.raises(MemoryWriteError) as caught:
        apply(["a\nb" + "x" * 100, "a\nc"], [remove("a")], 1000)
    assert caught.value.details["matches"] == ["a b" + "x" * 76 + "…", "a c"]


@pytest.mark.parametrize(("letters", "fits"), [(7, True), (8, False)])
def test_the_budget_counts_separators(letters, fits):
    """The text of all entries may be as long as the limit, and no longer."""
    wanted = ["x" * 10, "y" * letters]
    if fits:
        assert apply(wanted[:1], [add(wanted[1])], 20)[0] == wanted
        assert len(join(wanted)) == 20
    else:
        with pytest.raises(MemoryWriteError, match="21 of 20 characters") as caught:
            apply(wanted[:1], [add(wanted[1])], 20)
        assert (caught.value.reason, caught.value.details["current_entries"]) == ("full", wanted[:1])


def test_only_the_end_of_a_batch_must_fit():
    """A batch may make room after it has used it."""
    assert apply(["x" * 18], [add("new"), remove("x")], 20)[0] == ["new"]


def test_a_file_over_its_budget_may_shrink():
    """What makes less of too much is allowed."""
    assert apply(["x" * 30, "y"], [replace("x", "z" * 25)], 20)[0] == ["z" * 25, "y"]


def test_a_batch_is_done_whole_or_not_at_all():
    """The error names the operation that failed, by its number, and the entries as they still are."""
    before = [TEA]
    with pytest.raises(MemoryWriteError, match="operation 2: no entry contains 'milk'") as caught:
        apply(before, [add("new"), remove("milk")], 1000)
    assert before == caught.value.details["current_entries"] == [TEA]


@pytest.mark.parametrize(
    ("args", "said"),
    [
        ({}, "action is missing"),
        ({"action": "view"}, "unknown action 'view': use add, replace, remove"),
        ({"action": ["add"]}, "unknown action"),
        ({"action": "add"}, "add needs content"),
        ({"action": "add", "content": " \n "}, "add needs content"),
        ({"action": "replace", "old_text": "x"}, "replace needs content"),
        ({"action": "add", "content": 5}, "content must be text, not a int"),
        ({"action": "add", "content": "a\n§\nb"}, "a line of nothing but §"),
        ({"action": "add", "content": "a\r\n § \r\nb"}, "a line of nothing but §"),
        ({"action": "add", "content": "§"}, "a line of nothing but §"),
        ({"action": "add", "content": "\ud800"}, "no valid Unicode text"),
        ({"action": "remove", "old_text": 5}, "old_text must be text"),
        ({"operations": "add"}, "operations must be a list"),
        ({"operations": ["add"]}, "operation 1: it must be an object"),
        ({"operations": [{"action": "add", "content": "x"}, {"action": "go"}]}, "operation 2: unknown action 'go'"),
    ],
)
def test_arguments_that_make_no_sense(args, said):
    """What the model got wrong is said in one sentence, before anything is done."""
    with pytest.raises(MemoryWriteError, match=said):
        read_operations(args)


def test_a_section_sign_within_a_line_is_text():
    """Only a line of nothing but the sign separates entries."""
    [operation] = read_operations({"action": "add", "content": " see § 5\r\n§§ "})
    assert operation.content == "see § 5\n§§"


letters = st.sampled_from([*"ab §\n\r\t\x00\x1c\x85\u2028\ufeff\u200d😀", "\n§\n", "\r\n§\r\n"])
texts = st.lists(letters, max_size=12).map("".join)


@given(st.lists(texts, max_size=6))
def test_whatever_is_taken_comes_back(contents):
    """Every text that is not refused is read back as it was taken, beside whatever others."""
    entries = []
    for content in contents:
        with suppress(MemoryWriteError):
            entries, _ = apply(entries, read_operations({"action": "add", "content": content}), 10_000)
    found = parse(join(entries).encode())
    assert [*found.entries] == entries
    assert not found.is_free


@given(texts)
@example("a\n§ \n§\na")
@example("§\n §\nx\n§ \n \n§\ny\n§ ")
def test_reading_a_file_twice_reads_the_same(text):
    """What was read, and is written, is read as the same entries again."""
    entries = parse(text.encode()).entries
    assert parse(join(entries).encode()).entries == entries


@pytest.mark.parametrize(
    ("content", "entries"),
    [
        pytest.param(b"", (), id="nothing"),
        pytest.param("a\n§\nb".encode(), ("a", "b"), id="two"),
        pytest.param("\ufeffa\n§\nb\n".encode(), ("a", "b"), id="with a byte order mark"),
        pytest.param("a\r\n§\r\nb\r\n".encode(), ("a", "b"), id="with the line ends of Windows"),
        pytest.param("a\n§\n\n§\nb\n§\na".encode(), ("a", "b"), id="blank ones and repetitions"),
        pytest.param("a § b\n§ c".encode(), ("a § b\n§ c",), id="the sign in a line"),
    ],
)
def test_a_file_is_read(content, entries):
    """Entries are trimmed, blank ones dropped, and each counts once."""
    assert parse(content).entries == entries
