"""An error that leaves the host leads to no secret."""

from __future__ import annotations

import dataclasses
import traceback
from types import FunctionType
from typing import NamedTuple
from uuid import uuid4

import pytest

from hermes_core.config.redact import REDACTED, register_secret
from hermes_core.config.scrub import scrub
from hermes_core.errors import ProviderStatusError


class Pair(NamedTuple):
    """A tuple with names, as the host's own requests are."""

    name: str
    value: str


@pytest.fixture
def secret() -> str:
    """A secret that was made known."""
    value = f"{uuid4().hex}/{uuid4().hex}"
    register_secret(value)
    return value


def attribute(value):
    """An error with an attribute of its own."""
    error = ProviderStatusError("m", status_code=401, body=value, request_id=value, hint=value)
    error.more = {"headers": [(value, value.encode())]}
    return error


def caused(value):
    """An error behind an error."""
    error = RuntimeError("x")
    error.__cause__, error.__cause__.__context__ = ValueError(value), KeyError(value)
    return error


def noted(value):
    """An error with a note."""
    error = RuntimeError("x")
    error.add_note(value)
    return error


ERRORS = {
    "argument": lambda value: RuntimeError(value, 5, [value], {value: (value,)}),
    "argument in bytes": lambda value: ValueError(f"illegal header value {value}".encode(), bytearray(value.encode())),
    "argument with names": lambda value: ValueError(Pair("authorization", f"Bearer {value}")),
    "attribute": attribute,
    "cause and context": caused,
    "note": noted,
    "group": lambda value: ExceptionGroup("x", [ValueError(value), ExceptionGroup("y", [KeyError(value)])]),
    "file name": lambda value: OSError(2, value, value, None, value),
    "what could not be decoded": lambda value: UnicodeDecodeError("utf-8", value.encode(), 0, 1, value),
    "what could not be encoded": lambda value: UnicodeEncodeError("ascii", value, 0, 1, "x"),
    "exit code": SystemExit,
}


def seen_in(error: BaseException) -> str:
    """What an error says of itself, and those behind it."""
    rest = (vars(error), error.args, getattr(error, "object", ""), getattr(error, "filename", ""))
    behind = (error.__cause__, error.__context__, *getattr(error, "exceptions", ()))
    shown = [repr(error), str(error), repr(rest), *traceback.format_exception(error)]
    return "".join([*shown, *(seen_in(one) for one in behind if one is not None)])


@pytest.mark.parametrize("make", ERRORS.values(), ids=ERRORS)
def test_an_error_loses_its_secrets(secret, make):
    """Neither text nor arguments, attributes, notes or causes of an error hold a secret; the rest of it stays."""
    error = make(secret)
    assert secret in seen_in(error)
    scrub(error)
    assert secret not in seen_in(error)
    assert REDACTED in seen_in(error)


def test_what_holds_no_secret_is_left_alone(secret):
    """An error's arguments and attributes stay the very same objects unless there is something to take out."""

    class Answer:
        pass

    answer, error = Answer(), RuntimeError("x", 5)
    error.answer, error.items, arguments = answer, [answer], error.args
    items = error.items
    scrub(error)
    assert error.answer is answer
    assert error.items is items
    assert error.args == arguments


def test_errors_that_lead_to_each_other_are_gone_through_once():
    """A circle of causes ends."""
    one, two = ValueError("x"), ValueError("y")
    one.__cause__, two.__cause__ = two, one
    scrub(one)


class Stubborn(Exception):  # noqa: N818 - it is one
    """An error that fights back."""

    def __setattr__(self, name, value):
        raise RuntimeError(name)

    def __eq__(self, other):
        raise RuntimeError

    __hash__ = None


def test_an_error_that_cannot_be_changed_stops_nothing(secret):
    """An error of a plugin's that refuses every change is passed over."""
    error = Stubborn(secret)
    error.__dict__["key"] = error
    scrub(error)


def in_module(function, name: str):
    """The same function, as if it were of another module."""
    return FunctionType(function.__code__, {**globals(), "__name__": name})


def fail(key):
    """A function that has a key at hand when it fails."""
    header = f"Bearer {key}"
    raise RuntimeError(len(header))


@pytest.mark.parametrize(
    ("module", "is_kept"),
    [("hermes_core.llm.flow", False), ("httpcore._sync.http11", False), ("h11._connection", False), ("a_plugin", True)],
)
def test_what_the_hosts_functions_held_is_forgotten(secret, module, is_kept):
    """A traceback shown with its variables has no key of the host's, and still those of a plugin's function."""
    try:
        in_module(fail, module)(secret)
    except RuntimeError as error:
        scrub(error)
        text = "".join(traceback.TracebackException.from_exception(error, capture_locals=True).format())
    assert "in fail" in text
    assert (secret in text.replace(f"secret = '{secret}'", "")) is is_kept


def test_a_results_text_is_no_business_of_it(secret):
    """Objects are not taken apart: what a plugin is to get stays whole."""

    @dataclasses.dataclass
    class Result:
        text: str

    error = RuntimeError("x")
    error.result = Result(secret)
    scrub(error)
    assert error.result.text == secret
