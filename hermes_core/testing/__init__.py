"""For tests of plugins and of programs that embed the host: a real local provider server, and a login server."""

from hermes_core.testing.fake_oauth import FakeOAuth
from hermes_core.testing.fake_provider import FakeProvider, ReceivedRequest

__all__ = ["FakeOAuth", "FakeProvider", "ReceivedRequest"]
