"""The manager of memory providers: what a conversation talks to, whatever its providers do."""

from __future__ import annotations

import logging
import threading
from collections import deque
from time import monotonic
from typing import TYPE_CHECKING, Any, Self

from hermes_core.errors import MemoryProviderError
from hermes_core.memory.at_exit import close_at_exit
from hermes_core.memory.compression import before_compression, checkpoint_version
from hermes_core.memory.limits import Limits
from hermes_core.memory.mirror import writes
from hermes_core.memory.prefetch import recall_line
from hermes_core.memory.provider import PRE_COMPRESS_CHECKPOINT_API_VERSION
from hermes_core.memory.roster import Roster
from hermes_core.memory.telling import Teller
from hermes_core.memory.tool_calls import ToolCalls
from hermes_core.memory.user_text import extract_user_instruction_from_skill_message
from hermes_core.memory.worker import WARM_UP

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from hermes_core.memory.prefetch import Recalled
    from hermes_core.memory.provider import MemoryProvider
    from hermes_core.plugins.context import PluginContext
    from hermes_core.types.contributions import Tool

log = logging.getLogger("hermes_core.memory")

Message = dict[str, Any]

REMEMBERED_MESSAGES = 1000
"""How many messages of a session are kept for an ``on_session_end`` that nobody else calls."""


class MemoryManager:
    """Keeps one external memory provider, and asks it at the right moments.

    No provider costs a turn more than the deadline of its call, or ends the process. Each problem is warned of
    once, with the provider's name, and counted in ``stats``. What providers are told holds no secrets.

    Args:
        external_prefetch_timeout: Seconds that a turn waits for what is recalled.
        limits: All limits, in place of that one.
        home: The home that providers keep their files in; the active one when None.

    Attributes:
        limits: As given.
        session_id: The session that runs.

    Raises:
        ValueError: A limit is not above 0.

    Example:
        >>> from hermes_core import MemoryProvider
        >>> class Notes(MemoryProvider):
        ...     name = "notes"
        ...     def is_available(self): return True
        ...     def initialize(self, session_id, **kwargs): self.seen = []
        ...     def get_tool_schemas(self): return []
        ...     def sync_turn(self, user_content, assistant_content): self.seen.append(user_content)
        ...     def prefetch(self, query): return " ".join(self.seen)
        >>> with MemoryManager() as memory:
        ...     memory.add_provider(Notes())
        ...     memory.initialize_all(session_id="s1", platform="cli")
        ...     memory.sync_all("Anna likes tea", "Noted.")
        ...     memory.flush(), memory.prefetch_all("What does Anna like?")
        True
        (True, 'Anna likes tea')
    """

    def __init__(
        self, external_prefetch_timeout: float = 8.0, *, limits: Limits | None = None, home: Path | None = None
    ) -> None:
        self.limits = limits or Limits(prefetch_timeout=external_prefetch_timeout)
        self.session_id = ""
        self._roster = Roster(self.limits, home)
        self._tool_calls = ToolCalls(self._roster.index)
        self._teller = Teller(self.limits.queue_size)
        self._recalled: list[Recalled] = []
        self._transcript: deque[Message] = deque(maxlen=REMEMBERED_MESSAGES)
        self._is_begun = self._is_ended = self._is_closed = False
        self._at_end: list[Callable[[], object]] = []
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exc: object) -> None:
        self.shutdown_all()

    def __repr__(self) -> str:
        return f"<MemoryManager {[member.name for member in self._roster.members]}>"

    def add_provider(
        self,
        provider: Any,
        *,
        read_only: bool = False,
        must_be_available: bool = False,
        context: PluginContext | None = None,
    ) -> bool:
        """Take a provider in; False, with a warning that says why, when it is refused.

        Beside the one named ``builtin`` there is one that stores and has tools; a second is refused.

        Args:
            provider: Not initialised yet.
            read_only: Whether it is only asked to recall: such a one may stand beside the other.
            must_be_available: Whether it is refused when its ``is_available`` says no.
            context: Of the plugin it comes from.
        """
        return self._roster.add(provider, context, is_read_only=read_only, must_be_available=must_be_available)

    def refuse(self, name: str, reason: str) -> None:
        """Note, and warn, that a provider is not used; ``stats`` says so too."""
        self._roster.refuse(name, reason)

    @property
    def providers(self) -> list[MemoryProvider]:
        """The providers, in the order they were added."""
        return [member.provider for member in self._roster.members]

    def get_provider(self, name: str) -> MemoryProvider | None:
        """The provider of this name, or None."""
        return next((member.provider for member in self._roster.members if member.name == name), None)

    def initialize_all(self, session_id: str, **options: Any) -> None:
        """Have every provider get ready for a session, and say its tools.

        One that fails, or takes longer than ``limits.initialize_timeout``, is left out until it is ready: it is
        tried again later, and ``stats`` says why.

        Args:
            session_id: The session.
            options: What providers are told of it; ``hermes_home``, ``platform``, ``agent_context`` and, in a
                named profile, ``agent_identity`` and ``agent_workspace`` are filled in.

        Raises:
            MemoryProviderError: The manager is closed.
        """
        if self._is_closed:
            message = "this memory manager is closed, and no session can begin in it"
            raise MemoryProviderError(message, hint="make a new one, or load a new host")
        if self._is_begun and session_id != self.session_id:
            self.on_session_end([*self._transcript])  # unless somebody has told of it
        self.session_id, self._is_begun, self._is_ended = session_id, True, False
        self._transcript.clear()
        self._roster.begin(session_id, options)
        close_at_exit(self)

    def build_system_prompt(self) -> str:
        """What providers have for the system prompt, parted by blank lines."""
        seconds = self.limits.hook_timeout
        blocks = [member.text("system_prompt_block", seconds=seconds) for member in self._roster.writers()]
        return "\n\n".join(block for block in blocks if block.strip())

    def on_turn_start(self, turn_number: int, message: str, **options: Any) -> None:
        """A turn begins; ``message`` is what the user wrote, ``""`` when it holds more than text."""
        self._roster.retry(self.session_id)
        for member in self._roster.writers():
            member.ask("on_turn_start", turn_number, message, seconds=self.limits.hook_timeout, **options)

    def prefetch_all(self, query: str, *, session_id: str = "") -> str:
        """What providers recall about a query, parted by blank lines; all are asked at the same time.

        It takes ``limits.prefetch_timeout`` at most. A provider still busy with an earlier query is passed over.
        """
        self._recalled = []
        text = extract_user_instruction_from_skill_message(query)
        if not text or self._is_closed:
            return ""
        self._roster.retry(self.session_id)
        session = session_id or self.session_id
        prefetchers = [member.prefetcher for member in self._roster.usable()]
        jobs = [(prefetcher, prefetcher.start(text, session)) for prefetcher in prefetchers]
        until = monotonic() + self.limits.prefetch_timeout
        found = [prefetcher.finish(job, text, session, until) for prefetcher, job in jobs]
        self._recalled = [recalled for recalled in found if recalled is not None]
        return "\n\n".join(recalled.text for recalled in self._recalled)

    def describe_recall(self) -> str:
        """One line for a person about the latest ``prefetch_all``; ``""`` when there is nothing to tell."""
        return recall_line(self._recalled)

    def sync_all(
        self,
        user_content: str,
        assistant_content: str,
        *,
        session_id: str = "",
        messages: list[Message] | None = None,
        turn_author: Any = None,
    ) -> None:
        """Store a finished turn, in the background; returns at once. Nothing is stored when the user said nothing.

        When ``limits.queue_size`` tasks wait already, or the manager is closed, the turn is refused: that is
        warned of, and counted.
        """
        text = extract_user_instruction_from_skill_message(user_content)
        if not text:
            return
        self._is_ended = False
        self._transcript += ({"role": "user", "content": text}, {"role": "assistant", "content": assistant_content})
        extra = {"messages": None if messages is None else [*messages], "turn_author": turn_author}
        options = {key: value for key, value in extra.items() if value is not None}
        session = session_id or self.session_id
        for member in [member for member in self._roster.members if not member.is_read_only]:
            self._teller.tell(member, "sync_turn", text, assistant_content, session_id=session, **options)

    def queue_prefetch_all(self, query: str, *, session_id: str = "") -> None:
        """Let providers warm up for the next turn, in the background."""
        text = extract_user_instruction_from_skill_message(query)
        if text and not self._is_closed:
            for member in self._roster.members:
                self._teller.tell(
                    member, "queue_prefetch", text, kind=WARM_UP, session_id=session_id or self.session_id
                )

    def get_all_tool_schemas(self) -> list[dict[str, Any]]:
        """Bare schemas of every tool there is now; names are unique, and none is the host's own."""
        self._roster.read_tools()
        return [dict(found.schema) for found in self._roster.index.tools.values()]

    def get_all_tool_names(self) -> set[str]:
        """The names of the tools that ``handle_tool_call`` runs."""
        return {*self._roster.index.tools}

    def has_tool(self, name: str) -> bool:
        """Whether ``handle_tool_call`` runs a tool of this name."""
        return name in self._roster.index.tools

    def handle_tool_call(self, name: str, args: Mapping[str, Any], **options: Any) -> str:
        """Run a provider's tool; the result is text, as a rule JSON. What goes wrong is JSON with an ``error``."""
        return self._tool_calls.run(name, args, options)

    def tools(self) -> list[Tool]:
        """The tools as a host's registry takes them."""
        return self._tool_calls.tools()

    def on_memory_write(
        self, action: str, target: str, content: str, metadata: Mapping[str, Any] | None = None
    ) -> None:
        """The built-in memory changed: mirror it. Waited for briefly, unless turns are being stored."""
        told = dict(metadata or {})
        for member in (member for member in self._roster.writers() if member.is_mirror):
            args = action, target, content
            self._teller.tell_now(member, "on_memory_write", *args, by_place="metadata", metadata=told)

    def notify_memory_tool_write(
        self,
        result: Any,
        args: Mapping[str, Any],
        *,
        build_metadata: Callable[[], Mapping[str, Any]] | None = None,
    ) -> None:
        """The built-in ``memory`` tool returned ``result`` for ``args``: mirror what it has committed.

        ``build_metadata`` says more of the call, such as its ``tool_call_id``. A host's own memory needs no telling.
        """
        metadata = {"write_origin": "assistant_tool", "execution_context": "foreground", "tool_name": "memory"}
        known = {**metadata, "session_id": self.session_id, "platform": self._roster.options.get("platform", "")}
        for write in writes(result, args, {**known, **(build_metadata() if build_metadata is not None else {})}):
            self.on_memory_write(*write)

    def on_delegation(self, task: str, result: str, *, child_session_id: str = "", **options: Any) -> None:
        """A subagent has finished its task."""
        for member in self._roster.writers():
            self._teller.tell_now(member, "on_delegation", task, result, child_session_id=child_session_id, **options)

    def on_pre_compress(self, messages: Sequence[Message], *, require_checkpoint: bool = False) -> str:
        """Messages are about to be summarised: what providers want kept in the summary.

        Raises:
            MemoryProviderError: ``require_checkpoint`` is set, and no provider that promises to keep the messages
                has done so: then they must not be given up.
        """
        return before_compression(self._roster.writers(), messages, require_checkpoint=require_checkpoint)

    def supports_pre_compress_checkpoint(self, version: int = PRE_COMPRESS_CHECKPOINT_API_VERSION) -> bool:
        """Whether a provider promises to keep messages before they are summarised."""
        return any(checkpoint_version(member) >= version for member in self._roster.writers())

    def on_session_switch(
        self,
        new_session_id: str,
        *,
        parent_session_id: str = "",
        reset: bool = False,
        rewound: bool = False,
        **options: Any,
    ) -> None:
        """The conversation goes on as another session; providers hear of it after the turns before it."""
        if not new_session_id:
            return
        self._enter(new_session_id, is_new=reset)
        told = {"parent_session_id": parent_session_id, "reset": reset, **options}
        if rewound:
            told["rewound"] = True
        for member in self._roster.writers():
            self._teller.tell_now(member, "on_session_switch", new_session_id, **told)

    def commit_session_boundary_async(
        self,
        messages: Sequence[Message],
        *,
        new_session_id: str,
        parent_session_id: str = "",
        reason: str = "new_session",
    ) -> None:
        """End a session and begin the next, in the background, after the turns before it."""
        told: dict[str, Any] = {"parent_session_id": parent_session_id, "reset": True, "reason": reason}
        was_ended, self._is_ended = self._is_ended, True
        for member in self._roster.writers():
            if not was_ended:
                self._teller.tell(member, "on_session_end", [*messages])
            self._teller.tell(member, "on_session_switch", new_session_id, **told)
        self._enter(new_session_id, is_new=True)

    def on_session_end(self, messages: Sequence[Message]) -> None:
        """The session is over: told once, after its last turn is stored, and waited for.

        A second call does nothing, unless there was another turn in between. What takes longer than
        ``limits.session_end_timeout`` goes on in the background.
        """
        if self._is_ended:
            return
        self._is_ended = True
        members = self._roster.writers()
        tasks = [self._teller.tell(member, "on_session_end", [*messages]) for member in members]
        seconds = self.limits.session_end_timeout
        until = monotonic() + seconds
        for member, task in zip(members, tasks, strict=True):
            if task is not None and not task.ended.wait(max(0.0, until - monotonic())):
                member.blame("on_session_end", f"has not ended within {seconds:g} s; it goes on in the background")

    def flush_pending(self, timeout: float | None = None) -> bool:
        """Wait until everything handed in so far is stored; False when that takes longer than ``timeout`` seconds.

        A provider that has a ``flush`` of its own is asked for it, and may raise when it cannot.
        """
        return self._teller.flush(self._roster.writers(), timeout)

    flush = flush_pending

    def shutdown_all(self) -> None:
        """Store what waits, end the session if nobody has, and close the providers; doing so twice does nothing.

        Each of the three has a limit of its own; what is left then is counted in ``shutdown_drain_state``.
        """
        with self._lock:
            if self._is_closed:
                return
            self._is_closed = True
        self._teller.worker.close(self.limits.drain_timeout)
        state = self._teller.worker.drain_state
        if state["status"] == "timed_out":
            names = ",".join(member.name for member in self._roster.members)
            left = " ".join(f"{what}={count}" for what, count in state.items() if what != "status")
            log.warning("memory closed too early providers=%s %s", names, left)
        if self._is_begun and not self._is_ended:
            self._is_ended = True
            self._roster.end([*self._transcript])
        self._roster.close()
        for callback in self._at_end:
            callback()

    def call_at_end(self, callback: Callable[[], object]) -> None:
        """Have ``callback`` called once the manager is closed."""
        self._at_end.append(callback)

    close = shutdown_all

    @property
    def shutdown_drain_state(self) -> dict[str, Any]:
        """How closing went: ``status`` is ``not_started``, ``draining``, ``drained`` or ``timed_out``."""
        return self._teller.worker.drain_state

    @property
    def stats(self) -> dict[str, Any]:
        """How memory does, for people and programs: plain values, and no secret among them."""
        return {
            "session_id": self.session_id,
            "providers": [member.stats() for member in self._roster.members],
            "refused": dict(self._roster.refused),
            "queue": self._teller.worker.load,
            "shutdown": self.shutdown_drain_state,
        }

    def _enter(self, session_id: str, *, is_new: bool) -> None:
        if is_new or session_id != self.session_id:
            self._is_ended = False
        if is_new:
            self._transcript.clear()
        self.session_id = session_id
