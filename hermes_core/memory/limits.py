"""How long a memory provider may take, and how much it may say."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from hermes_core.config.settings import Config


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Each is a key of the section ``memory`` of the configuration; times are in seconds.

    Attributes:
        initialize_timeout: For getting ready; a provider that takes longer is used once it is ready.
        prefetch_timeout: For recalling something, once a turn.
        hook_timeout: For hearing of anything else.
        tool_timeout: For one call of one of its tools.
        session_end_timeout: For the work at the end of a session, or before messages are summarised.
        drain_timeout: For turns not stored yet, when the process ends.
        shutdown_timeout: For closing.
        max_chars: How much text of one provider reaches the model at once.
        queue_size: How many turns may wait to be stored.

    Raises:
        ValueError: One of them is not above 0.

    Example:
        >>> Limits(prefetch_timeout=2).hook_timeout
        5.0
    """

    initialize_timeout: float = 30.0
    prefetch_timeout: float = 8.0
    hook_timeout: float = 5.0
    tool_timeout: float = 60.0
    session_end_timeout: float = 10.0
    drain_timeout: float = 5.0
    shutdown_timeout: float = 5.0
    max_chars: int = 6000
    queue_size: int = 1000

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if not value > 0:
                message = f"{field.name} must be above 0, got {value!r}"
                raise ValueError(message)

    @classmethod
    def of(cls, config: Config) -> Self:
        """Those of a configuration."""
        return cls(**{field.name: config.value("memory", field.name) for field in fields(cls)})
