"""Where a home is, and what lies where in it."""

from __future__ import annotations

import os
import re
import sys
from contextvars import ContextVar, Token
from pathlib import Path

PROFILES = "profiles"
_override: ContextVar[Path | None] = ContextVar("hermes_home", default=None)


def get_hermes_home() -> Path:
    """The active home: the context's override, else ``HERMES_HOME``, else ``~/.hermes``.

    The path is not resolved: a home that is a link keeps the name it was given.

    Example:
        >>> token = set_hermes_home_override("/srv/bot")
        >>> get_hermes_home() == Path("/srv/bot")
        True
        >>> reset_hermes_home_override(token)
    """
    override = _override.get()
    if override is not None:
        return override
    configured = os.environ.get("HERMES_HOME", "").strip()
    return Path(configured).expanduser() if configured else get_default_hermes_root()


def get_default_hermes_root() -> Path:
    """The home of a user who configured none."""
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA", "").strip()
        return (Path(local) if local else Path.home() / "AppData" / "Local") / "hermes"
    return Path.home() / ".hermes"


def get_hermes_root(home: Path | None = None) -> Path:
    """The home that a profile belongs to: two folders up from ``<root>/profiles/<name>``; any other home is its own.

    Example:
        >>> get_hermes_root(Path("/srv/bot/profiles/work")) == get_hermes_root(Path("/srv/bot")) == Path("/srv/bot")
        True
    """
    path = home or get_hermes_home()
    return path.parent.parent if path.parent.name == PROFILES else path


def profile_name(home: Path | None = None) -> str:
    """``default`` for the default home, a profile's own name, ``custom`` for any other home.

    Example:
        >>> profile_name(Path("/srv/bot/profiles/work")), profile_name(Path("/srv/bot"))
        ('work', 'custom')
    """
    path = home or get_hermes_home()
    if path.parent.name == PROFILES and re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}", path.name):
        return path.name
    return "default" if path == get_default_hermes_root() else "custom"


def passed_over_profile() -> str:
    """The profile that ``active_profile`` in the default home names, while nothing chooses it; else ``""``.

    Only ``HERMES_HOME`` chooses a profile, so whoever relies on that file should hear of it.
    """
    if _override.get() is not None or os.environ.get("HERMES_HOME", "").strip():
        return ""
    try:
        name = (get_default_hermes_root() / "active_profile").read_text(encoding="utf-8").strip()
    except (OSError, ValueError):
        return ""
    return "" if name == "default" else name


def set_hermes_home_override(home: str | os.PathLike[str]) -> Token[Path | None]:
    """Make ``home`` the active one in this context; hand the token to ``reset_hermes_home_override``."""
    return _override.set(Path(home))


def reset_hermes_home_override(token: Token[Path | None]) -> None:
    """Undo ``set_hermes_home_override``."""
    _override.reset(token)


def get_hermes_home_override() -> Path | None:
    """The context's override, or None."""
    return _override.get()


def display_hermes_home(home: Path | None = None) -> str:
    """The home as people write it: below their own home with ``~/``."""
    path = home or get_hermes_home()
    try:
        return str(Path("~") / path.relative_to(Path.home()))
    except ValueError:
        return str(path)


def get_config_path() -> Path:
    """``config.yaml`` of the active home."""
    return get_hermes_home() / "config.yaml"


def get_env_path() -> Path:
    """``.env`` of the active home."""
    return get_hermes_home() / ".env"
