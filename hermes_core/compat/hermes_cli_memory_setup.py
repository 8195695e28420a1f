"""Setting a memory provider up, under the original's name."""

from __future__ import annotations

__all__ = ["cmd_setup_provider"]


def cmd_setup_provider(name: str) -> int:
    """Run ``hermes memory setup NAME``; its exit code."""
    from hermes_core.cli import main

    return main(["memory", "setup", name])
