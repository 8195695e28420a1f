"""Small things that plugins take from the original's ``utils``."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from hermes_core.compat.hosts import current_host
from hermes_core.config.files import replace_file
from hermes_core.config.truth import is_true

__all__ = [
    "atomic_json_write",
    "atomic_replace",
    "env_bool",
    "env_float",
    "env_int",
    "env_var_enabled",
    "fast_safe_load",
    "is_truthy_value",
    "read_json_or_empty",
]


def atomic_json_write(path: str | os.PathLike[str], data: Any, *, indent: int | None = 2, **options: Any) -> None:
    """Write JSON so that a reader, or a crash, sees the old file or the new one; a new file is private."""
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    known = {key: value for key, value in options.items() if key in {"default", "sort_keys", "ensure_ascii"}}
    replace_file(target, json.dumps(data, indent=indent, **{"ensure_ascii": False, **known}).encode())


def atomic_replace(source: str | os.PathLike[str], target: str | os.PathLike[str]) -> None:
    """Put a finished file in the place of another; a link is followed."""
    os.replace(source, os.path.realpath(target))


def is_truthy_value(value: object, default: bool = False) -> bool:
    """Whether a value means yes; ``default`` for None."""
    return default if value is None else is_true(value)


def env_var_enabled(name: str, default: object = "") -> bool:
    """Whether an environment variable means yes."""
    return is_true(_variable(name) or default)


def env_bool(name: str, default: bool = False) -> bool:
    """An environment variable as a switch."""
    return is_truthy_value(_variable(name), default)


def env_int(name: str, default: int = 0) -> int:
    """An environment variable as a whole number; ``default`` for what is none."""
    try:
        return int((_variable(name) or "").strip())
    except ValueError:
        return default


def env_float(name: str, default: float = 0.0) -> float:
    """An environment variable as a number; ``default`` for what is none."""
    try:
        return float((_variable(name) or "").strip())
    except ValueError:
        return default


def fast_safe_load(text: Any) -> Any:
    """What a YAML text holds, by the C parser where there is one."""
    import yaml

    return yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506 - both are safe


def read_json_or_empty(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The mapping in a JSON file; ``{}`` when there is none, or it cannot be read."""
    try:
        data = json.loads(Path(path).read_text(encoding="utf-8-sig"))
    except (OSError, ValueError):
        return {}
    return data if isinstance(data, dict) else {}


def _variable(name: str) -> str | None:
    return current_host().environment.variables.get(name)
