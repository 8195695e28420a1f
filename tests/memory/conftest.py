"""What tests of the bundled memory provider start from."""

import pytest


@pytest.fixture
def memory(home, load_host):
    """Open the provider ``sqlite`` of the home; searching by meaning is off, as its model takes a while to load.

    Keywords that are settings go into the configuration, others to ``initialize``.
    """
    opened = []

    def open_memory(session="s1", settings=None, **kwargs):
        config = {"memory": {"provider": "sqlite", "sqlite": {"semantic": False, **(settings or {})}}}
        provider = load_host(config=config).memory_provider("sqlite")
        provider.initialize(session, **{"hermes_home": str(home.path), **kwargs})
        opened.append(provider)
        return provider

    yield open_memory
    for provider in opened:
        provider.shutdown()


@pytest.fixture
def told(memory):
    """Open the provider, and tell it messages in turns; a tuple is what the user and the assistant said."""

    def tell(*turns, **keywords):
        provider = memory(**keywords)
        for turn in turns:
            user, assistant = turn if isinstance(turn, tuple) else (turn, "I see.")
            provider.sync_turn(user, assistant)
        provider.flush()
        return provider

    return tell
