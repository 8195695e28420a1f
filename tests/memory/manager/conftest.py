"""What the tests of the memory manager share: a provider that records, and managers that are closed."""

import contextlib
import json
import threading

import pytest

from hermes_core.memory.limits import Limits
from hermes_core.memory.manager import MemoryManager
from hermes_core.memory.provider import MemoryProvider

SHORT = Limits(
    initialize_timeout=0.2, prefetch_timeout=0.2, hook_timeout=0.2, tool_timeout=0.2, session_end_timeout=0.2,
    drain_timeout=0.2, shutdown_timeout=0.2,
)  # fmt: skip
"""Deadlines that a test can wait for; any other test has time, however busy the machine is."""

LONG = Limits(**dict.fromkeys(SHORT.__dataclass_fields__.keys() - {"max_chars", "queue_size"}, 30.0))


class Recorder(MemoryProvider):
    """Records every call as a tuple of its name, arguments and keywords.

    ``faults`` holds, by method, what is called in place of the usual answer.
    """

    def __init__(self, name="recorder", tools=("recorder_note",), **faults):
        self._name = name
        self.tools = tools
        self.faults = faults
        self.calls = []

    name = property(lambda self: self._name)

    def _called(self, method, answer, *args, **options):
        self.calls.append((method, args, options))
        return self.faults[method]() if method in self.faults else answer

    def named(self, method):
        """The recorded calls of one method: arguments and keywords."""
        return [(args, options) for name, args, options in self.calls if name == method]

    @property
    def order(self):
        """The methods in the order they were called, but for what is asked all the time."""
        return [name for name, _, _ in self.calls if name != "get_tool_schemas"]

    def is_available(self):
        return True

    def initialize(self, session_id, **options):
        return self._called("initialize", None, session_id, **options)

    def get_tool_schemas(self):
        return self._called("get_tool_schemas", [{"name": name, "parameters": {}} for name in self.tools])

    def system_prompt_block(self):
        return self._called("system_prompt_block", "the block")

    def prefetch(self, query, *, session_id=""):
        return self._called("prefetch", f"about {query}", query, session_id=session_id)

    def recall_status(self):
        return self._called("recall_status", None)

    def queue_prefetch(self, query, *, session_id=""):
        return self._called("queue_prefetch", None, query, session_id=session_id)

    def sync_turn(self, user_content, assistant_content, *, session_id="", messages=None, turn_author=None):
        options = {"session_id": session_id, "messages": messages, "turn_author": turn_author}
        return self._called("sync_turn", None, user_content, assistant_content, **options)

    def handle_tool_call(self, tool_name, args, **options):
        return self._called("handle_tool_call", json.dumps({"did": tool_name}), tool_name, args, **options)

    def on_turn_start(self, turn_number, message, **options):
        return self._called("on_turn_start", None, turn_number, message, **options)

    def on_session_end(self, messages):
        return self._called("on_session_end", None, messages)

    def on_session_switch(self, new_session_id, **options):
        return self._called("on_session_switch", None, new_session_id, **options)

    def on_pre_compress(self, messages, **options):
        return self._called("on_pre_compress", "keep this", messages, **options)

    def on_memory_write(self, action, target, content, metadata=None):
        return self._called("on_memory_write", None, action, target, content, metadata=metadata)

    def on_delegation(self, task, result, *, child_session_id="", **options):
        return self._called("on_delegation", None, task, result, child_session_id=child_session_id, **options)

    def shutdown(self):
        return self._called("shutdown", None)


@pytest.fixture
def gate():
    """An event that a blocked provider waits for; it is opened when the test ends."""
    event = threading.Event()
    yield event
    event.set()


@pytest.fixture
def managed():
    """Make a manager with these providers, initialised; it is closed when the test ends."""
    with contextlib.ExitStack() as stack:

        def make(*providers, limits=LONG, **options):
            manager = stack.enter_context(MemoryManager(limits=limits))
            for provider in providers:
                manager.add_provider(provider)
            manager.initialize_all("s1", **options)
            return manager

        yield make
