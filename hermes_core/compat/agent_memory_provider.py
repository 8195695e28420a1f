"""The contract of memory providers and what goes with it, under the original's names."""

from hermes_core.memory.context_threads import ctx_bound, spawn_context_thread
from hermes_core.memory.provider import (
    INDICATOR_GLYPH,
    PRE_COMPRESS_CHECKPOINT_API_VERSION,
    MemoryProvider,
    RecallStatus,
)
from hermes_core.memory.user_text import TRIVIAL_PROMPT_RE, is_trivial_prompt

__all__ = [
    "INDICATOR_GLYPH",
    "PRE_COMPRESS_CHECKPOINT_API_VERSION",
    "TRIVIAL_PROMPT_RE",
    "MemoryProvider",
    "RecallStatus",
    "ctx_bound",
    "is_trivial_prompt",
    "spawn_context_thread",
]
