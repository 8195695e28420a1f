"""The import finders behind the original host's module paths.

One stands at the end of ``sys.meta_path``, so a real module of the same name always wins. The other stands at its
head, and answers where there is a mere folder of that name, which Python would take for a package: some packages
leave one behind. The shim takes its place, and the modules in it stay where they are.
"""

from __future__ import annotations

import os
import sys
from importlib.machinery import ModuleSpec, PathFinder

TYPE_CHECKING = False  # see the facade
if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType
    from typing import Any

SHIMS = {
    "agent": None,
    "agent.auxiliary_client": "hermes_core.compat.agent_auxiliary_client",
    "agent.context_engine": "hermes_core.compat.agent_context_engine",
    "agent.memory_manager": "hermes_core.compat.agent_memory_manager",
    "agent.memory_provider": "hermes_core.compat.agent_memory_provider",
    "agent.plugin_llm": "hermes_core.compat.agent_plugin_llm",
    "agent.secret_scope": "hermes_core.compat.agent_secret_scope",
    "agent.skill_commands": "hermes_core.compat.agent_skill_commands",
    "hermes_cli": None,
    "hermes_cli.config": "hermes_core.compat.hermes_cli_config",
    "hermes_cli.memory_setup": "hermes_core.compat.hermes_cli_memory_setup",
    "hermes_cli.plugins": "hermes_core.compat.hermes_cli_plugins",
    "hermes_cli.profiles": "hermes_core.compat.hermes_cli_profiles",
    "hermes_cli.secret_prompt": "hermes_core.compat.hermes_cli_secret_prompt",
    "hermes_cli.urllib_security": "hermes_core.compat.hermes_cli_urllib_security",
    "hermes_constants": "hermes_core.compat.hermes_constants",
    "hermes_state": "hermes_core.compat.hermes_state",
    "plugins": None,
    "plugins.memory": "hermes_core.compat.plugins_memory",
    "plugins.memory.config_schema": "hermes_core.compat.plugins_memory_config_schema",
    "plugins.plugin_storage": "hermes_core.compat.plugins_plugin_storage",
    "plugins.plugin_utils": "hermes_core.compat.plugins_made_once",
    "providers": "hermes_core.compat.providers",
    "providers.base": "hermes_core.compat.providers_base",
    "tools": None,
    "tools.lazy_deps": "hermes_core.compat.tools_lazy_deps",
    "tools.registry": "hermes_core.compat.tools_registry",
    "utils": "hermes_core.compat.small_things",
}
"""Original path → the module that implements it; None is a package with nothing of its own."""


class FolderFinder:
    """Answers for the paths in ``SHIMS`` that lead to a folder without code."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None = None, _target: ModuleType | None = None) -> ModuleSpec | None:
        """The spec of a shim whose modules are those of the folder too; None for any other name."""
        if name not in SHIMS:
            return None
        found = PathFinder.find_spec(name, path)
        if found is None or found.loader is not None or found.submodule_search_locations is None:
            return None
        spec = ShimFinder.find_spec(name)
        if spec is not None:
            spec.submodule_search_locations = found.submodule_search_locations
        return spec


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
    """Put the finders into ``sys.meta_path``, once, unless ``HERMES_COMPAT=off``."""
    if os.environ.get("HERMES_COMPAT", "").strip().lower() != "off" and ShimFinder not in sys.meta_path:
        sys.meta_path.insert(0, FolderFinder)
        sys.meta_path.append(ShimFinder)
