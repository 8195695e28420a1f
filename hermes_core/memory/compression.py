"""What providers keep of messages that are about to be summarised."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hermes_core.config.redact import redact
from hermes_core.errors import MemoryProviderError
from hermes_core.memory.provider import PRE_COMPRESS_CHECKPOINT_API_VERSION

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from hermes_core.memory.member import Member

Message = dict[str, Any]


def checkpoint_version(member: Member) -> int:
    """What a provider's ``on_pre_compress`` promises; 1 is nothing."""
    version = getattr(member.provider, "pre_compress_checkpoint_api_version", 1)
    return version if isinstance(version, int) else 1


def before_compression(members: Iterable[Member], messages: Sequence[Message], *, require_checkpoint: bool) -> str:
    """Tell members of the messages; what they want kept in the summary, parted by blank lines.

    One that promises to keep them is told of what was said, and no more.

    Raises:
        MemoryProviderError: A checkpoint is required, and no member has kept the messages.
    """
    kept, is_safe = [], False
    for member in members:
        is_promised = checkpoint_version(member) >= PRE_COMPRESS_CHECKPOINT_API_VERSION
        told = [message for message in messages if _is_prose(message)] if is_promised else [*messages]
        options = {"require_checkpoint": True} if is_promised and require_checkpoint else {}
        seconds = member.limits.session_end_timeout
        text = member.ask("on_pre_compress", told, seconds=seconds, expected=str, **options)
        is_safe = is_safe or (is_promised and text is not None)
        kept.append(member.cut(redact(text or "")))
    if require_checkpoint and not is_safe:
        message = "no memory provider has kept the messages that were to be summarised"
        raise MemoryProviderError(message, hint="they stay; `hermes memory status` says what is wrong")
    return "\n\n".join(text for text in kept if text.strip())


def _is_prose(message: Mapping[str, Any]) -> bool:
    return message.get("role") in ("user", "assistant") and isinstance(message.get("content"), str)
