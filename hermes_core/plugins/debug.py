"""What is said about plugins: each warning once a process, and more when one of two switches is on."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from hermes_core.config import once
from hermes_core.config.redact import RedactingFormatter, redact_record

if TYPE_CHECKING:
    from hermes_core.config.environment import Environment

SWITCHES = {
    "HERMES_PLUGINS_DEBUG": ("hermes_core.plugins", "[plugins] %(message)s"),
    "HERMES_TRACE_HOOKS": ("hermes_core.hooks", "[hooks] %(message)s"),
}
"""Variable → the logger it opens, and how its records look on standard error."""

OF_LIBRARIES = ("httpx", *(f"httpcore.{name}" for name in ("connection", "http11", "http2", "proxy", "socks")))
"""Loggers of the libraries below model calls, which name addresses with their query and a server's headers."""

log = logging.getLogger(__name__)
trace = logging.getLogger("hermes_core.hooks")


def open_logs(environment: Environment) -> None:
    """Show on standard error, tracebacks included, what the switches ask for; once a process.

    What libraries log goes where the program has it go, but without any secret.
    """
    for name in OF_LIBRARIES:
        logging.getLogger(name).addFilter(redact_record)
    for variable, (name, form) in SWITCHES.items():
        logger = logging.getLogger(name)
        if environment.flag(variable) and not any(handler.name == variable for handler in logger.handlers):
            handler = logging.StreamHandler()
            handler.name = variable
            handler.setFormatter(RedactingFormatter(form))
            logger.addHandler(handler)
            logger.setLevel(logging.DEBUG)
            logger.propagate = False


def warn_once(message: str, *values: object) -> None:
    """Log a warning, once a process."""
    once.warn_once(log, message, *values)
