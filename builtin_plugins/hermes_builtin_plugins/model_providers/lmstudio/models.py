"""What LM Studio says of its models in its own API."""

from __future__ import annotations

from typing import Any

SECONDS = 2.0


def reasoning_options(root: str, api_key: str) -> dict[str, tuple[str, ...]] | None:
    """Model → its ways of reasoning, empty when the server is too old to say; None when it is not there."""
    import httpx

    headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
    try:
        checked = root.startswith("https:")
        answer = httpx.get(f"{root}/api/v1/models", headers=headers, timeout=SECONDS, trust_env=False, verify=checked)
        body: Any = answer.raise_for_status().json()
    except (httpx.TransportError, httpx.InvalidURL):
        return None
    except (httpx.HTTPError, ValueError):
        return {}
    listed = body.get("models") if isinstance(body, dict) else None
    found = {}
    for row in listed if isinstance(listed, list) else ():
        options = _at(row, "capabilities", "reasoning", "allowed_options")
        if isinstance(options, list) and isinstance(row.get("key"), str):
            found[row["key"]] = tuple(str(option) for option in options)
    return found


def _at(value: Any, *names: str) -> Any:
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value
