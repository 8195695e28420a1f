"""What the host says of a provider's models."""

from __future__ import annotations

from typing import NamedTuple


class ModelList(NamedTuple):
    """A provider's models, and where the list came from.

    Attributes:
        provider: Its canonical name.
        models: Model ids, those that the provider's profile recommends first.
        source: ``live``: asked just now; ``cache``: asked within the hour; ``stale``: asked earlier, and not to be had
            now; ``fallback``: what the profile recommends; ``none``.
        age: Seconds since the provider gave it; None for one it did not give.
        reason: Why it is not live, where it should be.
        base_url: Where it was asked.
    """

    provider: str
    models: tuple[str, ...] = ()
    source: str = "none"
    age: float | None = None
    reason: str = ""
    base_url: str = ""
