"""What counts as true."""

import pytest

from hermes_core.config.truth import as_bool, is_number, is_true


@pytest.mark.parametrize("value", [True, 1, 1.0, "true", "TRUE", " yes ", "On", "1"])
def test_true(value):
    """True, the number 1, and the words true, yes, on and 1, in any case, are true."""
    assert is_true(value) is True


@pytest.mark.parametrize(
    "value",
    [False, 0, 2, -1, 0.5, None, "", " ", "false", "no", "off", "0", "maybe", "2", [], {}, [True], {"a": 1}, b"1"],
)
def test_everything_else_is_false_r12_01(value):
    """Whatever else there is, quoted words and full containers too, is false."""
    assert is_true(value) is False


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        *((value, True) for value in (True, 1, 1.0, "true", " YES ", "on", "1")),
        *((value, False) for value in (False, 0, 0.0, "false", " No ", "OFF", "0")),
        *((value, None) for value in (None, "", "maybe", 2, 0.5, [], [False], {}, b"0")),
    ],
    ids=repr,
)
def test_a_switch_is_on_off_or_not_said(value, expected):
    """A switch is on or off in the words people use; anything else says nothing."""
    assert as_bool(value) is expected


@pytest.mark.parametrize("value", [0, 1, -2, 0.5, 1e308])
def test_a_number(value):
    """A finite number is one."""
    assert is_number(value) is True


@pytest.mark.parametrize("value", [True, False, None, "1", float("nan"), float("inf"), 10**400, [1], 1j])
def test_no_number(value):
    """Truth values, texts, and what no float can hold are no numbers."""
    assert is_number(value) is False
