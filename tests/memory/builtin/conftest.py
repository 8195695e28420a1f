"""The built-in memory of a home, and what was told of it."""

import json

import pytest

from hermes_core.config.settings import Config
from hermes_core.memory.builtin import BuiltinMemory
from hermes_core.memory.tool import MemoryTool


@pytest.fixture
def make_memory(home):
    """Make the built-in memory of the active home; keywords are keys of the ``memory`` section."""

    def make(ask=None, **settings):
        return BuiltinMemory(home.path, lambda: Config(tree={"memory": settings}), ask)

    return make


@pytest.fixture
def memory(make_memory):
    """The built-in memory, as it is when nothing is configured."""
    return make_memory()


@pytest.fixture
def call(memory):
    """Call the tool ``memory`` and read its answer."""
    return Tool(memory)


class Tool:
    """The tool, its arguments as keywords and its answer as a mapping."""

    def __init__(self, memory):
        self.tool = MemoryTool(memory)

    def __call__(self, action=None, target="memory", **args):
        given = {"target": target, **({"action": action} if action else {}), **args}
        return json.loads(self.tool.call(given))


@pytest.fixture
def tool_of():
    """Make the tool of a memory."""
    return Tool


@pytest.fixture
def told(memory):
    """What listeners were told: action, target, content, previous content."""
    writes = []
    memory.store.subscribe(lambda write: writes.append(tuple(write[:4])))
    return writes
