"""What a program that embeds the host says of its agents."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeAlias

from hermes_core.errors import HermesError, describe

AgentResolver: TypeAlias = Callable[[str], Mapping[str, Any] | None]
"""An agent's id → ``provider``, ``model`` and ``home``, each left out where the usual one serves; or None."""


class Agent(NamedTuple):
    """What one agent uses; ``""`` where it uses what the user does.

    Attributes:
        provider: Its provider, as in ``model.provider``.
        model: Its model id.
        home: The Hermes home that holds its configuration and credentials.
    """

    provider: str = ""
    model: str = ""
    home: str = ""


def read_agent(agent_id: str, resolver: AgentResolver | None) -> Agent:
    """Ask a resolver about an agent.

    Raises:
        HermesError: It raised, or returned what is no mapping of names to text.

    Example:
        >>> read_agent("scribe", {"scribe": {"model": "small-1"}}.get)
        Agent(provider='', model='small-1', home='')
        >>> read_agent("nobody", {}.get)
        Agent(provider='', model='', home='')
    """
    if resolver is None:
        return Agent()
    hint = "correct the function that Host.load was given as agent_resolver"
    try:
        said = resolver(agent_id)
    except Exception as error:
        raise HermesError(f"the agent resolver raised {describe(error)} for agent {agent_id!r}", hint=hint) from error
    if said is None:
        return Agent()
    fields = said.items() if isinstance(said, Mapping) else [(type(said).__name__, said)]
    for name, value in fields:
        if name not in Agent._fields or not isinstance(value, str | os.PathLike | None):
            message = f"the agent resolver returned {name!r} ({type(value).__name__}) for agent {agent_id!r}"
            raise HermesError(f"{message}; it may return provider, model and home, as text", hint=hint)
    return Agent(**{name: os.fspath(value) for name, value in fields if value is not None})
