"""What the tests of the pages share: the pages themselves, and their fences."""

import re
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml

from hermes_core.config.settings import merge
from hermes_core.testing import FakeProvider

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]

_FENCE = re.compile(
    r"^(?:<!-- home: (?P<file>\S+) -->\n)?```(?P<language>\w+)\n(?P<text>.*?)^```$", re.DOTALL | re.MULTILINE
)


class Fence(NamedTuple):
    """A block of code in a page; ``file`` is where in a home it belongs, if the page says."""

    page: str
    line: int
    language: str
    text: str
    file: str

    def __str__(self):
        return f"{self.page} line {self.line}"


def fences(*languages):
    """Every fence in these languages, page by page."""
    found = []
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for match in _FENCE.finditer(text):
            line = text.count("\n", 0, match.start("text"))
            fence = Fence(page.name, line, match["language"], match["text"], match["file"] or "")
            if fence.language in languages:
                found.append(fence)
    return found


def pytest_generate_tests(metafunc):
    """Give a test with an argument ``<language>_fence`` every such fence; ``config_fence``: every ``config.yaml``."""
    for name in metafunc.fixturenames:
        if name.endswith("_fence"):
            language = name.removesuffix("_fence")
            found = [fence for fence in fences("yaml") if fence.file == "config.yaml"]
            found = found if language == "config" else fences(language)
            metafunc.parametrize(name, found, ids=map(str, found))


@pytest.fixture
def server():
    """A running provider."""
    with FakeProvider() as server:
        yield server


@pytest.fixture
def configured(home, server, tmp_path, monkeypatch):
    """The active home, its configuration leads to the running provider; the current folder is an empty one."""
    home.config(server.config)
    monkeypatch.chdir(tmp_path)
    return home


def home_files(page):
    """The files that a page says to put into a home: path below it → text; pieces of ``config.yaml`` make one."""
    files, config = {}, {}
    for fence in fences("python", "yaml"):
        if fence.page == page and fence.file == "config.yaml":
            config = merge(config, yaml.safe_load(fence.text))
        elif fence.page == page and fence.file:
            files[fence.file] = fence.text
    return {**files, **({"config.yaml": yaml.safe_dump(config)} if config else {})}


@pytest.fixture
def readme_files():
    """The files that the README says to put into a home."""
    return home_files("README.md")


@pytest.fixture
def providers_files():
    """The files that docs/providers.md says to put into a home."""
    return home_files("providers.md")
