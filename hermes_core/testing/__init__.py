"""For tests of plugins and of programs that embed the host: a real local provider server."""

from hermes_core.testing.fake_provider import FakeProvider, ReceivedRequest, Reply

__all__ = ["FakeProvider", "ReceivedRequest", "Reply"]
