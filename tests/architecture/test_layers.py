"""Who may import whom."""

import ast
import json
import subprocess
import sys

import pytest

from hermes_core.plugins.discovery import INDEX, manifest_index


def imported_modules(tree):
    """Every module that a tree's import statements name, at any depth."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield node.module


@pytest.fixture(scope="module")
def bundled(root):
    """The folder of the bundled plugins."""
    return root / "builtin_plugins" / "hermes_builtin_plugins"


def test_the_layer_contracts_hold(root):
    """Every import contract in pyproject.toml is kept."""
    # not in this process: the checker sets up logging for itself, and switches off every logger there is
    program = "import sys; from importlinter.cli import lint_imports; sys.exit(lint_imports(no_cache=True))"
    done = subprocess.run([sys.executable, "-c", program], cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_host_does_not_name_the_bundled_plugins(root):
    """No file of hermes_core mentions the package of the bundled plugins: an entry point leads to it."""
    sources = sorted((root / "hermes_core").rglob("*.py"))
    assert [path.name for path in sources if "hermes_builtin_plugins" in path.read_text(encoding="utf-8")] == []


def test_bundled_plugins_import_the_facade_alone(bundled):
    """A bundled plugin imports hermes_core as a stranger does: its top-level names, and no room."""
    found = {
        f"{path.relative_to(bundled)}: {module}"
        for path in sorted(bundled.rglob("*.py"))
        for module in imported_modules(ast.parse(path.read_text(encoding="utf-8")))
        if module.startswith("hermes_") and module != "hermes_core"
    }
    assert set() == found


def test_the_index_of_bundled_manifests_is_current(bundled):
    """``index.json`` holds what the manifests say; ``just index`` writes it."""
    assert manifest_index(bundled) == json.loads((bundled / INDEX).read_text(encoding="utf-8"))


def test_bundled_manifests_declare_a_surface(bundled):
    """Each bundled plugin declares what it offers, so that a start need not import it to find out."""
    declare = ("profiles", "commands", "cli_commands", "tools", "hooks")
    rows = manifest_index(bundled).items()
    silent = [folder for folder, data in rows if not any(data.get(key) for key in declare)]
    assert [folder for folder in silent if not folder.startswith("memory/")] == []  # its kind says it all


WIRE_FORMAT = (
    "config/kinds.py",
    "llm/wire/__init__.py",
    "llm/wire/gemini.py",
    "llm/wire/select.py",
    "providers/model_list.py",
)
"""Where the wire format is meant that is called like a provider."""


def test_no_provider_is_treated_by_name(trees, bundled):
    """No string in hermes_core is a bundled provider's name: what differs is a field or a hook of its profile."""
    accepted = {
        "llm/plan.py: custom",  # what a bare model.base_url means
        "config/check.py: custom",  # may be written in model.provider, whoever offers it
        "config/paths.py: custom",  # what a home is called that is neither the default nor a profile's
        "config/keys.py: embedded",  # the section in which that provider finds its settings
        "config/keys.py: openrouter",  # likewise
        "config/keys.py: bedrock",  # likewise
        "config/keys.py: vertex",  # likewise
        "llm/wire/sigv4.py: bedrock",  # what signatures call that service of Amazon's
        *(f"{path}: gemini" for path in WIRE_FORMAT),
        *(f"llm/wire/{path}: claude" for path in ("claude.py", "bedrock_converse.py")),  # in the names of models
        "llm/wire/anthropic_messages.py: minimax",  # likewise
        "llm/wire/codex_responses.py: codex",  # likewise
        "providers/gemini.py: gemini",  # likewise
        "llm/wire/turns.py: google",  # a field of messages
        "testing/fake_provider.py: custom",  # how a test's host is pointed at the fake server
    }
    names = {
        str(name)
        for data in manifest_index(bundled).values()
        for block in data.get("profiles", ())
        for name in (block["name"], *block.get("aliases", ()))
    }
    found = {
        f"{path}: {node.value}"
        for path, tree in trees.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in names
    }
    assert accepted == found
