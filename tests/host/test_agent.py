"""What a program that embeds the host says of its agents."""

from pathlib import Path

import pytest

from hermes_core import HermesError
from hermes_core.types.agent import Agent

KNOWN = {
    "all": ({"provider": "acme", "model": "m", "home": "/h"}, Agent("acme", "m", "/h")),
    "some": ({"model": "m"}, Agent(model="m")),
    "a path": ({"home": Path("/h")}, Agent(home="/h")),
    "nothing in particular": ({"provider": None}, Agent()),
    "nothing": ({}, Agent()),
    "none": (None, Agent()),
}


@pytest.mark.parametrize(("said", "expected"), KNOWN.values(), ids=KNOWN)
def test_a_resolver_says_what_an_agent_uses(load_host, said, expected):
    """The program's function gives provider, model and home of an agent, each if it differs from the usual."""
    assert load_host(agent_resolver={"scribe": said}.get).agent("scribe") == expected


def test_without_a_resolver_an_id_is_a_label(load_host):
    """A host that was given no function knows no agents."""
    assert load_host().agent("scribe") == Agent()


@pytest.mark.parametrize(
    ("said", "message"),
    [
        pytest.param("acme", "returned 'str'", id="no mapping"),
        pytest.param({"key": "k"}, "returned 'key'", id="an unknown name"),
        pytest.param({"model": 5}, r"returned 'model' \(int\)", id="no text"),
    ],
)
def test_an_odd_answer_is_named(load_host, said, message):
    """What a resolver may not return is an error that names the agent and what may be returned."""
    with pytest.raises(HermesError, match=message) as caught:
        load_host(agent_resolver=lambda _id: said).agent("scribe")
    assert ("'scribe'" in str(caught.value), "agent_resolver" in caught.value.hint) == (True, True)


def test_a_resolver_that_raises_is_blamed(load_host):
    """What a resolver raises is the cause of an error that says whose it is."""
    with pytest.raises(HermesError, match="the agent resolver raised ZeroDivisionError") as caught:
        load_host(agent_resolver=lambda _id: 1 / 0).agent("scribe")
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
