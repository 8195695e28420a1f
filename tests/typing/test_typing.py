"""The package's types, as those who use it meet them: mypy and pyright, both strict, are content and catch mistakes."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from mypy import api

HERE = Path(__file__).parent
ROOT = HERE.parents[1]


def mypy(name: str) -> set[int]:
    """The lines of a file that mypy complains of."""
    options = ["--strict", "--config-file=", "--no-error-summary", f"--cache-dir={ROOT / '.mypy_cache' / 'typing'}"]
    out, err, _ = api.run([*options, str(HERE / name)])
    assert err == ""
    return {int(re.search(rf"{name}:(\d+): ", line)[1]) for line in out.splitlines() if ": error: " in line}


def pyright(name: str) -> set[int]:
    """The lines of a file that pyright complains of; its own first line says how strictly."""
    command = [sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", sys.executable, str(HERE / name)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    report = json.loads(done.stdout)
    assert report["summary"]["filesAnalyzed"] == 1, done.stdout
    return {found["range"]["start"]["line"] + 1 for found in report["generalDiagnostics"]}


@pytest.fixture(params=[mypy, pyright], ids=["mypy", "pyright"])
def complaints(request):
    """Has a checker read a file of this folder; gives the lines that it complains of."""
    return request.param


def test_a_plugins_author_has_nothing_to_complain_of(complaints):
    """Plugins, providers, hooks and embedding programs type-check strictly, and results have their types."""
    assert complaints("plugin_author.py") == set()


def test_each_mistake_is_caught(complaints):
    """Every line marked as wrong is an error, and no other line is."""
    lines = (HERE / "mistakes.py").read_text().splitlines()
    assert complaints("mistakes.py") == {number for number, line in enumerate(lines, 1) if "# wrong:" in line}


def test_the_package_says_that_it_is_typed():
    """``py.typed`` lies in the package, or a type checker would not read it."""
    assert (ROOT / "hermes_core" / "py.typed").exists()
