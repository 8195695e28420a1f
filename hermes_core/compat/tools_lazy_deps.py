"""Modules that a feature needs, under the original's names; this host installs nothing by itself."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

__all__ = ["FeatureUnavailable", "ensure"]


class FeatureUnavailable(RuntimeError):  # noqa: N818 - the published name
    """A module that a feature needs is not installed."""


def ensure(feature: str, *_args: Any, **_options: Any) -> None:
    """Make sure that a module is installed, or raise.

    Raises:
        FeatureUnavailable: It is not; says how to install it.
    """
    module = feature.rpartition(".")[2].replace("-", "_")
    if find_spec(module) is None:
        message = f"{feature} is not installed; run `pip install {feature.rpartition('.')[2]}`"
        raise FeatureUnavailable(message)
