"""Arguments of the four methods: every one of a wrong kind, and the order in which they are looked at."""

from __future__ import annotations

import asyncio
import inspect
from itertools import pairwise
from types import SimpleNamespace

import pytest

from hermes_core import PluginLlm, PluginLlmTextInput, PluginLlmTrustError

METHODS = ["complete", "acomplete", "complete_structured", "acomplete_structured"]
STRUCTURED = [method for method in METHODS if method.endswith("_structured")]
TEXT_BLOCK = {"type": "text", "text": "ping"}
GOOD = {
    "messages": [{"role": "user", "content": "ping"}],
    "instructions": "Do it.",
    "input": [TEXT_BLOCK],
}
OBJECT = SimpleNamespace()

A_LIST = r'messages must be a list like \[\{"role": "user", "content": "…"\}\], got '
A_MESSAGE = "must be a mapping with a role that is text, got "
BLOCKS = "input must be a list of text and image blocks, got "
A_BLOCK = r"input\[1\] must be a text or image block, got "
A_TEXT = r"input\[1\] must be a text block with a string as its text, got "
A_KIND = r"input\[1\] has type .*; it must be 'text' or 'image'"

WRONG = {
    "messages": {
        "nothing": ([], A_LIST + "nothing$"),
        "none": (None, A_LIST + "NoneType$"),
        "text": ("hello", A_LIST + "str$"),
        "empty-text": ("", A_LIST + "nothing$"),
        "bytes": (b"hello", A_LIST + "bytes$"),
        "one-message": ({"role": "user", "content": "x"}, A_LIST + "dict$"),
        "a-number": (5, A_LIST + "5$"),
        "a-set": ({"x"}, A_LIST + "set$"),
        "an-iterator": (iter([{"role": "user", "content": "x"}]), A_LIST + "list_iterator$"),
        "a-list-of-texts": (["hello"], rf"messages\[0\] {A_MESSAGE}str$"),
        "a-message-without-a-role": ([{"content": "x"}], rf"messages\[0\] {A_MESSAGE}dict$"),
        "a-role-that-is-no-text": ([{"role": 5, "content": "x"}], rf"messages\[0\] {A_MESSAGE}dict$"),
        "a-good-one-and-a-bad-one": ([*GOOD["messages"], None], rf"messages\[1\] {A_MESSAGE}NoneType$"),
        "content-that-is-a-number": (
            [{"role": "user", "content": 5}], r"messages\[0\] content must be text or a list of parts, got 5$",
        ),
        "content-that-is-a-mapping": (
            [{"role": "user", "content": {"text": "x"}}],
            r"messages\[0\] content must be text or a list of parts, got dict$",
        ),
        "a-part-that-is-text": (
            [{"role": "user", "content": ["x"]}], r"messages\[0\] content\[0\] must be a mapping with a type, got str$",
        ),
        "content-that-is-no-json": (
            [{"role": "user", "content": "x", "extra": OBJECT}], "messages must hold what JSON can, got ",
        ),
    },
    "instructions": {
        "empty": ("", "instructions must be text, got nothing$"),
        "blank": (" \n", "instructions must be text, got only blanks$"),
        "none": (None, "instructions must be text, got NoneType$"),
        "bytes": (b"do", "instructions must be text, got bytes$"),
        "a-number": (5, "instructions must be text, got 5$"),
        "a-list": (["do"], "instructions must be text, got list$"),
    },
    "input": {
        "empty-list": ([], BLOCKS + "nothing$"),
        "none": (None, BLOCKS + "NoneType$"),
        "bare-text": ("hello", BLOCKS + "str$"),
        "empty-text": ("", BLOCKS + "nothing$"),
        "bare-bytes": (b"hello", BLOCKS + "bytes$"),
        "one-block": ({"type": "text", "text": "x"}, BLOCKS + "dict$"),
        "one-dataclass": (PluginLlmTextInput("x"), BLOCKS + "PluginLlmTextInput$"),
        "a-number": (0, BLOCKS + "0$"),
        "a-block-that-is-text": ([TEXT_BLOCK, "hello"], A_BLOCK + "str$"),
        "a-block-that-is-none": ([TEXT_BLOCK, None], A_BLOCK + "NoneType$"),
        "a-block-that-is-a-list": ([TEXT_BLOCK, []], A_BLOCK + "nothing$"),
        "a-block-that-is-an-object": ([TEXT_BLOCK, OBJECT], A_BLOCK + "SimpleNamespace$"),
        "a-text-that-is-a-number": ([TEXT_BLOCK, {"type": "text", "text": 5}], A_TEXT + "5$"),
        "a-text-that-is-missing": ([TEXT_BLOCK, {"type": "text"}], A_TEXT + "NoneType$"),
        "a-text-in-a-dataclass-that-is-bytes": ([TEXT_BLOCK, PluginLlmTextInput(b"x")], A_TEXT + "bytes$"),
        "a-kind-nobody-knows": ([TEXT_BLOCK, {"type": "audio", "data": b"x"}], A_KIND),
        "a-kind-that-is-missing": ([TEXT_BLOCK, {"text": "x"}], A_KIND),
        "a-kind-that-is-a-list": ([TEXT_BLOCK, {"type": ["text"], "text": "x"}], A_KIND),
        "a-kind-in-capitals": ([TEXT_BLOCK, {"type": "TEXT", "text": "x"}], A_KIND),
    },
    "json_schema": {
        "text": ("object", "json_schema must be "),
        "a-list": ([{"type": "object"}], "json_schema must be "),
        "a-number": (5, "json_schema must be "),
        "bytes": (b"{}", "json_schema must be "),
        "an-instance": (PluginLlmTextInput("x"), "json_schema must be "),
        "a-plain-class": (SimpleNamespace, "json_schema: class SimpleNamespace is no dataclass, TypedDict or pydantic"),
        "no-schema": ({"type": "nope"}, r"json_schema is no valid JSON schema at \$\.type"),
    },
    "json_mode": {
        "text": ("yes", "json_mode must be True or False, got str$"),
        "empty-text": ("", "json_mode must be True or False, got nothing$"),
        "a-number": (1, "json_mode must be True or False, got 1$"),
        "a-list": ([True], "json_mode must be True or False, got list$"),
        "a-class": (dict, "json_mode must be True or False, got type$"),
    },
    **{
        argument: {
            "a-number": (5, f"{argument} must be text, got 5$"),
            "false": (False, f"{argument} must be text, got False$"),
            "bytes": (b"x", f"{argument} must be text, got bytes$"),
            "a-list": (["x"], f"{argument} must be text, got list$"),
            "an-object": (OBJECT, f"{argument} must be text, got SimpleNamespace$"),
        }
        for argument in ("schema_name", "system_prompt", "purpose")
    },
    **{
        argument: {
            "a-number": (5, f"{argument} must be text or None, got int$"),
            "zero": (0, f"{argument} must be text or None, got int$"),
            "false": (False, f"{argument} must be text or None, got bool$"),
            "bytes": (b"x", f"{argument} must be text or None, got bytes$"),
            "a-list": (["x"], f"{argument} must be text or None, got list$"),
            "an-object": (OBJECT, f"{argument} must be text or None, got SimpleNamespace$"),
            "blank": (" \t", f"{argument}= is blank"),
        }
        for argument in ("provider", "model", "agent_id", "profile")
    },
    "temperature": {
        "below-0": (-0.1, "temperature must be a number from 0 to 2, got -0.1$"),
        "above-2": (2.1, "temperature must be a number from 0 to 2, got 2.1$"),
        "text": ("0.2", "temperature must be a number from 0 to 2, got str$"),
        "true": (True, "temperature must be a number from 0 to 2, got True$"),
        "not-a-number": (float("nan"), "temperature must be a number from 0 to 2, got nan$"),
        "infinite": (float("inf"), "temperature must be a number from 0 to 2, got inf$"),
        "beyond-floats": (10**400, "temperature must be a number from 0 to 2, got int$"),
        "too-long-to-be-written": (10**5000, "temperature must be a number from 0 to 2, got int$"),
        "complex": (1j, "temperature must be a number from 0 to 2, got complex$"),
        "a-list": ([0.2], "temperature must be a number from 0 to 2, got list$"),
    },
    "max_tokens": {
        "0": (0, "max_tokens must be a whole number of tokens, 1 or more, got 0$"),
        "negative": (-1, "max_tokens must be a whole number of tokens, 1 or more, got -1$"),
        "true": (True, "max_tokens must be a whole number of tokens, 1 or more, got True$"),
        "text": ("64", "max_tokens must be a whole number of tokens, 1 or more, got str$"),
        "a-float": (64.0, "max_tokens must be a whole number of tokens, 1 or more, got 64.0$"),
        "infinite": (float("inf"), "max_tokens must be a whole number of tokens, 1 or more, got inf$"),
        "too-long-to-be-written": (10**5000, "max_tokens must be a whole number of tokens, 1 or more, got int$"),
        "a-list": ([64], "max_tokens must be a whole number of tokens, 1 or more, got list$"),
    },
    "timeout": {
        "0": (0, "timeout must be a number of seconds above 0, got 0$"),
        "negative": (-1.5, "timeout must be a number of seconds above 0, got -1.5$"),
        "true": (True, "timeout must be a number of seconds above 0, got True$"),
        "text": ("30", "timeout must be a number of seconds above 0, got str$"),
        "not-a-number": (float("nan"), "timeout must be a number of seconds above 0, got nan$"),
        "infinite": (float("inf"), "timeout must be a number of seconds above 0, got inf$"),
        "a-pair": ((5, 30), "timeout must be a number of seconds above 0, got tuple$"),
    },
}  # fmt: skip


def parameters(method: str) -> list[str]:
    """The arguments a method takes."""
    return [*inspect.signature(getattr(PluginLlm, method)).parameters][1:]


def ask(llm: PluginLlm, method: str, **arguments: object) -> object:
    """Call a method, whose other arguments go without saying."""
    needed = {name: value for name, value in GOOD.items() if name in parameters(method)}
    answer = getattr(llm, method)(**{**needed, **arguments})
    return asyncio.run(awaited(answer)) if method.startswith("a") else answer


async def awaited(answer):
    """What an awaitable gives."""
    return await answer


MATRIX = [
    pytest.param(method, argument, value, said, id=f"{method}-{argument}-{name}")
    for method in METHODS
    for argument in parameters(method)
    for name, (value, said) in WRONG[argument].items()
]


@pytest.mark.parametrize(("method", "argument", "value", "said"), MATRIX)
def test_an_argument_of_a_wrong_kind_is_refused(lane, method, argument, value, said):
    """The error names the method, the argument and what it accepts, and nothing is sent."""
    with pytest.raises((ValueError, TypeError), match=f"^{method}: {said}") as caught:
        ask(lane.llm(), method, **{argument: value})
    wants_type_error = argument in ("provider", "model", "agent_id", "profile") and not isinstance(value, str)
    assert isinstance(caught.value, TypeError) is wants_type_error
    assert lane.server.requests == []


def test_every_argument_is_in_the_matrix():
    """No argument of any method is left out."""
    assert {name for method in METHODS for name in parameters(method)} == set(WRONG)


@pytest.mark.parametrize("method", METHODS)
def test_none_stands_for_the_default(lane, method):
    """Every optional argument may be None, and every override empty text as well."""
    optional = [name for name in parameters(method) if name not in GOOD]
    overrides = dict.fromkeys(("provider", "model", "agent_id", "profile"), "")
    assert ask(lane.llm(), method, **dict.fromkeys(optional)).text == "pong"
    assert ask(lane.llm(), method, **overrides).text == "pong"


@pytest.mark.parametrize("method", METHODS)
def test_an_unknown_keyword_is_pythons_own_error(lane, method):
    """A keyword that no method takes is a TypeError at the call, as for any function."""
    with pytest.raises(TypeError, match=rf"{method}\(\) got an unexpected keyword argument 'stream'"):
        getattr(lane.llm(), method)(**{name: GOOD[name] for name in parameters(method) if name in GOOD}, stream=True)


@pytest.mark.parametrize("method", METHODS)
def test_a_missing_argument_is_pythons_own_error(lane, method):
    """What a method needs and is not given is a TypeError at the call, as for any function."""
    with pytest.raises(TypeError, match=rf"{method}\(\) missing "):
        getattr(lane.llm(), method)()


REFUSED = (PluginLlmTrustError, "may not override provider=")
CHAT_ORDER = [
    ("provider", 5, (TypeError, "provider must be text")),
    ("provider", "acme", REFUSED),
    ("max_tokens", 0, (ValueError, "max_tokens must be")),
    ("messages", [], (ValueError, "messages must be")),
]
STRUCTURED_ORDER = [
    ("instructions", " ", (ValueError, "instructions must be")),
    ("input", [], (ValueError, "input must be")),
    ("provider", 5, (TypeError, "provider must be text")),
    ("provider", "acme", REFUSED),
    ("max_tokens", 0, (ValueError, "max_tokens must be")),
    ("json_schema", 5, (ValueError, "json_schema must be")),
    ("input", [5], (ValueError, r"input\[0\] must be")),
]
ORDERS = [
    pytest.param(method, before, after, id=f"{method}-{before[0]}-{before[1]}-before-{after[0]}-{after[1]}")
    for method in METHODS
    for before, after in pairwise(STRUCTURED_ORDER if method in STRUCTURED else CHAT_ORDER)
    if before[0] != after[0]
]


@pytest.mark.parametrize(("method", "before", "after"), ORDERS)
def test_arguments_are_looked_at_in_order(lane, method, before, after):
    """Empty arguments of a structured call come first, then the gate, then all else."""
    error, said = before[2]
    with pytest.raises(error, match=said):
        ask(lane.llm(), method, **{before[0]: before[1], after[0]: after[1]})


@pytest.mark.parametrize("method", METHODS)
def test_a_refused_argument_is_in_the_audit(lane, method):
    """A call that never left the house has its line too, with the error's class and no tokens."""
    with pytest.raises(ValueError, match="max_tokens"):
        ask(lane.llm(), method, max_tokens=0, purpose="testing")
    (line,) = lane.log()
    assert (line["event"], line["status"], line["tokens"], line["purpose"]) == (
        method, "error:ValueError", "0", "testing",
    )  # fmt: skip
