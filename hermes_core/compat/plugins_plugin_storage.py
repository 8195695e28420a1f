"""Where a plugin keeps its own files, under the original's names."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

from hermes_core.config.paths import get_hermes_home
from hermes_core.plugins.state import data_folder

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["plugin_data_dir", "plugin_db"]


def plugin_data_dir(name: str) -> Path:
    """``<home>/plugin-data/<name>/``; it is made."""
    folder = data_folder(get_hermes_home(), name)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def plugin_db(name: str) -> sqlite3.Connection:
    """A connection to ``<home>/plugin-data/<name>/data.db``; close it when you are done."""
    return sqlite3.connect(plugin_data_dir(name) / "data.db", timeout=10, check_same_thread=False)
