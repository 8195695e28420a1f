"""Finding the one JSON value in whatever a model wrote around it."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hermes_core.llm.json_text import MAX_LENGTH, NotJsonError, parse_json, parse_whole

ONE = {"a": 1}
MEGABYTES = 5_000_000


def fits(value: object) -> bool:
    """The shape these tests ask for: an object whose ``meant`` is a whole number."""
    return isinstance(value, dict) and type(value.get("meant")) is int


def parsed(text: str) -> object:
    """What is found, or the error's class."""
    try:
        return parse_json(text, fits)
    except NotJsonError:
        return NotJsonError


FOUND = {
    "fence-behind-a-decoy-in-the-words": ('Not {"a": 0} but\n```json\n{"a": 1}\n```', ONE),
    "fence-before-a-decoy-in-the-words": ('```json\n{"a": 1}\n```\nand not {"a": 0}', ONE),
    "fence-that-is-not-closed-r13_12": ('```json\n{"a": 1}', ONE),
    "fence-closed-on-the-last-line": ('```json\n{"a": 1}```', ONE),
    "fence-of-one-line": ('```json {"a": 1} ```', ONE),
    "fence-in-a-longer-fence": ('````markdown\n```json\n{"a": 1}\n```\n````', ONE),
    "fence-in-a-fence-as-long": ('```markdown\n```json\n{"a": 1}\n```\n```', ONE),
    "fence-in-a-tilde-fence": ('~~~\n```\n{"a": 1}\n```\n~~~', ONE),
    "fence-opened-twice": ('```json\n```json\n{"a": 1}\n```', ONE),
    "fence-that-is-indented": ('1. So:\n   ```json\n   {"a": 1}\n   ```', ONE),
    "fence-with-an-info-string-of-words": ('```json title="a.json"\n{"a": 1}\n```', ONE),
    "scalar-in-a-fence": ("So:\n```\n5\n```", 5),
    "words-and-an-object-in-a-fence": ('```\nHere: {"a": 1}\n```', ONE),
    "assignment-in-a-fence": ('```js\nconst x = {"a": 1};\n```', ONE),
    "second-fence-when-the-first-is-broken": ('```json\n{"a": 1,}\n```\n```json\n{"a": 1}\n```', ONE),
    "object-amid-words-r13_18": ('Sure! The facts are {"a": 1}. Anything else?', ONE),
    "array-amid-words": ("The numbers are [1, 2].", [1, 2]),
    "object-behind-inline-code-r13_10": ('Here is `the` result: {"a": 1}', ONE),
    "object-as-inline-code": ('The result is `{"a": 1}`.', ONE),
    "object-before-a-comment": ('{"a": 1} // done', ONE),
    "object-in-brackets": ('({"a": 1})', ONE),
    "object-in-another-tag": ('<answer>{"a": 1}</answer>', ONE),
    "object-of-several-lines-amid-words": ('So:\n{\n\t"a": 1\n}\nDone.', ONE),
    "object-twice": ('{"a": 1}{"a": 1}', ONE),
    "object-twice-and-cut-off": ('{"a": 1}\n{"a": 1}\n{"a"', ONE),
    "object-behind-a-footnote": ('As shown in [1], it is {"a": 1}', ONE),
    "object-behind-an-interval": ('On [0, 1) it is {"a": 1}, as on (0, 1].', ONE),
    "object-behind-an-empty-list-item": ('- [ ] check\n- [x] done\n{"a": 1}', ONE),
    "object-behind-braces-that-are-no-json": ('With {x} and {{y}} it is {"a": 1}', ONE),
    "object-behind-a-lone-brace-and-quote": ('A { is no ", as in {"a": 1}', ONE),
    "object-behind-one-with-placeholders": ('The form is {"a": <number>}. So: {"a": 1}', ONE),
    "object-behind-brackets-with-quoted-words": ('["so" they say] {"a": 1}', ONE),
    "object-behind-one-that-was-begun-and-given-up": ('{"a": [1, 2\nWait, no: {"a": 1}', ONE),
    "object-with-back-ticks-amid-words-r13_07": ('So: {"s": "```python\\nx\\n```"} ok', {"s": "```python\nx\n```"}),
    "object-with-braces-in-a-string": ('So: {"s": "} ] {"} ok', {"s": "} ] {"}),
    "object-with-escaped-quotes-amid-words": ('So: {"s": "\\"}\\\\"} ok', {"s": '"}\\'}),
    "object-with-think-tags-in-a-string": ('So: {"s": "<think>a</think>b"} ok', {"s": "<think>a</think>b"}),
    "think-tags-in-a-fenced-string": ('```\n{"s": "</think>"}\n```', {"s": "</think>"}),
    "think-tags-in-a-string-that-is-all": ('"a</think>b"', "a</think>b"),
    "behind-a-think-block-r13_01": ('<think>r</think>{"a": 1}', ONE),
    "fence-behind-a-think-block": ('<think>r</think>\n```json\n{"a": 1}\n```', ONE),
    "words-behind-a-think-block": ('<think>r</think>\nIt is {"a": 1}', ONE),
    "scalar-behind-a-think-block": ("<think>r</think>\n5", 5),
    "decoys-in-a-think-block": ('<think>{"a": 0}\n```json\n{"a": 0}\n```\n</think>{"a": 1}', ONE),
    "decoy-in-a-think-block-amid-words": ('So <think>{"a": 0}</think> it is {"a": 1}', ONE),
    "think-block-behind-it": ('{"a": 1}\n<think>{"a": 0}</think>', ONE),
    "think-block-behind-it-that-is-not-closed": ('{"a": 1}\n<think>or {"a": 0}', ONE),
    "tag-thinking": ('<thinking>{"a": 0}</thinking>{"a": 1}', ONE),
    "tag-reasoning": ('<reasoning>{"a": 0}</reasoning>{"a": 1}', ONE),
    "tag-thought": ('<thought>{"a": 0}</thought>{"a": 1}', ONE),
    "tag-reasoning-scratchpad": ('<REASONING_SCRATCHPAD>{"a": 0}</REASONING_SCRATCHPAD>{"a": 1}', ONE),
    "tag-in-capitals": ('<THINK>{"a": 0}</THINK>{"a": 1}', ONE),
    "closing-tag-alone": ('maybe {"a": 0}\n</think>\n{"a": 1}', ONE),
    "closing-tag-alone-behind-an-open-bracket": ('maybe [1 or {"a": 0}</think>{"a": 1} on (0, 1]', ONE),
    "closing-tag-alone-behind-a-fence": ('```json\n{"a": 0}\n```\n</think>\nIt is {"a": 1}', ONE),
    "think-block-in-a-think-block": ('<think>a<think>b</think>{"a": 0}</think>{"a": 1}', ONE),
    "tag-that-is-only-spoken-of": ('`<think>` begins it: {"a": 1}', ONE),
    "byte-order-mark-in-a-fence-r13_22": ('```json\n\ufeff{"a": 1}\n```', ONE),
    "nested-a-hundred-deep": ("[" * 100 + "]" * 100, json.loads("[" * 100 + "]" * 100)),
    "largest-float": ("1.7e308", 1.7e308),
}
NONE = {
    "decoy-in-an-unclosed-think-block-r13_03": '<think>maybe {"a": 0}',
    "fence-in-an-unclosed-think-block-r13_03": '<think>\n```json\n{"a": 0}\n```',
    "all-in-a-think-block-r13_05": '<think>{"a": 0}</think>',
    "all-before-a-closing-tag": 'maybe {"a": 0}</think>',
    "words-behind-a-think-block": '<think>{"a": 0}</think>I cannot.',
    "cut-off-in-an-object": '{"a": {"b": 1}, "c": [1, {"d": 2}',
    "cut-off-in-a-string": '{"a": {"b": 1}, "c": "hel',
    "cut-off-in-an-escape": '{"a": {"b": 1}, "c": "x\\u00',
    "cut-off-in-a-word": '{"a": {"b": 1}, "c": tru',
    "cut-off-in-a-number": '{"a": {"b": 1}, "c": 1.',
    "cut-off-behind-words": 'It is {"a": {"b": 1}, "c": [',
    "cut-off-in-a-fence": '```json\n{"a": {"b": 1},\n```',
    "piece-before-a-trailing-comma": '{"a": {"b": 1},}',
    "piece-behind-single-quotes": '{"a": \'x\', "b": {"c": 1}}',
    "piece-behind-nan-r13_20": '{"a": NaN, "b": {"c": 1}}',
    "piece-behind-a-comment": '{"a": 1, // one\n "b": {"c": 1}}',
    "piece-behind-a-missing-comma": '{"status": "ok" "result": {"urgency": 0.9}',
    "piece-behind-a-missing-comma-amid-words": 'It is {"status": "ok" "result" :\n {"urgency": 0.9}, as you see.',
    "piece-of-a-list-without-commas": '[{"a": 1} {"b": 2}, {"c": 3}',
    "piece-behind-two-missing-commas": '{"a": 1 "b": {"c": 2 "d": [{"e": 3}]',
    "piece-behind-a-bracket-that-does-not-match": '{"a": {"b": 1}, "c": [{"d": 2})',
    "number-too-large-for-a-float-r13_20": '{"a": 1e999}',
    "scalar-amid-words": "The answer is 5.",
    "string-amid-words": 'The answer is "x".',
    "null-amid-words": "It is null.",
    "two-scalars": "1 2",
    "interval": "On [0, 1) it is.",
    "lone-byte-order-mark": "\ufeff",
    "longer-than-is-looked-at-r13_21": '["' + "x" * MAX_LENGTH + '"]',
    "longer-than-is-looked-at-amid-words-r13_21": 'It is {"a": 1}. ' + "x" * MAX_LENGTH,
}
CHOSEN = {
    "one-that-fits-behind-one-that-does-not": ('{"a": 1} and {"meant": 2}', {"meant": 2}),
    "the-first-of-two-that-fit": ('{"meant": 1} and {"meant": 2}', {"meant": 1}),
    "one-that-fits-behind-a-fence-that-does-not": ('```\n{"a": 1}\n```\n{"meant": 2}', {"meant": 2}),
    "the-second-of-two-fences": ('```\n{"a": 1}\n```\n```\n{"meant": 2}\n```', {"meant": 2}),
    "a-fence-when-none-fits": ('{"a": 1}\n```\n[2]\n```', [2]),
    "an-object-when-none-fits": ('[1] {} {"a": 1} {"b": 2}', {"a": 1}),
    "the-first-array-when-there-is-no-object": ("[] and [2]", []),
    "the-whole-though-a-piece-would-fit": ('{"a": {"meant": 1}}', {"a": {"meant": 1}}),
}
SLOW_TO_READ = {
    "words": ("", "word ", ""),
    "open-square-brackets": ("", "[", ""),
    "open-braces": ("", "{", ""),
    "open-objects": ("", '{"a":', ""),
    "open-brackets-and-a-long-list": ("[" * 900, "1,", " x"),
    "brackets-that-are-none": ("", "[0)", ""),
    "brackets-that-are-none-and-arrays": ("[0 " * 20, "[]", ""),
    "braces-and-quotes": ("", '{"', ""),
    "broken-objects": ("", '{"a":x} ', ""),
    "a-broken-object-of-many": ('{"a":[', '{"b":1},', "]}"),
    "quotes-behind-backslashes": ('{"a":x "', '\\"', ""),
    "a-string-without-an-end": ('{"a":"', '\\"', ""),
    "empty-arrays": ("", "[] ", ""),
    "fences": ("", "```\n", ""),
    "fences-that-open": ("", "```x\n", ""),
    "fences-with-a-line-each": ("", "```\n1x\n", ""),
    "fences-of-two-kinds": ("", "```\n~~~\n", ""),
    "back-ticks": ("", "`", ""),
    "think-tags": ("", "<think>", ""),
    "closing-tags": ("", "</think>", ""),
    "think-blocks": ("", "<think></think>", ""),
    "closing-tags-and-broken-objects": ("", '</think>{"a":1,}', ""),
    "angle-brackets": ("", "</", ""),
    "digits": ("", "9", ""),
    "blanks": ("", " ", ""),
    "line-ends": ("", "\n", ""),
}


@pytest.mark.parametrize(("text", "value"), FOUND.values(), ids=FOUND)
def test_the_value_is_found(text, value):
    """A value in a fence, amid words or behind reasoning is found; decoys and pieces are passed over."""
    assert parsed(text) == value


@pytest.mark.parametrize("text", NONE.values(), ids=NONE)
def test_no_value_is_made_up(text):
    """Nothing is taken out of reasoning, out of broken JSON, or out of JSON that breaks off."""
    assert parsed(text) is NotJsonError


@pytest.mark.parametrize(("text", "value"), CHOSEN.values(), ids=CHOSEN)
def test_one_of_several_values_is_chosen(text, value):
    """The first that fits is taken, fences before words; when none does, the likeliest."""
    assert parsed(text) == value


@pytest.mark.parametrize("length", [100_000, pytest.param(MEGABYTES, marks=pytest.mark.slow)], ids=["100kB", "5MB"])
@pytest.mark.parametrize(("start", "middle", "end"), SLOW_TO_READ.values(), ids=SLOW_TO_READ)
def test_no_text_takes_long_r13_21(start, middle, end, length):
    """Texts made to be read again and again come to an end; were the work quadratic, this would take hours."""
    assert not fits(parsed(start + middle * (length // len(middle)) + end))


@pytest.mark.parametrize("text", ["", "nope", "[" * 100_000, "x" * (MAX_LENGTH + 1)], ids=len)
def test_an_error_does_not_hold_the_text(text):
    """The error for what is no JSON is short, and does not lead to the decoder's, which holds the answer."""
    with pytest.raises(NotJsonError) as caught:
        parse_json(text)
    assert (len(str(caught.value)) < 100, caught.value.__cause__) == (True, None)


def test_a_whole_value_has_blanks_around_it_at_most():
    """What is asked to be JSON as a whole may have blanks around it, and no word or fence."""
    assert parse_whole('\ufeff {"a": 1}\n') == ONE
    with pytest.raises(NotJsonError):
        parse_whole('```\n{"a": 1}\n```')


# What models write: a value that is meant, somewhere among words, decoys, fences and reasoning.
NASTY = [
    "```",
    "\n```json\n",
    "<think>",
    "</think>",
    '"',
    "\\",
    "{",
    "}",
    "[",
    "]",
    '{"meant": 0}',
    "~~~",
    " ",
    "\n",
    "`",
]
WORDS = st.text(max_size=12) | st.lists(st.sampled_from(NASTY), max_size=6).map("".join)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=8,
)
MEANT = st.builds(lambda rest, n: {**rest, "meant": n}, st.dictionaries(WORDS, VALUES, max_size=3), st.integers(1, 99))
STYLE = st.sampled_from([{}, {"indent": 2}, {"indent": "\t", "ensure_ascii": False}, {"separators": (",", ":")}])
PROSE = [
    "",
    "Sure!",
    "Here is what you asked for:",
    "It's 5\" wide, and 5 < 6.",
    "Voilà, ça y est 🙂",
    "Step 1. Do it.\nStep 2. Rest.",
    "As `json`:",
]
DECOYS = [
    "[1]",
    "{}",
    "[]",
    "- [ ] todo\n- [x] done",
    "[0, 1)",
    "(0, 1]",
    "{braces}",
    "`{`",
    "`</think>`",
    "{'meant': 1}",
    '{"meant": <number>}',
    '{"meant": "one"}',
    '{"meant": 5,}',
    '{"a": NaN, "b": {"meant": 3}}',
    '{"other": 1}',
    '["quoted" words]',
    '"meant"',
    "[below](http://x.test)",
    "{{ template }}",
    "if (x) { y[0] = z; }",
    "```bash\nls -l [a-z]*\n```",
    "```\n42\n```",
    "~~~python\nprint({'a': 1})\n~~~",
    "```json\n```",
    "NaN",
    "$x^{2}$",
]
REASONING = [
    "",
    '<think>maybe {"meant": 0}?</think>\n',
    '<thinking>\n```json\n{"meant": 0}\n```\n</thinking>',
    '<THOUGHT>{"meant": 0}</THOUGHT>',
    "<think></think>\n\n",
    '<reasoning>a <think> b {"meant": 0}</reasoning>',
    '<think>x</think>\n<think>{"meant": 0}</think>\n',
    'Perhaps {"meant": 0} or [1\n</think>\n',
]
WRAPS = [
    "{}",
    "\ufeff{}",
    "\u200b{}\u00a0",
    "({})",
    "`{}`",
    "result = {};",
    "<answer>{}</answer>",
    "{}{}",
    "{}\n{}",
    "```json {} ```",
    "```json\n{}```",
    "```json\n{}",
    "````markdown\n```json\n{}\n```\n````",
    "```markdown\n```json\n{}\n```\n```",
    "~~~\n```\n{}\n```\n~~~",
    "```json\n```json\n{}\n```",
    "   ```json\r\n{}\r\n   ```",
    *(
        f"{mark}{info}\n{{}}\n{mark}"
        for info in ("", "json", "JSON ", "javascript", 'json title="a.json"', "c++")
        for mark in ("```", "~~~", "`````")
    ),
]
AROUND = st.lists(st.sampled_from(PROSE) | st.sampled_from(DECOYS), max_size=4).map("\n".join)


def is_found(value, style, wrap, reasoning, before, after):
    """A value that is meant is found, whatever surrounds it."""
    wrapped = wrap.replace("{}", json.dumps(value, **style))
    assert parsed(f"{reasoning}{before}\n{wrapped}\n{after}") == value


def is_not_pieced_together(value, style, wrap, reasoning, before, share):
    """An answer that breaks off within the value has no value that fits."""
    written = json.dumps(value, **style)
    opening, _, _ = wrap.partition("{}")
    cut = written[: int(len(written) * share)]
    assert not fits(parsed(f"{reasoning}{before}\n{opening}{cut}"))


GENERATED = {
    is_found: (MEANT, STYLE, st.sampled_from(WRAPS), st.sampled_from(REASONING), AROUND, AROUND),
    is_not_pieced_together: (
        MEANT, STYLE, st.sampled_from(WRAPS), st.sampled_from(REASONING), AROUND, st.floats(0, 0.999),
    ),
}  # fmt: skip


@pytest.mark.parametrize("examples", [150, pytest.param(5000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("rule", GENERATED, ids=lambda rule: rule.__name__)
def test_generated_answers_never_mislead(rule, examples):
    """Of thousands of answers, each yields the value that is meant, and none that was not."""
    checks = [HealthCheck.too_slow, HealthCheck.large_base_example, HealthCheck.data_too_large]
    bounds = settings(max_examples=examples, database=None, deadline=None, suppress_health_check=checks)
    bounds(given(*GENERATED[rule])(rule))()


@settings(max_examples=200, database=None, deadline=None)
@given(st.text() | st.text(alphabet='`~{}[]()":,\\\n 1an</think>', max_size=80))
def test_parsing_never_fails_in_another_way(text):
    """Whatever a model says, it is JSON or a NotJsonError."""
    parsed(text)


@settings(max_examples=100, database=None, deadline=None)
@given(VALUES)
def test_every_json_value_survives_plain_and_fenced(value):
    """What was written as JSON is read as the same value, whether a fence surrounds it or not."""
    written = json.dumps(value)
    assert (parse_json(written), parse_json(f"So:\n```json\n{written}\n```\n")) == (value, value)
