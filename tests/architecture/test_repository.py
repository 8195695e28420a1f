"""What lies around the code: words that do not belong here, and files that must agree."""

import re
import tomllib

import pytest

TEXT = {".py", ".md", ".toml", ".yaml", ".yml", ".json", ".txt", ".cfg", ""}
SKIPPED = {"__pycache__", "node_modules", "dist", "build"}

FOREIGN = {
    "a path of somebody's machine": r"/(?:work|root|Users)/\w|/tmp/\w+/|/home/\w+/",
    "a package registry's host": r"pypi[.]org|pythonhosted[.]org|files[.]python",
    "an issue number": r"(?i)\bissue #?\d+|\bPR #?\d+|\bGH-\d+",
}


def texts(root):
    """Every text file of the repository: path below it → text."""
    for path in sorted(root.rglob("*")):
        below = path.relative_to(root)
        hidden = [part for part in below.parts if part.startswith(".") and part not in {".ci", ".gitignore"}]
        if hidden or SKIPPED & set(below.parts) or path.suffix not in TEXT or not path.is_file():
            continue
        if any(part.endswith(".egg-info") for part in below.parts):
            continue
        yield below.as_posix(), path.read_text(encoding="utf-8")


def recipes(root):
    """The justfile: recipe → its lines."""
    found = {}
    for line in (root / "justfile").read_text(encoding="utf-8").splitlines():
        if match := re.match(r"(\w+)(?: .+)?:$", line):
            found[match[1]] = lines = []
        elif line.startswith("    "):
            lines.append(line.strip())
    return found


@pytest.mark.parametrize("what", FOREIGN)
def test_the_text_speaks_of_the_project_alone(root, what):
    """No file names a path of one machine, a registry's host or an issue number."""
    found = [
        f"{path}: {match[0]}"
        for path, text in texts(root)
        if path != "tests/architecture/test_repository.py"
        for match in re.finditer(FOREIGN[what], text)
    ]
    assert found == []


def test_every_page_that_code_names_is_there(root):
    """Where code says ``docs/x.md``, there is such a page."""
    named = {
        page
        for path, text in texts(root)
        if path.startswith(("hermes_core/", "hookspecs/", "builtin_plugins/"))
        for page in re.findall(r"\bdocs/[\w/-]+\.md", text)
    }
    assert set() == {page for page in named if not (root / page).is_file()}


def test_recipes_are_short(root):
    """No recipe of the justfile is longer than three lines."""
    assert {name: lines for name, lines in recipes(root).items() if len(lines) > 3} == {}


def test_the_check_in_ci_is_the_check_at_the_desk(root):
    """``.ci/run`` runs each line of ``just lint``."""
    script = (root / ".ci" / "run").read_text(encoding="utf-8")
    assert [line for line in recipes(root)["lint"] if line not in script] == []


def test_the_dependencies_are_the_decided_ones(root):
    """A new dependency, of the core or of an extra, is a decision, and this is where it shows."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    names = {re.match(r"[\w.-]+", requirement)[0] for requirement in project["dependencies"]}
    expected = (
        "PyYAML filelock h11 httpcore httpx importlib-metadata jsonschema packaging pluggy python-dotenv rich "
        "ruamel.yaml sniffio"
    )
    assert set(expected.split()) == names


def test_the_changelog_opens_with_what_is_not_released(root):
    """CHANGELOG.md opens with what is not released yet."""
    headings = re.findall(r"^## \[(.+?)\]", (root / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert headings[:1] == ["Unreleased"]
