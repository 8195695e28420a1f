"""How much the operator wants models to think for plugins."""

from __future__ import annotations

from typing import Any

EFFORTS = ("minimal", "low", "medium", "high", "xhigh", "max", "ultra")
OFF = ("none", "false", "disabled", "off")


def reasoning_config(written: object) -> dict[str, Any] | None:
    """What ``auxiliary.plugin.reasoning_effort`` means; None when nothing is written.

    Raises:
        ValueError: It is no effort.

    Example:
        >>> reasoning_config("high"), reasoning_config(False)
        ({'enabled': True, 'effort': 'high'}, {'enabled': False, 'effort': 'none'})
    """
    word = written.strip().lower() if isinstance(written, str) else written
    if word is None or word == "":
        return None
    if word is False or word in OFF:  # YAML reads a bare off as False
        return {"enabled": False, "effort": "none"}
    if word in EFFORTS:
        return {"enabled": True, "effort": word}
    message = f"must be one of none, {', '.join(EFFORTS)}, got {written!r}"
    raise ValueError(message)
