"""The host that code outside any plugin means: one a home, kept for the process."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from hermes_core.config.paths import get_hermes_home
from hermes_core.host import Host
from hermes_core.plugins import current

if TYPE_CHECKING:
    from pathlib import Path

_hosts: dict[Path, Host] = {}
_lock = threading.Lock()


def default_host() -> Host:
    """The process's host for the active home, made at the first call."""
    home = get_hermes_home()
    with _lock:
        if home not in _hosts:
            _hosts[home] = Host.load(home)
        return _hosts[home]


def current_host() -> Host:
    """The host whose plugin code is running, else the process's for the active home."""
    found: Host = current.host()
    return found


current.default_host = default_host
