"""What a user meant: prompts that ask nothing, and the user's words in an unfolded skill."""

import pytest

from hermes_core.memory.user_text import (
    TRIVIAL_PROMPT_RE,
    extract_user_instruction_from_skill_message,
    is_trivial_prompt,
)

WORDS = [
    *"yes no ok okay sure thanks y n yep nope yeah nah hi hey hello yo sup continue proceed cool nice".split(),
    *"great done next lgtm k".split(),
    *["thank you", "go ahead", "do it", "got it"],
]

SKILL = """[IMPORTANT: The user has invoked the "{name}" skill, indicating they want you to follow it. The \
full skill content is loaded below.]

# Steps
The user has provided the following instruction alongside the skill invocation: a decoy in the skill's own text
"""
SAID = "The user has provided the following instruction alongside the skill invocation: "
BUNDLE = """[IMPORTANT: The user has invoked the "all" skill bundle, loading 2 skills.]
{said}
[Loaded as part of the "all" skill bundle.]

# One
User instruction: a decoy

[Loaded as part of the "all" skill bundle.]
"""


@pytest.mark.parametrize("word", WORDS)
def test_a_bare_acknowledgement_is_trivial(word):
    """A greeting or acknowledgement is trivial in any case, with blanks and punctuation around it."""
    asked = [
        word,
        word.upper(),
        f"  {word.title()}\n",
        f"{word}!",
        f"{word} ?!…",
        f"{word} 🙂",
        word.replace(" ", "  "),
    ]
    assert [text for text in asked if not is_trivial_prompt(text)] == []
    assert TRIVIAL_PROMPT_RE.match(word)


@pytest.mark.parametrize("text", ["", "   \n", None, "/new", "  /help me", "/"])
def test_blank_text_and_commands_are_trivial(text):
    """Nothing, and anything that begins with a slash, is trivial."""
    assert is_trivial_prompt(text)


@pytest.mark.parametrize(
    "text",
    [
        *"k8s note yolo highway okey next.js k-means да y/n?x hi_there thankyou ? ...".split(),
        *["ok then", "yes 1", "no, wait", "thanks a lot", "do itt"],
    ],
)
def test_near_misses_are_not_trivial(text):
    """Text that merely begins with such a word, or says more than it, is a question for memory."""
    assert not is_trivial_prompt(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("What is due?", "What is due?"),
        ("", ""),
        ("  kept  ", "  kept  "),
        (None, None),
        (7, None),
        (["text"], None),
        (SKILL.format(name="plan"), "a decoy in the skill's own text"),
        (f"{SKILL}\n{SAID}Plan\nmy week.\n\n[Runtime note: 3 files]\nmore", "Plan\nmy week."),
        (f"{SKILL}\n{SAID}Say [Runtime note: x] twice", "Say [Runtime note: x] twice"),
        (f"{SKILL}\n{SAID}", None),
        (SKILL.replace(SAID, ""), None),
        (BUNDLE.format(said="User instruction: Do both.\nTwice."), "Do both.\nTwice."),
        (BUNDLE.format(said="").replace("User instruction: a decoy", ""), None),
        ("[IMPORTANT: The user has invoked the thing.] What now?", None),
        ("He wrote [IMPORTANT: The user has invoked the x", "He wrote [IMPORTANT: The user has invoked the x"),
    ],
)
def test_the_users_words_are_found_in_an_unfolded_skill(text, expected):
    """Of a message that a skill was unfolded into, only the user's words count; any other text is as it was."""
    assert expected == extract_user_instruction_from_skill_message(text)
