"""A streamed answer without the memory blocks that the model repeats."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_core.memory.block import build_memory_context_block
from hermes_core.memory.scrubber import StreamingContextScrubber

OPEN, CLOSE = "<memory-context>", "</memory-context>"
BLOCK = build_memory_context_block("old notes\n- of mine")

ROWS = {
    "no tag": ("Hello, world.", "Hello, world."),
    "something like a tag": ("a <m b\n<memo\n<memory-contexts>\n", "a <m b\n<memo\n<memory-contexts>\n"),
    "a tag within prose": (f"The tag {OPEN} and {CLOSE} fence memory.", f"The tag {OPEN} and {CLOSE} fence memory."),
    "text before the tag": (f"Say {OPEN}\nold\n{CLOSE}\nend", f"Say {OPEN}\nold\n{CLOSE}\nend"),
    "text after the tag": (f"{OPEN} old\n{CLOSE}\nend", f"{OPEN} old\n{CLOSE}\nend"),
    "a block": (f"before\n{OPEN}\nold\n{CLOSE}\nafter", "before\n\nafter"),
    "a block first": (f"{BLOCK}\nafter", "\nafter"),
    "a block after blanks": (f"before\n  \t{OPEN}\nold\n{CLOSE}after", "before\n  \tafter"),
    "a block of ours": (f"before\n{BLOCK}\nafter", "before\n\nafter"),
    "blanks in and behind the tag": ("< memory-context\t> \nold\n< / memory-context >after", "after"),
    "closed on the line": (f"{OPEN}\nold{CLOSE} after", " after"),
    "CRLF": (f"before\r\n{OPEN}\r\nold\r\n{CLOSE}\r\nafter", "before\r\n\r\nafter"),
    "CR": (f"before\r{OPEN}\rold\r{CLOSE}\rafter", "before\r\rafter"),
    "upper and lower case": ("<Memory-CONTEXT>\nold\n</MEMORY-context>after", "after"),
    "two blocks": (f"{BLOCK}\n{BLOCK}\nafter", "\n\nafter"),
    "two blocks on a line": (f"{BLOCK}{BLOCK}after", "after"),
    "two closed on the line": (f"{OPEN}\nold{CLOSE}{OPEN}\nolder{CLOSE}after", "after"),
    "a block in a block": (f"{OPEN}\na\n{OPEN}\nb\n{CLOSE}\nc\n{CLOSE}after", "after"),
    "a tag within a block's prose": (f"{OPEN}\nsee {OPEN} here\n{CLOSE}after", "after"),
    "interleaved": (f"<mem{OPEN}\nold\n{CLOSE}ory-context>\n", f"<mem{OPEN}\nold\n{CLOSE}ory-context>\n"),
    "a tag begun before another": (f"<mem\n{OPEN}\nold\n{CLOSE}ory-context>\n", "<mem\nory-context>\n"),
    "a tag begun before the closing one": (f"{OPEN}\nold </mem{CLOSE}after", "after"),
    "never closed": (f"before\n{OPEN}\nold notes", "before\n"),
    "never closed, nor is the tag": (f"before\n{OPEN}\nold </memory-con", "before\n"),
    "the tag alone, then the end": (f"before\n{OPEN}", f"before\n{OPEN}"),
    "half the tag, then the end": ("before\n<memory-", "before\n<memory-"),
    "the closing tag alone": (f"before\n{CLOSE}\nafter", f"before\n{CLOSE}\nafter"),
}

rows = pytest.mark.parametrize("name", ROWS)
pieces = st.lists(
    st.sampled_from(
        [OPEN, CLOSE, "\n", "\r", " ", "<", "memory-", "context>", "/", "a", "tea\n", "< Memory-Context >"]
    ),
    max_size=25,
)


def scrubbed(*deltas):
    """What is visible of an answer that comes in these pieces."""
    scrubber = StreamingContextScrubber()
    return "".join([*map(scrubber.feed, deltas), scrubber.flush()])


@rows
def test_whole(name):
    """A block is out of sight; a tag that opens none is text."""
    text, visible = ROWS[name]
    assert visible == scrubbed(text)


@rows
def test_in_two_pieces(name):
    """Wherever an answer is cut in two, the same is visible."""
    text, visible = ROWS[name]
    assert {visible} == {scrubbed(text[:at], text[at:]) for at in range(len(text) + 1)}


@rows
@pytest.mark.parametrize("size", [1, 2, 3])
def test_in_small_pieces_r11_04(name, size):
    """In pieces of one to three characters, nothing more of a block is visible, and nothing less of the text."""
    text, visible = ROWS[name]
    assert visible == scrubbed(*(text[at : at + size] for at in range(0, len(text), size)))


@given(pieces, st.data())
def test_any_pieces_give_what_the_whole_gives(parts, data):
    """Feeding an answer in any pieces, empty ones too, shows what feeding it whole shows."""
    text = "".join(parts)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=12)))
    deltas = [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    assert scrubbed(text) == scrubbed(*deltas)


@given(pieces)
def test_what_was_visible_stays_visible(parts):
    """What is visible holds no block: scrubbing it again changes nothing."""
    visible = scrubbed("".join(parts))
    assert visible == scrubbed(visible)


def test_text_is_passed_on_at_once():
    """Only what may be the beginning of a tag is held back."""
    scrubber = StreamingContextScrubber()
    assert [scrubber.feed(delta) for delta in ("Hello <", "\n<me", "n> ", "\n<memory-context>", " x")] == [
        "Hello <",
        "\n",
        "<men> ",
        "\n",
        "<memory-context> x",
    ]


@pytest.mark.parametrize("end", ["flush", "reset"])
def test_a_new_answer_starts_afresh(end):
    """After ``flush``, as after ``reset``, nothing of the last answer counts."""
    scrubber = StreamingContextScrubber()
    scrubber.feed(f"{OPEN}\nold </mem")
    getattr(scrubber, end)()
    assert (scrubber.feed("Hello"), scrubber.flush()) == ("Hello", "")


def test_hostile_answers_do_not_hold_the_host_up(run_python):
    """An answer of nothing but beginnings of tags is gone through once, in small pieces and whole."""
    done = run_python("""
        from hermes_core.memory.scrubber import StreamingContextScrubber
        opening, closing = "<memory-context>", "</memory-context>"
        for unit in ("<", opening, opening + "\\n", "<memory-context   ", "< ", "\\n<", opening + "\\n" + closing):
            text = unit * (200_000 // len(unit))
            for pieces in (text, [text]):
                scrubber = StreamingContextScrubber()
                for piece in pieces:
                    scrubber.feed(piece)
                scrubber.flush()
    """)
    assert done.returncode == 0, done.stderr
