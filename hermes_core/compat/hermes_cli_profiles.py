"""Profiles, under the original's names: homes below the ``profiles`` folder of another."""

from __future__ import annotations

from hermes_core.config.paths import PROFILES, get_hermes_root, profile_name

__all__ = ["get_active_profile_name", "list_profiles"]


def get_active_profile_name() -> str:
    """The name of the active home's profile; ``default`` for the default home, ``custom`` for any other."""
    return profile_name()


def list_profiles() -> list[str]:
    """The names of all profiles of the active home's root, ``default`` first."""
    folder = get_hermes_root() / PROFILES
    named = sorted(path.name for path in folder.iterdir() if path.is_dir()) if folder.is_dir() else []
    return ["default", *named]
