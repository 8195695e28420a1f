"""What the commands that do work share: the host, and where its warnings go."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from hermes_core.config.logfile import LogFile
from hermes_core.config.paths import get_hermes_home, passed_over_profile
from hermes_core.config.redact import RedactingFormatter
from hermes_core.host import Host

if TYPE_CHECKING:
    from pathlib import Path

log = logging.getLogger(__name__)

ERROR_LOG_BYTES = 2 * 2**20
ERROR_LOG_BACKUPS = 2


def open_host() -> Host:
    """The host of the active home, as the command line wants it: downloads allowed, ``.env`` exported."""
    send_warnings_to(get_hermes_home())
    profile = passed_over_profile()
    if profile:
        log.warning("active_profile names %r, which is not used: set HERMES_HOME to its home to use it", profile)
    return Host.load(export_env=True, allow_downloads=True)


def send_warnings_to(home: Path) -> None:
    """Have the host's warnings shown, and kept in the home's ``errors.log``."""
    logger = logging.getLogger("hermes_core")
    if logger.handlers:
        return
    shown = logging.StreamHandler()
    shown.setFormatter(RedactingFormatter("warning: %(message)s"))
    kept = LogFile(home / "logs" / "errors.log", max_bytes=ERROR_LOG_BYTES, backups=ERROR_LOG_BACKUPS)
    for handler in (shown, kept):
        handler.setLevel(logging.WARNING)
        logger.addHandler(handler)
