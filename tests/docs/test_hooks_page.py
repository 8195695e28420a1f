"""docs/hooks.md and the specifications say the same."""

import re
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pluggy
import pytest
from hermes_hookspecs import PROJECT, SPECS, hookimpl

from hermes_core import Host

DOCS = Path(__file__).resolve().parents[2] / "docs"


def load_generator():
    """docs/generate.py, which lies outside any package."""
    spec = spec_from_file_location("docs_generate", DOCS / "generate.py")
    module = sys.modules[spec.name] = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


generate = load_generator()
HOOKS = [hook for group in SPECS for hook in generate.hooks_of(group)]
EACH_HOOK = pytest.mark.parametrize(("name", "function"), HOOKS, ids=[name for name, _ in HOOKS])


@pytest.fixture(scope="module")
def pm():
    """A pluggy manager that knows the specifications."""
    manager = pluggy.PluginManager(PROJECT)
    for group in SPECS:
        manager.add_hookspecs(group)
    return manager


@pytest.fixture(scope="module")
def page():
    """The text of the hook reference."""
    return (DOCS / "hooks.md").read_text(encoding="utf-8")


def test_the_page_has_a_heading_for_each_hook_and_no_other(page, pm):
    """Each hook pluggy knows has one heading, its exact signature, and there are no more headings."""
    expected = {f"{name}({', '.join(caller.spec.argnames)})" for name, caller in vars(pm.hook).items()}
    headings = re.findall(r"^### `(.+)`$", page, re.MULTILINE)
    assert sorted(expected) == sorted(headings)


def test_the_page_has_a_section_for_each_group_and_no_other(page):
    """The sections of the page are the groups of the specifications, in their order."""
    assert [generate.GROUPS[group.__name__] for group in SPECS] == re.findall(r"^## (.+)$", page, re.MULTILINE)


@EACH_HOOK
def test_a_hook_says_what_each_argument_is(name, function):
    """A docstring's Args are the arguments of the hook, in their order."""
    arguments = generate.signature(name, function).partition("(")[2].rstrip(")").split(", ")
    documented = re.search(r"Args:\n(.*?)\n\n", f"{function.__doc__}\n\n", re.DOTALL)[1]
    assert arguments == re.findall(r"^ {12}(\w+): ", documented, re.MULTILINE)


@EACH_HOOK
def test_a_hook_that_returns_something_says_what(name, function):
    """Hooks whose result counts have a Returns section, and the others have none."""
    returns_nothing = function.__annotations__["return"] in ("None", "None | Awaitable[None]")
    assert returns_nothing is not ("Returns:" in function.__doc__)


@EACH_HOOK
def test_the_example_of_a_hook_is_a_plugin_that_loads(tmp_path, name, function):
    """The example, saved as a plugin in a home and enabled, is loaded, and implements its hook."""
    folder = tmp_path / "plugins" / "example"
    folder.mkdir(parents=True)
    (folder / "plugin.yaml").write_text("name: example\n")
    (folder / "__init__.py").write_text(generate.example(function))
    with Host.load(tmp_path, {"plugins": {"enabled": ["example"]}}) as host:
        _ = host.commands  # a plugin that declares nothing is loaded by the first question it might answer
        row = host.plugin("example")
        assert (row.state, row.reason) == ("loaded", "")
        assert name in vars(sys.modules[row.module])


def test_examples_of_offers_are_on_offer(tmp_path):
    """What the examples offer can be used: the provider is found, and the command runs."""
    for name, function in HOOKS:
        if name in ("hermes_provider_profiles", "hermes_commands"):
            folder = tmp_path / "plugins" / name
            folder.mkdir(parents=True)
            (folder / "plugin.yaml").write_text(f"name: {name}\n")
            (folder / "__init__.py").write_text(generate.example(function))
    enabled = ["hermes_provider_profiles", "hermes_commands"]
    with Host.load(tmp_path, {"plugins": {"enabled": enabled}}) as host:
        assert host.providers.get("acme").base_url == "https://api.acme.test/v1"
        assert host.run_command("shout", "hello") == "HELLO"


def test_an_example_is_written_as_a_program():
    """The generator turns a docstring's session into a module, with blank lines where a reader wants them."""

    def spec(self, ctx):
        """Offer.

        Example:
            >>> from hermes_core import hookimpl
            >>> SIZE = 1
            >>> @hookimpl
            ... def hermes_x():
            ...     return SIZE
        """

    expected = "from hermes_core import hookimpl\n\nSIZE = 1\n\n\n@hookimpl\ndef hermes_x():\n    return SIZE\n"
    assert expected == generate.example(spec)


def test_hookimpl_of_the_facade_is_the_one_the_host_looks_for():
    """``hermes_core.hookimpl`` marks for the project the specifications belong to."""
    assert hookimpl.project_name == PROJECT
