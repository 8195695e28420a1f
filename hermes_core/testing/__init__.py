"""For tests of plugins and of programs that embed the host: real local servers, plain functions, shared tests."""

from typing import TYPE_CHECKING, Any

from hermes_core.llm.injected import make_plugin_llm_for_test
from hermes_core.testing.fake_oauth import FakeOAuth
from hermes_core.testing.fake_provider import FakeProvider, ReceivedRequest, Reply
from hermes_core.testing.provider_contract import ProviderContract

if TYPE_CHECKING:
    from hermes_core.testing.memory_contract import MemoryContract

__all__ = [
    "FakeOAuth",
    "FakeProvider",
    "MemoryContract",
    "ProviderContract",
    "ReceivedRequest",
    "Reply",
    "make_plugin_llm_for_test",
]


def __getattr__(name: str) -> Any:
    """``MemoryContract``, which needs pytest, is imported when it is asked for."""
    if name == "MemoryContract":
        from hermes_core.testing.memory_contract import MemoryContract

        return MemoryContract
    message = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(message)
