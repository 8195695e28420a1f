"""For tests of plugins and of programs that embed the host: a real local provider server, or plain functions."""

from hermes_core.llm.injected import make_plugin_llm_for_test
from hermes_core.testing.fake_provider import FakeProvider, ReceivedRequest, Reply

__all__ = ["FakeProvider", "ReceivedRequest", "Reply", "make_plugin_llm_for_test"]
