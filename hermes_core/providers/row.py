"""A provider as lists show it."""

from __future__ import annotations

from typing import NamedTuple

from hermes_core.types.address import host_of, is_loopback


class ProviderRow(NamedTuple):
    """A provider as a list shows it; nothing was imported to say so."""

    name: str
    aliases: tuple[str, ...] = ()
    base_url: str = ""
    hostname: str = ""
    extra_hosts: tuple[str, ...] = ()
    preset_for_word: tuple[str, ...] = ()
    api_mode: str = "chat_completions"
    auth_type: str = "api_key"
    env_vars: tuple[str, ...] = ()
    display_name: str = ""
    description: str = ""
    auto_rank: int | None = 100
    vision_rank: int | None = None
    is_aggregator: bool = False
    is_local: bool = False
    unavailable: str = ""
    plugin: str = ""
    tier: str = ""

    @property
    def hosts(self) -> tuple[str, ...]:
        """The hosts that are its own; this machine is nobody's."""
        own = (self.hostname or host_of(self.base_url), *self.extra_hosts)
        return tuple(host for host in own if host and not is_loopback(host))
