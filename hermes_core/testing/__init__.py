"""For tests of plugins and of programs that embed the host: real local servers, or plain functions."""

from hermes_core.llm.injected import make_plugin_llm_for_test
from hermes_core.testing.fake_oauth import FakeOAuth
from hermes_core.testing.fake_provider import FakeProvider, ReceivedRequest, Reply
from hermes_core.testing.provider_contract import ProviderContract

__all__ = ["FakeOAuth", "FakeProvider", "ProviderContract", "ReceivedRequest", "Reply", "make_plugin_llm_for_test"]
