"""``hermes compat``: the original's modules for programs that do not import this host."""

import os
import sys

import pytest

USE = """
import site, sys
site.addsitedir(sys.argv[1])  # as Python does with the folder of installed packages
from agent.memory_provider import MemoryProvider
print(MemoryProvider.__name__)
"""


@pytest.fixture
def folder(tmp_path):
    """A folder of installed packages."""
    path = tmp_path / "site-packages"
    path.mkdir()
    return path


def test_it_is_installed_looked_at_and_removed(hermes, folder):
    """Nothing is there unasked; ``install`` writes one file, ``remove`` takes it away, and both may be repeated."""
    path = folder / "hermes_core_compat.pth"
    assert hermes("compat", "--into", folder, "--json").json == {"file": str(path), "installed": False}
    for _ in range(2):
        assert hermes("compat", "install", "--into", folder).out == f"wrote {path}\n"
    assert hermes("compat", "--into", folder).out == f"file       {path}\ninstalled  yes\n"
    for _ in range(2):
        assert hermes("compat", "remove", "--into", folder).out == f"took away {path}\n"
    assert [*folder.iterdir()] == []


def test_other_programs_find_the_modules_then(hermes, folder, run_python):
    """A program that never imports this host finds the original's modules once it is installed, and not before."""
    assert "No module named 'agent'" in run_python(USE, folder).stderr
    hermes("compat", "install", "--into", folder)
    assert run_python(USE, folder).stdout == "MemoryProvider\n"


def test_it_does_no_harm_without_the_host(hermes, folder, run_python):
    """Where the host is not installed any more, Python starts as ever."""
    hermes("compat", "install", "--into", folder)
    script = 'import sys; sys.modules["hermes_core"] = None\n' + USE
    done = run_python(script, folder)
    assert ("Traceback" in done.stderr, "No module named 'agent'" in done.stderr) == (True, True)


def test_without_a_folder_it_is_this_pythons(hermes):
    """The folder is that of the Python that runs."""
    assert hermes("compat", "--json").json["file"].startswith(sys.prefix)


def test_a_folder_that_cannot_be_written_is_an_error(hermes, tmp_path):
    """An error names the file, and says what else to do."""
    done = hermes("compat", "install", "--into", tmp_path / "nowhere")
    assert (done.code, done.err.splitlines()) == (
        1,
        [
            f"error: cannot install {tmp_path / 'nowhere'}{os.sep}hermes_core_compat.pth: No such file or directory",
            "hint: use a virtual environment of your own, or name a folder with --into",
        ],
    )
