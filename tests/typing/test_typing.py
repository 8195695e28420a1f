"""The package's types, as those who use it meet them: mypy in strict mode is content, and catches mistakes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from mypy import api

HERE = Path(__file__).parent
ROOT = HERE.parents[1]


@pytest.fixture(scope="module")
def checked():
    """Have mypy check a file of this folder; returns what it says, one entry a line."""

    def check(name: str) -> list[str]:
        path = HERE / name
        options = ["--strict", "--config-file=", "--no-error-summary", f"--cache-dir={ROOT / '.mypy_cache' / 'typing'}"]
        out, err, _ = api.run([*options, str(path)])
        assert err == ""
        return out.splitlines()

    return check


def test_a_plugins_author_has_nothing_to_complain_of(checked):
    """Plugins, providers, hooks and embedding programs type-check strictly, and results have their types."""
    assert checked("plugin_author.py") == []


def test_each_mistake_is_caught(checked):
    """Every line marked as wrong is an error of mypy's, and no other line is."""
    said = [line for line in checked("mistakes.py") if ": error: " in line]
    found = {int(re.search(r":(\d+): ", line)[1]) for line in said}
    lines = (HERE / "mistakes.py").read_text().splitlines()
    assert found == {number for number, line in enumerate(lines, 1) if "# wrong:" in line}


def test_the_package_says_that_it_is_typed():
    """``py.typed`` lies in the package, or a type checker would not read it."""
    assert (ROOT / "hermes_core" / "py.typed").exists()
