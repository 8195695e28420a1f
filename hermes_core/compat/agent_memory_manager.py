"""The memory manager and the block around what it recalls, under the original's names."""

from hermes_core.memory.block import build_memory_context_block, sanitize_context
from hermes_core.memory.limits import Limits
from hermes_core.memory.manager import MemoryManager
from hermes_core.memory.scrubber import StreamingContextScrubber
from hermes_core.memory.tools import normalize_tool_schema

__all__ = [
    "_EXTERNAL_PREFETCH_TIMEOUT_S",
    "MemoryManager",
    "StreamingContextScrubber",
    "build_memory_context_block",
    "normalize_tool_schema",
    "sanitize_context",
]

_EXTERNAL_PREFETCH_TIMEOUT_S = Limits().prefetch_timeout
