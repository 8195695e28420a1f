"""The names that ``hermes_core`` itself offers."""

import ast
import inspect

import pytest

import hermes_core
from hermes_core import PluginLlm
from hermes_core.llm.async_driver import arun
from hermes_core.llm.async_transport import AsyncTransport
from hermes_core.llm.driver import run
from hermes_core.llm.transport import Transport


def names_for_type_checkers(tree):
    """Name → module, as the facade's TYPE_CHECKING block imports them."""
    block = next(node for node in tree.body if isinstance(node, ast.If))
    return {alias.asname or alias.name: node.module for node in block.body for alias in node.names}


def test_all_is_sorted():
    """``__all__`` stands in the order in which the linter sorts it: constants, classes, the rest."""

    def rank(name):
        return (0 if name.isupper() else 1 if name[0].isupper() else 2), name

    assert sorted(hermes_core.__all__, key=rank) == hermes_core.__all__


def test_the_facade_is_small():
    """The facade offers at most 30 names: what a plugin or a program needs, and no more."""
    assert len(hermes_core.__all__) <= 30


def test_the_lazy_table_has_every_public_name():
    """``__all__`` and the table of homes name the same things."""
    assert set(hermes_core.__all__) == set(hermes_core._HOME_OF)


def test_type_checkers_see_what_the_program_sees(trees):
    """The TYPE_CHECKING imports name the same things, from the same modules, as the table of homes."""
    assert names_for_type_checkers(trees["__init__.py"]) == hermes_core._HOME_OF


@pytest.mark.parametrize("name", hermes_core.__all__)
def test_every_public_name_can_be_imported(name):
    """Each name leads to an object, and ``dir()`` shows it."""
    assert hasattr(hermes_core, name)
    assert name in dir(hermes_core)


def test_a_name_that_is_not_there_is_refused_like_any_other():
    """An unknown attribute raises AttributeError with the usual words."""
    with pytest.raises(AttributeError, match="module 'hermes_core' has no attribute 'Nonsense'"):
        _ = hermes_core.Nonsense


@pytest.mark.parametrize(
    ("blocking", "awaiting"),
    [
        pytest.param(PluginLlm.complete, PluginLlm.acomplete, id="complete and acomplete"),
        pytest.param(
            PluginLlm.complete_structured,
            PluginLlm.acomplete_structured,
            id="complete_structured and acomplete_structured",
        ),
        pytest.param(Transport.send, AsyncTransport.send, id="the two transports"),
    ],
)
def test_blocking_and_awaiting_twins_have_one_signature(blocking, awaiting):
    """An awaiting method takes the same arguments, with the same types and defaults, as its blocking twin."""
    assert inspect.signature(blocking) == inspect.signature(awaiting)
    assert inspect.iscoroutinefunction(awaiting)


@pytest.mark.parametrize("name", ["complete", "complete_structured"])
def test_blocking_and_awaiting_twins_are_documented_alike(name):
    """Twins say the same of themselves."""
    assert inspect.getdoc(getattr(PluginLlm, name)) == inspect.getdoc(getattr(PluginLlm, f"a{name}"))


def test_the_two_drivers_take_the_same_arguments():
    """Both drivers take a flow and a transport."""
    assert [*inspect.signature(run).parameters] == [*inspect.signature(arun).parameters]


def test_complete_has_the_published_arguments():
    """``complete`` takes messages by position, and the published options by keyword, None when left out."""
    options = ["provider", "model", "temperature", "max_tokens", "timeout", "agent_id", "profile", "purpose"]
    parameters = inspect.signature(PluginLlm.complete).parameters
    assert ["self", "messages", *options] == [*parameters]
    assert {None} == {parameters[name].default for name in options}
