"""The marker pair; the project name every hook belongs to."""

from typing import Final

import pluggy

PROJECT: Final = "hermes"

hookspec: Final = pluggy.HookspecMarker(PROJECT)
hookimpl: Final = pluggy.HookimplMarker(PROJECT)
