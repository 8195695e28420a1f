"""The import finder behind the original host's module paths.

It stands at the end of ``sys.meta_path``, so a real module of the same name always wins.
"""

from __future__ import annotations

import os
import sys
from importlib.machinery import ModuleSpec

TYPE_CHECKING = False  # see the facade
if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType
    from typing import Any

SHIMS = {
    "agent": None,
    "agent.plugin_llm": "hermes_core.compat.agent_plugin_llm",
    "agent.secret_scope": "hermes_core.compat.agent_secret_scope",
    "hermes_constants": "hermes_core.compat.hermes_constants",
    "providers": "hermes_core.compat.providers",
    "providers.base": "hermes_core.compat.providers_base",
}
"""Original path → the module that implements it; None is a package with nothing of its own."""


class ShimFinder:
    """Answers for the paths in ``SHIMS`` and no others."""

    @staticmethod
    def find_spec(
        name: str, _path: Sequence[str] | None = None, _target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The spec of a shim, or None for any other name."""
        if name not in SHIMS:
            return None
        package = any(other.startswith(f"{name}.") for other in SHIMS)
        loader: Any = ShimLoader
        spec = ModuleSpec(name, loader, origin=f"shim of {name} in hermes_core", is_package=package)
        spec.has_location = True  # the origin becomes __file__, which ImportErrors quote
        spec.cached = None
        return spec


class ShimLoader:
    """Fills a shim with the public names of its implementation."""

    @staticmethod
    def create_module(_spec: ModuleSpec) -> None:
        """Leave it to the import system."""

    @staticmethod
    def exec_module(module: ModuleType) -> None:
        """Copy the names that the implementation lists."""
        implementation = SHIMS[module.__name__]
        if implementation is None:
            return
        from importlib import import_module

        source: Any = import_module(implementation)
        module.__doc__ = source.__doc__
        for name in source.__all__:
            setattr(module, name, getattr(source, name))


def install() -> None:
    """Put the finder at the end of ``sys.meta_path``, once, unless ``HERMES_COMPAT=off``."""
    if os.environ.get("HERMES_COMPAT", "").strip().lower() != "off" and ShimFinder not in sys.meta_path:
        sys.meta_path.append(ShimFinder)
