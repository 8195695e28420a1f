"""Acme's profile against a real server on this machine: ``python -m pytest``."""

import hermes_acme

from hermes_core import Host
from hermes_core.testing import FakeProvider, ProviderContract

PING = [{"role": "user", "content": "ping"}]


class TestAcme(ProviderContract):
    """Acme keeps what every provider has to keep."""

    profile = hermes_acme.ACME


class TestXiaomi(ProviderContract):
    """So does what takes Xiaomi's place."""

    profile = hermes_acme.XIAOMI


def test_acme_gets_its_key_model_and_header(tmp_path):
    """A call goes to Acme with the key, the first model and the header of the profile."""
    (tmp_path / ".env").write_text("ACME_API_KEY=k-12345\n")
    with FakeProvider() as server:
        config = {"model": {"provider": "acme-ai", "base_url": server.base_url}}
        with Host.load(tmp_path, config) as host:
            host.program_context().register_provider(hermes_acme.ACME)  # as if it were installed
            result = host.llm("my-program").complete(PING)
    (request,) = server.requests
    assert (result.text, result.provider, request.body["model"]) == ("pong", "acme", "acme-large")
    assert (request.headers["authorization"], request.headers["x-acme-client"]) == ("Bearer k-12345", "hermes")


def test_the_conversation_goes_into_the_body():
    """The hook adds the conversation when there is one."""
    bodies = [hermes_acme.ACME.build_extra_body(session_id=session, model="m") for session in ("s-1", None)]
    assert bodies == [{"conversation": "s-1"}, {}]


def test_both_profiles_are_offered():
    """The package offers Acme, and takes Xiaomi's place."""
    assert [profile.name for profile in hermes_acme.hermes_provider_profiles()] == ["acme", "xiaomi"]
