"""Sizes, docstrings, and where printing and the environment may occur."""

import ast

import pytest

LONG_FUNCTIONS = set()
LONG_FILES = set()

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def is_public(name):
    """Whether a name is for others."""
    return not name.startswith("_")


def undocumented(tree, owner=""):
    """Public functions and classes without a docstring; overriding methods keep what their base says."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and is_public(node.name):
            if not ast.get_docstring(node):
                yield node.name
            if not node.bases or {"Protocol", "NamedTuple"} & {getattr(base, "id", "") for base in node.bases}:
                yield from undocumented(node, f"{node.name}.")
        elif isinstance(node, FUNCTIONS) and is_public(node.name) and not ast.get_docstring(node):
            decorators = {getattr(decorator, "id", "") for decorator in node.decorator_list}
            if "hookimpl" not in decorators:
                yield owner + node.name


def test_everything_public_is_documented(trees):
    """Each public module, class, function and method of hermes_core has a docstring."""
    found = [f"{path}: {name}" for path, tree in trees.items() for name in undocumented(tree)]
    found += [path for path, tree in trees.items() if not ast.get_docstring(tree)]
    assert found == []


def test_functions_are_short(trees):
    """No function is longer than 60 lines, but for those listed with their reason."""
    long = {
        f"{path}: {node.name}"
        for path, tree in trees.items()
        for node in ast.walk(tree)
        if isinstance(node, FUNCTIONS) and node.end_lineno - node.lineno >= 60
    }
    assert long == LONG_FUNCTIONS


def test_files_are_short(root):
    """No module is longer than 400 lines, but for those listed with their reason."""
    folders = [root / "hermes_core", root / "hookspecs", root / "builtin_plugins"]
    long = {
        path.relative_to(root).as_posix()
        for folder in folders
        for path in folder.rglob("*.py")
        if len(path.read_text(encoding="utf-8").splitlines()) > 400
    }
    assert long == LONG_FILES


@pytest.mark.parametrize("word", ["utils", "helpers", "common"])
def test_no_module_is_named_for_nothing(trees, word):
    """A module is named for what it does."""
    assert [path for path in trees if word in path] == []


def test_one_module_reads_the_environment(trees):
    """Only the config room, and the import finder's one switch, touch os.environ."""
    found = {
        path
        for path, tree in trees.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and node.attr in ("environ", "getenv")
    }
    assert {"compat/finders.py", "config/environment.py", "config/paths.py"} == found


def test_broad_handlers_say_why(root):
    """Each ``except Exception`` and ``except BaseException`` that swallows gives its reason on the line."""
    found = [
        f"{path.name}:{number}"
        for path in sorted((root / "hermes_core").rglob("*.py"))
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if "noqa: BLE001" in line and "BLE001 - " not in line
    ]
    assert found == []
