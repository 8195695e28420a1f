"""Structured answers: parsed, validated, or handed over as text."""

from __future__ import annotations

import pytest

from hermes_core import PluginLlmStructuredResult, StructuredOutputError

ONE = {"a": 1}
SCHEMA = {"type": "object", "properties": {"n": {"type": "integer", "minimum": 0}}, "required": ["n"]}
ANSWERS = {
    "object": ('{"a": 1}', ONE),
    "array": ("[1, 2]", [1, 2]),
    "number": ("5", 5),
    "string": ('"x"', "x"),
    "true": ("true", True),
    "empty-object": ("{}", {}),
    "blanks-around": (' \n{"a": 1}\t\n', ONE),
    "byte-order-mark-r13_22": ('\ufeff{"a": 1}', ONE),
    "zero-width-space-r13_22": ('\u200b{"a": 1}\u200b', ONE),
    "no-break-space-r13_22": ('\u00a0{"a": 1}', ONE),
    "fence-with-json-tag": ('```json\n{"a": 1}\n```', ONE),
    "fence-without-tag": ('```\n{"a": 1}\n```', ONE),
    "fence-with-tildes-r13_13": ('~~~\n{"a": 1}\n~~~', ONE),
    "fence-tag-jsonc-r13_13": ('```jsonc\n{"a": 1}\n```', ONE),
    "fence-tag-json5-r13_13": ('```json5\n{"a": 1}\n```', ONE),
    "fence-tag-with-a-blank-r13_13": ('```JSON \n{"a": 1}\n```', ONE),
    "fence-tag-javascript-r13_13": ('```javascript\n{"a": 1}\n```', ONE),
    "fence-with-windows-newlines": ('```json\r\n{"a": 1}\r\n```', ONE),
    "fence-behind-prose": ('Here it is:\n```json\n{"a": 1}\n```', ONE),
    "fence-amid-prose": ('Here:\n\n```json\n{"a": 1}\n```\n\nAnything else?', ONE),
    "fence-of-several-lines": ('```json\n{\n  "a": 1\n}\n```', ONE),
    "second-fence-is-the-json-r13_11": ('```bash\nls -l\n```\n\n```json\n{"a": 1}\n```', ONE),
    "fence-inside-a-string-r13_07": ('{"snippet": "```python\\nx=1\\n```"}', {"snippet": "```python\nx=1\n```"}),
    "fence-inside-a-fenced-string": ('```json\n{"s": "```"}\n```', {"s": "```"}),
    "prose-around-it-r13_18": ('Sure! The facts are {"a": 1}. Anything else?', ONE),
    "inline-code-before-it-r13_10": ('Here is `the` result: {"a": 1}', ONE),
    "unclosed-fence-r13_12": ('```json\n{"a": 1}', ONE),
    "nested-fences": ('```markdown\n```json\n{"a": 1}\n```\n```', ONE),
    "decoy-before-a-fence": ('Not {"a": 0}, but:\n```json\n{"a": 1}\n```', ONE),
    "said-twice": ('{"a": 1}\n{"a": 1}', ONE),
    "escapes": ('{"a": "\\u00e9\\ud83d\\ude00"}', {"a": "é😀"}),
    "large-integer": ("123456789012345678901234567890", 123456789012345678901234567890),
    "repeated-key-the-last-counts": ('{"a": 0, "a": 1}', ONE),
}
TEXTS = {
    "prose": "I cannot do that.",
    "empty": "",
    "blank": " \n",
    "decoy-in-an-unclosed-think-block-r13_03": '<think>maybe {"a": 0}',
    "cut-off-behind-a-whole-piece": '{"a": {"b": 1}, "c": ',
    "nan-r13_20": '{"a": NaN}',
    "bare-nan-r13_20": "NaN",
    "infinity-r13_20": "Infinity",
    "minus-infinity-r13_20": '{"a": -Infinity}',
    "fenced-nan-r13_20": '```json\n{"a": NaN}\n```',
    "single-quotes": "{'a': 1}",
    "trailing-comma": '{"a": 1,}',
    "cut-off": '{"a": [1, 2',
    "empty-fence-r13_12": "```json\n```",
    "bare-fence-r13_12": "```",
    "fence-of-prose": "```\nhello\n```",
    "nested-too-deep-r13_21": "[" * 100_000,
    "closed-but-too-deep-r13_21": "[" * 100_000 + "]" * 100_000,
    "objects-too-deep-r13_21": '{"a":' * 100_000,
    "fence-too-deep-r13_21": "```json\n" + "[" * 100_000 + "\n```",
    "number-of-10000-digits-r13_21": '{"a": ' + "9" * 10_000 + "}",
    "many-fences": "```\n" * 20_000,
    "five-megabytes-of-prose-r13_21": "word " * 1_000_000,
}


@pytest.mark.parametrize(("text", "parsed"), ANSWERS.values(), ids=ANSWERS)
def test_an_answer_that_is_json_is_parsed(way, lane, text, parsed):
    """A JSON value, plain or in a code fence, is on ``parsed``, and the text stays what the model said."""
    lane.server.answer(text)
    answer = way.structured(lane.llm(), json_mode=True)
    assert (answer.parsed, answer.content_type, answer.text) == (parsed, "json", text)


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
@pytest.mark.parametrize("asked", [{"json_mode": True}, {"json_schema": SCHEMA}], ids=["json-mode", "schema"])
def test_an_answer_that_is_no_json_is_text(way, lane, text, asked):
    """What does not parse is no error: ``parsed`` is None, the type ``text``, and the text is all there."""
    lane.server.answer(text)
    answer = way.structured(lane.llm(), **asked)
    assert (answer.parsed, answer.content_type) == (None, "text")
    assert answer.text == text


def test_a_null_is_json_too(way, lane):
    """``null`` is a JSON value: ``content_type`` tells it from an answer that is none."""
    lane.server.answer("null")
    answer = way.structured(lane.llm(), json_schema={"type": "null"})
    assert (answer.parsed, answer.content_type) == (None, "json")


def test_five_megabytes_of_json_are_parsed_r13_21(way, lane):
    """A very long answer is parsed like a short one."""
    lane.server.answer('["' + "x" * 5_000_000 + '"]')
    answer = way.structured(lane.llm(), json_schema={"type": "array"})
    assert (answer.content_type, len(answer.parsed[0])) == ("json", 5_000_000)


def test_json_that_nobody_asked_for_is_text(way, lane):
    """Without schema and json_mode nothing is parsed."""
    lane.server.answer('{"a": 1}')
    answer = way.structured(lane.llm())
    assert (type(answer), answer.parsed, answer.content_type) == (PluginLlmStructuredResult, None, "text")


def test_a_matching_answer_is_returned(way, lane):
    """JSON that the schema allows is returned on ``parsed``."""
    lane.server.answer('{"n": 3}')
    answer = way.structured(lane.llm(), json_schema=SCHEMA)
    assert (answer.parsed, answer.content_type) == ({"n": 3}, "json")


def test_a_breach_of_the_schema_raises_with_everything_r14_08(way, lane):
    """JSON that breaks the schema raises a ValueError that carries the whole result and every violation."""
    text = '```json\n{"n": -1, "x": 0}\n```'
    lane.server.answer(text)
    with pytest.raises(StructuredOutputError) as caught:
        way.structured(
            lane.llm(),
            json_schema={**SCHEMA, "additionalProperties": False},
            schema_name="count",
            purpose="counting",
        )
    error = caught.value
    assert isinstance(error, ValueError)
    assert str(error).startswith(f"{way.structured_name}: the answer did not match the schema: ")
    assert all(sentence in str(error) for sentence in error.errors)
    assert sorted(error.errors) == [
        "$.n: -1 is less than the minimum of 0",
        "$: Additional properties are not allowed ('x' was unexpected)",
    ]
    result = error.result
    assert (result.text, result.parsed, result.provider, result.model) == (
        text,
        {"n": -1, "x": 0},
        "custom",
        "fake-model",
    )
    assert (result.usage.total_tokens, result.audit["purpose"], result.audit["schema_name"]) == (6, "counting", "count")


def test_many_violations_are_all_listed_but_not_all_told(way, lane):
    """The error lists every violation; its text stays short."""
    lane.server.answer('["a", "b", "c", "d", "e"]')
    with pytest.raises(StructuredOutputError, match="and 2 more") as caught:
        way.structured(lane.llm(), json_schema={"items": {"type": "integer"}})
    assert len(caught.value.errors) == 5


def test_a_huge_answer_makes_no_huge_error(way, lane):
    """The error's text stays short, however long the value is that does not match; the result holds it whole."""
    lane.server.answer('["' + "x" * 1_000_000 + '"]')
    with pytest.raises(StructuredOutputError) as caught:
        way.structured(lane.llm(), json_schema={"items": {"type": "integer"}})
    assert len(str(caught.value)) < 2000
    assert len(caught.value.result.parsed[0]) == 1_000_000


def test_a_breach_of_the_schema_has_its_tokens_in_the_audit(way, lane):
    """The line of a call whose answer broke the schema tells the tokens that it cost."""
    lane.server.answer("[]")
    with pytest.raises(StructuredOutputError):
        way.structured(lane.llm(), json_schema=SCHEMA)
    (line,) = lane.log()
    assert (line["status"], line["tokens"], line["input"], line["output"]) == (
        "error:StructuredOutputError", "6", "5", "1",
    )  # fmt: skip


@pytest.mark.parametrize("word", ["text", " TEXT "])
def test_the_operator_may_have_a_breach_of_the_schema_be_text(way, lane, word):
    """With ``on_schema_failure: text`` an answer of the wrong shape is one without JSON, and its line says so."""
    lane.server.answer('{"n": "one"}')
    answer = way.structured(lane.llm(lane.granting(on_schema_failure=word)), json_schema=SCHEMA)
    assert (answer.parsed, answer.content_type, answer.text) == (None, "text", '{"n": "one"}')
    (line,) = lane.log()
    assert (line["content_type"], line["status"], line["tokens"]) == ("text", "ok", "6")


@pytest.mark.parametrize("word", ["raise", None, "", "txt", True, ["text"]], ids=repr)
def test_any_other_word_has_it_raise(way, lane, caplog, word):
    """Whatever is not ``text`` raises, and what is no word for either is warned of by its key."""
    lane.server.answer('{"n": "one"}')
    with pytest.raises(StructuredOutputError):
        way.structured(lane.llm(lane.granting(on_schema_failure=word)), json_schema=SCHEMA)
    warned = "plugins.entries.p.llm.on_schema_failure" in caplog.text
    assert warned is (word != "raise")


def test_another_plugin_is_not_concerned(way, lane):
    """The setting is that of one plugin."""
    lane.server.answer("[]")
    with pytest.raises(StructuredOutputError):
        way.structured(lane.llm(lane.granting(on_schema_failure="text"), plugin="q"), json_schema=SCHEMA)


def test_a_nested_plugin_is_found_by_its_bare_name(way, lane):
    """The setting is looked up as the trust gate's are."""
    lane.server.answer("[]")
    llm = lane.llm({"plugins": {"entries": {"tldr": {"llm": {"on_schema_failure": "text"}}}}}, plugin="commands/tldr")
    assert way.structured(llm, json_schema=SCHEMA).content_type == "text"


@pytest.mark.parametrize(
    "text",
    ["no json", "[]", '{"n": ', "", "<think>hm", '<think>{"n": "x"}</think>', "```json\n```", '{"n": NaN}'],
    ids=[
        "no-json", "wrong-shape", "cut-off", "empty", "unclosed-think-block", "all-in-a-think-block", "empty-fence",
        "not-a-number",
    ],
)  # fmt: skip
def test_the_model_is_asked_once_r13_17(way, lane, text):
    """An answer that does not fit is not asked for again behind the plugin's back."""
    lane.server.answer(text)
    try:
        way.structured(lane.llm(), json_schema=SCHEMA)
    except StructuredOutputError:
        pass
    assert len(lane.server.requests) == 1
