"""The ``hermes`` command."""

from hermes_core.cli.main import main

__all__ = ["main"]
