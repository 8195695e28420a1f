"""What the rules about the code itself share."""

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def root():
    """The folder of the repository."""
    return ROOT


@pytest.fixture(scope="session")
def trees():
    """Every module of hermes_core, parsed: path below the package → tree."""
    package = ROOT / "hermes_core"
    return {
        path.relative_to(package).as_posix(): ast.parse(path.read_text(encoding="utf-8"))
        for path in sorted(package.rglob("*.py"))
    }


@pytest.fixture
def loaded_by(tmp_path):
    """Runs a program in a fresh interpreter with a fresh home; returns the modules it brought in."""
    (tmp_path / "home").mkdir()

    def run(program):
        script = f"import sys\nbefore = set(sys.modules)\n{program}\nadded = sorted(set(sys.modules) - before)\n"
        script += "import json; print('\\n' + json.dumps(added))"
        done = subprocess.run(
            [sys.executable, "-c", script],
            env={**os.environ, "HERMES_HOME": str(tmp_path / "home")},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, "")
        return set(json.loads(done.stdout.splitlines()[-1]))

    return run
