"""What every test and every example of a docstring gets: a home of its own, and no keys."""

from __future__ import annotations

import logging
import os
import re
import signal

import pytest

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # started in the background by a shell; children inherit it
    signal.signal(signal.SIGINT, signal.default_int_handler)

OF_THE_DEVELOPER = re.compile(r"^HERMES_|_API_KEY$|_TOKEN$|_BASE_URL$|_proxy$|^SSL_CERT_|_CA_BUNDLE$", re.IGNORECASE)
"""Variables that no test gets: homes, keys, proxies and certificates."""


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch, tmp_path):
    for name in [*os.environ]:
        if OF_THE_DEVELOPER.search(name):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HERMES_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("HERMES_MANAGED_DIR", str(tmp_path / "managed"))
    logger = logging.getLogger("hermes_core")
    before = [*logger.handlers]
    yield
    for handler in {*logger.handlers} - {*before}:  # what the ``hermes`` command added
        logger.removeHandler(handler)
        handler.close()
