"""Where a home is, under the original's name."""

from hermes_core.config.paths import (
    display_hermes_home,
    get_config_path,
    get_default_hermes_root,
    get_env_path,
    get_hermes_home,
    get_hermes_home_override,
    reset_hermes_home_override,
    set_hermes_home_override,
)

__all__ = [
    "display_hermes_home",
    "get_config_path",
    "get_default_hermes_root",
    "get_env_path",
    "get_hermes_home",
    "get_hermes_home_override",
    "reset_hermes_home_override",
    "set_hermes_home_override",
]
