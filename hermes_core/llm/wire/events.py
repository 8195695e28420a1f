"""Server-sent events, as far as providers use them."""

from __future__ import annotations

import json
from typing import Any

END = "[DONE]"


def values(body: bytes) -> list[Any]:
    r"""The JSON value of each event, in order.

    Raises:
        ValueError: The data of an event is no JSON.

    Example:
        >>> values(b'event: a\ndata: {"n": 1}\n\ndata: [DONE]\n\n')
        [{'n': 1}]
    """
    found: list[Any] = []
    lines: list[str] = []
    for line in [*body.decode("utf-8", "replace").splitlines(), ""]:
        if line.startswith("data:"):
            lines.append(line[5:].removeprefix(" "))
        elif not line and lines:
            data = "\n".join(lines)
            found += [] if data == END else [json.loads(data)]
            lines = []
    return found
